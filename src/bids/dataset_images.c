/* Makes the mask and the seed region of a series on its grid: from images on any grid, or the seed region from FA. */
#include "bids/dataset_images.h"
#include "bids/dataset.h"
#include "image/reorient.h"

#include <glslines/tensor.h>

#include "run/series_run.h"
#include "util/status.h"

/* A voxel is in the seed region if its probability of white matter is above this. */
#define WM_PROBABILITY 0.5f
/* Fewest voxels of a seed region without a warning; fewer are probably a mistake. */
#define FEW_VOXELS 100

/* Labels of FreeSurfer that make a seed region: white matter (2, 41; cerebellum 7, 46; lesions 77), brain stem (16),
 * ventral diencephalon (28, 60), optic chiasm (85), corpus callosum (251 to 255). */
static const gls_bids_labels of_freesurfer = {{2, 41, 7, 46, 16, 28, 60, 77, 85, 251, 252, 253, 254, 255}, 14};

/* Reads an image on any grid and makes an image of 0 and 1 on the grid of the series. A voxel gets 1 if its probability
 * is above WM_PROBABILITY (GLS_DATASET_WM), its label is wanted (ASEG, DSEG), or its value is above 0 (other kinds). */
static gls_status read_onto(const char *path, const gls_grid *grid, gls_dataset_region kind,
                            const gls_bids_labels *labels, gls_image **made)
{
    const gls_bids_labels *known = kind == GLS_DATASET_DSEG ? labels : kind == GLS_DATASET_ASEG ? &of_freesurfer : NULL;
    const bool wm = kind == GLS_DATASET_WM;
    const gls_image_choice choice = {.interpolated = wm,
                                     .above = wm ? WM_PROBABILITY : 0,
                                     .label = known ? known->value : NULL,
                                     .n_labels = known ? (size_t)known->n : 0};
    return gls_image_choose(path, &choice, grid, made);
}

/* Makes a seed region of the voxels of the mask whose FA is above o->fa. */
static gls_status seeds_of_fa(const gls_dataset_options *o, const gls_series *series, const gls_image *mask,
                              gls_image **seeds)
{
    gls_image *fa = NULL;
    gls_status status =
        gls_tensor_fit(gls_series_tensor_dwi(series), gls_series_tensor_gradients(series), mask, NULL, &fa, NULL, NULL);
    if (status) return status;
    for (size_t i = 0, n = gls_grid_voxels(&fa->grid); i < n; i++) fa->data[i] = fa->data[i] > (float)o->fa;
    *seeds = fa;
    return GLS_OK;
}

/* Removes seed voxels outside the mask; warns if few are left. GLS_ERR_INPUT: none, or less than half, lie in it. */
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
                        "%s: only %zu of the %zu voxels of the seed region lie in the mask %s: is the region empty, or "
                        "not aligned with the mask?",
                        name, inside, all, u->mask);
    if (inside < FEW_VOXELS) gls_log(GLS_LOG_WARNING, "%s: the region of seeds has only %zu voxels", name, inside);
    return GLS_OK;
}

gls_status gls_dataset_images(const gls_dataset_options *o, const gls_dataset_unit *u, const gls_model_options *model,
                              gls_image **mask, gls_image **seeds)
{
    gls_series series = {.dwi = NULL};
    const char *const files[] = {u->dwi, u->bval, gls_table_path(u->bvec)};
    gls_image *inside = NULL, *region = NULL;
    gls_status status = gls_series_read(&series, files, model, true);
    /* a table in a single file that exists besides bval and bvec is not used; a difference is a warning */
    if (!status && u->table) gls_series_compare_table(&series, u->table, NULL, u->bvec);
    if (!status) status = read_onto(u->mask, &series.dwi->grid, GLS_DATASET_AUTO, NULL, &inside);
    /* the kind of the region decides which of its values take seeds */
    if (!status && !u->interface)
        status = u->region ? read_onto(u->region, &series.dwi->grid, u->kind, &u->labels, &region)
                           : seeds_of_fa(o, &series, inside, &region);
    if (!status && region && !u->region && o->region == GLS_DATASET_AUTO)
        gls_log(GLS_LOG_WARNING, "%s: seeds lie where FA is above %g, for want of a segmentation", u->name, o->fa);
    if (!status && region) status = check_seeds(u, inside, region);
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
