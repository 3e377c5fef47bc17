/* A diffusion series: reads the image, checks its values, and makes the mask. */
#include "workflow/series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/normalise.h>

#include "image/formats.h"
#include "util/status.h"

#define MRTRIX_B0 10.0 /* s/mm2: MRtrix3's threshold of b = 0 */

gls_status gls_series_fail(const gls_series *s, gls_status status)
{
    char reason[GLS_MESSAGE_BYTES];
    if (status != GLS_ERR_INPUT) return status;
    snprintf(reason, sizeof reason, "%s", gls_last_error());
    return gls_fail(status, "%s: %s", s->name, reason);
}

gls_status gls_series_make_mask(const gls_series *s, gls_image **mask)
{
    gls_log(GLS_LOG_INFO, "no mask is given: it is made from %s", s->name);
    return gls_mask_estimate(s->dwi, s->gradients, mask);
}

gls_status gls_series_read(gls_series *s, const gls_input_file *files, const gls_model_options *options)
{
    s->name = files[0].path;
    gls_status status = gls_image_read(files[0].path, GLS_IMAGE_4D, &s->dwi);
    if (status) return status;
    const gls_grid *grid = &s->dwi->grid;
    char axes[4];
    gls_grid_axis_codes(grid, axes);
    gls_log(GLS_LOG_INFO, "%s: %d x %d x %d voxels of %.4g x %.4g x %.4g mm, axes %s, %zu volumes", files[0].path,
            grid->dim[0], grid->dim[1], grid->dim[2], grid->voxel_size[0], grid->voxel_size[1], grid->voxel_size[2],
            axes, s->dwi->n_volumes);
    return gls_series_read_table(s, files, options);
}

/* What one volume of a series looks like; numbers are 0 or 1. */
typedef struct volume_look {
    int32_t odd, positive; /* odd: a value is not finite; positive: a value in the mask is above 0 */
    int32_t positive_b0;   /* positive, in a volume of b = 0 */
} volume_look;

/* Written without branches so that the compiler vectorises the loop. A series has some 100 million values. */
static volume_look look_at(const float *volume, const float *mask, size_t n)
{
    int32_t odd = 0, positive = 0;
    for (size_t i = 0; i < n; i++) {
        /* true for infinities and NaN: their difference to themselves is NaN */
        odd |= !(volume[i] - volume[i] == 0);
        positive |= (volume[i] > 0) & (mask[i] > 0);
    }
    return (volume_look){odd, positive, 0};
}

/* Marks voxels with a value that is not finite. */
static void mark_broken(const float *volume, size_t n, uint8_t *broken)
{
    for (size_t i = 0; i < n; i++) broken[i] |= !isfinite(volume[i]);
}

/* Sets all values of such voxels to 0, and warns. */
static gls_status clear_broken(gls_series *s)
{
    size_t n = gls_grid_voxels(&s->dwi->grid), n_broken = 0;
    uint8_t *broken = calloc(n, 1);
    if (!broken) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory for %zu voxels", s->name, n);
    for (size_t t = 0; t < s->dwi->n_volumes; t++) mark_broken(s->dwi->data + t * n, n, broken);
    for (size_t t = 0; t < s->dwi->n_volumes; t++)
        for (size_t i = 0; i < n; i++)
            if (broken[i]) s->dwi->data[t * n + i] = 0;
    for (size_t i = 0; i < n; i++) n_broken += broken[i];
    free(broken);
    gls_log(GLS_LOG_WARNING, "%s: values of %zu voxels are not finite: these voxels count as empty", s->name, n_broken);
    return GLS_OK;
}

/* look_at() for all volumes. */
static volume_look look_at_all(const gls_series *s, const gls_image *mask)
{
    size_t n = gls_grid_voxels(&s->dwi->grid);
    const bool *is_b0 = s->gradients->is_b0;
    int32_t odd = 0, positive = 0, positive_b0 = 0;
#pragma omp parallel for schedule(static) reduction(| : odd, positive, positive_b0)
    for (size_t t = 0; t < s->dwi->n_volumes; t++) {
        volume_look look = look_at(s->dwi->data + t * n, mask->data, n);
        odd |= look.odd;
        positive |= look.positive;
        positive_b0 |= is_b0[t] ? look.positive : 0;
    }
    return (volume_look){odd, positive, positive_b0};
}

gls_status gls_series_check(gls_series *s, const gls_image *mask)
{
    volume_look look = look_at_all(s, mask);
    /* rare, so that the usual case reads the series once */
    if (look.odd) {
        gls_status status = clear_broken(s);
        if (status) return status;
        look = look_at_all(s, mask);
    }
    if (!look.positive) return gls_fail(GLS_ERR_INPUT, "%s: no value inside the mask is above 0", s->name);
    if (look.positive_b0 || s->gradients->n_b0 == 0) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT,
                    "%s: no value of its b = 0 volumes is above 0 inside the mask: is the gradient table in the order "
                    "of the volumes?",
                    s->name);
}

gls_status gls_series_log_shells(gls_series *s)
{
    size_t n;
    gls_status status = gls_gradients_shells(s->gradients, s->shell, SERIES_MAX_SHELLS, &n);
    if (status) return status;
    s->n_shells = n < SERIES_MAX_SHELLS ? n : SERIES_MAX_SHELLS;
    gls_log(GLS_LOG_INFO, "  %12s  %8s  %s", "b [s/mm2]", "volumes", "measured b");
    for (size_t i = 0; i < s->n_shells; i++) {
        const gls_shell *shell = &s->shell[i];
        gls_log(GLS_LOG_INFO, "  %12.6g  %8zu  %.6g to %.6g", shell->bval, shell->n, shell->min_bval, shell->max_bval);
    }
    if (n > 0 && s->shell[0].is_b0 && s->shell[0].max_bval > MRTRIX_B0)
        gls_log(GLS_LOG_INFO,
                "  volumes up to b = %.6g s/mm2 count as b = 0 (--b0-threshold); MRtrix3 counts those up to %g",
                s->shell[0].max_bval, MRTRIX_B0);
    if (n > SERIES_MAX_SHELLS) gls_log(GLS_LOG_INFO, "  (and %zu more)", n - SERIES_MAX_SHELLS);
    return GLS_OK;
}

void gls_series_finish(gls_series *s)
{
    gls_image_destroy(s->dwi);
    gls_gradients_destroy(s->gradients);
    *s = (gls_series){.dwi = NULL};
}

gls_status gls_image_read_on_grid(const gls_grid *grid, const char *name_of_grid, const char *path, gls_image **image)
{
    gls_image *read = NULL;
    gls_status status = gls_image_read(path, GLS_IMAGE_3D, &read);
    /* axes of the file may be in another order or direction: the voxels are sorted, never interpolated */
    if (!status) status = gls_image_reorient(&read, path, grid);
    if (!status) status = gls_grid_require_equal(grid, name_of_grid, &read->grid, path);
    if (status) {
        gls_image_destroy(read);
        return status;
    }
    *image = read;
    return GLS_OK;
}

gls_status gls_image_count_voxels(const gls_image *image, const char *name, const char *kind, uint64_t *count)
{
    size_t n = gls_grid_voxels(&image->grid);
    uint64_t found = 0;
    for (size_t i = 0; i < n; i++) found += image->data[i] > 0;
    *count = found;
    return found ? GLS_OK : gls_fail(GLS_ERR_INPUT, "%s: the %s is empty: no voxel is > 0", name, kind);
}
