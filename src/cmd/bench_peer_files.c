/* The data of the benchmark as files for other programs. */
#include <cJSON.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/bench_peer.h"
#include "cmd/message.h"
#include "cmd/sidecar_json.h"
#include "cmd/text.h"

static const char *path_in(const char *directory, const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", directory, name);
    return path;
}

/* Rows of three numbers, behind one more where first is not NULL. */
static int write_rows(const char *directory, const char *name, const double *first, const double (*row)[3], size_t n)
{
    char path[4096];
    FILE *file = fopen(path_in(directory, name, path, sizeof path), "w");
    bool ok = file != NULL;
    for (size_t i = 0; ok && i < n; i++) {
        if (first) ok = fprintf(file, "%.17g ", first[i]) > 0;
        ok = ok && fprintf(file, "%.17g %.17g %.17g\n", row[i][0], row[i][1], row[i][2]) > 0;
    }
    if (file && fclose(file) != 0) ok = false;
    return ok ? CMD_EXIT_OK : cmd_error(CMD_EXIT_OUTPUT, "%s: cannot be written: %s", path, strerror(errno));
}

static int write_seeds(const bench_run *run, const char *directory)
{
    size_t n = (size_t)run->nseeds;
    float(*point)[3] = malloc(n * sizeof *point);
    double(*row)[3] = malloc(n * sizeof *row);
    int code = CMD_EXIT_INTERNAL;
    if (point && row) {
        gls_seeds_get(run->data.seeds, 0, n, point);
        for (size_t i = 0; i < n; i++)
            for (int a = 0; a < 3; a++) row[i][a] = point[i][a];
        code = write_rows(directory, "seeds.txt", NULL, (const double(*)[3])row, n);
    } else {
        cmd_error(CMD_EXIT_INTERNAL, "out of memory for the seeds");
    }
    free(point);
    free(row);
    return code;
}

static int write_image(const char *directory, const char *name, const gls_image *image)
{
    char path[4096];
    gls_status status = gls_image_write(path_in(directory, name, path, sizeof path), image, GLS_IMAGE_FLOAT32);
    return status ? cmd_error_status(status) : CMD_EXIT_OK;
}

/* 1 where keep(voxel) is above the threshold in both images (the second may be NULL). */
static int write_mask(const char *directory, const char *name, const gls_image *a, double threshold, const gls_image *b)
{
    gls_image *mask;
    gls_status status = gls_image_create(&a->grid, 1, &mask);
    if (status) return cmd_error_status(status);
    size_t n = gls_grid_voxels(&a->grid);
    for (size_t i = 0; i < n; i++) mask->data[i] = a->data[i] > threshold && (!b || b->data[i] > 0);
    int code = write_image(directory, name, mask);
    gls_image_destroy(mask);
    return code;
}

static int write_job(const bench_run *run, const char *directory)
{
    static const char *const getters[] = {
        [GLS_DG_BOOT] = "boot", [GLS_DG_PROB] = "prob", [GLS_DG_DET] = "det", [GLS_DG_PTT] = "ptt"};
    static const char *const models[] = {[MODEL_OPDT] = "opdt", [MODEL_CSA] = "csa", [MODEL_CSD] = "csd"};
    gls_track_params p = gls_track_params_default(); /* lengths in voxels */
    char path[4096];
    cJSON *root = cJSON_CreateObject(), *list = root ? cJSON_AddArrayToObject(root, "dg") : NULL;
    for (int i = 0; list && i < run->lists.n_dg; i++)
        cJSON_AddItemToArray(list, cJSON_CreateString(getters[run->lists.dg[i]]));
    if (root) {
        cJSON_AddStringToObject(root, "model", models[run->options->model.model]);
        json_uint(root, "sh_order", (uint64_t)run->options->model.sh_order);
        json_double(root, "sm_lambda", run->options->model.sm_lambda);
        json_double(root, "min_signal", run->options->model.min_signal);
        json_double(root, "b0_threshold", run->data.series.gradients->b0_threshold);
        json_double(root, "seconds", run->options->peer_seconds);
        json_double(root, "step_size_voxels", p.step_size);
        json_double(root, "max_angle", p.max_angle);
        json_double(root, "fa_threshold", p.stop_threshold);
        json_double(root, "pmf_threshold", p.pmf_threshold);
        json_double(root, "relative_peak_threshold", p.relative_peak_threshold);
        json_double(root, "min_separation_angle", p.min_separation_angle);
        json_double(root, "probe_length_voxels", p.probe_length);
        json_uint(root, "probe_quality", (uint64_t)p.probe_quality);
        json_double(root, "ptt_substep_voxels", p.ptt_substep);
        json_uint(root, "ptt_substeps", (uint64_t)fmax(1, rint(p.step_size / p.ptt_substep)));
    }
    char *text = root ? cJSON_Print(root) : NULL;
    FILE *file = text ? fopen(path_in(directory, "job.json", path, sizeof path), "w") : NULL;
    bool ok = file && fputs(text, file) >= 0;
    if (file && fclose(file) != 0) ok = false;
    free(text);
    cJSON_Delete(root);
    return ok ? CMD_EXIT_OK : cmd_error(CMD_EXIT_OUTPUT, "%s/job.json: cannot be written", directory);
}

/* MRtrix3's threshold is an amplitude, not a part of the largest one: the same part of the median over the seed voxels
 * of the largest amplitude. */
static gls_status find_cutoff(bench_run *run, const gls_odf_source *odf)
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
    if (!status && n > 0) run->fod_cutoff = gls_track_params_default().pmf_threshold * bench_median_of(largest, n);
    free(rows);
    free(largest);
    return status;
}

static int write_odf(bench_run *run, const bench_model *model, const char *directory)
{
    gls_image *fod = NULL;
    int code = write_image(directory, "sh.nii", model->model.sh);
    if (code || !run->options->with_mrtrix) return code;
    gls_status status = find_cutoff(run, model->odf);
    if (!status)
        status = gls_odf_convert_sh(model->model.sh, "fit", GLS_SH_DESCOTEAUX07_LEGACY, GLS_BVEC_IMAGE,
                                    GLS_SH_TOURNIER07, GLS_BVEC_WORLD, &fod);
    code = status ? cmd_error_status(status) : write_image(directory, "fod.nii", fod);
    gls_image_destroy(fod);
    return code;
}

int bench_peer_files_write(bench_run *run, const bench_model *model, const char *directory)
{
    const track_input *in = &run->data;
    bool boot = false;
    for (int i = 0; i < run->lists.n_dg; i++) boot = boot || run->lists.dg[i] == GLS_DG_BOOT;
    int code = write_job(run, directory);
    if (!code) code = write_seeds(run, directory);
    if (!code) code = write_rows(directory, "sphere.txt", NULL, (const double(*)[3])in->sphere->vertex, in->sphere->n);
    if (!code)
        code = write_rows(directory, "gradients.txt", in->series.gradients->bval,
                          (const double(*)[3])in->series.gradients->bvec, in->series.gradients->n);
    if (!code) code = write_image(directory, "stop.nii", in->stop_map);
    if (!code && boot && run->options->with_dipy) code = write_image(directory, "dwi.nii", in->series.dwi);
    if (!code) code = write_odf(run, model, directory);
    if (!code && run->options->with_mrtrix) code = write_mask(directory, "seed_mask.nii", in->roi, 0, in->mask);
    if (!code && run->options->with_mrtrix)
        code = write_mask(directory, "track_mask.nii", in->stop_map, gls_track_params_default().stop_threshold, NULL);
    return code;
}

void bench_peer_files_remove(const char *directory)
{
    char path[4096];
    DIR *folder = opendir(directory);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (entry->d_name[0] != '.') unlink(path_in(directory, entry->d_name, path, sizeof path));
    if (folder) closedir(folder);
    rmdir(directory);
}
