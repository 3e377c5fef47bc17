/* Peaks for getters that follow peaks: read from files, or found in ODFs. */

#include "image/formats.h"
#include "record/run_params.h"
#include "run/job_inputs.h"
#include "sinks/weight_files.h"
#include "util/clock.h"

gls_bvec_frame gls_peaks_frame(const gls_job_options *o, int i)
{
    if (o->peaks_frame != GLS_FRAME_AUTO) return (gls_bvec_frame)(o->peaks_frame - 1);
    return gls_case_compare_n(gls_file_name(o->peaks.value[i]), "dyads", 5) == 0 ? GLS_BVEC_FSL : GLS_BVEC_WORLD;
}

/* --- Files. */

void gls_job_inputs_peak_files(const gls_job_options *o, gls_input_file file[GLS_FILE_N_FILES])
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

/* Returns an error for .pam5, DIPY's format for peaks in HDF5, which cannot be read. */
static gls_status check_name(const char *path)
{
    if (!gls_case_ends(path, ".pam5")) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT,
                    "%s: is DIPY's format of peaks, which is not read: write NIfTI with dipy.io.peaks.pam_to_niftis "
                    "(or the command dipy_pam_to_niftis) and give its peaks_dirs, with --peaks-frame image",
                    path);
}

/* Reads file i of --peaks and appends its volumes to inputs->odf_image. */
static gls_status add_file(gls_job_inputs *inputs, const gls_job_options *o, int i)
{
    const char *path = o->peaks.value[i];
    const gls_bvec_frame frame = gls_peaks_frame(o, i);
    const gls_grid *grid = inputs->series.dwi ? &inputs->series.dwi->grid : i > 0 ? &inputs->odf_image->grid : NULL;
    const char *first = inputs->series.dwi ? inputs->file[GLS_FILE_DWI].path : o->peaks.value[0];
    gls_image *image = NULL;
    gls_status status = check_name(path);
    if (!status) status = gls_image_read(path, GLS_IMAGE_ANY, &image);
    if (!status) gls_peaks_doubt(image, path);
    /* Reordering voxel axes does not change vectors along the scanner axes. */
    if (!status && grid && frame == GLS_BVEC_WORLD) status = gls_image_reorient(&image, path, grid);
    if (!status && grid) status = gls_grid_require_equal(grid, first, &image->grid, path);
    if (!status) status = gls_peaks_append(&inputs->odf_image, image, path, frame);
    gls_image_destroy(image);
    return status;
}

/* Reads --peaks-values, which replace the lengths of the peaks. GLS_ERR_INPUT: another number of values than peaks. */
static gls_status add_values(gls_job_inputs *inputs, const gls_job_options *o)
{
    const size_t n_peaks = inputs->odf_image->n_volumes / 3;
    size_t n = 0;
    gls_status status = GLS_OK;
    for (int i = 0; i < o->peaks_values.n && !status; i++) {
        const char *path = o->peaks_values.value[i];
        gls_image *image = NULL;
        status = gls_image_read(path, GLS_IMAGE_ANY, &image);
        if (!status) status = gls_image_reorient(&image, path, &inputs->odf_image->grid);
        if (!status) status = gls_peaks_set_values(inputs->odf_image, n, image, path);
        if (!status) n += image->n_volumes;
        gls_image_destroy(image);
    }
    if (status || o->peaks_values.n == 0 || n == n_peaks) return status;
    return gls_fail(GLS_ERR_INPUT,
                    "--peaks-values: %zu volumes, but --peaks has %zu peaks in a voxel: one is needed for each", n,
                    n_peaks);
}

gls_status gls_job_inputs_read_peaks(gls_job_inputs *inputs, const gls_job_options *o)
{
    gls_status status = GLS_OK;
    for (int i = 0; i < o->peaks.n && !status; i++) status = add_file(inputs, o, i);
    if (!status) status = add_values(inputs, o);
    if (!status) status = gls_image_require_values(inputs->odf_image, o->peaks.value[0], "peak");
    if (!status)
        gls_log(GLS_LOG_INFO, "%s%s: %zu peaks a voxel, %s axes (--peaks-frame)", o->peaks.value[0],
                o->peaks.n > 1 ? " and others" : "", inputs->odf_image->n_volumes / 3,
                gls_odf_frame_name(gls_peaks_frame(o, 0)));
    return status;
}

/* --- Peaks of ODFs. */

/* Number of peaks to find in each voxel: as many as the getter reads, or 3 if it sets no number. */
static size_t n_peaks(const gls_job_options *o)
{
    const uint32_t n = gls_getter_facts_of(o->track.dg).n_peaks;
    return n > 0 ? n : 3;
}

gls_status gls_find_peaks(const gls_job_options *o, const gls_odf_source *source, gls_bvec_frame frame,
                          gls_image **peaks)
{
    if (!gls_along_peaks(o) || o->peaks.n > 0 || o->bedpostx) return GLS_OK;
    const double start = gls_clock_seconds();
    if (!source || !source->is_sh || source->full)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--dg %s: needs peaks: --peaks FILE, or symmetric ODFs as spherical harmonics of even orders",
                        gls_getter_name(o->track.dg));
    gls_status status =
        gls_peaks_of_sh(source->image, o->sh ? o->sh : "the fit", source->basis, frame, n_peaks(o), 0, peaks);
    if (!status)
        gls_log(GLS_LOG_INFO, "peaks: up to %zu a voxel, %s", n_peaks(o), GLS_DURATION(gls_clock_seconds() - start));
    return status;
}

gls_status gls_job_inputs_find_peaks(gls_job_inputs *inputs, const gls_job_options *o)
{
    return gls_find_peaks(o, inputs->odf, inputs->odf_frame, &inputs->peaks);
}

gls_status gls_job_inputs_plan_peaks(gls_job_inputs *inputs, const gls_job_options *o)
{
    if (!gls_along_peaks(o) || o->peaks.n > 0 || o->bedpostx) return GLS_OK;
    return gls_image_create(inputs->grid, 3 * n_peaks(o), &inputs->peaks);
}
