#include "cmd/track_input.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cache.h"
#include "cmd/message.h"
#include "cmd/text.h"

int track_input_init(track_input *input, const track_options *options, const cmd_arguments *arguments)
{
    static const char *const roles[TRACK_N_FILES] = {"dwi", "bval", "bvec",     "mask",  "roi",   "fa",
                                                     "sh",  "odf",  "response", "seeds", "sphere"};
    *input = (track_input){.phantom = NULL};
    for (int i = 0; i < TRACK_N_FILES; i++) input->file[i].role = roles[i];
    for (int i = 0; i < arguments->n_positionals; i++) input->file[TRACK_DWI + i].path = arguments->positional[i];
    if (options->mask) input->file[TRACK_MASK].path = options->mask;
    if (options->roi) input->file[TRACK_ROI].path = options->roi;
    input->file[TRACK_FA].path = options->fa;
    input->file[TRACK_SH].path = options->sh;
    input->file[TRACK_ODF].path = options->odf;
    input->file[TRACK_RESPONSE].path = options->model.response;
    input->file[TRACK_SEEDS].path = options->seeds;
    if (strcmp(options->sphere, "default") != 0 && strcmp(options->sphere, "small") != 0)
        input->file[TRACK_SPHERE].path = options->sphere;
    for (int i = 0; i < TRACK_N_FILES; i++) {
        int code =
            cmd_file_check(&input->file[i], i == TRACK_SPHERE ? " (--sphere takes default, small or a file)" : NULL);
        if (code) return code;
    }
    return options->cache_dir ? cmd_cache_init(options->cache_dir) : CMD_EXIT_OK;
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
    input->series = (cmd_series){
        .name = name_of(input, TRACK_DWI), .dwi = input->phantom->dwi, .gradients = input->phantom->gradients};
    input->mask = input->phantom->mask;
    input->roi = input->phantom->roi;
    input->grid = &input->series.dwi->grid;
    cmd_info("no input files: tracking the built-in phantom, %d x %d x %d voxels, %zu volumes", input->grid->dim[0],
             input->grid->dim[1], input->grid->dim[2], input->series.dwi->n_volumes);
    return CMD_EXIT_OK;
}

/* One of the images of a single volume, if it was named. */
static int read_map(const track_input *input, int which, const char *first, gls_image **image)
{
    const char *path = input->file[which].path;
    return path ? cmd_read_on_grid(input->grid, first, path, image) : CMD_EXIT_OK;
}

/* The first image, which the others are compared with, is the series or else the ODFs. */
static int read_files(track_input *input, const track_options *options)
{
    const cmd_file *odf = options->sh ? &input->file[TRACK_SH] : &input->file[TRACK_ODF];
    const char *first = input->file[TRACK_DWI].path ? input->file[TRACK_DWI].path : odf->path;
    int code = CMD_EXIT_OK;
    if (input->file[TRACK_DWI].path) code = cmd_series_read(&input->series, &input->file[TRACK_DWI], &options->model);
    if (!code && odf->path) {
        gls_status status = gls_image_read(odf->path, GLS_IMAGE_ANY, &input->odf_image);
        if (!status && input->series.dwi)
            status = gls_grid_require_equal(&input->series.dwi->grid, first, &input->odf_image->grid, odf->path);
        if (status) code = cmd_error_status(status);
    }
    if (code) return code;
    input->grid = input->series.dwi ? &input->series.dwi->grid : &input->odf_image->grid;
    code = read_map(input, TRACK_MASK, first, &input->mask);
    if (!code) code = read_map(input, TRACK_ROI, first, &input->roi);
    if (!code) code = read_map(input, TRACK_FA, first, &input->stop_map);
    if (!code && !input->mask) {
        gls_status status = gls_image_create(input->grid, 1, &input->mask);
        if (status) return cmd_error_status(status);
        for (size_t i = 0; i < gls_grid_voxels(input->grid); i++) input->mask->data[i] = 1;
    }
    return code;
}

/* Counts the voxels that will be used; empty sets are errors with the file's name. */
static int check_masks(track_input *input)
{
    uint64_t roi;
    int code = cmd_count_voxels(input->mask, name_of(input, TRACK_MASK), "mask", &input->mask_voxels);
    if (code || !input->roi) return code;
    code = cmd_count_voxels(input->roi, name_of(input, TRACK_ROI), "region of interest", &roi);
    if (code) return code;
    size_t n = gls_grid_voxels(input->grid);
    for (size_t i = 0; i < n; i++) input->seed_voxels += input->mask->data[i] > 0 && input->roi->data[i] > 0;
    if (input->seed_voxels == 0)
        return cmd_error(CMD_EXIT_INPUT, "%s: the region of interest lies outside the mask %s",
                         name_of(input, TRACK_ROI), name_of(input, TRACK_MASK));
    if (input->seed_voxels < roi)
        cmd_info("seeds: %" PRIu64 " of the %" PRIu64
                 " voxels of the region of interest lie outside the mask and are left out",
                 roi - input->seed_voxels, roi);
    return CMD_EXIT_OK;
}

static int make_seeds(track_input *input, const track_options *options)
{
    gls_status status;
    if (options->seeds)
        status = gls_seeds_read(options->seeds, options->seed_space == 1, input->grid, &input->seeds);
    else if (options->seeds_per_voxel > 0)
        status = gls_seeds_create_per_voxel(input->roi, input->mask, (uint32_t)options->seeds_per_voxel,
                                            options->seed_seed.value, &input->seeds);
    else
        status =
            gls_seeds_create_random(input->roi, input->mask, options->nseeds, options->seed_seed.value, &input->seeds);
    if (status) return cmd_error_status(status);
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
    bool files = input->file[TRACK_DWI].path || options->sh || options->odf;
    int code = files ? read_files(input, options) : make_phantom(input);
    if (!code && !files) code = read_map(input, TRACK_FA, name_of(input, TRACK_DWI), &input->stop_map);
    if (!code) code = check_masks(input);
    if (!code && input->series.dwi) code = cmd_series_check(&input->series, input->mask);
    if (code) return code;
    if (input->series.dwi) cmd_series_print_shells(&input->series);
    if (!options->sh && !options->odf) code = cmd_model_init(&input->model, &options->model, &input->series);
    if (!code) code = make_seeds(input, options);
    if (code) return code;
    if (!options->odf) {
        const char *path = input->file[TRACK_SPHERE].path;
        gls_status status =
            path ? gls_sphere_read(path, &input->sphere) : gls_sphere_create(options->sphere, &input->sphere);
        if (status) return cmd_error_status(status);
    }
    const double *side = input->grid->voxel_size;
    input->voxel_mm = fmin(side[0], fmin(side[1], side[2]));
    input->seconds_read = cmd_clock() - start;
    return CMD_EXIT_OK;
}

static gls_status source_of_amplitudes(track_input *input, const track_options *options, const gls_odf_options *odf)
{
    double(*direction)[3] = NULL;
    size_t n;
    gls_status status = gls_odf_directions_read(options->sphere, &direction, &n);
    if (!status)
        status = gls_odf_source_create_amplitudes(input->odf_image, options->odf, (const double(*)[3])direction, n,
                                                  options->sphere, input->odf_frame, odf, &input->odf);
    free(direction);
    return status;
}

static int make_source(track_input *input, const track_options *options)
{
    static const char *const fits[] = {[MODEL_OPDT] = "OPDT fit", [MODEL_CSA] = "CSA fit", [MODEL_CSD] = "CSD fit"};
    gls_odf_options odf = gls_odf_options_default();
    gls_status status;
    odf.clip = true;
    /* the curves of parallel transport look ahead of the stop map, so ODFs beyond it have to be gone */
    if (options->dg == GLS_DG_PTT && input->stop_map) {
        odf.stop_map = input->stop_map;
        odf.stop_threshold = options->fa_threshold;
    }
    input->odf_frame = options->sh || options->odf ? model_options_frame(&options->model) : GLS_BVEC_IMAGE;
    if (options->odf && options->model.sh_frame == MODEL_FRAME_AUTO) input->odf_frame = GLS_BVEC_FSL;
    if (options->sh) {
        cmd_info("%s: %s basis (--sh-basis)", options->sh, model_basis_name((gls_sh_basis)options->model.sh_basis));
        status = gls_odf_source_create_sh(input->odf_image, options->sh, (gls_sh_basis)options->model.sh_basis,
                                          input->odf_frame, input->sphere, &odf, &input->odf);
    } else if (options->odf) {
        status = source_of_amplitudes(input, options, &odf);
    } else {
        status = gls_odf_source_create_sh(input->model.sh, fits[options->model.model], GLS_SH_DESCOTEAUX07_LEGACY,
                                          input->odf_frame, input->sphere, &odf, &input->odf);
    }
    return status ? cmd_error_status(status) : CMD_EXIT_OK;
}

int track_input_plan(track_input *input, const track_options *options)
{
    gls_status status = input->stop_map ? GLS_OK : gls_image_create(input->grid, 1, &input->stop_map);
    if (!status && options->dg != GLS_DG_BOOT && !options->sh && !options->odf)
        status = gls_image_create(input->grid, gls_sh_count(options->model.sh_order), &input->model.sh);
    if (status) return cmd_error_status(status);
    return options->dg == GLS_DG_BOOT ? cmd_model_prepare(&input->model, input->mask) : make_source(input, options);
}

gls_track_input track_input_tracker(const track_input *input, const track_options *options)
{
    gls_track_input tracker = {.stop_map = input->stop_map, .sphere = input->sphere, .odf = input->odf};
    if (options->dg != GLS_DG_BOOT) return tracker;
    tracker.dwi = cmd_model_dwi(&input->model);
    tracker.gradients = cmd_model_gradients(&input->model);
    tracker.qball = input->model.qball;
    return tracker;
}

/* CSD is slow and means nothing where no streamline goes: the part of the mask that the stop map lets through. */
static int restrict_mask(const track_input *input, const track_options *options, gls_image **mask)
{
    gls_status status = gls_image_create(input->grid, 1, mask);
    if (status) return cmd_error_status(status);
    size_t n = gls_grid_voxels(input->grid), inside = 0;
    for (size_t i = 0; i < n; i++) {
        bool in = input->mask->data[i] > 0 && input->stop_map->data[i] >= options->fa_threshold;
        (*mask)->data[i] = in;
        inside += in;
    }
    if (inside > 0) return CMD_EXIT_OK;
    return cmd_error(CMD_EXIT_INPUT, "%s: no voxel of the mask reaches --fa-threshold %g, there is nothing to fit",
                     options->fa ? options->fa : "FA", options->fa_threshold);
}

static int fit_odf(track_input *input, const track_options *options)
{
    gls_image *mask = NULL;
    bool csd = options->model.model == MODEL_CSD;
    int code = csd ? restrict_mask(input, options, &mask) : CMD_EXIT_OK;
    if (!code) code = cmd_model_fit(&input->model, csd ? mask : input->mask, options->cache_dir);
    gls_image_destroy(mask);
    return code;
}

int track_input_fit(track_input *input, const track_options *options)
{
    double start = cmd_clock();
    bool fitted = !options->sh && !options->odf;
    int code = fitted ? cmd_model_prepare(&input->model, input->mask) : CMD_EXIT_OK;
    if (!code && !input->stop_map) {
        if (!fitted) input->model.series = &input->series;
        code = cmd_model_fa(&input->model, input->mask, options->cache_dir, &input->stop_map);
    }
    if (code) return code;
    size_t n = gls_grid_voxels(input->grid);
    for (size_t i = 0; i < n; i++)
        if (!(input->mask->data[i] > 0) || !isfinite(input->stop_map->data[i])) input->stop_map->data[i] = 0;
    if (options->dg != GLS_DG_BOOT) {
        if (fitted) code = fit_odf(input, options);
        if (!code) code = make_source(input, options);
    }
    input->seconds_fit = cmd_clock() - start;
    return code;
}

void track_input_finish(track_input *input)
{
    gls_odf_source_destroy(input->odf);
    cmd_model_finish(&input->model);
    if (!input->phantom) {
        cmd_series_finish(&input->series);
        gls_image_destroy(input->mask);
        gls_image_destroy(input->roi);
    }
    gls_phantom_destroy(input->phantom);
    gls_image_destroy(input->odf_image);
    gls_image_destroy(input->stop_map);
    gls_sphere_destroy(input->sphere);
    gls_seeds_destroy(input->seeds);
    *input = (track_input){.phantom = NULL};
}
