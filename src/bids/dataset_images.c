/* Resamples masks and regions of anatomy to the grid of a series. */
#include "bids/dataset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/tensor.h>

#include "image/formats.h"
#include "run/series_run.h"
#include "util/maths.h"
#include "util/status.h"

/* Probability of white matter above which a voxel takes seeds. */
#define WM_PROBABILITY 0.5f
/* Fewest voxels of a seed region without a warning; fewer are probably a mistake. */
#define FEW_VOXELS 100

/* Labels of FreeSurfer: white matter, brain stem, deep grey matter, corpus callosum. */
static const gls_bids_labels of_freesurfer = {{2, 41, 7, 46, 16, 28, 60, 77, 85, 251, 252, 253, 254, 255}, 14};

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

/* Whether a label is in the list. */
static bool is_among(const gls_bids_labels *labels, int label)
{
    for (int i = 0; i < labels->n; i++)
        if (labels->value[i] == label) return true;
    return false;
}

/* 1 if position p, in voxels of the image, belongs to the region or mask, else 0. `kind` decides what counts: a
 * probability of white matter, a label, or a value above 0. */
static float value_at(const gls_image *image, gls_dataset_region kind, const gls_bids_labels *labels, const double p[3])
{
    /* positions beyond `far`, and NaN, must not be cast to int, which would be undefined */
    double far = 1e6; /* outside any grid, and no overflow of int */
    /* the comparison is also false for NaN */
    for (int i = 0; i < 3; i++)
        if (!(fabs(p[i]) < far)) return 0;
    if (kind == GLS_DATASET_WM) return trilinear(image, p) > WM_PROBABILITY;
    float nearest = voxel(image, (int)floor(p[0] + 0.5), (int)floor(p[1] + 0.5), (int)floor(p[2] + 0.5));
    if (kind != GLS_DATASET_DSEG && kind != GLS_DATASET_ASEG) return nearest > 0;
    if (!(nearest >= 0 && nearest < 1e9F)) return 0; /* not a label */
    return is_among(kind == GLS_DATASET_DSEG ? labels : &of_freesurfer, (int)lrintf(nearest));
}

/* Reads an image on any grid and makes an image of 0 and 1 on the grid of the series. kind GLS_DATASET_AUTO: a mask. */
static gls_status read_onto(const char *path, const gls_grid *grid, gls_dataset_region kind,
                            const gls_bids_labels *labels, gls_image **made)
{
    gls_image *image = NULL;
    double inverse[3][4];
    gls_status status = gls_image_read(path, GLS_IMAGE_3D, &image);
    if (!status) status = gls_image_create(grid, 1, made);
    if (status) {
        gls_image_destroy(image);
        return status;
    }
    /* voxel of the series -> world mm -> voxel of the image */
    gls_grid_inverse(&image->grid, inverse);
    const int32_t *d = grid->dim;
#pragma omp parallel for schedule(static)
    for (int32_t z = 0; z < d[2]; z++)
        for (int32_t y = 0; y < d[1]; y++)
            for (int32_t x = 0; x < d[0]; x++) {
                const double at[3] = {x, y, z};
                double world[3], p[3];
                gls_affine_apply(grid->affine, at, world);
                gls_affine_apply((const double(*)[4])inverse, world, p);
                (*made)->data[((size_t)z * (size_t)d[1] + (size_t)y) * (size_t)d[0] + (size_t)x] =
                    value_at(image, kind, labels, p);
            }
    gls_image_destroy(image);
    return GLS_OK;
}

/* Makes a seed region of the voxels of the mask whose FA is above o->fa. */
static gls_status seeds_of_fa(const gls_dataset_options *o, const gls_series *series, const gls_image *mask,
                              gls_image **seeds)
{
    gls_image *fa = NULL;
    gls_status status = gls_tensor_fit(series->dwi, series->gradients, mask, NULL, &fa, NULL, NULL);
    if (status) return status;
    size_t n = gls_grid_voxels(&fa->grid);
    for (size_t i = 0; i < n; i++) fa->data[i] = fa->data[i] > (float)o->fa;
    *seeds = fa;
    return GLS_OK;
}

/* Removes seed voxels outside the mask. GLS_ERR_INPUT: none, or less than half, of the seed voxels lie in the mask. */
static gls_status check_seeds(const gls_dataset_unit *u, const gls_image *mask, gls_image *seeds)
{
    size_t n = gls_grid_voxels(&mask->grid), all = 0, inside = 0;
    for (size_t i = 0; i < n; i++) {
        all += seeds->data[i] > 0;
        if (!(mask->data[i] > 0)) seeds->data[i] = 0;
        inside += seeds->data[i] > 0;
    }
    const char *name = u->region ? u->region : "FA";
    if (inside == 0 || 2 * inside < all)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: only %zu of the %zu voxels of the region of seeds lie in the mask %s: are "
                        "both images aligned?",
                        name, inside, all, u->mask);
    if (inside < FEW_VOXELS) gls_log(GLS_LOG_WARNING, "%s: the region of seeds has only %zu voxels", name, inside);
    return GLS_OK;
}

gls_status gls_dataset_images(const gls_dataset_options *o, const gls_dataset_unit *u, const gls_model_options *model,
                              gls_image **mask, gls_image **seeds)
{
    gls_series series = {.dwi = NULL};
    gls_gradients_options options = gls_series_options(model);
    const char *const files[] = {u->dwi, u->bval, gls_table_path(u->bvec)};
    gls_image *inside = NULL, *region = NULL;
    /* directions of a table in a single file (.b) are along the scanner axes, as in MRtrix3 */
    if (!files[2]) options.frame = GLS_BVEC_WORLD;
    gls_status status = gls_series_read(&series, files, &options);
    /* a table in a single file that exists besides bval and bvec is not used; a difference is a warning */
    if (!status && u->table) gls_series_compare_table(&series, u->table, NULL, u->bvec);
    if (!status) status = read_onto(u->mask, &series.dwi->grid, GLS_DATASET_AUTO, NULL, &inside);
    /* the kind of the region decides which of its values take seeds */
    if (!status)
        status = u->region ? read_onto(u->region, &series.dwi->grid, u->kind, &u->labels, &region)
                           : seeds_of_fa(o, &series, inside, &region);
    if (!status && !u->region && o->region == GLS_DATASET_AUTO)
        gls_log(GLS_LOG_WARNING, "%s: seeds lie where FA is above %g, for want of a segmentation", u->name, o->fa);
    if (!status) status = check_seeds(u, inside, region);
    gls_series_finish(&series);
    if (status) {
        gls_image_destroy(inside);
        gls_image_destroy(region);
        return status;
    }
    *mask = inside;
    *seeds = region;
    return GLS_OK;
}
