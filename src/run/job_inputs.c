/* The inputs of a run of tracking: reads files or makes the phantom, checks, fits, and makes the tracker's input. */
#include "run/job_inputs.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "dwi/fit_cache.h"
#include "dwi/fit_model.h"
#include "dwi/image_kind.h"
#include "dwi/series.h"
#include "image/reorient.h"
#include "record/run_params.h"
#include "run/anatomy.h"
#include "track/getter/getters.h"
#include "transform/bring.h"
#include "util/clock.h"

#define SEED_FA 0.2 /* voxels with FA above this value make the default seed region */

/* Fills in the entries of file[] for --peaks and --peaks-values. */
static void name_peak_files(const gls_job_options *o, gls_input_file file[GLS_FILE_N_FILES])
{
    static const char *const roles[2][GLS_MAX_PEAK_FILES] = {
        {"peaks", "peaks_2", "peaks_3", "peaks_4", "peaks_5", "peaks_6", "peaks_7", "peaks_8"},
        {"peaks_values", "peaks_values_2", "peaks_values_3", "peaks_values_4", "peaks_values_5", "peaks_values_6",
         "peaks_values_7", "peaks_values_8"}};
    for (int i = 0; i < GLS_MAX_PEAK_FILES; i++) {
        file[GLS_FILE_PEAKS + i] =
            (gls_input_file){.role = roles[0][i], .path = i < o->peaks.n ? o->peaks.value[i] : NULL};
        file[GLS_FILE_PEAKS_VALUES + i] =
            (gls_input_file){.role = roles[1][i], .path = i < o->peaks_values.n ? o->peaks_values.value[i] : NULL};
    }
}

void gls_job_inputs_files(const gls_job_options *options, gls_input_file file[GLS_FILE_N_FILES])
{
#define ROW(position, role_, path_) file[GLS_FILE_##position] = (gls_input_file){.role = role_, .path = path_};
    GLS_INPUT_FILES(ROW)
#undef ROW
    file[GLS_FILE_DIRECTIONS].hint = GLS_DIRECTIONS_HINT;
    file[GLS_FILE_SPHERE].hint = " (--sphere takes the name of a built-in one, such as small, or a file)";
    file[GLS_FILE_BEDPOSTX].folder = true;
    name_peak_files(options, file);
}

gls_status gls_job_inputs_init(gls_job_inputs *input, gls_method method, const gls_job_options *options)
{
    *input = (gls_job_inputs){
        .method = method,
        .directs_seeds = options->seed_dynamic && options->dynamic_direction == GLS_DYNAMIC_FIXEL,
    };
    gls_job_inputs_files(options, input->file);
    gls_status status = GLS_OK;
    for (int i = 0; i < GLS_FILE_N_FILES && !status; i++) status = gls_input_file_check(&input->file[i]);
    return !status && options->cache_dir ? gls_fit_cache_init(options->cache_dir, false) : status;
}

/* Makes the built-in phantom, takes its series and borrows its mask and seed region. */
static gls_status make_phantom(gls_job_inputs *input, const gls_job_options *options)
{
    gls_phantom_params params = gls_phantom_params_default();
    /* tracking needs the images of the phantom, not its ground truth */
    params.ground_truth = false;
    gls_log_mute_info(true);
    gls_status status = gls_phantom_create(&params, &input->phantom);
    gls_log_mute_info(false);
    if (status) return status;
    input->series = (gls_series){.name = gls_job_inputs_name(input, GLS_FILE_DWI),
                                 .dwi = input->phantom->dwi,
                                 .gradients = input->phantom->gradients,
                                 .frame = GLS_BVEC_IMAGE};
    input->phantom->dwi = NULL;
    input->phantom->gradients = NULL;
    input->mask = input->phantom->mask;
    input->roi = input->phantom->roi;
    input->grid = &input->series.dwi->grid;
    gls_log(GLS_LOG_INFO, "tracking the built-in phantom, %d x %d x %d voxels, %zu volumes", input->grid->dim[0],
            input->grid->dim[1], input->grid->dim[2], input->series.dwi->n_volumes);
    return gls_series_select(&input->series, &options->model);
}

/* Whether --transform brings a mask: the seed mask, and with --transform-mask the brain mask. */
static bool is_of_other_space(const gls_job_options *o, int which)
{
    return which == GLS_FILE_ROI || (which == GLS_FILE_MASK && o->transform_mask);
}

/* Reads input file `which`, an image of one volume, if the options name it. Masks may lie on any grid, and in the other
 * space of --transform. first: path of the image that gives the grid, for messages. */
static gls_status read_map(const gls_job_inputs *input, const gls_job_options *o, int which, const char *first,
                           gls_image **image)
{
    const char *path = input->file[which].path;
    if (!path) return GLS_OK;
    return which == GLS_FILE_FA
               ? gls_image_read_on_grid(input->grid, first, path, image)
               : gls_mask_bring(input->grid, first, path, is_of_other_space(o, which) ? &input->space : NULL, image);
}

bool gls_job_inputs_need_series(const gls_job_inputs *input, const gls_job_options *options)
{
    const gls_method *m = &input->method;
    /* directions, or the mask, come from the series */
    if (m->fits || m->series || m->tensors || !input->file[GLS_FILE_MASK].path) return true;
    if (input->file[GLS_FILE_FA].path) return false;
    /* FA comes from the series: for the stop map, for outputs, or for the seed region */
    return !m->getter->own_end || input->wants_fa || !(input->file[GLS_FILE_ROI].path || gls_seeds_place(options));
}

/* Reads the images. All must lie on one grid: of the series, else of ODFs, peaks or samples, else of a mask. */
static gls_status read_files(gls_job_inputs *input, const gls_job_options *options)
{
    /* the file that gives directions in place of a series */
    const gls_input_file *odf = &input->file[options->sh            ? GLS_FILE_SH
                                             : options->peaks.n > 0 ? GLS_FILE_PEAKS
                                             : options->bedpostx    ? GLS_FILE_BEDPOSTX
                                                                    : GLS_FILE_ODF];
    const char *first = input->file[GLS_FILE_DWI].path ? input->file[GLS_FILE_DWI].path : odf->path;
    if (input->method.masks_alone) first = options->mask ? options->mask : options->roi;
    gls_status status = GLS_OK;
    const char *const series[] = {input->file[GLS_FILE_DWI].path, input->file[GLS_FILE_BVAL].path,
                                  input->file[GLS_FILE_BVEC].path};
    const bool values = gls_job_inputs_need_series(input, options);
    if (series[0]) status = gls_series_read(&input->series, series, &options->model, values);
    if (series[0] && !status && !values)
        gls_log(GLS_LOG_INFO, "%s: only its header and gradient table are read, because the run needs no values of it",
                series[0]);
    if (!status && options->peaks.n > 0) {
        status = gls_job_inputs_read_peaks(input, options);
    } else if (!status && options->bedpostx) {
        status = gls_bedpostx_read(options->bedpostx, input->file[GLS_FILE_MASK].path,
                                   input->series.dwi ? &input->series.dwi->grid : NULL, series[0], &input->mask,
                                   &input->odf_image, &input->peak_samples);
    } else if (!status && odf->path) {
        status = gls_image_read(odf->path, GLS_IMAGE_ANY, &input->odf_image);
        if (!status && options->sh) status = gls_fod_check(input->odf_image, odf->path);
        if (!status) status = gls_image_require_values(input->odf_image, odf->path, "ODF");
        /* reorder voxels only if coefficients are along scanner axes, which do not change with the voxel axes */
        bool world = gls_model_frame(&options->model) == GLS_BVEC_WORLD &&
                     !(options->odf && options->model.sh_frame == GLS_FRAME_AUTO);
        if (!status && input->series.dwi && world)
            status = gls_image_reorient(&input->odf_image, odf->path, &input->series.dwi->grid);
        if (!status && input->series.dwi)
            status = gls_grid_require_equal(&input->series.dwi->grid, first, &input->odf_image->grid, odf->path);
    } else if (!status && input->method.masks_alone) {
        gls_image **image = options->mask ? &input->mask : &input->roi;
        status = gls_image_read(first, GLS_IMAGE_3D, image);
        if (!status && is_of_other_space(options, options->mask ? GLS_FILE_MASK : GLS_FILE_ROI))
            status = gls_image_bring(image, &input->space, GLS_RESAMPLE_NEAREST, 0, first);
    }
    if (status) return status;
    const gls_image *alone = input->mask ? input->mask : input->roi, *odfs = input->odf_image;
    input->grid = &(input->series.dwi ? input->series.dwi : odfs ? odfs : alone)->grid;
    /* read a mask unless it is there: as the first image, or read with the samples of --bedpostx */
    if (!input->mask) status = read_map(input, options, GLS_FILE_MASK, first, &input->mask);
    if (!status && !input->roi) status = read_map(input, options, GLS_FILE_ROI, first, &input->roi);
    if (!status) status = read_map(input, options, GLS_FILE_FA, first, &input->stop_map);
    if (!status && !input->mask && input->series.dwi) {
        input->mask_made = true;
        return gls_series_make_mask(&input->series, &input->mask);
    }
    /* without a series nothing can make a mask: all voxels count */
    if (!status && !input->mask) {
        status = gls_image_create(input->grid, 1, &input->mask);
        if (status) return status;
        for (size_t i = 0; i < gls_grid_voxels(input->grid); i++) input->mask->data[i] = 1;
    }
    return status;
}

/* Counts the voxels of the seed region that lie in the mask. GLS_ERR_INPUT, which names the file: there are none. */
static gls_status check_roi(gls_job_inputs *input)
{
    uint64_t roi;
    gls_status status = gls_image_count_voxels(input->roi, gls_job_inputs_name(input, GLS_FILE_ROI), "seed mask", &roi);
    if (status) return status;
    size_t n = gls_grid_voxels(input->grid);
    for (size_t i = 0; i < n; i++) input->seed_voxels += input->mask->data[i] > 0 && input->roi->data[i] > 0;
    if (input->seed_voxels == 0)
        return gls_fail(GLS_ERR_INPUT, "%s: no voxel of this seed mask lies in the mask (%s): give masks that overlap",
                        gls_job_inputs_name(input, GLS_FILE_ROI), gls_job_inputs_name(input, GLS_FILE_MASK));
    if (input->seed_voxels < roi)
        gls_log(GLS_LOG_INFO,
                "seeds: %" PRIu64 " of the %" PRIu64 " voxels of the seed mask lie outside the mask and are left out",
                roi - input->seed_voxels, roi);
    return GLS_OK;
}

/* Refuses a stop map that has no number in the mask: each streamline would end where it begins. */
static gls_status check_stop_map(const gls_job_inputs *input)
{
    if (!input->stop_map) return GLS_OK;
    for (size_t i = 0, n = gls_grid_voxels(input->grid); i < n; i++)
        if (input->mask->data[i] > 0 && isfinite(input->stop_map->data[i])) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT,
                    "%s: is NaN or infinite in every voxel of the mask: give --fa a map that has numbers there",
                    gls_job_inputs_name(input, GLS_FILE_FA));
}

gls_status gls_job_inputs_read(gls_job_inputs *input, const gls_job_options *options)
{
    double start = gls_clock_seconds();
    gls_status status = GLS_OK;
    if (options->transform.n > 0)
        status = gls_transform_read(options->transform.value, (size_t)options->transform.n, &input->space);
    if (!status) status = options->phantom ? make_phantom(input, options) : read_files(input, options);
    if (!status && options->phantom)
        status = read_map(input, options, GLS_FILE_FA, gls_job_inputs_name(input, GLS_FILE_DWI), &input->stop_map);
    if (!status)
        status =
            gls_image_count_voxels(input->mask, gls_job_inputs_name(input, GLS_FILE_MASK), "mask", &input->mask_voxels);
    if (!status) status = check_stop_map(input);
    if (!status && input->roi) status = check_roi(input);
    if (!status && input->series.dwi && input->series.dwi->data) status = gls_series_check(&input->series, input->mask);
    if (status) return status;
    if (input->series.dwi) status = gls_series_log_shells(&input->series);
    /* choose the model and check its responses before the slow work */
    if (!status && input->method.fits)
        status = gls_series_model_init(&input->model, &options->model, &input->series);
    else
        input->model.series = &input->series;
    if (!status) status = gls_job_inputs_read_tissue(input, options);
    if (!status && (input->roi || gls_seeds_place(options))) status = gls_job_inputs_make_seeds(input, options);
    if (status) return status;
    /* the amplitudes of --odf have directions of their own */
    if (!options->odf) {
        const char *path = input->file[GLS_FILE_SPHERE].path;
        status = path ? gls_sphere_read(path, &input->sphere) : gls_sphere_create(options->sphere, &input->sphere);
        if (status) return status;
    }
    const double *side = input->grid->voxel_size;
    input->voxel_mm = fmin(side[0], fmin(side[1], side[2]));
    status = gls_job_inputs_read_regions(input, options);
    /* hashes of all files identify the run in the sidecar */
    for (int i = 0; i < GLS_FILE_N_FILES && !status; i++) status = gls_input_file_hash(&input->file[i]);
    input->seconds_read = gls_trace_phase("read", start, 0);
    return status;
}

/* Makes the source of ODFs from amplitudes (--odf) along the directions of --sphere. */
static gls_status source_of_amplitudes(gls_job_inputs *input, const gls_job_options *options,
                                       const gls_odf_options *odf)
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

/* Makes the ODF source from --sh, from --odf, or from the fit. */
static gls_status make_source(gls_job_inputs *input, const gls_job_options *options)
{
    static const char *const fits[] = {[GLS_MODEL_OPDT] = "OPDT fit",
                                       [GLS_MODEL_CSA] = "CSA fit",
                                       [GLS_MODEL_CSD] = "CSD fit",
                                       [GLS_MODEL_MSMT] = "multi-tissue fit"};
    gls_odf_options odf = gls_odf_options_default();
    gls_status status;
    /* negative amplitudes count as 0 */
    odf.clip = true;
    /* set ODFs to 0 where the stop map is too low, because the curves of parallel transport reach into such voxels */
    if (gls_getter_uses(input->method.getter, GLS_FOR_ptt) && input->stop_map) {
        odf.stop_map = input->stop_map;
        odf.stop_threshold = options->track.stop_threshold;
    }
    input->odf_frame = options->sh || options->odf ? gls_model_frame(&options->model) : GLS_BVEC_IMAGE;
    /* directions of --odf are along FSL's axes by default */
    if (options->odf && options->model.sh_frame == GLS_FRAME_AUTO) input->odf_frame = GLS_BVEC_FSL;
    if (options->sh) {
        gls_log(GLS_LOG_INFO, "%s: %s basis (--sh-basis)", options->sh, gls_basis_name(options->model.sh_basis));
        status = gls_odf_source_create_sh(input->odf_image, options->sh, options->model.sh_basis, input->odf_frame,
                                          input->sphere, &odf, &input->odf);
    } else if (options->odf) {
        status = source_of_amplitudes(input, options, &odf);
    } else {
        status = gls_odf_source_create_sh(input->model.sh, fits[input->model.kind], GLS_SH_DESCOTEAUX07_LEGACY,
                                          input->odf_frame, input->sphere, &odf, &input->odf);
    }
    return status;
}

/* Makes a stop map of 1 everywhere if none is given and none is needed: because the getter ends streamlines without a
 * map, or because tissue does and there is neither --fa-threshold nor a series to fit FA to. */
static gls_status make_open_map(gls_job_inputs *input, const gls_job_options *options)
{
    bool tissue_alone = input->tissue && options->track.stop_threshold < 0 && !input->series.dwi;
    if (input->stop_map || (!input->method.getter->own_end && !tissue_alone)) return GLS_OK;
    if (options->track.stop_threshold >= 1)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--fa-threshold %g: needs --fa FILE, because --dg %s has no stop map without --fa",
                        options->track.stop_threshold, gls_getter_name(options->track.dg));
    input->stop_map_open = true;
    gls_status status = gls_image_create(input->grid, 1, &input->stop_map);
    for (size_t i = 0; !status && i < gls_grid_voxels(input->grid); i++) input->stop_map->data[i] = 1;
    return status;
}

gls_status gls_job_inputs_plan(gls_job_inputs *input, const gls_job_options *options)
{
    gls_status status = make_open_map(input, options);
    if (status) return status;
    /* make images without values: a plan counts their memory and tracks nothing */
    status = input->stop_map ? GLS_OK : gls_image_create(input->grid, 1, &input->stop_map);
    if (!status && input->method.odf && input->method.fits)
        status = gls_image_create(input->grid, gls_sh_count(input->model.order), &input->model.sh);
    if (status) return status;
    if (input->method.source == GLS_FROM_QBALL) return gls_series_model_prepare(&input->model, input->mask, NULL);
    status = input->method.odf ? make_source(input, options) : GLS_OK;
    return status ? status : gls_job_inputs_plan_peaks(input);
}

gls_track_input gls_job_inputs_tracker_input(const gls_job_inputs *input)
{
    gls_track_input tracker = {.stop_map = input->stop_map,
                               .sphere = input->sphere,
                               .odf = input->odf,
                               .peaks = input->peaks ? input->peaks : input->odf_image,
                               .peak_samples = input->peak_samples,
                               .regions = input->regions,
                               .tissue = input->tissue};
    tracker.seeds_have_directions = input->directs_seeds;
    if (!input->method.series) return tracker;
    /* bootstrap: the volumes of the model; getters that fit tensors: those of the tensor */
    const bool qball = input->method.source == GLS_FROM_QBALL;
    tracker.dwi = qball ? input->series.dwi : gls_series_tensor_dwi(&input->series);
    tracker.gradients = qball ? input->series.gradients : gls_series_tensor_gradients(&input->series);
    tracker.qball = input->model.qball;
    return tracker;
}

/* Makes *mask: voxels of the mask where the stop map reaches the threshold. CSD is slow, and of no use elsewhere. */
static gls_status restrict_mask(const gls_job_inputs *input, const gls_job_options *options, gls_image **mask)
{
    gls_status status = gls_image_create(input->grid, 1, mask);
    if (status) return status;
    size_t n = gls_grid_voxels(input->grid), inside = 0;
    for (size_t i = 0; i < n; i++) {
        /* also fit voxels at the threshold, since interpolation may exceed the threshold near them */
        bool in = input->mask->data[i] > 0 && input->stop_map->data[i] >= options->track.stop_threshold;
        (*mask)->data[i] = in;
        inside += in;
    }
    gls_log(GLS_LOG_INFO, "fit: %s of the %s voxels of the mask, those above --fa-threshold %g", GLS_COUNT(inside),
            GLS_COUNT(input->mask_voxels), options->track.stop_threshold);
    if (inside > 0) return GLS_OK;
    return gls_fail(
        GLS_ERR_INPUT,
        "%s: no voxel of the mask reaches --fa-threshold %g, so that nothing can be fitted: lower --fa-threshold",
        options->fa ? options->fa : "FA", options->track.stop_threshold);
}

/* Fits the model. CSD is fitted only in the voxels of restrict_mask(). */
static gls_status fit_odf(gls_job_inputs *input, const gls_job_options *options, const gls_monitor *monitor)
{
    gls_image *mask = NULL;
    bool csd = input->model.kind == GLS_MODEL_CSD;
    gls_status status = csd ? restrict_mask(input, options, &mask) : GLS_OK;
    if (!status) status = gls_series_model_fit(&input->model, csd ? mask : input->mask, options->cache_dir, monitor);
    gls_image_destroy(mask);
    return status;
}

/* Fits FA for outputs or the seed region, if the stop map is 1 everywhere and there is a series. */
static gls_status fit_fa(gls_job_inputs *input, const gls_job_options *options, const gls_monitor *monitor)
{
    if (!input->stop_map_open || !input->series.dwi || input->fa) return GLS_OK;
    return gls_series_model_fa(&input->model, input->mask, options->cache_dir, monitor, &input->fa, NULL);
}

const gls_image *gls_job_inputs_scalar(const gls_job_inputs *input)
{
    return input->stop_map_open ? input->fa : input->stop_map;
}

/* Makes the seed region from the stop map, or from fitted FA if the stop map is open. */
static gls_status region_of_fa(gls_job_inputs *input, const gls_job_options *options, const gls_monitor *monitor)
{
    gls_status status = fit_fa(input, options, monitor);
    GLS_REQUIRE(status || gls_job_inputs_scalar(input));
    return status ? status : gls_seed_region_of_fa(gls_job_inputs_scalar(input), SEED_FA, input->mask, &input->roi);
}

/* Makes the default seed region, white matter: by tissue fractions if three tissues are fitted, else by FA. Makes the
 * seeds in it. */
static gls_status make_region(gls_job_inputs *input, const gls_job_options *options, const gls_monitor *monitor)
{
    const gls_tissues *tissues = &input->model.tissues;
    /* fractions of two tissues do not separate white matter from grey matter */
    bool by_tissue = tissues->n == GLS_N_TISSUES && tissues->image[0];
    input->roi_made = true;
    gls_status status = by_tissue ? gls_seed_region_of_tissues((const gls_image *const *)tissues->image, tissues->n,
                                                               input->mask, &input->roi)
                                  : region_of_fa(input, options, monitor);
    input->region = by_tissue ? "that are white matter for more than half" : "of FA above 0.2 in the eroded mask";
    if (!status) gls_log(GLS_LOG_INFO, "no seed region is given: voxels %s", input->region);
    if (!status) status = check_roi(input);
    if (!status) status = gls_job_inputs_make_seeds(input, options);
    return status ? status : gls_job_inputs_check_tracking_mask(input);
}

gls_status gls_job_inputs_fit(gls_job_inputs *input, const gls_job_options *options, const gls_monitor *monitor)
{
    double start = gls_clock_seconds();
    bool fitted = input->method.fits;
    gls_status status = options->cache_dir ? gls_fit_cache_init(options->cache_dir, true) : GLS_OK;
    if (!status && fitted) status = gls_series_model_prepare(&input->model, input->mask, monitor);
    if (!status) status = make_open_map(input, options);
    if (!status && !input->stop_map)
        status = gls_series_model_fa(&input->model, input->mask, options->cache_dir, monitor, &input->stop_map, NULL);
    if (status) return status;
    /* set the stop map to 0 outside the mask and where it is not a number, so that it ends streamlines there */
    for (size_t i = 0, n = gls_grid_voxels(input->grid); i < n; i++)
        if (!(input->mask->data[i] > 0) || !isfinite(input->stop_map->data[i])) input->stop_map->data[i] = 0;
    if (input->method.tensors) {
        status =
            gls_series_model_fa(&input->model, input->mask, options->cache_dir, monitor, &input->fa, &input->peaks);
    } else if (input->method.odf) {
        if (fitted) status = fit_odf(input, options, monitor);
        if (!status) status = make_source(input, options);
        if (!status) status = gls_find_peaks(options, &input->method, input->odf, input->odf_frame, &input->peaks);
    }
    if (!status && !input->seeds) status = make_region(input, options, monitor);
    if (!status && input->wants_fa) status = fit_fa(input, options, monitor);
    input->seconds_fit = gls_trace_phase("fit", start, 0);
    return status;
}

void gls_job_inputs_finish(gls_job_inputs *input)
{
    gls_odf_source_destroy(input->odf);
    gls_series_model_finish(&input->model);
    gls_series_finish(&input->series);
    /* the masks of the phantom are borrowed */
    if (!input->phantom) {
        gls_image_destroy(input->mask);
        gls_image_destroy(input->roi);
    }
    gls_phantom_destroy(input->phantom);
    gls_image_destroy(input->odf_image);
    gls_image_destroy(input->peaks);
    gls_image_destroy(input->stop_map);
    gls_image_destroy(input->fa);
    gls_sphere_destroy(input->sphere);
    gls_seeds_destroy(input->seeds);
    gls_tissue_destroy(input->tissue);
    gls_regions_destroy(input->regions);
    gls_transform_finish(&input->space);
    *input = (gls_job_inputs){.phantom = NULL};
}
