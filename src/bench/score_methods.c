/* `glslines score`: scores a tractogram; or tracks the built-in phantom with the models and direction getters that are
 * asked for, and scores the results. */
#include <cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/score_methods.h"
#include "dwi/fit_model.h"
#include "record/run_params.h"
#include "record/sidecar.h"
#include "run/anatomy.h"
#include "tools/tract_results.h"
#include "track/getter/getters.h"
#include "track/track_params.h"
#include "util/clock.h"
#include "util/json_text.h"
#include "util/status.h"
#include "util/text.h"

enum { N_MODELS = 4, N_GETTERS = GLS_DG_COUNT, MAX_METHODS = N_MODELS * N_GETTERS };

/* The score of one model with one direction getter. */
typedef struct method_score {
    gls_model_kind model;
    gls_direction_getter dg;
    gls_score_result result;
    gls_score_bundle bundle[GLS_SCORE_MAX_BUNDLES];
    double seconds; /* time, s, to make ODFs and peaks, compile kernels, track and score */
} method_score;

/* The scores of all methods. */
typedef struct method_scores {
    method_score row[MAX_METHODS];
    int n;
    bool act; /* input: the phantom's tissue constrains streamlines */
    gls_grid grid;
    char renderer[256];
    gls_phantom *phantom; /* owns the names of bundles; destroy it at the end */
} method_scores;

/* State of `glslines score` without a tractogram. */
typedef struct methods_run {
    /* options that are the same for all methods */
    const gls_job_options *options;
    const char *const *given; /* parameters that the user gave */
    const gls_monitor *monitor;
    /* the built-in phantom */
    gls_phantom *phantom;
    gls_series series;    /* series of the phantom */
    gls_image *fa, *mask; /* both of the phantom; mask: voxels in which a model is fitted */
    gls_seeds *seeds;
    gls_regions *regions; /* the phantom's mask as a region */
    gls_tissue *tissue;   /* NULL: none */
    gls_sphere *sphere;
    /* opened for the run */
    gls_device *device;
    method_scores *scores;
} methods_run;

/* Makes the constraints of streamlines: the mask, and with act the phantom's tissue. */
static gls_status prepare_guide(methods_run *run)
{
    const gls_grid *grid = &run->phantom->dwi->grid;
    const gls_image *mask = run->phantom->mask;
    gls_image *five = NULL;
    gls_status status = gls_regions_create(grid, &run->regions);
    if (!status) status = gls_regions_add_image(run->regions, GLS_REGION_MASK, mask, "built-in phantom", mask);
    if (!status) status = gls_regions_complete(run->regions);
    if (status || !run->scores->act) return status;
    status = gls_phantom_five_tissues(run->phantom, &five);
    if (!status)
        status = gls_tissue_create(grid, five, "built-in phantom", run->options->act_rule,
                                   run->options->track.precision, &run->tissue);
    gls_image_destroy(five);
    return status;
}

/* Opens the device; makes phantom, FA, seeds, sphere and the constraints of streamlines. */
static gls_status prepare(methods_run *run, double snr)
{
    const gls_job_options *o = run->options;
    gls_phantom_params params = gls_phantom_params_default();
    params.snr = snr;
    params.seed = o->seed_seed;
    gls_status status = gls_device_open(o->device, o->api, &run->device);
    if (!status) status = gls_phantom_create(&params, &run->phantom);
    if (status) return status;
    run->series =
        (gls_series){.name = "built-in phantom", .dwi = run->phantom->dwi, .gradients = run->phantom->gradients};
    status = gls_tensor_fit(run->phantom->dwi, run->phantom->gradients, run->phantom->mask, NULL, &run->fa, NULL, NULL);
    if (!status) status = gls_image_create(&run->phantom->dwi->grid, 1, &run->mask);
    if (!status) /* use the same seeds for all methods */
        status = gls_seeds_create_random(run->phantom->roi, run->phantom->mask, o->nseeds, o->seed_seed, &run->seeds);
    if (!status) status = gls_sphere_create("default", &run->sphere);
    if (!status) status = prepare_guide(run);
    if (status) return status;
    run->scores->grid = run->fa->grid;
    snprintf(run->scores->renderer, sizeof run->scores->renderer, "%s", gls_device_get_info(run->device)->renderer);
    gls_log(GLS_LOG_INFO, "phantom: %d x %d x %d voxels, %zu volumes, %zu bundles; device: %s", run->fa->grid.dim[0],
            run->fa->grid.dim[1], run->fa->grid.dim[2], run->phantom->dwi->n_volumes, run->phantom->n_bundles,
            gls_device_get_info(run->device)->renderer);
    return GLS_OK;
}

/* Options of a method: given values, and the method's own defaults for all others. */
static gls_job_options options_of(const methods_run *run, gls_model_kind kind, gls_direction_getter dg)
{
    gls_job_options options = *run->options;
    /* memory for dg, model and the given parameters; NULL ends the list */
    const char *given[24] = {"dg", "model"};
    size_t n = 2;
    for (const char *const *name = run->given; *name && n < 23; name++) given[n++] = *name;
    options.model.model = kind;
    options.track.dg = dg;
    if (run->scores->act) options.act = "built-in phantom"; /* the text selects defaults of runs with tissue */
    gls_job_options_set_defaults(&options, given);
    return options;
}

/* Makes the source of ODFs for a getter from the fitted coefficients. */
static gls_status make_source(const methods_run *run, const gls_series_model *model, const gls_job_options *job,
                              gls_odf_source **source)
{
    gls_odf_options options = gls_odf_options_default();
    /* Set ODFs outside the stop map to 0, because the curves of parallel transport reach beyond its border. */
    if (job->track.dg == GLS_DG_PTT) {
        options.stop_map = run->fa;
        options.stop_threshold = job->track.stop_threshold;
    }
    return gls_odf_source_create_sh(model->sh, "the fit", GLS_SH_DESCOTEAUX07_LEGACY, GLS_BVEC_IMAGE, run->sphere,
                                    &options, source);
}

/* Tracks the seeds, with the score as sink. */
static gls_status track(methods_run *run, gls_tracker *tracker, gls_score *score)
{
    gls_track_result result;
    gls_monitor_begin(run->monitor, GLS_PHASE_TRACK);
    gls_status status = gls_tracker_run(tracker, run->seeds, &(gls_sink){.append = gls_score_add, .user = score},
                                        gls_monitor_track, (void *)run->monitor, &result);
    gls_monitor_end(run->monitor, GLS_PHASE_TRACK);
    return status;
}

/* Whether the getter goes through the whole mask, as in gls_track_files(): it ends streamlines by its own data, and the
 * user gave no threshold of FA. */
static bool goes_everywhere(const methods_run *run, gls_direction_getter dg)
{
    bool given = false;
    for (const char *const *name = run->given; *name; name++) given |= strcmp(*name, "fa-threshold") == 0;
    return gls_getter_row(dg)->own_end && !given;
}

/* Tracks and scores one method, and adds a row. */
static gls_status score_method(methods_run *run, const gls_series_model *model, gls_model_kind kind,
                               gls_direction_getter dg)
{
    const gls_job_options options = options_of(run, kind, dg);
    const gls_method method = gls_method_of(&options);
    gls_track_params params = gls_params_in_mm(&options, &run->fa->grid);
    gls_track_input input = {.stop_map = goes_everywhere(run, dg) ? run->phantom->mask : run->fa,
                             .sphere = run->sphere,
                             .regions = run->regions,
                             .tissue = run->tissue};
    method_score *row = &run->scores->row[run->scores->n];
    double start = gls_clock_seconds();
    gls_odf_source *source = NULL;
    gls_image *peaks = NULL;
    gls_tracker *tracker = NULL;
    gls_score *score = NULL;
    params.dg = dg;
    gls_log(GLS_LOG_INFO, "%s %s", gls_model_name(kind), gls_getter_name(dg));
    gls_status status = GLS_OK;
    if (method.series) {
        input.dwi = run->series.dwi;
        input.gradients = run->series.gradients;
        input.qball = model->qball;
    }
    if (method.odf) status = make_source(run, model, &options, &source);
    input.odf = source;
    if (!status) status = gls_find_peaks(&options, &method, source, GLS_BVEC_IMAGE, &peaks);
    input.peaks = peaks;
    if (!status) status = gls_score_create(run->phantom, NULL, &score);
    if (!status) status = gls_tracker_create(run->device, &params, &input, &tracker);
    if (!status) status = track(run, tracker, score);
    if (!status) {
        *row = (method_score){.model = kind, .dg = dg};
        gls_score_get(score, &row->result);
        memcpy(row->bundle, row->result.bundle, row->result.n_bundles * sizeof *row->bundle);
        /* the result of the score ends with the score: keep a copy of its bundles */
        row->result.bundle = row->bundle;
        row->seconds = gls_clock_seconds() - start;
        run->scores->n++;
    }
    gls_tracker_destroy(tracker);
    gls_score_destroy(score);
    gls_odf_source_destroy(source);
    gls_image_destroy(peaks);
    return status;
}

/* Whether the getter needs ODFs, or peaks that are found in them. */
static bool has_odf(int dg)
{
    const gls_getter_source source = gls_getter_row((gls_direction_getter)dg)->source;
    return source == GLS_FROM_ODF || source == GLS_FROM_PEAKS;
}

/* Makes the mask of the fit: voxels that the stop map admits for any of the getters of this model. */
static void choose_voxels(methods_run *run, gls_model_kind kind, const bool wanted[N_GETTERS])
{
    double threshold = INFINITY;
    for (int dg = 0; dg < N_GETTERS; dg++)
        if (has_odf(dg) && wanted[dg])
            threshold = fmin(threshold, options_of(run, kind, (gls_direction_getter)dg).track.stop_threshold);
    for (size_t v = 0; v < gls_grid_voxels(&run->fa->grid); v++)
        run->mask->data[v] = run->fa->data[v] >= threshold && run->phantom->mask->data[v] > 0;
}

/* Scores some methods of one model: with `everywhere` those that need a fit in all voxels of the mask, else those that
 * need it only where the stop map admits. Multi-tissue models are always fitted in all voxels of the mask. */
static gls_status score_part(methods_run *run, gls_model_kind kind, const bool asked[N_GETTERS], bool everywhere)
{
    bool wanted[N_GETTERS];
    for (int dg = 0; dg < N_GETTERS; dg++)
        wanted[dg] =
            asked[dg] && (kind == GLS_MODEL_MSMT || goes_everywhere(run, (gls_direction_getter)dg)) == everywhere;
    gls_model_options options = gls_model_options_default(kind);
    gls_series_model model = {.options = NULL};
    bool odf = false, any = false;
    for (int dg = 0; dg < N_GETTERS; dg++) {
        odf = odf || (has_odf(dg) && wanted[dg]);
        any = any || wanted[dg];
    }
    if (!any) return GLS_OK;
    /* take order and rule from the preset; they do not depend on the getter */
    const gls_model_options defaults = options_of(run, kind, GLS_DG_PROB).model;
    options.sh_order = defaults.sh_order;
    options.csd_rule = defaults.csd_rule;
    choose_voxels(run, kind, wanted);
    gls_status status = gls_series_model_init(&model, &options, &run->series);
    if (!status) status = gls_series_model_prepare(&model, run->phantom->mask, NULL);
    if (!status && odf)
        status = gls_series_model_fit(&model, everywhere ? run->phantom->mask : run->mask, NULL, run->monitor);
    for (int dg = 0; dg < N_GETTERS && !status; dg++)
        if (wanted[dg]) status = score_method(run, &model, kind, (gls_direction_getter)dg);
    gls_series_model_finish(&model);
    return status;
}

/* Scores each wanted pair of model and getter. options: the options of all runs, except model and getter; seed_seed
 * is for the noise and for the seeds. given: names of parameters whose values replace the defaults of each method; NULL
 * ends them. snr: of the phantom. */
static gls_status methods_score(const gls_job_options *options, const char *const *given, double snr,
                                const bool wanted[N_MODELS][N_GETTERS], const gls_monitor *monitor,
                                method_scores *scores)
{
    methods_run run = {.options = options, .given = given, .monitor = monitor, .scores = scores};
    scores->n = 0;
    scores->phantom = NULL;
    gls_status status = prepare(&run, snr);
    for (int part = 0; part < 2 * N_MODELS && !status; part++)
        status = score_part(&run, (gls_model_kind)(part / 2), wanted[part / 2], part % 2);
    gls_device_close(run.device);
    gls_image_destroy(run.fa);
    gls_image_destroy(run.mask);
    gls_seeds_destroy(run.seeds);
    gls_regions_destroy(run.regions);
    gls_tissue_destroy(run.tissue);
    gls_sphere_destroy(run.sphere);
    /* names of bundles in the rows point into the phantom, which must live as long */
    scores->phantom = run.phantom;
    return status;
}

/* Name of the model; "" if the getter uses no model. */
static const char *method_model(const method_score *score)
{
    const gls_getter_source source = gls_getter_row(score->dg)->source;
    return source == GLS_FROM_SERIES || source == GLS_FROM_NOTHING ? "" : gls_model_name(score->model);
}

static void add_row(cJSON *methods, const method_score *row)
{
    cJSON *method = cJSON_CreateObject();
    cJSON_AddItemToArray(methods, method);
    gls_json_text(method, "model", *method_model(row) ? method_model(row) : NULL);
    cJSON_AddStringToObject(method, "dg", gls_getter_name(row->dg));
    gls_score_add_counts(method, &row->result);
    gls_json_double(method, "seconds", row->seconds);
    gls_score_add_bundles(method, &row->result, row->bundle);
}

/* Adds to the JSON the rules of scoring, the grid, the device and an entry for each method. */
static void method_scores_add(cJSON *root, const method_scores *scores)
{
    gls_score_options rules = gls_score_options_default();
    cJSON *scoring = cJSON_AddObjectToObject(root, "scoring");
    gls_json_uint(scoring, "end_distance_voxels", (uint64_t)rules.end_distance);
    gls_json_uint(scoring, "route_distance_voxels", (uint64_t)rules.route_distance);
    gls_sidecar_add_grid(root, &scores->grid);
    cJSON_AddStringToObject(root, "device", scores->renderer);
    cJSON *methods = cJSON_AddArrayToObject(root, "methods");
    for (int i = 0; i < scores->n; i++) add_row(methods, &scores->row[i]);
}

/* Values of --model. USUAL: the models that users combine with each getter, and with which parallel transport does not
 * take minutes; ALL: all models; FIRST_MODEL and larger values: one model, FIRST_MODEL plus its gls_model_kind. */
enum { USUAL, ALL, FIRST_MODEL };

/* Whether a model and a getter are scored together: the options ask for them, by name or as usual, and the getter can
 * use the model. */
static bool wanted(const gls_score_cli *o, int model, int dg)
{
    if (o->model >= FIRST_MODEL && o->model - FIRST_MODEL != model) return false;
    if (o->dg && o->dg - 1 != dg) return false;
    const gls_getter_source source = gls_getter_row((gls_direction_getter)dg)->source;
    /* without a named getter, particle filtering is scored with the getters that have it */
    if (o->pft && o->dg == 0 && !gls_getter_uses(gls_getter_row((gls_direction_getter)dg), GLS_FOR_PROB_DET))
        return false;
    if (source == GLS_FROM_QBALL) return model <= GLS_MODEL_CSA;
    /* a getter without a model is scored once, and not at all if its streamlines are single points */
    if (source == GLS_FROM_SERIES || source == GLS_FROM_NOTHING)
        return model == (o->model >= FIRST_MODEL ? o->model - FIRST_MODEL : GLS_MODEL_CSD) &&
               !gls_getter_row((gls_direction_getter)dg)->one_point;
    return o->model != USUAL || model == GLS_MODEL_CSD;
}

/* Sets the options of the runs and scores the wanted methods. */
static gls_status score(const gls_tract_run *run, const gls_score_cli *o, method_scores *scores)
{
    gls_job_options job = gls_job_options_default();
    bool chosen[N_MODELS][N_GETTERS];
    for (int model = 0; model < N_MODELS; model++)
        for (int dg = 0; dg < N_GETTERS; dg++) chosen[model][dg] = wanted(o, model, dg);
    const char *given[8] = {NULL};
    size_t n = 0;
    if (o->probe_length.value != 0.5 || o->probe_length.mm) given[n++] = "probe-length";
    if (o->min_radius.value > 0) given[n++] = "min-radius-of-curvature";
    if (o->csd_rule) given[n++] = "csd-rule";
    if (o->sh_order > 0) given[n++] = "sh-order";
    if (o->max_angle > 0) given[n++] = "max-angle";
    if (o->min_length >= 0) given[n++] = "min-length";
    scores->act = o->act || o->pft;
    if (scores->act || o->fa_threshold >= 0) given[n++] = "fa-threshold";
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
    job.track.pft = o->pft;
    job.act_rule = o->pft ? GLS_TISSUE_RULE_CMC : GLS_TISSUE_RULE_ACT;
    job.track.min_length = o->min_length;
    job.track.probe_length = o->probe_length.value;
    job.in_mm.probe_length = o->probe_length.mm;
    job.track.min_radius_of_curvature = o->min_radius.value;
    job.in_mm.min_radius_of_curvature = o->min_radius.mm;
    return methods_score(&job, given, o->snr, (const bool(*)[N_GETTERS])chosen, run->monitor, scores);
}

static void show_bundles(gls_text *text, const method_score *row)
{
    gls_text_printf(text, "\n%s%s%s\n%-30s %8s %7s %7s %7s\n", method_model(row), *method_model(row) ? " " : "",
                    gls_getter_name(row->dg), "bundle", "VS", "OL %", "OR %", "f1 %");
    for (size_t b = 0; b < row->result.n_bundles; b++) {
        const gls_score_bundle *s = &row->bundle[b];
        gls_text_printf(text, "%-30s %8" PRIu64 " %7.1f %7.1f %7.1f\n", s->name, s->valid, 100 * s->overlap,
                        100 * s->overreach, 100 * s->f1);
    }
}

/* Appends the table of methods to `text`; with `bundles` also a table of bundles for each method. */
static void show(gls_text *text, const method_scores *scores, bool bundles)
{
    gls_text_printf(text, "%-5s %-10s %11s %6s %6s %6s %6s %6s %4s %6s %6s %6s %8s\n", "model", "dg", "streamlines",
                    "VS %", "WPC %", "IC %", "NC %", "VB", "IB", "OL %", "OR %", "f1 %", "time s");
    for (int i = 0; i < scores->n; i++) {
        const method_score *row = &scores->row[i];
        const gls_score_result *r = &row->result;
        double percent = r->streamlines ? 100 / (double)r->streamlines : 0;
        gls_text_printf(text,
                        "%-5s %-10s %11" PRIu64 " %6.1f %6.1f %6.1f %6.1f %3" PRIu64 "/%-2zu %4" PRIu64
                        " %6.1f %6.1f %6.1f %8.1f\n",
                        method_model(row), gls_getter_name(row->dg), r->streamlines, percent * (double)r->valid,
                        percent * (double)r->wrong_path, percent * (double)r->invalid,
                        percent * (double)r->no_connection, r->valid_bundles, r->n_bundles, r->invalid_bundles,
                        100 * r->mean_overlap, 100 * r->mean_overreach, 100 * r->mean_f1, row->seconds);
    }
    gls_text_puts(text, "VS valid streamlines, WPC wrong path, IC invalid connections, NC no connection; VB valid "
                        "bundles, IB invalid pairs of end regions;\n"
                        "OL overlap, OR overreach and f1: means over all bundles\n");
    for (int i = 0; i < scores->n && bundles; i++) show_bundles(text, &scores->row[i]);
}

/* Runs `glslines score` without a tractogram. */
static gls_status tract_score_phantom(gls_tract_run *job, const gls_score_cli *o)
{
    gls_text text = {0};
    if (o->truth || o->against)
        return gls_fail(GLS_ERR_ARGUMENT, "--truth and --against: need TRACKS, the tractogram to score");
    if (o->sh_order % 2) return gls_fail(GLS_ERR_ARGUMENT, "--sh-order: %d is odd: must be even, 2 to 12", o->sh_order);
    if (o->model - FIRST_MODEL > GLS_MODEL_CSA && o->dg > 0 &&
        gls_getter_row((gls_direction_getter)(o->dg - 1))->source == GLS_FROM_QBALL)
        return gls_fail(GLS_ERR_ARGUMENT, "--dg boot: works only with --model opdt or csa");
    if (o->dg > 0 && gls_getter_row((gls_direction_getter)(o->dg - 1))->one_point)
        return gls_fail(GLS_ERR_ARGUMENT, "--dg %s: makes no step, so that nothing is scored: take any other getter",
                        gls_getter_name((gls_direction_getter)(o->dg - 1)));
    method_scores *scores = calloc(1, sizeof *scores);
    gls_status status = scores ? GLS_OK : gls_no_memory();
    if (!status) status = score(job, o, scores);
    if (!status) {
        show(&text, scores, o->bundles);
        method_scores_add(job->root, scores);
        job->printed = gls_text_take(&text);
    }
    if (scores) gls_phantom_destroy(scores->phantom);
    free(scores);
    return status;
}

gls_status gls_tract_score(gls_tract_run *run, const void *options, const char *const *file, size_t n)
{
    const gls_score_cli *o = options;
    gls_status status = gls_tract_run_reads_all(
        run, GLS_PATHS(n > 0 ? file[0] : NULL, o->truth, o->template_image, o->against, run->options.reference));
    if (!status) status = gls_tract_run_writes_json(run, o->json);
    if (!status) status = n > 0 ? gls_score_tracks(run, o, file[0]) : tract_score_phantom(run, o);
    return status ? status : gls_tract_run_store_json(run, o->json);
}

gls_score_cli gls_score_cli_default(void)
{
    gls_score_cli o = {
#define ROW GLS_ROW_DEFAULT
#include "tools/score.def"
#undef ROW
    };
    o.snr = gls_phantom_params_default().snr;
    return o;
}
