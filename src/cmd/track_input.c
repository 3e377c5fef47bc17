#include "cmd/track_input.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/message.h"
#include "cmd/text.h"

int track_input_init(track_input *input, const track_options *options, const cmd_arguments *arguments)
{
    static const char *const roles[TRACK_N_FILES] = {"dwi", "bval", "bvec", "mask", "roi", "fa", "seeds", "sphere"};
    *input = (track_input){.phantom = NULL};
    for (int i = 0; i < TRACK_N_FILES; i++) input->file[i].role = roles[i];
    for (int i = 0; i < arguments->n_positionals; i++) input->file[TRACK_DWI + i].path = arguments->positional[i];
    input->file[TRACK_FA].path = options->fa;
    input->file[TRACK_SEEDS].path = options->seeds;
    if (strcmp(options->sphere, "default") != 0 && strcmp(options->sphere, "small") != 0) input->file[TRACK_SPHERE].path = options->sphere;
    for (int i = 0; i < TRACK_N_FILES; i++) {
        struct stat info;
        const char *path = input->file[i].path;
        if (!path) continue;
        if (stat(path, &info) != 0 || access(path, R_OK) != 0) {
            const char *hint = i == TRACK_SPHERE && errno == ENOENT ? " (--sphere takes default, small or a file)" : "";
            return cmd_error(CMD_EXIT_INPUT, "%s: cannot be read: %s%s", path, strerror(errno), hint);
        }
        if (S_ISDIR(info.st_mode)) return cmd_error(CMD_EXIT_INPUT, "%s: cannot be read: %s", path, strerror(EISDIR));
        input->file[i].bytes = (uint64_t)info.st_size;
    }
    return CMD_EXIT_OK;
}

static const char *name_of(const track_input *input, int which)
{
    return input->file[which].path ? input->file[which].path : "built-in phantom";
}

static int make_phantom(track_input *input)
{
    gls_phantom_params params = gls_phantom_params_default();
    params.ground_truth = false;
    cmd_message_library(false);
    gls_status status = gls_phantom_create(&params, &input->phantom);
    cmd_message_library(true);
    if (status) return cmd_error_status(status);
    input->dwi = input->phantom->dwi;
    input->gradients = input->phantom->gradients;
    input->mask = input->phantom->mask;
    input->roi = input->phantom->roi;
    const gls_grid *grid = &input->dwi->grid;
    cmd_info("no input files: tracking the built-in phantom, %d x %d x %d voxels, %zu volumes", grid->dim[0], grid->dim[1], grid->dim[2],
             input->dwi->n_volumes);
    return CMD_EXIT_OK;
}

static gls_status read_on_grid(const track_input *input, int which, gls_image **image)
{
    gls_image *read = NULL;
    gls_status status = gls_image_read(input->file[which].path, GLS_IMAGE_3D, &read);
    if (!status) status = gls_grid_require_equal(&input->dwi->grid, input->file[TRACK_DWI].path, &read->grid, input->file[which].path);
    if (status)
        gls_image_destroy(read);
    else
        *image = read;
    return status;
}

static int read_files(track_input *input, const track_options *options)
{
    gls_gradients_options gradients = {.b0_threshold = options->b0_threshold, .frame = (gls_bvec_frame)options->bvec_frame};
    gls_status status = gls_image_read(input->file[TRACK_DWI].path, GLS_IMAGE_4D, &input->dwi);
    if (!status) {
        const gls_grid *grid = &input->dwi->grid;
        char axes[4];
        gls_grid_axis_codes(grid, axes);
        cmd_info("%s: %d x %d x %d voxels of %.4g x %.4g x %.4g mm, axes %s, %zu volumes", input->file[TRACK_DWI].path, grid->dim[0], grid->dim[1],
                 grid->dim[2], grid->voxel_size[0], grid->voxel_size[1], grid->voxel_size[2], axes, input->dwi->n_volumes);
        status = gls_gradients_read(input->file[TRACK_BVAL].path, input->file[TRACK_BVEC].path, &gradients, grid, input->dwi->n_volumes, &input->gradients);
    }
    if (!status) status = read_on_grid(input, TRACK_MASK, &input->mask);
    if (!status) status = read_on_grid(input, TRACK_ROI, &input->roi);
    return status ? cmd_error_status(status) : CMD_EXIT_OK;
}

/* Counts the voxels that will be used; empty sets are errors with the file's name. */
static int check_masks(track_input *input)
{
    uint64_t roi = 0;
    size_t n = gls_grid_voxels(&input->dwi->grid);
    for (size_t i = 0; i < n; i++) {
        bool in_mask = input->mask->data[i] > 0, in_roi = input->roi->data[i] > 0;
        input->mask_voxels += in_mask;
        roi += in_roi;
        input->seed_voxels += in_mask && in_roi;
    }
    if (input->mask_voxels == 0) return cmd_error(CMD_EXIT_INPUT, "%s: the mask is empty: no voxel is > 0", name_of(input, TRACK_MASK));
    if (roi == 0) return cmd_error(CMD_EXIT_INPUT, "%s: the region of interest is empty: no voxel is > 0", name_of(input, TRACK_ROI));
    if (input->seed_voxels == 0)
        return cmd_error(CMD_EXIT_INPUT, "%s: the region of interest lies outside the mask %s", name_of(input, TRACK_ROI), name_of(input, TRACK_MASK));
    if (input->seed_voxels < roi)
        cmd_info("seeds: %" PRIu64 " of the %" PRIu64 " voxels of the region of interest lie outside the mask and are left out", roi - input->seed_voxels, roi);
    return CMD_EXIT_OK;
}

/* Values that are not finite would spread through interpolation; an image of zeros would give an empty result without a reason. */
static int check_dwi(track_input *input)
{
    size_t n = gls_grid_voxels(&input->dwi->grid), not_finite = 0;
    bool any = false;
    for (size_t t = 0; t < input->dwi->n_volumes; t++) {
        float *volume = input->dwi->data + t * n;
        for (size_t i = 0; i < n; i++) {
            if (!isfinite(volume[i])) {
                volume[i] = 0;
                not_finite++;
            }
            if (volume[i] > 0 && input->mask->data[i] > 0) any = true;
        }
    }
    if (not_finite) cmd_warn("%s: %zu values are not finite and count as 0", name_of(input, TRACK_DWI), not_finite);
    if (!any) return cmd_error(CMD_EXIT_INPUT, "%s: no value inside the mask is above 0", name_of(input, TRACK_DWI));
    return CMD_EXIT_OK;
}

static void print_shells(track_input *input)
{
    size_t n;
    gls_gradients_shells(input->gradients, input->shell, TRACK_MAX_SHELLS, &n);
    input->n_shells = n < TRACK_MAX_SHELLS ? n : TRACK_MAX_SHELLS;
    cmd_info("  %12s  %8s  %s", "b [s/mm2]", "volumes", "measured b");
    for (size_t i = 0; i < input->n_shells; i++) {
        const gls_shell *shell = &input->shell[i];
        cmd_info("  %12.6g  %8zu  %.6g to %.6g", shell->bval, shell->n, shell->min_bval, shell->max_bval);
    }
    if (n > TRACK_MAX_SHELLS) cmd_info("  (and %zu more)", n - TRACK_MAX_SHELLS);
}

static int make_seeds(track_input *input, const track_options *options)
{
    const gls_grid *grid = &input->dwi->grid;
    gls_status status;
    if (options->seeds) {
        status = gls_seeds_read(options->seeds, options->seed_space == 1, grid, &input->seeds);
        if (status) return cmd_error_status(status);
    } else {
        if (options->seeds_per_voxel > 0)
            status = gls_seeds_create_per_voxel(input->roi, input->mask, (uint32_t)options->seeds_per_voxel, options->seed_seed.value, &input->seeds);
        else
            status = gls_seeds_create_random(input->roi, input->mask, options->nseeds, options->seed_seed.value, &input->seeds);
        if (status) return cmd_error_status(status);
    }
    char count[32], voxels[32];
    cmd_text_count(gls_seeds_count(input->seeds), count, sizeof count);
    cmd_text_count(input->seed_voxels, voxels, sizeof voxels);
    if (options->seeds)
        cmd_info("seeds: %s from %s", count, options->seeds);
    else
        cmd_info("seeds: %s in %s voxels, random seed %" PRIu64, count, voxels, options->seed_seed.value);
    return CMD_EXIT_OK;
}

int track_input_read(track_input *input, const track_options *options)
{
    double start = cmd_clock();
    int code = input->file[TRACK_DWI].path ? read_files(input, options) : make_phantom(input);
    if (!code) code = check_masks(input);
    if (!code) code = check_dwi(input);
    if (code) return code;
    if (input->file[TRACK_FA].path) {
        gls_status status = read_on_grid(input, TRACK_FA, &input->stop_map);
        if (status) return cmd_error_status(status);
    }
    print_shells(input);
    code = make_seeds(input, options);
    if (code) return code;
    const char *path = input->file[TRACK_SPHERE].path;
    gls_status status = path ? gls_sphere_read(path, &input->sphere) : gls_sphere_create(options->sphere, &input->sphere);
    if (status) return cmd_error_status(status);
    const double *side = input->dwi->grid.voxel_size;
    double smallest = fmin(side[0], fmin(side[1], side[2]));
    input->step_mm = options->step_size.value * (options->step_size.mm ? 1 : smallest);
    input->seconds_read = cmd_clock() - start;
    return CMD_EXIT_OK;
}

int track_input_fit(track_input *input, const track_options *options)
{
    double start = cmd_clock();
    gls_qball_options model = {
        .model = (gls_qball_model)options->model, .sh_order = options->sh_order, .smooth = options->sm_lambda, .min_signal = options->min_signal};
    gls_tensor_options tensor = gls_tensor_options_default();
    gls_status status = gls_qball_create(input->gradients, &model, false, &input->qball);
    if (!status && !input->stop_map) status = gls_tensor_fit(input->dwi, input->gradients, input->mask, &tensor, &input->stop_map, NULL, NULL);
    if (status) return cmd_error_status(status);
    size_t n = gls_grid_voxels(&input->dwi->grid);
    for (size_t i = 0; i < n; i++)
        if (!(input->mask->data[i] > 0) || !isfinite(input->stop_map->data[i])) input->stop_map->data[i] = 0;
    input->seconds_fit = cmd_clock() - start;
    return CMD_EXIT_OK;
}

void track_input_finish(track_input *input)
{
    if (!input->phantom) {
        gls_image_destroy(input->dwi);
        gls_image_destroy(input->mask);
        gls_image_destroy(input->roi);
        gls_gradients_destroy(input->gradients);
    }
    gls_phantom_destroy(input->phantom);
    gls_image_destroy(input->stop_map);
    gls_qball_destroy(input->qball);
    gls_sphere_destroy(input->sphere);
    gls_seeds_destroy(input->seeds);
    *input = (track_input){.phantom = NULL};
}
