/* Five tissue types from fractions of cerebrospinal fluid, grey and white matter. */
#include "anat/five_tissues.h"

#include <glslines/tissue.h>

#include "anat/tissue_classes.h"

/* Share of a voxel in an image, which may be NULL. */
static double share(const gls_image *image, size_t v)
{
    return image ? (double)image->data[v] : 0;
}

gls_status gls_five_tissues_make(const gls_image *fractions, const uint8_t *mask, const gls_image *deep,
                                 const gls_image *stem, const gls_image *lesion, gls_image **made)
{
    const size_t n = gls_grid_voxels(&fractions->grid);
    const gls_status status = gls_image_create(&fractions->grid, GLS_TISSUE_TYPES, made);
    if (status) return status;
    float *out = (*made)->data;
#pragma omp parallel for schedule(static)
    for (size_t v = 0; v < n; v++) {
        if (!mask[v]) continue;
        const double d = share(deep, v), s = share(stem, v), l = share(lesion, v),
                     csf = (double)fractions->data[GLS_CLASS_CSF * n + v],
                     grey = (double)fractions->data[GLS_CLASS_GM * n + v], gm = grey * (1 - s),
                     wm = (double)fractions->data[GLS_CLASS_WM * n + v] + grey * s;
        double type[GLS_TISSUE_TYPES] = {[GLS_TISSUE_CGM] = gm * (1 - d),
                                         [GLS_TISSUE_SGM] = d * (1 - csf),
                                         [GLS_TISSUE_WM] = wm * (1 - d),
                                         [GLS_TISSUE_CSF] = csf},
               sum = 0;
        for (size_t t = 0; t < GLS_TISSUE_PATH; t++) sum += type[t];
        for (size_t t = 0; t < GLS_TISSUE_PATH; t++) type[t] *= sum > 0 ? (1 - l) / sum : 0;
        type[GLS_TISSUE_PATH] = l;
        for (size_t t = 0; t < GLS_TISSUE_TYPES; t++) out[t * n + v] = (float)type[t];
    }
    return GLS_OK;
}
