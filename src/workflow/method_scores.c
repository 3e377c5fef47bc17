/* Tracks the built-in phantom with several models and direction getters, and scores each result. */
#include "workflow/method_scores.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "track/track_params.h"
#include "util/clock.h"
#include "util/status.h"
#include "workflow/devices.h"
#include "workflow/fit_model.h"
#include "workflow/job_inputs.h"
#include "workflow/run_params.h"

/* State of `glslines score` without a tractogram. */
typedef struct methods_run {
    /* options of the run, as far as they hold for all methods */
    const gls_job_options *options;
    const char *const *given; /* parameters that the user gave */
    const gls_monitor *monitor;
    /* the built-in phantom */
    gls_phantom *phantom;
    /* its images */
    gls_series series;
    gls_image *fa, *mask; /* mask: voxels of the phantom's mask above the stop threshold */
    gls_seeds *seeds;
    gls_regions *regions; /* the phantom's mask as a region */
    gls_tissue *tissue;   /* NULL: none */
    gls_sphere *sphere;
    /* opened for the run */
    gls_device *device;
    /* receives the rows */
    gls_method_scores *scores;
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
        status = gls_tissue_create(grid, five, "built-in phantom", GLS_TISSUE_RULE_ACT, run->options->track.precision,
                                   &run->tissue);
    gls_image_destroy(five);
    return status;
}

/* Makes phantom, stop map, seeds and directions. */
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
    if (!status) /* the same seeds for all methods */
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
    /* room for dg, model and the given parameters; NULL ends the list */
    const char *given[24] = {"dg", "model"};
    size_t n = 2;
    for (const char *const *name = run->given; *name && n < 23; name++) given[n++] = *name;
    options.model.model = kind;
    options.track.dg = dg;
    if (run->scores->act) options.act = "built-in phantom"; /* the text selects defaults of runs with tissue */
    gls_job_options_settle(&options, given);
    return options;
}

/* Makes the source of ODFs for a getter from the fitted coefficients. */
static gls_status make_source(const methods_run *run, const gls_model *model, const gls_job_options *job,
                              gls_odf_source **source)
{
    gls_odf_options options = gls_odf_options_default();
    /* Set ODFs outside the stop map to 0, because the curves of parallel transport reach beyond its border. */
    if (gls_getter_has(job->track.dg, GLS_FOR_PTT)) {
        options.stop_map = run->fa;
        options.stop_threshold = job->track.stop_threshold;
    }
    return gls_odf_source_create_sh(model->sh, "the fit", GLS_SH_DESCOTEAUX07_LEGACY, GLS_BVEC_IMAGE, run->sphere,
                                    &options, source);
}

/* Hands the progress of tracking to the monitor. Returns whether to go on. */
static bool track_step(void *user, uint64_t seeds_done, uint64_t seeds_total, uint64_t streamlines, uint64_t points)
{
    gls_progress progress = {.phase = GLS_PHASE_TRACK,
                             .done = seeds_done,
                             .total = seeds_total,
                             .streamlines = streamlines,
                             .points = points};
    return gls_monitor_step(user, &progress);
}

/* Tracks the seeds, with the score as sink. */
static gls_status track(methods_run *run, gls_tracker *tracker, gls_score *score)
{
    gls_track_result result;
    gls_monitor_begin(run->monitor, GLS_PHASE_TRACK);
    gls_status status = gls_tracker_run(tracker, run->seeds, &(gls_sink){.append = gls_score_add, .user = score},
                                        track_step, (void *)run->monitor, &result);
    gls_monitor_end(run->monitor, GLS_PHASE_TRACK);
    return status;
}

/* Whether the user gave a value to this option. */
static bool is_given(const methods_run *run, const char *option)
{
    for (const char *const *name = run->given; *name; name++)
        if (!strcmp(*name, option)) return true;
    return false;
}

/* Whether the getter goes through the whole mask, as in gls_track_files(): it ends by the FOD alone, and no threshold
 * is given. */
static bool goes_everywhere(const methods_run *run, gls_direction_getter dg)
{
    return gls_getter_ends_itself(dg) && !is_given(run, "fa-threshold");
}

/* Tracks and scores one method, and adds a row. */
static gls_status score_method(methods_run *run, const gls_model *model, gls_model_kind kind, gls_direction_getter dg)
{
    const gls_job_options options = options_of(run, kind, dg);
    gls_track_params params = gls_params_in_mm(&options, &run->fa->grid);
    gls_track_input input = {.stop_map = goes_everywhere(run, dg) ? run->phantom->mask : run->fa,
                             .sphere = run->sphere,
                             .regions = run->regions,
                             .tissue = run->tissue};
    gls_method_score *row = &run->scores->row[run->scores->n];
    double start = gls_clock_seconds();
    gls_odf_source *source = NULL;
    gls_image *peaks = NULL;
    gls_tracker *tracker = NULL;
    gls_score *score = NULL;
    params.dg = dg;
    gls_log(GLS_LOG_INFO, "%s %s", gls_model_name(kind), gls_getter_name(dg));
    gls_status status = GLS_OK;
    if (gls_needs_series(&options)) {
        /* bootstrap: the volumes of its model; tensor getters: the whole series */
        input.dwi = model->qball ? gls_series_model_dwi(model) : run->series.dwi;
        input.gradients = model->qball ? gls_series_model_gradients(model) : run->series.gradients;
        input.qball = model->qball;
    }
    if (gls_needs_odf(&options)) status = make_source(run, model, &options, &source);
    input.odf = source;
    if (!status) status = gls_find_peaks(&options, source, GLS_BVEC_IMAGE, &peaks);
    input.peaks = peaks;
    if (!status) status = gls_score_create(run->phantom, NULL, &score);
    if (!status) status = gls_tracker_create(run->device, &params, &input, &tracker);
    if (!status) status = track(run, tracker, score);
    if (!status) {
        *row = (gls_method_score){.model = kind, .dg = dg};
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
    const gls_getter_source source = gls_getter_source_of((gls_direction_getter)dg);
    return source == GLS_FROM_ODF || source == GLS_FROM_PEAKS;
}

/* Makes the mask of the fit: voxels that the stop map admits for any of the getters of this model. */
static void choose_voxels(methods_run *run, gls_model_kind kind, const bool wanted[GLS_N_GETTERS])
{
    double threshold = INFINITY;
    for (int dg = 0; dg < GLS_N_GETTERS; dg++)
        if (has_odf(dg) && wanted[dg])
            threshold = fmin(threshold, options_of(run, kind, (gls_direction_getter)dg).track.stop_threshold);
    for (size_t v = 0; v < gls_grid_voxels(&run->fa->grid); v++)
        run->mask->data[v] = run->fa->data[v] >= threshold && run->phantom->mask->data[v] > 0;
}

/* Scores the methods of one model that need the same voxels: all, or those that the stop map admits. Multi-tissue
 * models are always fitted in all voxels. */
static gls_status score_part(methods_run *run, gls_model_kind kind, const bool asked[GLS_N_GETTERS], bool everywhere)
{
    bool wanted[GLS_N_GETTERS];
    /* getters that go everywhere are scored with a fit of all voxels, the others with a fit of fewer voxels, which is
     * faster */
    for (int dg = 0; dg < GLS_N_GETTERS; dg++)
        wanted[dg] =
            asked[dg] && (kind == GLS_MODEL_MSMT || goes_everywhere(run, (gls_direction_getter)dg)) == everywhere;
    gls_model_options options = gls_model_options_default(kind);
    gls_model model = {.options = NULL};
    bool odf = false;
    bool any = false;
    for (int dg = 0; dg < GLS_N_GETTERS; dg++) {
        odf = odf || (has_odf(dg) && wanted[dg]);
        any = any || wanted[dg];
    }
    if (!any) return GLS_OK;
    /* order and rule by the preset; the getter does not matter for them */
    const gls_model_options defaults = options_of(run, kind, GLS_DG_PROB).model;
    options.sh_order = defaults.sh_order;
    options.csd_rule = defaults.csd_rule;
    choose_voxels(run, kind, wanted);
    gls_status status = gls_series_model_init(&model, &options, &run->series);
    if (!status) status = gls_series_model_prepare(&model, run->phantom->mask);
    if (!status && odf)
        status = gls_series_model_fit(&model, everywhere ? run->phantom->mask : run->mask, NULL, run->monitor);
    for (int dg = 0; dg < GLS_N_GETTERS && !status; dg++)
        if (wanted[dg]) status = score_method(run, &model, kind, (gls_direction_getter)dg);
    gls_series_model_finish(&model);
    return status;
}

/* Scores all methods of one model, with one fit for each set of voxels. */
static gls_status score_model(methods_run *run, gls_model_kind kind, const bool wanted[GLS_N_GETTERS])
{
    gls_status status = score_part(run, kind, wanted, false);
    return status ? status : score_part(run, kind, wanted, true);
}

gls_status gls_methods_score(const gls_job_options *options, const char *const *given, double snr,
                             const bool wanted[GLS_N_MODELS][GLS_N_GETTERS], const gls_monitor *monitor,
                             gls_method_scores *scores)
{
    methods_run run = {.options = options, .given = given, .monitor = monitor, .scores = scores};
    scores->n = 0;
    scores->phantom = NULL;
    gls_status status = prepare(&run, snr);
    for (int kind = 0; kind < GLS_N_MODELS && !status; kind++)
        status = score_model(&run, (gls_model_kind)kind, wanted[kind]);
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

const char *gls_method_model(const gls_method_score *score)
{
    const gls_getter_source source = gls_getter_source_of(score->dg);
    return source == GLS_FROM_SERIES || source == GLS_FROM_NOTHING ? "" : gls_model_name(score->model);
}

void gls_method_scores_finish(gls_method_scores *scores)
{
    gls_phantom_destroy(scores->phantom);
    scores->phantom = NULL;
}
