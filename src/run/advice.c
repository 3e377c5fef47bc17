/* Warnings of inputs and results that look wrong although nothing failed, and of results without a streamline. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "run/advice.h"
#include "record/run_params.h"
#include "run/job_inputs_parts.h"
#include "run/job_parts.h"
#include "track/getter/getters.h"
#include "util/maths.h"
#include "util/status.h"

/* Shares above which a warning is given: of streamlines (CUT, LONG), of voxels of mask or seeds (OUTSIDE, UNKNOWN). */
#define MAX_CUT 0.01
#define MAX_LONG 0.05
#define MAX_OUTSIDE 0.2
#define MAX_UNKNOWN 0.01
/* FA of a response below this value means that the response comes from crossings or grey matter. */
#define MIN_RESPONSE_FA 0.6
/* sqrt(3/2): maximum FA of a tensor, reached with eigenvalues of both signs. */
#define HIGHEST_FA 1.2248
/* First SH coefficient of FODs: its value in pure white matter, and the range in which its median in a brain lies. */
#define USUAL_FOD 0.2821
#define MIN_FOD 0.02
#define MAX_FOD 1

/* Warns of a mask that covers the whole grid. */
static void advise_of_mask(const gls_job_inputs *in)
{
    if (in->mask_voxels < gls_grid_voxels(in->grid)) return;
    gls_log(GLS_LOG_WARNING,
            "%s: covers the whole grid, background too: give a mask of the brain, or none, and one is made",
            gls_job_inputs_name(in, GLS_FILE_MASK));
}

/* Warns of a seed mask with values other than 0 and 1, which may be labels or fractions. */
static void advise_of_seed_mask(const gls_job_inputs *in)
{
    const float *value = in->roi->data;
    size_t n = gls_grid_voxels(in->grid), others = 0;
    float other = 0;
    for (size_t i = 0; i < n; i++) {
        if (value[i] == 0 || value[i] == 1 || isnan(value[i])) continue;
        other = value[i];
        others++;
    }
    if (others == 0) return;
    gls_log(GLS_LOG_WARNING,
            "%s: %zu voxels are neither 0 nor 1 (one is %g); voxels above 0 get seeds. For a label image "
            "give a mask of the label; for an image of fractions use --seed-rejection",
            gls_job_inputs_name(in, GLS_FILE_ROI), others, other);
}

/* Warns of a stop map in other units than FA, such as 0 to 1000. Gives no warning for a mask, whose values other than 0
 * are all equal. */
static void advise_of_stop_map(const gls_job_inputs *in, double threshold)
{
    const float *value = in->stop_map->data;
    float first = 0, highest = 0;
    bool several = false;
    for (size_t i = 0, n = gls_grid_voxels(in->grid); i < n; i++) {
        if (value[i] == 0 || !isfinite(value[i])) continue;
        if (first == 0) first = value[i];
        several = several || value[i] != first;
        highest = fmaxf(highest, value[i]);
    }
    if (!several || !(highest > HIGHEST_FA) || threshold < 0 || threshold > HIGHEST_FA) return;
    gls_log(GLS_LOG_WARNING,
            "%s: has values up to %g, FA goes to 1: --fa-threshold %g ends hardly any streamline in it; give the "
            "threshold in the units of the image, or an image of FA from 0 to 1",
            gls_job_inputs_name(in, GLS_FILE_FA), highest, threshold);
}

/* Warns if a stop map is NaN or infinite in over 1 % of the seed mask, or in over 20 % of a mask that the user gave:
 * such values count as 0 and end streamlines. Outside the brain NaN is usual, as in maps of MRtrix3. */
static void advise_of_unknown(const gls_job_inputs *in, bool mask_given)
{
    const float *mask = in->mask->data, *roi = in->roi ? in->roi->data : mask;
    uint64_t in_mask = 0, in_roi = 0, seeds = 0;
    for (size_t i = 0, n = gls_grid_voxels(in->grid); i < n; i++) {
        const bool inside = mask[i] > 0, seed = in->roi && inside && roi[i] > 0;
        seeds += seed;
        in_mask += inside && !isfinite(in->stop_map->data[i]);
        in_roi += seed && !isfinite(in->stop_map->data[i]);
    }
    const bool of_seeds = (double)in_roi > MAX_UNKNOWN * (double)seeds;
    if (!of_seeds && !(mask_given && (double)in_mask > MAX_OUTSIDE * (double)in->mask_voxels)) return;
    gls_log(GLS_LOG_WARNING,
            "%s: is NaN or infinite in %.3g %% of the voxels of the %s, where it counts as 0 and ends streamlines: "
            "give a map that has numbers there, or leave out --fa",
            gls_job_inputs_name(in, GLS_FILE_FA),
            100 * (double)(of_seeds ? in_roi : in_mask) / (double)(of_seeds ? seeds : in->mask_voxels),
            of_seeds ? "seed mask" : "mask");
}

void gls_advise_of_masks(const gls_job *job)
{
    const gls_job_inputs *in = &job->inputs;
    if (job->options.fa && in->stop_map) advise_of_stop_map(in, job->options.track.stop_threshold);
    if (job->options.fa && in->stop_map) advise_of_unknown(in, job->options.mask != NULL);
    if (job->options.mask) advise_of_mask(in);
    if (job->options.roi && in->roi && !job->sinks.numbers_seeds) advise_of_seed_mask(in);
}

/* Warns of a response that is too round for a single bundle, by the FA of its tensor, whose second and third
 * eigenvalues are equal. */
static void advise_of_response(const gls_series_model *m)
{
    const gls_response *r = &m->response;
    if (m->kind != GLS_MODEL_CSD || !m->has_response || r->is_zonal) return;
    double a = r->evals[0], b = r->evals[1], fa = (a - b) / sqrt(a * a + 2 * b * b);
    if (fa >= MIN_RESPONSE_FA) return;
    gls_log(GLS_LOG_WARNING,
            "the response has an FA of %.2f, that of a single bundle is above %.1f: raise --response-fa or "
            "--response-radius, or give --response",
            fa, MIN_RESPONSE_FA);
}

/* Warns if many voxels of the seed mask lie where streamlines end at once. */
static void advise_of_seeds(const gls_job_inputs *in, double threshold)
{
    uint64_t outside = 0;
    for (size_t i = 0, n = gls_grid_voxels(in->grid); i < n; i++)
        outside += in->mask->data[i] > 0 && in->roi->data[i] > 0 && in->stop_map->data[i] <= threshold;
    if ((double)outside <= MAX_OUTSIDE * (double)in->seed_voxels) return;
    gls_log(GLS_LOG_WARNING,
            "%.0f %% of the %" PRIu64 " voxels of the seed mask are at or below --fa-threshold %g, where streamlines "
            "end at once: seed in white matter, or lower the threshold",
            100 * (double)outside / (double)in->seed_voxels, in->seed_voxels, threshold);
}

/* Warns if FODs have another scale than --cutoff presumes. After multi-tissue deconvolution, the first coefficient is
 * 0.2821 in a voxel of pure white matter. */
static void advise_of_scale(const gls_job_inputs *in, const gls_track_params *params)
{
    const gls_image *sh = in->odf ? in->odf->image : NULL;
    size_t n = gls_grid_voxels(in->grid), count = 0;
    float *first = sh && in->odf->is_sh ? malloc(n * sizeof *first) : NULL;
    if (!first) return;
    for (size_t i = 0; i < n; i++)
        if ((!in->mask || in->mask->data[i] > 0) && isfinite(sh->data[i]) && sh->data[i] != 0)
            first[count++] = sh->data[i];
    double median = USUAL_FOD;
    if (count > 0) gls_quantiles_of_floats(first, count, (const double[]){0.5}, 1, &median);
    free(first);
    if (median >= MIN_FOD && median <= MAX_FOD) return;
    gls_log(GLS_LOG_WARNING,
            "the median of the FODs' first coefficients is %.3g: --cutoff %g presumes normalised ones of multi-tissue "
            "deconvolution (%g in white matter): give a --cutoff in the FODs' own units",
            median, gls_track_cutoff(params), USUAL_FOD);
}

void gls_advise_of_fit(const gls_job *job)
{
    const gls_job_inputs *in = &job->inputs;
    bool fods = in->method.getter->own_end;
    if (fods && gls_track_cutoff(&job->params) == (job->options.act ? 0.05 : 0.1)) advise_of_scale(in, &job->params);
    if (fods && job->params.step_size > in->voxel_mm)
        gls_log(GLS_LOG_WARNING, "--step-size: a step of %.4g mm is longer than a voxel (%.4g mm) and passes over some",
                job->params.step_size, in->voxel_mm);
    if (in->method.fits) advise_of_response(&in->model);
    if (job->options.roi && in->roi && in->stop_map && in->seed_voxels > 0)
        advise_of_seeds(in, job->options.track.stop_threshold);
}

void gls_advise_of_lengths(const gls_job *job)
{
    const gls_track_result *r = &job->result.track;
    double n = (double)r->streamlines;
    const char *threshold = job->inputs.stop_map_open ? "" : " or raise --fa-threshold";
    if ((double)r->truncated > MAX_CUT * n)
        gls_log(GLS_LOG_WARNING,
                "%.1f %% of the streamlines were cut at --max-length %g mm: lower --max-angle%s where they change "
                "over to other bundles, else raise --max-length",
                100 * (double)r->truncated / n, job->params.max_length, threshold);
    if ((double)r->long_streamlines > MAX_LONG * n)
        gls_log(GLS_LOG_WARNING,
                "%.1f %% of the streamlines are longer than %g mm, more than a path of a human brain: lower "
                "--max-angle%s, or set --max-length",
                100 * (double)r->long_streamlines / n, GLS_LONG_STREAMLINE, threshold);
}

/* --- Explains why a run gave no streamline, and what to try. */

#define MAX_SEEDS 20000 /* number of seeds to examine; enough to see what is typical */

/* Numbers of seeds by what the images have at each seed's nearest voxel. */
typedef struct seed_look {
    uint64_t n, outside, dark; /* examined; outside the mask or grid; in the mask, where no ODF or peak is positive */
} seed_look;

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

/* Counts seeds outside the mask, and in voxels without a direction. */
static gls_status look_at_seeds(const gls_job_inputs *in, seed_look *look)
{
    /* peaks: the image has vectors of peaks in place of ODFs; their components may be negative */
    const bool peaks = !in->odf && in->odf_image;
    gls_image *sampled = NULL;
    gls_status status = in->odf ? gls_odf_sample(in->odf, &sampled) : GLS_OK;
    const gls_image *odf = peaks ? in->odf_image : sampled;
    const uint64_t all = gls_seeds_count(in->seeds);
    *look = (seed_look){.n = all < MAX_SEEDS ? all : MAX_SEEDS};
    for (uint64_t i = 0; i < look->n && !status; i++) {
        float seed[1][3], largest = 0;
        gls_seeds_get(in->seeds, i, 1, seed);
        const size_t v = voxel_of(in->grid, seed[0]), n = gls_grid_voxels(in->grid);
        const bool inside = v != SIZE_MAX && in->mask->data[v] > 0;
        for (size_t d = 0; inside && odf && d < odf->n_volumes; d++)
            largest = fmaxf(largest, peaks ? fabsf(odf->data[d * n + v]) : odf->data[d * n + v]);
        look->outside += !inside;
        look->dark += inside && odf && !(largest > 0);
    }
    gls_image_destroy(sampled);
    return status;
}

/* Warns of seeds that were rejected, and of seeds without a direction to start in; says why. */
static void explain_seeds(const gls_job *job)
{
    const gls_track_result *r = &job->result.track;
    seed_look look;
    /* tissue or a region forbids the position of a rejected seed */
    if (r->seeds_rejected > 0)
        gls_log(GLS_LOG_WARNING, "  %s of %s seeds: %s let no streamline start there (%s--exclude, --tracking-mask)",
                GLS_COUNT(r->seeds_rejected), GLS_COUNT(r->seeds), job->inputs.tissue ? "tissue or regions" : "regions",
                job->inputs.tissue ? "CSF, grey matter or nothing; " : "");
    const double without = r->seeds > 0 ? (double)r->seeds_without_direction / (double)r->seeds : 0;
    if (without == 0 || job->options.seed_dynamic || look_at_seeds(&job->inputs, &look) != GLS_OK) return;
    const gls_job_options *o = &job->options;
    const gls_method *m = &job->inputs.method;
    gls_log(GLS_LOG_WARNING, "  %s of %s seeds: no direction to start in", GLS_COUNT(r->seeds_without_direction),
            GLS_COUNT(r->seeds));
    const double percent = look.n ? 100 / (double)look.n : 0; /* per cent of the seeds looked at, for each seed */
    if (look.outside)
        gls_log(GLS_LOG_WARNING,
                "    %.3g %% of seeds lie outside the mask or the grid: compare mask and seeds%s in a viewer",
                percent * (double)look.outside, o->seeds ? " (--seed-space: voxel or world)" : "");
    /* blind: there is no image of ODFs or peaks, as where tensors are fitted, so that no seed was counted as dark */
    const bool blind = !job->inputs.odf && !job->inputs.odf_image, tensors = m->source == GLS_FROM_SERIES || m->tensors,
               near = tensors || gls_getter_uses(m->getter, GLS_FOR_PEAKS) || m->peaks;
    const double rest = fmax(0, round(without * (double)look.n) - (double)(look.outside + look.dark));
    if (rest > 0 && near && o->seed_direction.n > 0)
        gls_log(GLS_LOG_WARNING, "    %.3g %% of seeds: no direction lies within --max-angle of --seed-direction",
                percent * rest);
    else if (blind)
        look.dark = (uint64_t)rest;
    if (rest > 0 && !blind && o->track.seed_cutoff > 0)
        gls_log(GLS_LOG_WARNING, "    amplitudes may be below --cutoff (--seed-cutoff %g): lower it",
                o->track.seed_cutoff);
    /* seeds without a usable direction: what to try depends on the source of directions */
    if (!look.dark) return;
    if (tensors)
        gls_log(GLS_LOG_WARNING, "    %.3g %% of seeds have no signal, or an FA below %g: lower --%scutoff",
                percent * (double)look.dark, gls_track_seed_cutoff(&job->params),
                job->options_given.track.seed_cutoff < 0 ? "" : "seed-");
    else if (o->peaks.n > 0 || o->bedpostx)
        gls_log(GLS_LOG_WARNING, "    %.3g %% of seeds have no peak: the file %s has 0 or no number there",
                percent * (double)look.dark, o->bedpostx ? o->bedpostx : o->peaks.value[0]);
    else if (o->sh || o->odf)
        gls_log(GLS_LOG_WARNING,
                "    %.3g %% of seeds have an ODF that is nowhere positive: the file %s has 0 or no number there",
                percent * (double)look.dark, o->sh ? o->sh : o->odf);
    else if (o->model.model == GLS_MODEL_OPDT)
        gls_log(GLS_LOG_WARNING,
                "    %.3g %% of seeds have an OPDT without a positive peak, as it can be at high b-values and "
                "low signal: try --model csa or csd, or another --min-signal (signals below it are raised to it)",
                percent * (double)look.dark);
    else
        gls_log(GLS_LOG_WARNING,
                "    %.3g %% of seeds have no positive peak: their voxels are not fitted (outside the "
                "mask, or --fa-threshold), or the response or the scale of the signal is wrong",
                percent * (double)look.dark);
}

/* Returns what to try where streamlines end because no direction goes on; it depends on the getter and on its source of
 * directions. */
static const char *advise_directions(const gls_job_options *o, const gls_method *method)
{
    if (o->peaks.n > 0) return "raise --max-angle or lower --cutoff; check --peaks-frame";
    if (method->getter->own_end)
        return o->sh ? "raise --max-angle or lower --cutoff; check --sh-basis and --sh-frame"
                     : "raise --max-angle or lower --cutoff; check b-vectors and --bvec-frame";
    return "raise --max-angle or lower --pmf-threshold; check b-vectors and --bvec-frame";
}

/* Logs why streamlines were rejected and, if they were too short, the commonest end and what to try. */
static void explain_ends(const gls_job *job)
{
    const char *const advice[GLS_END_COUNT] = {
        [GLS_END_STOP_MAP] = "lower --fa-threshold, or seed where the stop map is above it",
        [GLS_END_OUTSIDE] = "the seeds lie at the border of the images",
        [GLS_END_NO_DIRECTION] = advise_directions(&job->options, &job->inputs.method),
        [GLS_END_MASK] = "the seeds lie at the border of the mask; --mask-stop interpolated is more lenient",
        [GLS_END_EXCLUDE] = "the region of --exclude surrounds the seeds",
        [GLS_END_STOP_REGION] = "the region of --stop-at surrounds the seeds",
    };
    const gls_track_result *r = &job->result.track;
    if (r->directions == 0) return;
    for (int v = GLS_VERDICT_SINGLE_POINT; v < GLS_VERDICT_COUNT; v++)
        if (r->verdicts[v] > 0)
            gls_log(GLS_LOG_WARNING, "  %s of %s streamlines were rejected: %s", GLS_COUNT(r->verdicts[v]),
                    GLS_COUNT(r->directions), gls_verdict_words((gls_verdict)v));
    int commonest = 0;
    for (int e = 1; e < GLS_END_COUNT; e++)
        if (r->ends[e] > r->ends[commonest]) commonest = e;
    if (commonest == GLS_END_STOP_MAP && job->inputs.stop_map_open)
        commonest = GLS_END_MASK; /* a stop map that is 1 everywhere ends streamlines only at the border of the mask */
    /* name the commonest end only if streamlines were too short */
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
