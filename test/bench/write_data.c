/* The data that `glslines bench` tracks, as files for other programs. This file is linked into a copy of the program,
 * build/test/glslines_bench, whose `bench` writes them to the folder that GLSLINES_BENCH_DATA names. */
#include <cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/data.h"
#include "dwi/fit_model.h"
#include "image/image_write.h"
#include "record/run_params.h"
#include "track/getter/getters.h"
#include "util/json_text.h"
#include "util/maths.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text.h"

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

/* Writes the data of the benchmark to the folder: dwi.nii, gradients.npy (b, x, y, z along the voxel axes), mask.nii,
 * seed_mask.nii, fa.nii, track_mask.nii (FA above the threshold), seeds.npy (voxels), sphere.npy, sh.nii
 * (descoteaux07, legacy, voxel axes), fod.nii (tournier07, scanner axes), job.json. */
static gls_status write_data(const char *folder, bench_run *run)
{
    peer_folder to = {.path = folder, .force = run->options->force};
    bench_model model = {.odf = NULL};
    gls_status status = gls_output_group_make_folder(&to.group, to.path);
    if (!status) status = bench_model_fit(run, GLS_DG_PROB, &model);
    if (!status) status = write_files(&to, run, &model);
    status = gls_output_group_end(&to.group, status);
    bench_model_finish(&model);
    return status;
}

/* The function of the product and the one in its place. The linker gives them these names. */
gls_status __real_bench_data_make(bench_run *run);
gls_status __wrap_bench_data_make(bench_run *run);

gls_status __wrap_bench_data_make(bench_run *run)
{
    const char *folder = getenv("GLSLINES_BENCH_DATA");
    gls_status status = __real_bench_data_make(run);
    return status || !folder ? status : write_data(folder, run);
}
