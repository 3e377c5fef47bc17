/* The parts of a run that `fit` and `response` share: series, mask, sidecar. */
#include "run/series_run.h"

#include <cJSON.h>
#include <stdlib.h>

#include "image/reorient.h"
#include "record/sidecar.h"
#include "util/clock.h"
#include "util/json_text.h"

/* Whether any of these volumes is of the shell. */
static bool has_shell(const gls_gradients *g, const gls_shell *shell)
{
    for (size_t i = 0; i < g->n; i++)
        if (g->is_b0[i] == shell->is_b0 && shell->min_bval <= g->bval[i] && g->bval[i] <= shell->max_bval) return true;
    return false;
}

void gls_sidecar_add_gradients(cJSON *root, const gls_series *series)
{
    const gls_gradients *table = gls_series_table(series);
    cJSON *gradients = cJSON_AddObjectToObject(root, "gradients");
    cJSON_AddStringToObject(gradients, "rule", gls_odf_frame_name(series->frame));
    gls_json_double(gradients, "affine_determinant", gls_grid_determinant(&series->dwi->grid));
    cJSON_AddBoolToObject(gradients, "x_negated", series->gradients->x_flipped);
    cJSON_AddBoolToObject(gradients, "b_values_scaled", series->gradients->scaled);
    gls_json_double(gradients, "b0_threshold_s_per_mm2", series->gradients->b0_threshold);
    gls_json_uint(gradients, "volumes", table->n);
    gls_json_uint(gradients, "b0_volumes", table->n_b0);
    gls_json_uint(gradients, "used_volumes", series->gradients->n);
    gls_json_uint(gradients, "tensor_volumes", gls_series_tensor_gradients(series)->n);
    cJSON *shells = cJSON_AddArrayToObject(gradients, "shells");
    for (size_t i = 0; i < series->n_shells; i++) {
        cJSON *shell = cJSON_CreateObject();
        gls_json_double(shell, "b_s_per_mm2", series->shell[i].bval);
        gls_json_double(shell, "min_b_s_per_mm2", series->shell[i].min_bval);
        gls_json_double(shell, "max_b_s_per_mm2", series->shell[i].max_bval);
        gls_json_uint(shell, "volumes", series->shell[i].n);
        cJSON_AddBoolToObject(shell, "used", has_shell(series->gradients, &series->shell[i]));
        cJSON_AddBoolToObject(shell, "tensor", has_shell(gls_series_tensor_gradients(series), &series->shell[i]));
        cJSON_AddItemToArray(shells, shell);
    }
}

/* Adds inputs that must exist, and stores their sizes. Otherwise like gls_run_reads(). */
static gls_status reads_files(gls_run *run, gls_input_file *file, size_t n)
{
    gls_status status = GLS_OK;
    /* check all files first, so that a missing file is reported before any other fault */
    for (size_t i = 0; i < n && !status; i++) status = gls_input_file_check(&file[i]);
    for (size_t i = 0; i < n && !status; i++) status = gls_run_reads(run, file[i].path);
    return status;
}

gls_status gls_series_run_begin(gls_series_run *run, bool force, const char *const first[SERIES_N_FILES],
                                const gls_input_file *others, size_t n)
{
    gls_run_begin(&run->run, force);
    GLS_REQUIRE(n <= SERIES_MAX_FILES - SERIES_N_FILES);
    const bool found = !first[SERIES_BVAL];
    gls_status status = found ? gls_input_file_check(&(gls_input_file){.path = first[SERIES_DWI]}) : GLS_OK;
    if (found && !status) status = gls_series_find_table(first[SERIES_DWI], NULL, &run->bval, &run->bvec);
    const gls_input_file file[SERIES_N_FILES] = {
        [SERIES_DWI] = {.role = "dwi", .path = first[SERIES_DWI]},
        [SERIES_BVAL] = {.role = "bval", .path = gls_table_path(found ? run->bval : first[SERIES_BVAL])},
        [SERIES_BVEC] = {.role = "bvec", .path = gls_table_path(found ? run->bvec : first[SERIES_BVEC])},
        [SERIES_MASK] = {.role = "mask", .path = first[SERIES_MASK]},
    };
    run->n_files = SERIES_N_FILES + n;
    for (size_t i = 0; i < run->n_files; i++) run->file[i] = i < SERIES_N_FILES ? file[i] : others[i - SERIES_N_FILES];
    return status ? status : reads_files(&run->run, run->file, run->n_files);
}

gls_status gls_series_run_read(gls_series_run *run, const gls_model_options *options)
{
    const char *const path[] = {run->file[SERIES_DWI].path, run->file[SERIES_BVAL].path, run->file[SERIES_BVEC].path};
    gls_status status = gls_series_read(&run->series, path, options, true);
    return status ? status : gls_series_log_shells(&run->series);
}

gls_status gls_series_run_read_mask(gls_series_run *run)
{
    const char *path = run->file[SERIES_MASK].path, *dwi = run->file[SERIES_DWI].path;
    gls_status status = path ? gls_image_read_mask(&run->series.dwi->grid, dwi, path, &run->mask)
                             : gls_series_make_mask(&run->series, &run->mask);
    if (!status)
        status =
            gls_image_count_voxels(run->mask, path ? path : "the mask made from the series", "mask", &run->mask_voxels);
    if (!status) status = gls_series_check(&run->series, run->mask);
    for (size_t i = 0; i < run->n_files && !status; i++) status = gls_input_file_hash(&run->file[i]);
    run->seconds_read = gls_clock_seconds() - run->run.begun;
    return status;
}

cJSON *gls_series_run_sidecar(const gls_series_run *run, const char *description, int argc, char *const *argv)
{
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "Description", description);
    gls_sidecar_add_software(root, argc, argv);
    cJSON *inputs = cJSON_AddObjectToObject(root, "inputs");
    for (size_t i = 0; i < run->n_files; i++) gls_sidecar_add_file(inputs, &run->file[i]);
    gls_sidecar_add_grid(root, &run->series.dwi->grid);
    gls_sidecar_add_gradients(root, &run->series);
    return root;
}

gls_status gls_series_run_commit(gls_series_run *run, cJSON *root)
{
    gls_status status = gls_monitor_cancelled(run->monitor, GLS_PHASE_WRITE)
                            ? gls_fail(GLS_ERR_CANCELLED, "interrupted")
                            : gls_run_commit(&run->run, root);
    cJSON_Delete(root);
    return status;
}

void gls_series_run_end(gls_series_run *run)
{
    gls_series_finish(&run->series);
    gls_image_destroy(run->mask);
    free(run->bval);
    free(run->bvec);
    gls_run_end(&run->run);
}
