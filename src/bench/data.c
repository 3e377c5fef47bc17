/* The data of the benchmark: a phantom of the size of a brain, and the model that each getter needs. */
#include "bench/data.h"

#include <math.h>

#include "bench/bench.h"
#include "dwi/fit_cache.h"
#include "dwi/fit_model.h"
#include "image/reorient.h"
#include "record/run_params.h"
#include "run/anatomy.h"
#include "run/job_inputs.h"
#include "util/clock.h"
#include "util/status.h"

enum { N_DIRECTIONS = 150, N_B0 = 10 }; /* volumes of the phantom */

static const int default_shape[3] = {81, 106, 76};

/* Makes a phantom of the requested or the default size. The series and masks in run->data belong to this phantom. */
static gls_status make_phantom(bench_run *run)
{
    gls_phantom_params params = gls_phantom_params_default();
    gls_job_inputs *in = &run->data;
    for (int a = 0; a < 3; a++) params.shape[a] = run->options->shape[0] ? run->options->shape[a] : default_shape[a];
    params.n_directions = N_DIRECTIONS;
    params.n_b0 = N_B0;
    params.ground_truth = false;
    gls_log_mute_info(true);
    double start = gls_clock_seconds();
    gls_status status = gls_phantom_create(&params, &in->phantom);
    run->seconds_phantom = gls_clock_seconds() - start;
    gls_log_mute_info(false);
    if (status) return status;
    in->series =
        (gls_series){.name = "benchmark phantom", .dwi = in->phantom->dwi, .gradients = in->phantom->gradients};
    in->phantom->dwi = NULL; /* the series owns its images */
    in->phantom->gradients = NULL;
    in->mask = in->phantom->mask;
    in->roi = in->phantom->roi;
    in->grid = &in->series.dwi->grid;
    in->voxel_mm = fmin(in->grid->voxel_size[0], fmin(in->grid->voxel_size[1], in->grid->voxel_size[2]));
    gls_log(GLS_LOG_INFO, "phantom: %d x %d x %d voxels, %zu volumes", in->grid->dim[0], in->grid->dim[1],
            in->grid->dim[2], in->series.dwi->n_volumes);
    return GLS_OK;
}

/* Makes the stop map as `track` does: FA, and 0 outside the mask. */
static gls_status make_stop_map(bench_run *run)
{
    gls_job_inputs *in = &run->data;
    double start = gls_clock_seconds();
    gls_status status = gls_series_model_init(&in->model, &run->options->model, &in->series);
    if (!status) status = gls_series_model_fa(&in->model, in->mask, NULL, NULL, &in->stop_map, NULL);
    run->seconds_fa = gls_clock_seconds() - start;
    return status;
}

gls_status bench_data_make(bench_run *run)
{
    gls_job_inputs *in = &run->data;
    gls_status status = make_phantom(run);
    if (!status) status = gls_image_count_voxels(in->mask, "benchmark phantom", "mask", &in->mask_voxels);
    if (!status) status = gls_image_count_voxels(in->roi, "benchmark phantom", "seed mask", &in->seed_voxels);
    if (!status) status = make_stop_map(run);
    if (status) return status;
    run->params = gls_track_params_default();
    gls_track_params_scale(&run->params, in->voxel_mm);
    run->params.precision = run->options->precision;
    run->params.batch_seeds = run->options->chunk_size;
    status = gls_seeds_create_random(in->roi, in->mask, run->nseeds, 0, &in->seeds);
    if (!status) status = gls_sphere_create(run->job.sphere, &in->sphere);
    if (!status) status = gls_job_inputs_read_regions(in, &run->job);
    return status;
}

gls_status bench_model_fit(bench_run *run, int dg, bench_model *model)
{
    gls_job_inputs one = run->data; /* shares all data of the run but the model, the ODFs and the peaks */
    gls_job_options options = run->job;
    options.track.dg = (gls_direction_getter)dg;
    one.method = gls_method_of(&options);
    one.odf = NULL;
    one.peaks = NULL;
    *model = (bench_model){.odf = NULL};
    gls_status status = gls_series_model_init(&one.model, &run->options->model, &run->data.series);
    double start = gls_clock_seconds();
    if (!status) status = gls_job_inputs_fit(&one, &options, run->monitor);
    model->seconds_fit = gls_clock_seconds() - start;
    model->model = one.model;
    model->odf = one.odf;
    model->peaks = one.peaks;
    return status;
}

void bench_model_finish(bench_model *model)
{
    gls_odf_source_destroy(model->odf);
    gls_image_destroy(model->peaks);
    gls_series_model_finish(&model->model);
    model->odf = NULL;
    model->peaks = NULL;
}
