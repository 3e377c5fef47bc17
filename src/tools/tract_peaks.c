/* `glslines peaks`: writes the peaks of fibre orientation distributions as an image. */
#include <math.h>

#include <glslines/peaks.h>

#include "dwi/image_kind.h"
#include "dwi/model_options.h"
#include "image/image_write.h"
#include "image/reorient.h"
#include "record/run_params.h"
#include "tools/tract_results.h"
#include "util/clock.h"
#include "util/numbers.h"
#include "util/status.h"

/* Counts peaks, and voxels with a peak. */
static void count(const gls_image *peaks, uint64_t *n_peaks, uint64_t *n_voxels)
{
    const size_t n = gls_grid_voxels(&peaks->grid);
    *n_peaks = *n_voxels = 0;
    for (size_t k = 0; k < peaks->n_volumes / 3; k++)
        for (size_t i = 0; i < n; i++) {
            const bool there = isfinite(peaks->data[3 * k * n + i]);
            /* NaN stands for no peak; the peaks of a voxel are in its first volumes */
            *n_peaks += there;
            *n_voxels += there && k == 0;
        }
}

/* Reads the FODs and finds their peaks, along the scanner axes. */
static gls_status find(const gls_peaks_cli *o, const char *path, gls_image **peaks)
{
    const gls_model_options model = {.sh_basis = (gls_sh_basis)o->sh_basis, .sh_frame = (gls_frame)o->sh_frame};
    const double start = gls_clock_seconds();
    gls_image *sh = NULL;
    char text[32];
    gls_status status = gls_image_read(path, GLS_IMAGE_4D, &sh);
    if (!status) status = gls_fod_check(sh, path);
    if (!status) status = gls_image_require_values(sh, path, "ODF");
    if (!status)
        status =
            gls_peaks_of_sh(sh, path, model.sh_basis, gls_model_frame(&model), (size_t)o->number, o->threshold, peaks);
    gls_image_destroy(sh);
    /* turn the peaks from the voxel axes to the axes of the scanner */
    if (!status) status = gls_peaks_to_world(*peaks);
    if (status) return status;
    gls_log(GLS_LOG_INFO, "peaks: found in %s", gls_format_duration(gls_clock_seconds() - start, text, sizeof text));
    return GLS_OK;
}

gls_status gls_tract_peaks(gls_tract_run *run, const void *options, const char *const *file, size_t n)
{
    const gls_peaks_cli *o = options;
    gls_image *peaks = NULL;
    uint64_t n_peaks = 0, n_voxels = 0;
    (void)n;
    if (!o->output) return gls_fail(GLS_ERR_ARGUMENT, "peaks: needs --output FILE (.nii, .nii.gz, .mif or .mif.gz)");
    gls_status status = gls_image_name_check(o->output);
    if (!status) status = gls_tract_run_reads(run, file[0]);
    if (!status) status = gls_tract_run_writes(run, o->output);
    if (!status) status = find(o, file[0], &peaks);
    if (!status) {
        count(peaks, &n_peaks, &n_voxels);
        status = gls_image_write_grouped(o->output, run->files.force, &run->files.group, peaks, GLS_IMAGE_FLOAT32);
    }
    /* a run without peaks is a success with a warning */
    gls_image_destroy(peaks);
    if (status) return status;
    gls_tract_run_count(run, "peaks", n_peaks);
    gls_tract_run_count(run, "voxels", n_voxels);
    if (n_peaks == 0) gls_log(GLS_LOG_WARNING, "%s: has no peak: all FODs are 0 or below --threshold", file[0]);
    gls_tract_run_message(run, "%s: %llu peaks in %llu voxels", o->output, (unsigned long long)n_peaks,
                          (unsigned long long)n_voxels);
    return GLS_OK;
}
