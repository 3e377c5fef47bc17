/* Finds the brain in a series (the mask of MRtrix3's dwi2mask legacy), and where to seed. */
#include <glslines/normalise.h>

#include "dwi/mask.h"
#include "dwi/optimal_threshold.h"
#include "image/morphology.h"
#include "util/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* CLEAN_SCALE: half the width, in voxels, of the bridges that are removed first; MAX_CLEANINGS: largest number of
 * repetitions */
enum { CLEAN_SCALE = 2, MAX_CLEANINGS = 20 };
#define ENOUGH_VOXELS 1000 /* smallest number of voxels of an eroded mask */

/* Median filter: a voxel is in the new set if more than half of the voxels of its 3 x 3 x 3 neighbourhood inside the
 * grid are in the old set. */
static gls_status smooth(const int32_t dim[3], uint8_t *set)
{
    size_t n = (size_t)dim[0] * (size_t)dim[1] * (size_t)dim[2], at = 0;
    uint8_t *old = malloc(n);
    if (!old) return gls_fail(GLS_ERR_MEMORY, "out of memory for a mask of %zu voxels", n);
    memcpy(old, set, n);
    for (int32_t z = 0; z < dim[2]; z++)
        for (int32_t y = 0; y < dim[1]; y++)
            for (int32_t x = 0; x < dim[0]; x++, at++) {
                int inside = 0, count = 0;
                for (int32_t k = z > 0 ? z - 1 : 0; k <= z + 1 && k < dim[2]; k++)
                    for (int32_t j = y > 0 ? y - 1 : 0; j <= y + 1 && j < dim[1]; j++)
                        for (int32_t i = x > 0 ? x - 1 : 0; i <= x + 1 && i < dim[0]; i++, count++)
                            inside += old[((size_t)k * (size_t)dim[1] + (size_t)j) * (size_t)dim[0] + (size_t)i];
                set[at] = 2 * inside > count;
            }
    free(old);
    return GLS_OK;
}

gls_status gls_responses_safe_mask(const gls_image *mask, int erode, uint8_t **safe)
{
    const int32_t *dim = mask->grid.dim;
    size_t voxels = gls_grid_voxels(&mask->grid), left = 0;
    uint8_t *set = malloc(voxels);
    if (!set) return gls_fail(GLS_ERR_MEMORY, "out of memory for a mask of %zu voxels", voxels);
    /* erode the mask `erode` times; if fewer than ENOUGH_VOXELS would be left, once; if still fewer, not at all */
    const int passes[3] = {erode, erode > 1 ? 1 : 0, 0};
    for (int i = 0; i < 3; i++) {
        for (size_t v = 0; v < voxels; v++) set[v] = mask->data[v] > 0;
        gls_status status = gls_morphology_erode(dim, set, passes[i]);
        if (status) {
            free(set);
            return status;
        }
        left = gls_morphology_count(dim, set);
        if (left >= ENOUGH_VOXELS || passes[i] == 0) {
            if (passes[i] != erode)
                gls_log(GLS_LOG_WARNING,
                        "responses: the mask is eroded %d times instead of %d, which would leave fewer than %d voxels",
                        passes[i], erode, ENOUGH_VOXELS);
            break;
        }
    }
    /* the last pass does not erode, so that only an empty mask leaves nothing */
    if (left == 0) {
        free(set);
        return gls_fail(GLS_ERR_INPUT, "responses: the mask has no voxel: give another --mask");
    }
    *safe = set;
    return GLS_OK;
}

/* --- The brain mask. */

/* Adds to a set the voxels whose mean over a shell, with negative values as 0, is above the optimal threshold of these
 * means. of[i]: shell of volume i; mean: work space, one value for each voxel. Returns false if no threshold separates
 * the means, or memory runs out. */
static bool add_shell(const gls_image *dwi, const gls_gradients *gradients, const size_t *of, size_t shell, float *mean,
                      uint8_t *set)
{
    size_t voxels = gls_grid_voxels(&dwi->grid), n = 0;
    float threshold;
    double *sum = calloc(voxels, sizeof *sum);
    for (size_t i = 0; i < gradients->n && sum; i++) {
        if (of[i] != shell) continue;
        n++;
        for (size_t v = 0; v < voxels; v++) sum[v] += fmax(0, dwi->data[i * voxels + v]);
    }
    for (size_t v = 0; v < voxels && sum; v++) mean[v] = (float)(sum[v] / (double)n);
    bool found = sum && gls_threshold_optimal(mean, voxels, &threshold);
    for (size_t v = 0; v < voxels && found; v++) set[v] |= mean[v] > threshold;
    free(sum);
    return found;
}

/* Removes parts that are connected to the largest component by a bridge at most 2 * scale voxels thick, then keeps the
 * largest component. core, rest: work space, a set each. */
static gls_status clean_once(const int32_t dim[3], uint8_t *set, int scale, uint8_t *core, uint8_t *rest)
{
    size_t n = (size_t)dim[0] * (size_t)dim[1] * (size_t)dim[2];
    memcpy(core, set, n);
    /* core: largest component of the eroded set; rest: its other components */
    gls_status status = gls_morphology_erode(dim, core, scale);
    if (!status) {
        memcpy(rest, core, n);
        status = gls_morphology_keep_largest(dim, core);
    }
    for (size_t v = 0; v < n; v++) rest[v] = rest[v] && !core[v];
    if (!status) status = gls_morphology_dilate(dim, rest, scale + 1);
    for (size_t v = 0; v < n; v++) set[v] = set[v] && !rest[v];
    return !status ? gls_morphology_keep_largest(dim, set) : status;
}

/* Removes thin bridges at falling scales, again and again, until nothing changes or MAX_CLEANINGS is reached (the mask
 * cleaning of MRtrix3). */
static gls_status clean(const int32_t dim[3], uint8_t *set)
{
    size_t n = (size_t)dim[0] * (size_t)dim[1] * (size_t)dim[2];
    uint8_t *core = malloc(3 * n);
    if (!core) return gls_fail(GLS_ERR_MEMORY, "out of memory for a mask of %zu voxels", n);
    uint8_t *rest = core + n, *old = core + 2 * n;
    gls_status status = GLS_OK;
    for (int pass = 0; pass < MAX_CLEANINGS && !status; pass++) {
        memcpy(old, set, n);
        for (int scale = CLEAN_SCALE; scale > 0 && !status; scale--) status = clean_once(dim, set, scale, core, rest);
        if (memcmp(old, set, n) == 0) break;
    }
    free(core);
    return status;
}

/* Removes from a set the voxels all of whose values are 0 or not finite. */
static void drop_empty(const gls_image *dwi, uint8_t *set)
{
    size_t voxels = gls_grid_voxels(&dwi->grid);
    for (size_t v = 0; v < voxels; v++) {
        bool any = false;
        for (size_t t = 0; t < dwi->n_volumes && set[v] && !any; t++) {
            float x = dwi->data[t * voxels + v];
            any = isfinite(x) && x != 0;
        }
        set[v] = set[v] && any;
    }
}

/* Turns a set of voxels above the thresholds into a brain: median filter, largest connected part, holes filled, bridges
 * removed (not in a thin grid), empty voxels dropped. */
static gls_status shape(const gls_image *dwi, uint8_t *set)
{
    const int32_t *dim = dwi->grid.dim;
    bool thin = dim[0] <= 2 || dim[1] <= 2 || dim[2] <= 2; /* erosion would remove all voxels of a thin grid */
    gls_status status = smooth(dim, set);
    if (!status) status = gls_morphology_keep_largest(dim, set);
    if (!status) status = gls_morphology_fill_holes(dim, set);
    if (!status && !thin) status = clean(dim, set);
    if (!status) drop_empty(dwi, set);
    return status;
}

/* Each shell adds the voxels whose mean over the shell lies above a threshold. CSF is bright in b0 volumes, white
 * matter at high b-values, so that all shells together cover the brain. shape() makes one smooth component of these
 * voxels. If no shell has a threshold, the mask is all voxels with a signal. */
gls_status gls_mask_estimate(const gls_image *dwi, const gls_gradients *gradients, gls_image **mask)
{
    GLS_REQUIRE(dwi && gradients && mask && dwi->n_volumes == gradients->n);
    GLS_REQUIRE_TABLE(gradients);
    size_t voxels = gls_grid_voxels(&dwi->grid), n_shells = 0, n = 0, n_found = 0;
    gls_shell *shell = NULL;
    gls_image *made = NULL;
    size_t *of = malloc(gradients->n * sizeof *of);
    uint8_t *set = calloc(voxels, 1);
    float *mean = malloc(voxels * sizeof *mean);
    gls_status status = of && set && mean ? gls_gradients_cluster(gradients, &shell, &n_shells, of)
                                          : gls_fail(GLS_ERR_MEMORY, "out of memory for a mask of %zu voxels", voxels);
    for (size_t s = 0; s < n_shells && !status; s++) n_found += add_shell(dwi, gradients, of, s, mean, set);
    if (!status && n_found == 0) {
        gls_log(GLS_LOG_WARNING, "mask: no threshold splits the signal; the mask is all voxels with a signal");
        memset(set, 1, voxels);
        drop_empty(dwi, set);
    } else if (!status) {
        status = shape(dwi, set);
    }
    if (status) goto fail;
    n = gls_morphology_count(dwi->grid.dim, set);
    if (n == 0) {
        status = gls_fail(GLS_ERR_INPUT, "mask: no voxel of the series has a signal");
        goto fail;
    }
    double percent = 100.0 * (double)n / (double)voxels;
    gls_log(percent < 2 || percent > 90 ? GLS_LOG_WARNING : GLS_LOG_INFO,
            "mask: %zu voxels, %.1f %% of the grid, by the means of %zu shells", n, percent, n_found);
    status = gls_image_create(&dwi->grid, 1, &made);
    for (size_t v = 0; v < voxels && !status; v++) made->data[v] = set[v];
    if (!status) *mask = made;
fail:
    free(shell);
    free(of);
    free(set);
    free(mean);
    return status;
}

gls_status gls_seed_region_of_tissues(const gls_image *const *tissue, size_t n_tissues, const gls_image *mask,
                                      gls_image **region)
{
    GLS_REQUIRE(tissue && n_tissues > 0 && mask && region);
    for (size_t t = 0; t < n_tissues; t++) GLS_REQUIRE(tissue[t]);
    gls_image *made = NULL;
    gls_status status = GLS_OK;
    for (size_t t = 0; t < n_tissues && !status; t++)
        status = gls_grid_require_equal(&tissue[t]->grid, "tissue image", &mask->grid, "mask");
    if (!status) status = gls_image_create(&mask->grid, 1, &made);
    if (status) return status;
    for (size_t v = 0; v < gls_grid_voxels(&mask->grid); v++) {
        double sum = 0;
        for (size_t t = 0; t < n_tissues; t++) sum += tissue[t]->data[v];
        made->data[v] = mask->data[v] > 0 && tissue[0]->data[v] > 0.5 * sum && sum > 0;
    }
    *region = made;
    return GLS_OK;
}

gls_status gls_seed_region_of_fa(const gls_image *fa, double threshold, const gls_image *mask, gls_image **region)
{
    GLS_REQUIRE(fa && mask && region && threshold >= 0 && threshold < 1);
    size_t voxels = gls_grid_voxels(&mask->grid);
    gls_image *made = NULL;
    uint8_t *set = malloc(voxels);
    gls_status status = set ? gls_grid_require_equal(&fa->grid, "FA image", &mask->grid, "mask")
                            : gls_fail(GLS_ERR_MEMORY, "out of memory for a mask of %zu voxels", voxels);
    if (status) goto fail;
    for (size_t v = 0; v < voxels; v++) set[v] = mask->data[v] > 0;
    bool thin = mask->grid.dim[0] <= 2 || mask->grid.dim[1] <= 2 || mask->grid.dim[2] <= 2;
    if (!thin) status = gls_morphology_erode(mask->grid.dim, set, 1);
    if (!status) status = gls_image_create(&mask->grid, 1, &made);
    if (status) goto fail;
    for (size_t v = 0; v < voxels; v++) made->data[v] = set[v] && fa->data[v] > threshold;
    *region = made;
fail:
    free(set);
    return status;
}
