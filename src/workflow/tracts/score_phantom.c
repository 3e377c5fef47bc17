/* `glslines score` without a tractogram: tracks the built-in phantom with every model and direction getter, and scores.
 */
#include "track/track_params.h"
#include "workflow/method_scores.h"

#include <cJSON.h>
#include <inttypes.h>
#include <stdlib.h>

#include "util/status.h"
#include "util/text.h"
#include "workflow/run_params.h"
#include "workflow/tracts/tracts.h"

/* Values of --model. USUAL: the models that users combine with each getter, and with which parallel transport does not
 * take minutes. */
enum { USUAL, ALL, FIRST_MODEL };

/* Whether a model and a getter are scored together: both asked for, or usual, and fit for each other. */
static bool wanted(const gls_score_cli *o, int model, int dg)
{
    if (o->model >= FIRST_MODEL && o->model - FIRST_MODEL != model) return false;
    if (o->dg && o->dg - 1 != dg) return false;
    const gls_getter_source source = gls_getter_source_of((gls_direction_getter)dg);
    if (source == GLS_FROM_QBALL) return model <= GLS_MODEL_CSA;
    /* a getter without a model is scored once */
    if (source == GLS_FROM_SERIES || source == GLS_FROM_NOTHING)
        return model == (o->model >= FIRST_MODEL ? o->model - FIRST_MODEL : GLS_MODEL_CSD) &&
               !gls_getter_facts_of((gls_direction_getter)dg).one_point;
    return o->model != USUAL || model == GLS_MODEL_CSD;
}

/* Sets the options of the runs and scores the wanted methods. */
static gls_status score(const gls_tract_run *run, const gls_score_cli *o, gls_method_scores *scores)
{
    gls_job_options job = gls_job_options_default();
    bool chosen[GLS_N_MODELS][GLS_N_GETTERS];
    for (int model = 0; model < GLS_N_MODELS; model++)
        for (int dg = 0; dg < GLS_N_GETTERS; dg++) chosen[model][dg] = wanted(o, model, dg);
    const char *given[8] = {NULL};
    size_t n = 0;
    if (o->probe_length.value != 0.5 || o->probe_length.mm) given[n++] = "probe-length";
    if (o->min_radius.value > 0) given[n++] = "min-radius-of-curvature";
    if (o->csd_rule) given[n++] = "csd-rule";
    if (o->sh_order > 0) given[n++] = "sh-order";
    if (o->max_angle > 0) given[n++] = "max-angle";
    if (o->min_length >= 0) given[n++] = "min-length";
    if (o->act || o->fa_threshold >= 0) given[n++] = "fa-threshold";
    job.preset = (gls_preset)o->preset;
    if (o->csd_rule) job.model.csd_rule = (gls_csd_rule)(o->csd_rule - 1);
    job.model.sh_order = o->sh_order;
    job.nseeds = o->nseeds;
    job.seed_seed = o->seed;
    job.device = o->device;
    job.api = (gls_graphics)o->api;
    job.track.rng_seed = o->seed;
    job.track.max_angle = o->max_angle;
    job.track.stop_threshold = o->fa_threshold >= 0 ? o->fa_threshold : -1;
    scores->act = o->act;
    job.track.min_length = o->min_length;
    job.track.probe_length = o->probe_length.value;
    job.in_mm.probe_length = o->probe_length.mm;
    job.track.min_radius_of_curvature = o->min_radius.value;
    job.in_mm.min_radius_of_curvature = o->min_radius.mm;
    return gls_methods_score(&job, given, o->snr, (const bool(*)[GLS_N_GETTERS])chosen, run->monitor, scores);
}

static void show_bundles(gls_text *text, const gls_method_score *row)
{
    gls_text_printf(text, "\n%s%s%s\n%-30s %8s %7s %7s %7s\n", gls_method_model(row), *gls_method_model(row) ? " " : "",
                    gls_getter_name(row->dg), "bundle", "VS", "OL %", "OR %", "f1 %");
    for (size_t b = 0; b < row->result.n_bundles; b++) {
        const gls_score_bundle *s = &row->bundle[b];
        gls_text_printf(text, "%-30s %8" PRIu64 " %7.1f %7.1f %7.1f\n", s->name, s->valid, 100 * s->overlap,
                        100 * s->overreach, 100 * s->f1);
    }
}

/* Prints the table of methods; with bundles also one of each method's bundles. */
static void show(gls_text *text, const gls_method_scores *scores, bool bundles)
{
    gls_text_printf(text, "%-5s %-10s %11s %6s %6s %6s %6s %6s %4s %6s %6s %6s %8s\n", "model", "dg", "streamlines",
                    "VS %", "WPC %", "IC %", "NC %", "VB", "IB", "OL %", "OR %", "f1 %", "time s");
    for (int i = 0; i < scores->n; i++) {
        const gls_method_score *row = &scores->row[i];
        const gls_score_result *r = &row->result;
        double percent = r->streamlines ? 100 / (double)r->streamlines : 0;
        gls_text_printf(text,
                        "%-5s %-10s %11" PRIu64 " %6.1f %6.1f %6.1f %6.1f %3" PRIu64 "/%-2zu %4" PRIu64
                        " %6.1f %6.1f %6.1f %8.1f\n",
                        gls_method_model(row), gls_getter_name(row->dg), r->streamlines, percent * (double)r->valid,
                        percent * (double)r->wrong_path, percent * (double)r->invalid,
                        percent * (double)r->no_connection, r->valid_bundles, r->n_bundles, r->invalid_bundles,
                        100 * r->mean_overlap, 100 * r->mean_overreach, 100 * r->mean_f1, row->seconds);
    }
    gls_text_puts(text, "VS valid streamlines, WPC wrong path, IC invalid connections, NC no connection; VB valid "
                        "bundles, IB invalid pairs of end regions;\n"
                        "OL overlap, OR overreach and f1: means over all bundles\n");
    for (int i = 0; i < scores->n && bundles; i++) show_bundles(text, &scores->row[i]);
}

gls_status gls_tract_score_phantom(gls_tract_run *job, const gls_score_cli *o)
{
    gls_text text = {0};
    if (o->truth || o->against) return gls_fail(GLS_ERR_ARGUMENT, "--truth and --against need TRACKS");
    if (o->sh_order % 2) return gls_fail(GLS_ERR_ARGUMENT, "--sh-order: %d is odd: must be even, 2 to 12", o->sh_order);
    if (o->model - FIRST_MODEL > GLS_MODEL_CSA && o->dg > 0 &&
        gls_getter_source_of((gls_direction_getter)(o->dg - 1)) == GLS_FROM_QBALL)
        return gls_fail(GLS_ERR_ARGUMENT, "--dg boot: only with --model opdt or csa");
    gls_method_scores *scores = calloc(1, sizeof *scores);
    gls_status status = scores ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory");
    if (!status) status = score(job, o, scores);
    if (!status) {
        show(&text, scores, o->bundles);
        gls_method_scores_add(job->root, scores);
        job->printed = gls_text_take(&text);
    }
    if (scores) gls_method_scores_finish(scores);
    free(scores);
    return status;
}
