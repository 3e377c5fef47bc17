/* The benchmark: measures each getter that is asked for, with each gls_mapping and on each device that are asked for.
 * On request also writes its data as files for other programs. */
#include <cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/all.h"
#include "bench/bench.h"
#include "bench/ceilings.h"
#include "bench/measure.h"
#include "dwi/fit_cache.h"
#include "dwi/fit_model.h"
#include "image/image_write.h"
#include "image/reorient.h"
#include "record/run.h"
#include "record/run_params.h"
#include "run/anatomy.h"
#include "run/job_inputs.h"
#include "util/clock.h"
#include "util/json_text.h"
#include "util/maths.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text.h"

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

/* Makes phantom, stop map, seeds, sphere and regions, and sets the parameters of tracking. */
static gls_status make_data(bench_run *run)
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

/* Fits the model of one direction getter as `track` does. Free with finish_model(). */
static gls_status fit_model(bench_run *run, int dg, bench_model *model)
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

/* Frees the model. The data stay with the run. */
static void finish_model(bench_model *model)
{
    gls_odf_source_destroy(model->odf);
    gls_image_destroy(model->peaks);
    gls_series_model_finish(&model->model);
    model->odf = NULL;
    model->peaks = NULL;
}

/* A folder of outputs, whose files all get their names at the same time. */
typedef struct peer_folder {
    const char *path;
    bool force;
    gls_output_group group;
} peer_folder;

/* Path of a file of the folder, for the caller to free. NULL: out of memory, as gls_last_error() says. */
static char *path_in(const peer_folder *to, const char *name)
{
    char *path = NULL;
    if (gls_asprintf(&path, "%s/%s", to->path, name) < 0) gls_error_set("out of memory");
    return path;
}

static gls_status write_bytes(peer_folder *to, const char *name, const void *data, size_t bytes)
{
    char *path = path_in(to, name);
    gls_status status = path ? gls_file_write(path, to->force, &to->group, data, bytes) : GLS_ERR_MEMORY;
    free(path);
    return status;
}

static gls_status write_image(peer_folder *to, const char *name, const gls_image *image)
{
    char *path = path_in(to, name);
    gls_status status =
        path ? gls_image_write_grouped(path, to->force, &to->group, image, GLS_IMAGE_FLOAT32) : GLS_ERR_MEMORY;
    free(path);
    return status;
}

/* Writes n rows of numbers as NumPy's array file of version 1.0: a header of 128 bytes, then the doubles. */
static gls_status write_array(peer_folder *to, const char *name, const double *value, size_t n, size_t columns)
{
    enum { HEADER = 128, MAGIC = 10 };
    const size_t bytes = n * columns * sizeof *value;
    char *file = malloc(HEADER + bytes);
    if (!file) return gls_fail(GLS_ERR_MEMORY, "out of memory for %s", name);
    memset(file, ' ', HEADER);
    memcpy(file, "\x93NUMPY\x01\x00", 8);
    file[8] = HEADER - MAGIC; /* number of bytes of the header that follow, as two bytes, the low one first */
    file[9] = 0;
    int length = snprintf(file + MAGIC, HEADER - MAGIC,
                          "{'descr': '<f8', 'fortran_order': False, 'shape': (%zu, %zu), }", n, columns);
    file[MAGIC + length] = ' '; /* a blank replaces the NUL that snprintf() wrote */
    file[HEADER - 1] = '\n';
    memcpy(file + HEADER, value, bytes);
    gls_status status = write_bytes(to, name, file, HEADER + bytes);
    free(file);
    return status;
}

/* Writes seeds.npy: for each seed a row with its voxel coordinates. */
static gls_status write_seeds(peer_folder *to, const bench_run *run)
{
    const size_t n = (size_t)run->nseeds;
    float(*point)[3] = malloc(n * sizeof *point);
    double *row = malloc(3 * n * sizeof *row);
    gls_status status = point && row ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for the seeds");
    if (!status) {
        gls_seeds_get(run->data.seeds, 0, n, point);
        for (size_t i = 0; i < 3 * n; i++) row[i] = point[i / 3][i % 3];
        status = write_array(to, "seeds.npy", row, n, 3);
    }
    free(point);
    free(row);
    return status;
}

/* Writes gradients.npy: for each volume a row of b-value and direction. */
static gls_status write_gradients(peer_folder *to, const gls_gradients *g)
{
    double *row = malloc(4 * g->n * sizeof *row);
    if (!row) return gls_fail(GLS_ERR_MEMORY, "out of memory for the gradient table");
    for (size_t i = 0; i < g->n; i++) {
        row[4 * i] = g->bval[i];
        memcpy(row + 4 * i + 1, g->bvec[i], 3 * sizeof *row);
    }
    gls_status status = write_array(to, "gradients.npy", row, g->n, 4);
    free(row);
    return status;
}

/* Writes 1 where the image is above the threshold, and 0 elsewhere. */
static gls_status write_mask(peer_folder *to, const char *name, const gls_image *image, double threshold)
{
    gls_image *mask;
    gls_status status = gls_image_create(&image->grid, 1, &mask);
    if (status) return status;
    const size_t n = gls_grid_voxels(&image->grid);
    for (size_t i = 0; i < n; i++) mask->data[i] = image->data[i] > threshold;
    status = write_image(to, name, mask);
    gls_image_destroy(mask);
    return status;
}

/* MRtrix3's threshold is an amplitude; pmf_threshold is a part of a voxel's largest amplitude. *cutoff is the
 * amplitude that means the same as pmf_threshold in the median seed voxel: pmf_threshold times the median, over the
 * seed voxels, of the largest amplitude. */
static gls_status find_cutoff(const bench_run *run, const gls_odf_source *odf, double *cutoff)
{
    const gls_grid *grid = run->data.grid;
    const size_t plane = (size_t)grid->dim[0] * (size_t)grid->dim[1];
    size_t n = 0;
    float *rows = malloc(odf->sphere->n * plane * sizeof *rows);
    double *largest = malloc(run->data.seed_voxels * sizeof *largest);
    gls_status status = rows && largest ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for amplitudes");
    for (int32_t z = 0; !status && z < grid->dim[2]; z++) {
        status = gls_odf_slice(odf, z, rows);
        for (size_t i = 0; !status && i < plane; i++) {
            if (!(run->data.roi->data[(size_t)z * plane + i] > 0) || n == run->data.seed_voxels) continue;
            float top = 0;
            for (size_t v = 0; v < odf->sphere->n; v++) top = fmaxf(top, rows[v * plane + i]);
            largest[n++] = top;
        }
    }
    *cutoff = !status && n > 0 ? run->params.pmf_threshold * gls_median(largest, n) : 0;
    free(rows);
    free(largest);
    return status;
}

/* Writes to job.json how the benchmark tracks, with lengths in voxels. */
static gls_status write_job(peer_folder *to, const bench_run *run, double cutoff)
{
    const gls_track_params *p = &run->params;
    const gls_model_options *model = &run->options->model;
    const double voxel = run->data.voxel_mm;
    cJSON *root = cJSON_CreateObject(), *list = root ? cJSON_AddArrayToObject(root, "dg") : NULL;
    for (int i = 0; list && i < run->options->n_dg; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(gls_getter_name((gls_direction_getter)run->options->dg[i])));
    if (root) {
        const struct {
            const char *key;
            double value;
        } number[] = {{"sh_order", model->sh_order},
                      {"sm_lambda", model->sm_lambda},
                      {"min_signal", model->min_signal},
                      {"b0_threshold", run->data.series.gradients->b0_threshold},
                      {"voxel_mm", voxel},
                      {"step_size_voxels", p->step_size / voxel},
                      {"max_angle", p->max_angle},
                      {"fa_threshold", p->stop_threshold},
                      {"pmf_threshold", p->pmf_threshold},
                      {"mrtrix_cutoff", cutoff},
                      {"relative_peak_threshold", p->relative_peak_threshold},
                      {"min_separation_angle", p->min_separation_angle},
                      {"probe_length_voxels", p->probe_length / voxel},
                      {"probe_quality", p->probe_quality},
                      {"ptt_substep_voxels", p->ptt_substep / voxel},
                      {"ptt_substeps", fmax(1, rint(p->step_size / p->ptt_substep))}};
        cJSON_AddStringToObject(root, "model", gls_model_name(model->model));
        for (size_t i = 0; i < sizeof number / sizeof *number; i++)
            gls_json_double(root, number[i].key, number[i].value);
    }
    char *text = root ? gls_json_print(root) : NULL;
    gls_status status = text ? write_bytes(to, "job.json", text, strlen(text)) : gls_no_memory();
    free(text);
    cJSON_Delete(root);
    return status;
}

/* Writes ODFs as SH coefficients in two bases: as they were fitted, and as MRtrix3 reads them. */
static gls_status write_odfs(peer_folder *to, const bench_model *model)
{
    gls_image *fod = NULL;
    gls_status status = write_image(to, "sh.nii", model->model.sh);
    if (!status)
        status = gls_odf_convert_sh(model->model.sh, "fit", GLS_SH_DESCOTEAUX07_LEGACY, GLS_BVEC_IMAGE,
                                    GLS_SH_TOURNIER07, GLS_BVEC_WORLD, &fod);
    if (!status) status = write_image(to, "fod.nii", fod);
    gls_image_destroy(fod);
    return status;
}

/* Writes all that a program needs for the same job: settings, seeds, images and models. */
static gls_status write_files(peer_folder *to, const bench_run *run, const bench_model *model)
{
    const gls_job_inputs *in = &run->data;
    double cutoff;
    gls_status status = find_cutoff(run, model->odf, &cutoff);
    if (!status) status = write_job(to, run, cutoff);
    if (!status) status = write_seeds(to, run);
    if (!status) status = write_array(to, "sphere.npy", in->sphere->vertex[0], in->sphere->n, 3);
    if (!status) status = write_gradients(to, in->series.gradients);
    if (!status) status = write_image(to, "dwi.nii", in->series.dwi);
    if (!status) status = write_image(to, "mask.nii", in->mask);
    if (!status) status = write_image(to, "seed_mask.nii", in->roi);
    if (!status) status = write_image(to, "fa.nii", in->stop_map);
    if (!status) status = write_mask(to, "track_mask.nii", in->stop_map, run->params.stop_threshold);
    if (!status) status = write_odfs(to, model);
    return status;
}

/* Checks before anything is measured that write_data() can write its files. GLS_ERR_OUTPUT: a file exists and
 * options->force is false, or the path is no folder in which files can be written. */
static gls_status check_data(const bench_options *options)
{
    static const char *const names[] = {"dwi.nii",    "gradients.npy",  "mask.nii",  "seed_mask.nii",
                                        "fa.nii",     "track_mask.nii", "seeds.npy", "fod.nii",
                                        "sphere.npy", "sh.nii",         "job.json"};
    const peer_folder to = {.path = options->write_data};
    struct stat st;
    if (stat(to.path, &st) != 0) return gls_place_check(to.path, false, NULL, NULL, 0);
    if (!S_ISDIR(st.st_mode)) return gls_fail(GLS_ERR_OUTPUT, "%s: is not a folder; give another name", to.path);
    gls_status status = GLS_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names && !status; i++) {
        char *path = path_in(&to, names[i]);
        status = path ? gls_place_check(path, options->force, NULL, NULL, 0) : GLS_ERR_MEMORY;
        free(path);
    }
    return status;
}

/* Writes the data of the benchmark to the folder run->options->write_data: dwi.nii, gradients.npy (b, x, y, z along the
 * voxel axes), mask.nii, seed_mask.nii, fa.nii, track_mask.nii (FA above the threshold), seeds.npy (voxels),
 * sphere.npy, sh.nii (descoteaux07, legacy, voxel axes), fod.nii (tournier07, scanner axes), job.json. */
static gls_status write_data(bench_run *run)
{
    peer_folder to = {.path = run->options->write_data, .force = run->options->force};
    bench_model model = {.odf = NULL};
    gls_status status = gls_output_group_make_folder(&to.group, to.path);
    if (!status) status = fit_model(run, GLS_DG_PROB, &model);
    if (!status) status = write_files(&to, run, &model);
    status = gls_output_group_end(&to.group, status);
    finish_model(&model);
    return status;
}

/* --- The benchmark. */

enum { SEEDS_HARDWARE = 100000, SEEDS_SOFTWARE = 5000 };

/* Opens the devices in the order of the command line. Chooses the number of seeds unless the user gave it: the smaller
 * default if any device is a software renderer, so that all devices track the same seeds. */
static gls_status open_devices(bench_run *run)
{
    bool software = false;
    for (int i = 0; i < run->options->n_devices; i++) {
        bench_device *d = &run->device[i];
        gls_status status = gls_device_open(run->options->device[i], run->options->api, &d->device);
        if (status) return status;
        d->info = gls_device_get_info(d->device);
        software = software || d->info->software;
        gls_log(GLS_LOG_INFO, "device: %s, %s", d->info->renderer, d->info->version);
    }
    run->nseeds = run->options->nseeds ? run->options->nseeds : software ? SEEDS_SOFTWARE : SEEDS_HARDWARE;
    return GLS_OK;
}

/* Makes a temporary folder, run->directory, for the tractograms whose writing is timed; none with --no-write. */
static gls_status make_directory(bench_run *run)
{
    const char *place = getenv("TMPDIR");
    if (run->options->no_write) return GLS_OK;
    if (!place || !*place) place = "/tmp";
    if (gls_asprintf(&run->directory, "%s/glslines-bench-XXXXXX", place) < 0) return gls_no_memory();
    if (mkdtemp(run->directory)) return GLS_OK;
    free(run->directory);
    run->directory = NULL;
    return gls_fail(GLS_ERR_OUTPUT,
                    "cannot make a temporary folder in %s: %s; set TMPDIR to another folder, or give --no-write, which "
                    "needs none",
                    place, strerror(errno));
}

/* Measures one getter on each device with each gls_mapping. A gls_mapping that a device lacks is left out with a
 * warning. */
static gls_status measure_columns(bench_run *run, int dg, const bench_model *model)
{
    gls_status status = GLS_OK;
    for (int d = 0; !status && d < run->options->n_devices; d++)
        for (int m = 0; !status && m < run->options->n_mapping; m++) {
            bench_column *c = &run->column[run->n_columns];
            *c = (bench_column){.dg = dg, .device = d, .mapping = run->options->mapping[m]};
            if (c->mapping == GLS_MAPPING_SUBGROUP && run->device[d].info->subgroup_size == 0) {
                gls_log(GLS_LOG_WARNING,
                        "%s: the device has no subgroups: its column of --mapping subgroup is left out",
                        run->device[d].info->renderer);
                continue;
            }
            gls_log(GLS_LOG_INFO, "%s on %s", gls_getter_name((gls_direction_getter)dg), run->device[d].info->renderer);
            status = bench_measure(run, model, c);
            run->n_columns += !status;
        }
    return status;
}

/* Fits the model of one getter and measures its columns. */
static gls_status measure_getter(bench_run *run, int dg)
{
    bench_model model;
    gls_status status = fit_model(run, dg, &model);
    if (!status) {
        /* temporary files exist only in the phase of tracking, which begins after the fit */
        gls_monitor_begin(run->monitor, GLS_PHASE_TRACK);
        status = make_directory(run);
        if (!status) status = measure_columns(run, dg, &model);
        if (run->directory) rmdir(run->directory);
        free(run->directory);
        run->directory = NULL;
        gls_monitor_end(run->monitor, GLS_PHASE_TRACK);
    }
    finish_model(&model);
    return status;
}

/* Measures all requested getters. GLS_ERR_UNSUPPORTED if no column could be measured. */
static gls_status measure_getters(bench_run *run)
{
    gls_status status = GLS_OK;
    for (int i = 0; !status && i < run->options->n_dg; i++) status = measure_getter(run, run->options->dg[i]);
    if (!status && run->n_columns == 0)
        status =
            gls_fail(GLS_ERR_UNSUPPORTED,
                     "--mapping subgroup: none of the devices has subgroups: choose another --mapping or --device");
    return status;
}

gls_status bench_measure_all(bench_run *run, const bench_options *o, const gls_monitor *monitor)
{
    *run = (bench_run){.options = o, .monitor = monitor, .started = time(NULL), .job = gls_job_options_default()};
    run->busy = bench_busy_now();
    run->job.model = o->model;
    run->job.mask_stop = o->mask_stop;
    gls_warnings_begin(&run->warnings);
    gls_status status = o->write_data ? check_data(o) : GLS_OK;
    if (!status) status = open_devices(run);
    for (int i = 0; !status && !o->no_ceilings && i < o->n_devices; i++)
        status = bench_ceilings_measure(run->device[i].device, &run->device[i].ceilings);
    if (!status) status = make_data(run);
    if (!status && o->write_data) status = write_data(run);
    return status ? status : measure_getters(run);
}

void bench_finish(bench_run *run)
{
    gls_job_inputs_finish(&run->data);
    for (int i = 0; i < run->options->n_devices; i++) gls_device_close(run->device[i].device);
    gls_warnings_end(&run->warnings);
}
