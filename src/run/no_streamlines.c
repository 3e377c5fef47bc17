/* Explains why a run gave no streamline, stage by stage, and what to try. */
#include "run/job.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "record/run_params.h"
#include "util/numbers.h"
#include "util/status.h"

#define MAX_SEEDS 20000 /* number of seeds to examine; enough to see what is typical */

/* Numbers of seeds, by the values of the images in the voxels nearest to them. */
typedef struct seed_look {
    uint64_t n, outside, below,
        dark; /* number of seeds: all; outside mask or grid; below the stop threshold; without a positive ODF */
} seed_look;

/* Fits the bootstrap's model in the voxels of the mask and returns its ODFs. */
static gls_status sample_bootstrap(const gls_job_inputs *in, const gls_image *mask, gls_image **odf)
{
    gls_image *sh = NULL;
    gls_odf_source *source = NULL;
    gls_odf_options options = gls_odf_options_default();
    gls_status status = gls_qball_fit_image(in->model.qball, gls_series_model_dwi(&in->model),
                                            gls_series_model_gradients(&in->model), mask, &sh);
    if (!status)
        status = gls_odf_source_create_sh(sh, "the fit", GLS_SH_DESCOTEAUX07_LEGACY, GLS_BVEC_IMAGE, in->sphere,
                                          &options, &source);
    if (!status) status = gls_odf_sample(source, odf);
    gls_odf_source_destroy(source);
    gls_image_destroy(sh);
    return status;
}

/* Sets voxels of *marked from 1 to -1 if no sample of the ODF is above 0, or all peaks are 0. */
static gls_status mark_dark(const gls_job_inputs *in, gls_image *marked)
{
    gls_image *odf = NULL;
    /* images of peaks have no ODFs: a voxel without a peak is dark */
    bool peaks = !in->odf && in->odf_image;
    gls_status status = in->odf ? gls_odf_sample(in->odf, &odf) : peaks ? GLS_OK : sample_bootstrap(in, marked, &odf);
    if (peaks) odf = in->odf_image;
    size_t n = gls_grid_voxels(in->grid);
    for (size_t v = 0; !status && v < n; v++) {
        float largest = 0;
        /* only voxels of seeds are looked at */
        for (size_t d = 0; marked->data[v] > 0 && d < odf->n_volumes; d++)
            /* a peak may point anywhere, so its components have both signs */
            largest = fmaxf(largest, peaks ? fabsf(odf->data[d * n + v]) : odf->data[d * n + v]);
        if (marked->data[v] > 0 && !(largest > 0)) marked->data[v] = -1;
    }
    if (!peaks) gls_image_destroy(odf);
    return status;
}

/* Index of the voxel of a seed; SIZE_MAX: outside the grid. */
static size_t voxel_of(const gls_grid *grid, const float p[3])
{
    size_t at[3];
    for (int a = 0; a < 3; a++) {
        float nearest = roundf(p[a]);
        if (!(nearest >= 0 && nearest < (float)grid->dim[a])) return SIZE_MAX;
        at[a] = (size_t)nearest;
    }
    return (at[2] * (size_t)grid->dim[1] + at[1]) * (size_t)grid->dim[0] + at[0];
}

/* Counts seeds outside the mask, below the stop threshold, and in voxels without a direction. The first pass marks the
 * voxels of seeds, so that only their ODFs are computed. */
static gls_status look_at_seeds(const gls_job *job, seed_look *look)
{
    const gls_job_inputs *in = &job->inputs;
    gls_image *marked = NULL;
    float seed[256][3];
    uint64_t all = gls_seeds_count(in->seeds);
    *look = (seed_look){.n = all < MAX_SEEDS ? all : MAX_SEEDS};
    gls_status status = gls_image_create(in->grid, 1, &marked);
    for (int pass = 0; pass < 2 && !status; pass++) {
        for (uint64_t at = 0, n; at < look->n; at += n) {
            /* seeds come in blocks, as the generator makes them */
            n = look->n - at < 256 ? look->n - at : 256;
            gls_seeds_get(in->seeds, at, n, seed);
            for (uint64_t i = 0; i < n; i++) {
                size_t v = voxel_of(in->grid, seed[i]);
                bool inside = v != SIZE_MAX && in->mask->data[v] > 0;
                if (pass == 0 && inside) marked->data[v] = 1;
                if (pass == 0) continue;
                look->outside += !inside;
                look->below += inside && in->stop_map->data[v] <= job->params.stop_threshold;
                look->dark += inside && marked->data[v] < 0;
            }
        }
        if (pass == 0) status = mark_dark(in, marked);
    }
    gls_image_destroy(marked);
    return status;
}

/* Warns of seeds that gave no direction or were rejected, and why. */
static void explain_seeds(const gls_job *job)
{
    const gls_track_result *r = &job->result.track;
    seed_look look;
    char count[32], all[32];
    /* tissue or a region forbids the place of a rejected seed */
    if (r->seeds_rejected > 0)
        gls_log(GLS_LOG_WARNING, "  %s of %s seeds: %s let no streamline start there (%s--exclude, --tracking-mask)",
                gls_format_count(r->seeds_rejected, count, sizeof count), gls_format_count(r->seeds, all, sizeof all),
                job->inputs.tissue ? "tissue or regions" : "regions",
                job->inputs.tissue ? "CSF, grey matter or nothing; " : "");
    /* the reasons below need a look at the ODFs at the seeds */
    if (r->seeds_without_direction == 0 || look_at_seeds(job, &look) != GLS_OK) return;
    const gls_job_options *o = &job->options;
    gls_log(GLS_LOG_WARNING, "  %s of %s seeds: no direction to start in",
            gls_format_count(r->seeds_without_direction, count, sizeof count),
            gls_format_count(r->seeds, all, sizeof all));
    /* percent: factor from a number of seeds to a share */
    double percent = look.n ? 100 / (double)look.n : 0;
    if (look.outside)
        gls_log(GLS_LOG_WARNING,
                "    %.3g %% of seeds lie outside the mask or the grid: compare mask and seeds%s in a viewer",
                percent * (double)look.outside, o->seeds ? " (--seed-space: voxel or world)" : "");
    /* the advice depends on the source of directions */
    if (!look.dark) return;
    if (o->peaks.n > 0 || o->bedpostx)
        gls_log(GLS_LOG_WARNING, "    %.3g %% of seeds have no peak: the file %s has 0 or no number there",
                percent * (double)look.dark, o->bedpostx ? o->bedpostx : o->peaks.value[0]);
    else if (o->sh || o->odf)
        gls_log(GLS_LOG_WARNING,
                "    %.3g %% of seeds have an ODF that is nowhere positive: the file %s has 0 or no number there",
                percent * (double)look.dark, o->sh ? o->sh : o->odf);
    else if (o->model.model == GLS_MODEL_OPDT)
        gls_log(GLS_LOG_WARNING,
                "    %.3g %% of seeds have an OPDT that is nowhere positive, as it can be at high b-values and "
                "low signal: try --model csa or csd, or another --min-signal (signals below it are raised to it)",
                percent * (double)look.dark);
    else
        gls_log(GLS_LOG_WARNING,
                "    %.3g %% of seeds have an ODF that is nowhere positive: their voxels are not fitted (outside the "
                "mask, or --fa-threshold), or the response or the scale of the signal is wrong",
                percent * (double)look.dark);
}

/* Returns advice for runs in which no direction was found. Depends on the getter and on the source of its directions.
 */
static const char *advise_directions(const gls_job_options *o)
{
    if (o->peaks.n > 0) return "raise --max-angle or lower --cutoff; check --peaks-frame";
    if (gls_getter_ends_itself(o->track.dg) && o->sh)
        return "raise --max-angle or lower --cutoff; check --sh-basis and --sh-frame";
    if (gls_getter_ends_itself(o->track.dg))
        return "raise --max-angle or lower --cutoff; check b-vectors and --bvec-frame";
    return "raise --max-angle or lower --pmf-threshold; check b-vectors and --bvec-frame";
}

/* Names the commonest end of streamlines, and what to try. */
static void explain_ends(const gls_job *job)
{
    const char *const advice[GLS_END_COUNT] = {
        [GLS_END_STOP_MAP] = "lower --fa-threshold, or seed where the stop map is above it",
        [GLS_END_OUTSIDE] = "the seeds lie at the border of the images",
        [GLS_END_NO_DIRECTION] = advise_directions(&job->options),
        [GLS_END_MASK] = "the seeds lie at the border of the mask; --mask-stop interpolated is more lenient",
        [GLS_END_EXCLUDE] = "the region of --exclude surrounds the seeds",
        [GLS_END_STOP_REGION] = "the region of --stop-at surrounds the seeds",
    };
    const gls_track_result *r = &job->result.track;
    char count[32], all[32];
    if (r->directions == 0) return;
    /* rejected streamlines first, then how halves ended */
    for (int v = GLS_VERDICT_SINGLE_POINT; v < GLS_VERDICT_COUNT; v++)
        if (r->verdicts[v] > 0)
            gls_log(GLS_LOG_WARNING, "  %s of %s streamlines were rejected: %s",
                    gls_format_count(r->verdicts[v], count, sizeof count),
                    gls_format_count(r->directions, all, sizeof all), gls_verdict_words((gls_verdict)v));
    int commonest = 0;
    for (int e = 1; e < GLS_END_COUNT; e++)
        if (r->ends[e] > r->ends[commonest]) commonest = e;
    if (commonest == GLS_END_STOP_MAP && job->inputs.stop_map_open)
        commonest = GLS_END_MASK; /* the map ends where the mask ends */
    /* ends matter only where streamlines were too short */
    if (r->verdicts[GLS_VERDICT_SINGLE_POINT] + r->verdicts[GLS_VERDICT_TOO_SHORT] > 0 && advice[commonest])
        gls_log(GLS_LOG_WARNING, "  most half-streamlines ended by '%s': %s", gls_end_name((gls_end)commonest),
                advice[commonest]);
}

void gls_job_explain_empty(const gls_job *job)
{
    if (job->result.track.streamlines > 0) return;
    gls_log(GLS_LOG_WARNING, "no streamline; the output is valid and empty. What became of the seeds:");
    explain_seeds(job);
    explain_ends(job);
}
