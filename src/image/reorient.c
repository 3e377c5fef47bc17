/* Brings images to the grid of a run: reorders the voxels of a grid that differs only in the order and direction of its
 * axes, as MRtrix3 may write it, and turns images of any grid into masks. Also checks the values of images. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/reorient.h"
#include "image/grid.h"
#include "image/nifti_read.h"
#include "image/labels.h"
#include "image/region_area.h"
#include "util/maths.h"
#include "util/status.h"

/* For each axis of the wanted grid: the parallel axis of the image (from), and whether that axis runs in the opposite
 * direction (turned). */
typedef struct axes {
    int from[3];
    bool turned[3];
} axes;

/* Makes the grid of an image whose axes are taken in the order and directions of `a`. Returns false if it is invalid.
 */
static bool make_grid(const gls_grid *g, const axes *a, gls_grid *made)
{
    int32_t dim[3];
    double affine[3][4];
    for (int r = 0; r < 3; r++) affine[r][3] = g->affine[r][3];
    for (int c = 0; c < 3; c++) {
        int from = a->from[c];
        dim[c] = g->dim[from];
        for (int r = 0; r < 3; r++) {
            double step = g->affine[r][from];
            affine[r][c] = a->turned[c] ? -step : step;
            if (a->turned[c]) affine[r][3] += step * (g->dim[from] - 1);
        }
    }
    return gls_grid_init(made, dim, (const double(*)[4])affine) == GLS_OK;
}

/* Tries all 48 orders and directions of three axes for the one that gives the wanted grid. */
static bool find_axes(const gls_grid *wanted, const gls_grid *g, axes *found)
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int order = 0; order < 6; order++)
        for (int turns = 0; turns < 8; turns++) {
            axes a;
            gls_grid made;
            for (int c = 0; c < 3; c++) {
                a.from[c] = orders[order][c];
                a.turned[c] = turns >> c & 1;
            }
            if (make_grid(g, &a, &made) && gls_grid_same(wanted, &made)) {
                *found = a;
                return true;
            }
        }
    return false;
}

/* Copies all volumes of an image to `made`, whose axes are taken in the order and directions of `a`. */
static void move_values(const gls_image *image, const axes *a, gls_image *made)
{
    const int32_t *dim = made->grid.dim, *old = image->grid.dim;
    const ptrdiff_t stride[3] = {1, old[0], (ptrdiff_t)old[0] * old[1]};
    ptrdiff_t step[3], start = 0;
    for (int c = 0; c < 3; c++) {
        step[c] = a->turned[c] ? -stride[a->from[c]] : stride[a->from[c]];
        if (a->turned[c]) start += stride[a->from[c]] * (dim[c] - 1);
    }
    size_t n = gls_grid_voxels(&made->grid);
#pragma omp parallel for collapse(2) schedule(static)
    for (size_t t = 0; t < image->n_volumes; t++)
        for (int32_t z = 0; z < dim[2]; z++)
            for (int32_t y = 0; y < dim[1]; y++) {
                const float *in = image->data + t * n + start + y * step[1] + z * step[2];
                float *out = made->data + t * n + ((size_t)z * (size_t)dim[1] + (size_t)y) * (size_t)dim[0];
                for (int32_t x = 0; x < dim[0]; x++) out[x] = in[x * step[0]];
            }
}

gls_status gls_image_reorient(gls_image **image, const char *name, const gls_grid *grid)
{
    axes a;
    gls_image *made = NULL;
    if (gls_grid_same(grid, &(*image)->grid) || !find_axes(grid, &(*image)->grid, &a)) return GLS_OK;
    gls_status status = gls_image_allocate(grid, (*image)->n_volumes, false, &made);
    if (status) return status;
    char from[4], to[4];
    gls_grid_axis_codes(&(*image)->grid, from);
    gls_grid_axis_codes(grid, to);
    gls_log(GLS_LOG_DETAIL, "%s: brought from axes %s to %s", name, from, to);
    move_values(*image, &a, made);
    gls_image_destroy(*image);
    *image = made;
    return GLS_OK;
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

gls_status gls_grid_read(const char *path, gls_grid *grid)
{
    gls_image *image = NULL;
    gls_status status = gls_image_read_vectors(path, &image);
    if (status) return status;
    /* read the whole image, although only its grid is wanted: no function reads the grid alone for every format */
    *grid = image->grid;
    gls_image_destroy(image);
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

gls_status gls_image_require_values(const gls_image *image, const char *name, const char *what)
{
    const size_t n = gls_grid_voxels(&image->grid) * image->n_volumes;
    for (size_t i = 0; i < n; i++)
        if (isfinite(image->data[i]) && image->data[i] != 0) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT, "%s: has no %s: all values are 0 or not finite", name, what);
}

/* --- Images of any grid that are brought to another grid as 0 and 1. */

/* Value of a voxel; 0 outside the image. */
static float voxel(const gls_image *image, int x, int y, int z)
{
    const int32_t *d = image->grid.dim;
    if (x < 0 || y < 0 || z < 0 || x >= d[0] || y >= d[1] || z >= d[2]) return 0;
    return image->data[((size_t)z * (size_t)d[1] + (size_t)y) * (size_t)d[0] + (size_t)x];
}

/* Interpolates the image at a position in voxels. Voxels outside the image are 0. */
static float trilinear(const gls_image *image, const double p[3])
{
    double low[3], sum = 0;
    for (int i = 0; i < 3; i++) low[i] = floor(p[i]);
    for (int corner = 0; corner < 8; corner++) {
        double weight = 1;
        int at[3];
        for (int i = 0; i < 3; i++) {
            int up = corner >> i & 1;
            at[i] = (int)low[i] + up;
            weight *= up ? p[i] - low[i] : 1 - (p[i] - low[i]);
        }
        if (weight > 0) sum += weight * (double)voxel(image, at[0], at[1], at[2]);
    }
    return (float)sum;
}

/* Whether the voxel nearest to position p, in voxels of the image, has one of the labels. */
static bool is_label_chosen(const gls_labels *labels, const gls_image_choice *choice, const double p[3])
{
    size_t v;
    if (!gls_region_voxel_at(&labels->grid, p, &v)) return false;
    for (size_t i = 0; i < choice->n_labels; i++)
        if (choice->label[i] == labels->data[v]) return true;
    return false;
}

/* Whether position p, in voxels of the image, counts. */
static bool is_chosen(const gls_image *image, const gls_image_choice *choice, const double p[3])
{
    /* positions beyond `far`, and NaN, must not be cast to int, which would be undefined */
    const double far = 1e6; /* outside any grid, and no overflow of int */
    size_t v;
    /* the comparison is also false for NaN */
    for (int i = 0; i < 3; i++)
        if (!(fabs(p[i]) < far)) return false;
    if (choice->interpolated) return trilinear(image, p) > choice->above;
    return (gls_region_voxel_at(&image->grid, p, &v) ? image->data[v] : 0) > choice->above;
}

/* Makes an image on `grid` that is 1 where the centre of a voxel counts in the image or the labels, of which one is
 * NULL, else 0. */
static gls_status choose(const gls_image *image, const gls_labels *labels, const gls_image_choice *choice,
                         const gls_grid *grid, gls_image **chosen)
{
    double inverse[3][4];
    gls_status status = gls_image_create(grid, 1, chosen);
    if (status) return status;
    /* voxel of the grid -> world mm -> voxel of the image */
    gls_grid_inverse(labels ? &labels->grid : &image->grid, inverse);
    const int32_t *d = grid->dim;
#pragma omp parallel for schedule(static)
    for (int32_t z = 0; z < d[2]; z++)
        for (int32_t y = 0; y < d[1]; y++)
            for (int32_t x = 0; x < d[0]; x++) {
                const double at[3] = {x, y, z};
                double world[3], p[3];
                gls_affine_apply(grid->affine, at, world);
                gls_affine_apply((const double(*)[4])inverse, world, p);
                (*chosen)->data[((size_t)z * (size_t)d[1] + (size_t)y) * (size_t)d[0] + (size_t)x] =
                    labels ? is_label_chosen(labels, choice, p) : is_chosen(image, choice, p);
            }
    return GLS_OK;
}

gls_status gls_image_choose(const char *path, const gls_image_choice *choice, const gls_grid *grid, gls_image **chosen)
{
    gls_image *image = NULL;
    gls_labels *labels = NULL;
    gls_status status =
        choice->label ? gls_labels_read_known(path, &labels) : gls_image_read(path, GLS_IMAGE_3D, &image);
    if (!status) status = choose(image, labels, choice, grid, chosen);
    gls_image_destroy(image);
    gls_labels_destroy(labels);
    return status;
}

/* Volume of the voxels above 0, mm3. */
static double volume_above_0(const gls_image *image)
{
    const size_t n = gls_grid_voxels(&image->grid);
    size_t found = 0;
    for (size_t i = 0; i < n; i++) found += image->data[i] > 0;
    return (double)found * fabs(gls_grid_determinant(&image->grid));
}

/* Resamples a mask to `grid`. Where less than half of its volume is left, it is no mask of this space, and the grids
 * are said to differ. */
static gls_status resample_mask(const gls_grid *grid, const char *name_of_grid, const char *path, gls_image **mask)
{
    static const gls_image_choice nearest = {.above = 0};
    gls_image *made = NULL;
    gls_status status = choose(*mask, NULL, &nearest, grid, &made);
    if (status) return status;
    const double before = volume_above_0(*mask), after = volume_above_0(made);
    if (after < 0.5 * before) {
        gls_image_destroy(made);
        return gls_grid_require_equal(grid, name_of_grid, &(*mask)->grid, path);
    }
    gls_log(
        GLS_LOG_WARNING,
        "%s: lies on another grid than %s: it is resampled to this grid, by the nearest voxel, which leaves %.1f %% of "
        "its volume",
        path, name_of_grid, before > 0 ? 100 * after / before : 100);
    gls_image_destroy(*mask);
    *mask = made;
    return GLS_OK;
}

gls_status gls_image_read_mask(const gls_grid *grid, const char *name_of_grid, const char *path, gls_image **mask)
{
    gls_image *read = NULL;
    gls_status status = gls_image_read(path, GLS_IMAGE_3D, &read);
    if (!status) status = gls_image_reorient(&read, path, grid);
    if (!status && gls_grid_require_equal(grid, name_of_grid, &read->grid, path) != GLS_OK)
        status = resample_mask(grid, name_of_grid, path, &read);
    if (status) {
        gls_image_destroy(read);
        return status;
    }
    *mask = read;
    return GLS_OK;
}
