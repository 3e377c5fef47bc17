/* The data of `glslines bench` as files for other programs, which peers.py runs: dwi.nii, gradients.txt (b, x, y, z
 * along the voxel axes), stop.nii, seeds.txt (voxels), sphere.txt, sh.nii (descoteaux07, legacy, voxel axes), job.json;
 * for MRtrix3 fod.nii (tournier07, scanner axes), seed_mask.nii, track_mask.nii. Prints MRtrix3's cutoff as JSON.
 * Usage: peer_data DIRECTORY AxBxC NSEEDS GETTER,... SECONDS ORDER */
#include <cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/bench_stats.h"
#include "util/maths.h"
#include "util/status.h"
#include "workflow/sidecar.h"
#include "workflow/run_params.h"

static const char *path_in(const char *directory, const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", directory, name);
    return path;
}

/* Rows of three numbers, behind one more where first is not NULL. */
static gls_status write_rows(const char *directory, const char *name, const double *first, const double (*row)[3],
                             size_t n)
{
    char path[4096];
    FILE *file = fopen(path_in(directory, name, path, sizeof path), "w");
    bool ok = file != NULL;
    for (size_t i = 0; ok && i < n; i++) {
        if (first) ok = fprintf(file, "%.17g ", first[i]) > 0;
        ok = ok && fprintf(file, "%.17g %.17g %.17g\n", row[i][0], row[i][1], row[i][2]) > 0;
    }
    if (file && fclose(file) != 0) ok = false;
    return ok ? GLS_OK : gls_fail(GLS_ERR_OUTPUT, "%s: cannot be written: %s", path, strerror(errno));
}

static gls_status write_seeds(const bench_run *run, const char *directory)
{
    size_t n = (size_t)run->nseeds;
    float(*point)[3] = malloc(n * sizeof *point);
    double(*row)[3] = malloc(n * sizeof *row);
    gls_status code = GLS_ERR_MEMORY;
    if (point && row) {
        gls_seeds_get(run->data.seeds, 0, n, point);
        for (size_t i = 0; i < n; i++)
            for (int a = 0; a < 3; a++) row[i][a] = point[i][a];
        code = write_rows(directory, "seeds.txt", NULL, (const double(*)[3])row, n);
    } else {
        gls_fail(GLS_ERR_MEMORY, "out of memory for the seeds");
    }
    free(point);
    free(row);
    return code;
}

static gls_status write_image(const char *directory, const char *name, const gls_image *image)
{
    char path[4096];
    gls_status status = gls_image_write(path_in(directory, name, path, sizeof path), image, GLS_IMAGE_FLOAT32);
    return status;
}

/* 1 where keep(voxel) is above the threshold in both images (the second may be NULL). */
static gls_status write_mask(const char *directory, const char *name, const gls_image *a, double threshold,
                             const gls_image *b)
{
    gls_image *mask;
    gls_status status = gls_image_create(&a->grid, 1, &mask);
    if (status) return status;
    size_t n = gls_grid_voxels(&a->grid);
    for (size_t i = 0; i < n; i++) mask->data[i] = a->data[i] > threshold && (!b || b->data[i] > 0);
    gls_status code = write_image(directory, name, mask);
    gls_image_destroy(mask);
    return code;
}

static gls_status write_job(const bench_run *run, double seconds, const char *directory)
{
    gls_track_params p = gls_track_params_default(); /* lengths in voxels */
    char path[4096];
    cJSON *root = cJSON_CreateObject(), *list = root ? cJSON_AddArrayToObject(root, "dg") : NULL;
    for (int i = 0; list && i < run->options->n_dg; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(gls_getter_name((gls_direction_getter)run->options->dg[i])));
    if (root) {
        cJSON_AddStringToObject(root, "model", gls_model_name(run->options->model.model));
        gls_json_uint(root, "sh_order", (uint64_t)run->options->model.sh_order);
        gls_json_double(root, "sm_lambda", run->options->model.sm_lambda);
        gls_json_double(root, "min_signal", run->options->model.min_signal);
        gls_json_double(root, "b0_threshold", run->data.series.gradients->b0_threshold);
        gls_json_double(root, "seconds", seconds);
        gls_json_double(root, "step_size_voxels", p.step_size);
        gls_json_double(root, "max_angle", p.max_angle);
        gls_json_double(root, "fa_threshold", p.stop_threshold);
        gls_json_double(root, "pmf_threshold", p.pmf_threshold);
        gls_json_double(root, "relative_peak_threshold", p.relative_peak_threshold);
        gls_json_double(root, "min_separation_angle", p.min_separation_angle);
        gls_json_double(root, "probe_length_voxels", p.probe_length);
        gls_json_uint(root, "probe_quality", (uint64_t)p.probe_quality);
        gls_json_double(root, "ptt_substep_voxels", p.ptt_substep);
        gls_json_uint(root, "ptt_substeps", (uint64_t)fmax(1, rint(p.step_size / p.ptt_substep)));
    }
    char *text = root ? cJSON_Print(root) : NULL;
    FILE *file = text ? fopen(path_in(directory, "job.json", path, sizeof path), "w") : NULL;
    bool ok = file && fputs(text, file) >= 0;
    if (file && fclose(file) != 0) ok = false;
    free(text);
    cJSON_Delete(root);
    return ok ? GLS_OK : gls_fail(GLS_ERR_OUTPUT, "%s/job.json: cannot be written", directory);
}

/* MRtrix3's threshold is an amplitude, not a part of the largest one: the same part of the median over the seed voxels
 * of the largest amplitude. */
static gls_status find_cutoff(const bench_run *run, const gls_odf_source *odf, double *cutoff)
{
    const gls_grid *grid = run->data.grid;
    size_t plane = (size_t)grid->dim[0] * (size_t)grid->dim[1], n = 0;
    float *rows = malloc(odf->sphere->n * plane * sizeof *rows);
    double *largest = malloc(run->data.seed_voxels * sizeof *largest);
    gls_status status = rows && largest ? GLS_OK : GLS_ERR_MEMORY;
    for (int32_t z = 0; !status && z < grid->dim[2]; z++) {
        status = gls_odf_slice(odf, z, rows);
        for (size_t i = 0; !status && i < plane; i++) {
            if (!(run->data.roi->data[(size_t)z * plane + i] > 0) || n == run->data.seed_voxels) continue;
            float top = 0;
            for (size_t v = 0; v < odf->sphere->n; v++) top = fmaxf(top, rows[v * plane + i]);
            largest[n++] = top;
        }
    }
    if (!status && n > 0) *cutoff = gls_track_params_default().pmf_threshold * gls_median(largest, n);
    free(rows);
    free(largest);
    return status;
}

static gls_status write_odf(const bench_run *run, const bench_model *model, const char *directory, double *cutoff)
{
    gls_image *fod = NULL;
    gls_status code = write_image(directory, "sh.nii", model->model.sh);
    if (code) return code;
    gls_status status = find_cutoff(run, model->odf, cutoff);
    if (!status)
        status = gls_odf_convert_sh(model->model.sh, "fit", GLS_SH_DESCOTEAUX07_LEGACY, GLS_BVEC_IMAGE,
                                    GLS_SH_TOURNIER07, GLS_BVEC_WORLD, &fod);
    code = status ? status : write_image(directory, "fod.nii", fod);
    gls_image_destroy(fod);
    return code;
}

static gls_status write_files(const bench_run *run, const bench_model *model, double seconds, const char *directory,
                              double *cutoff)
{
    const gls_job_inputs *in = &run->data;
    bool boot = false;
    for (int i = 0; i < run->options->n_dg; i++) boot = boot || run->options->dg[i] == GLS_DG_BOOT;
    gls_status code = write_job(run, seconds, directory);
    if (!code) code = write_seeds(run, directory);
    if (!code) code = write_rows(directory, "sphere.txt", NULL, (const double(*)[3])in->sphere->vertex, in->sphere->n);
    if (!code)
        code = write_rows(directory, "gradients.txt", in->series.gradients->bval,
                          (const double(*)[3])in->series.gradients->bvec, in->series.gradients->n);
    if (!code) code = write_image(directory, "stop.nii", in->stop_map);
    if (!code && boot) code = write_image(directory, "dwi.nii", in->series.dwi);
    if (!code) code = write_odf(run, model, directory, cutoff);
    if (!code) code = write_mask(directory, "seed_mask.nii", in->roi, 0, in->mask);
    if (!code)
        code = write_mask(directory, "track_mask.nii", in->stop_map, gls_track_params_default().stop_threshold, NULL);
    return code;
}

int main(int argc, char **argv)
{
    bench_options options = {.model = gls_model_options_default(GLS_MODEL_OPDT)};
    static bench_run run;
    bench_model model = {.odf = NULL};
    const char *bad;
    int bad_length;
    double cutoff = 0;
    if (argc == 7) {
        options.model.sh_order = atoi(argv[6]);
        options.n_dg =
            bench_parse_list(argv[4], GLS_GETTER_CHOICES, true, options.dg, BENCH_GETTERS, &bad, &bad_length);
    }
    if (options.n_dg < 1 || !bench_parse_shape(argv[2], options.shape)) {
        fprintf(stderr, "usage: %s DIRECTORY AxBxC NSEEDS GETTER,... SECONDS ORDER\n", argv[0]);
        return 2;
    }
    run.options = &options;
    run.job = gls_job_options_default();
    run.nseeds = strtoull(argv[3], NULL, 10);
    gls_status status = bench_data_make(&run);
    if (!status) status = bench_model_fit(&run, GLS_DG_PROB, &model);
    if (!status) status = write_files(&run, &model, strtod(argv[5], NULL), argv[1], &cutoff);
    if (status)
        fprintf(stderr, "%s\n", gls_last_error());
    else
        printf("{\"mrtrix_cutoff\": %.9g}\n", cutoff);
    bench_model_finish(&model);
    gls_job_inputs_finish(&run.data);
    return status ? 1 : 0;
}
