#include "workflow/series.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/hash.h"
#include "image/image.h"
#include "util/log.h"
#include "util/status.h"

gls_status gls_input_file_check(gls_input_file *file, const char *hint)
{
    struct stat info;
    if (!file->path) return GLS_OK;
    if (stat(file->path, &info) != 0 || access(file->path, R_OK) != 0)
        return gls_fail(GLS_ERR_INPUT, "%s: cannot be read: %s%s", file->path, strerror(errno),
                        hint && errno == ENOENT ? hint : "");
    if (S_ISDIR(info.st_mode)) return gls_fail(GLS_ERR_INPUT, "%s: cannot be read: %s", file->path, strerror(EISDIR));
    file->bytes = (uint64_t)info.st_size;
    return GLS_OK;
}

gls_status gls_input_file_hash(gls_input_file *file)
{
    int reason = file->path ? gls_hash_file(file->path, &file->hash) : 0;
    return reason ? gls_fail(GLS_ERR_INPUT, "%s: cannot be read again: %s", file->path, strerror(reason)) : GLS_OK;
}

const char *gls_table_path(const char *path)
{
    return path && strcmp(path, "-") != 0 ? path : NULL;
}

gls_status gls_series_read(gls_series *s, const gls_input_file *files, const gls_model_options *options)
{
    gls_gradients_options gradients = {
        .size = sizeof gradients, .b0_threshold = options->b0_threshold, .frame = (gls_bvec_frame)options->bvec_frame};
    s->name = files[0].path;
    gls_status status = gls_image_read(files[0].path, GLS_IMAGE_4D, &s->dwi);
    if (status) return status;
    const gls_grid *grid = &s->dwi->grid;
    char axes[4];
    gls_grid_axis_codes(grid, axes);
    gls_log(GLS_LOG_INFO, "%s: %d x %d x %d voxels of %.4g x %.4g x %.4g mm, axes %s, %zu volumes", files[0].path,
            grid->dim[0], grid->dim[1], grid->dim[2], grid->voxel_size[0], grid->voxel_size[1], grid->voxel_size[2],
            axes, s->dwi->n_volumes);
    if (files[2].path)
        return gls_gradients_read(files[1].path, files[2].path, &gradients, grid, s->dwi->n_volumes, &s->gradients);
    return gls_gradients_read_table(files[1].path ? files[1].path : files[0].path, &gradients, grid, s->dwi->n_volumes,
                                    &s->gradients);
}

typedef struct volume_look {
    int32_t odd, positive; /* some values are not finite; some are above 0 inside the mask */
} volume_look;

/* A loop without branches, for the compiler to make vectors of: there are a hundred million values in a series. */
static volume_look look_at(const float *volume, const float *mask, size_t n)
{
    int32_t odd = 0, positive = 0;
    for (size_t i = 0; i < n; i++) {
        odd |= !(volume[i] - volume[i] == 0);
        positive |= (volume[i] > 0) & (mask[i] > 0);
    }
    return (volume_look){odd, positive};
}

/* Makes 0 of what is not finite; returns how many values that were. */
static size_t mend(float *volume, size_t n)
{
    size_t mended = 0;
    for (size_t i = 0; i < n; i++) {
        if (isfinite(volume[i])) continue;
        volume[i] = 0;
        mended++;
    }
    return mended;
}

gls_status gls_series_check(gls_series *s, const gls_image *mask)
{
    size_t n = gls_grid_voxels(&s->dwi->grid), not_finite = 0;
    bool any = false;
#pragma omp parallel for schedule(static) reduction(+ : not_finite) reduction(|| : any)
    for (size_t t = 0; t < s->dwi->n_volumes; t++) {
        float *volume = s->dwi->data + t * n;
        volume_look look = look_at(volume, mask->data, n);
        if (look.odd) {
            not_finite += mend(volume, n);
            look = look_at(volume, mask->data, n);
        }
        any = any || look.positive != 0;
    }
    if (not_finite) gls_log(GLS_LOG_WARNING, "%s: %zu values are not finite and count as 0", s->name, not_finite);
    return any ? GLS_OK : gls_fail(GLS_ERR_INPUT, "%s: no value inside the mask is above 0", s->name);
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
