/* Brain masks: a first mask is moved at its rim by what tissue the T1 image shows there. */
#include "anat/brain_mask.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/morphology.h"
#include "util/status.h"

#define REACH 3.0 /* mm, how far the rim may move */
#define FAR 3.0   /* standard deviations beyond which an intensity is of no class */
#define OPENING 1 /* voxels */
#define CLOSING 2

/* The class of a voxel by its intensity; GLS_CLASSES: none. */
static int class_of(const gls_image *t1, const gls_tissue_classes *c, size_t v)
{
    if (!(isfinite(t1->data[v]) && t1->data[v] > 0)) return GLS_CLASSES;
    const double y = log((double)t1->data[v]) - (double)c->bias[v];
    double best = INFINITY;
    int found = GLS_CLASSES;
    if (y < c->mean[GLS_CLASS_CSF] - FAR * c->sd[GLS_CLASS_CSF] ||
        y > c->mean[GLS_CLASS_WM] + FAR * c->sd[GLS_CLASS_WM])
        return GLS_CLASSES;
    for (int k = 0; k < GLS_CLASSES; k++) {
        const double z = (y - c->mean[k]) / c->sd[k], cost = 0.5 * z * z + log(c->sd[k]);
        if (cost < best) best = cost, found = k;
    }
    return found;
}

/* Opens the set, keeps its largest part, fills its holes, and closes it. */
static gls_status tidy(const int32_t dim[3], uint8_t *set)
{
    gls_status status = gls_morphology_erode(dim, set, OPENING);
    if (!status) status = gls_morphology_keep_largest(dim, set);
    if (!status) status = gls_morphology_dilate(dim, set, OPENING);
    if (!status) status = gls_morphology_fill_holes(dim, set);
    if (!status) status = gls_morphology_dilate(dim, set, CLOSING);
    return status ? status : gls_morphology_erode(dim, set, CLOSING);
}

gls_status gls_brain_mask_correct(const gls_image *t1, const gls_tissue_classes *c, const uint8_t *first, uint8_t *mask)
{
    const size_t n = gls_grid_voxels(&t1->grid);
    uint8_t *outer = malloc(n), *rim = malloc(n);
    gls_status status = outer && rim ? GLS_OK : gls_no_memory();
    if (!status) {
        memcpy(outer, first, n);
        for (size_t v = 0; v < n; v++) rim[v] = !first[v];
        status = gls_morphology_dilate_mm(&t1->grid, outer, REACH);
    }
    if (!status) status = gls_morphology_dilate_mm(&t1->grid, rim, REACH);
    if (!status) {
#pragma omp parallel for schedule(static)
        for (size_t v = 0; v < n; v++) {
            mask[v] = first[v];
            if (!outer[v] || !rim[v]) continue;
            const int k = class_of(t1, c, v);
            mask[v] = first[v] ? k != GLS_CLASSES : k == GLS_CLASS_GM || k == GLS_CLASS_WM;
        }
        status = tidy(t1->grid.dim, mask);
    }
    if (!status && gls_morphology_count(t1->grid.dim, mask) == 0)
        status = gls_fail(GLS_ERR_INPUT, "brain mask: nothing is left of it: compare the T1 with the template by eye");
    free(outer);
    free(rim);
    return status;
}

double gls_brain_mask_dice(const uint8_t *a, const uint8_t *b, size_t n)
{
    size_t both = 0, sum = 0;
    for (size_t v = 0; v < n; v++) {
        both += a[v] && b[v];
        sum += (size_t)a[v] + b[v];
    }
    return sum > 0 ? 2 * (double)both / (double)sum : 1;
}
