/* Tissue images inside the library, for <glslines/tissue.h>: interpolation, and the interface of grey and white
 * matter. */
#ifndef GLS_IMAGE_TISSUE_IMAGE_H
#define GLS_IMAGE_TISSUE_IMAGE_H

#include <glslines/tissue.h>

/* Largest difference of grey and white matter fraction at a point that counts as on the interface. */
#define GLS_TISSUE_ACCURACY 0.01

struct gls_tissue {
    gls_tissue_rule rule;
    char *name;
    gls_grid image;             /* grid of the image */
    gls_grid grid;              /* grid of the streamlines */
    int32_t origin[3], size[3]; /* first voxel and size of the kept box (ACT: the tissue and a margin; else all) */
    float map[3][4];            /* from voxel coordinates of the streamlines to voxel coordinates of the box */
    double exact[3][4];         /* `map` in double precision */
    float (*value)[GLS_TISSUE_TYPES]; /* fractions of the voxels of the box, x fastest */
    bool single;            /* true: values keep single precision; false: they are rounded to half precision */
    bool has_sgm, has_path; /* has_sgm: some voxel has deep grey matter; has_path: some voxel has pathology */
};

/* Interpolates in double precision at voxel coordinates of the box, whether or not the nearest voxel has tissue.
 * gradient (may be NULL): derivative of grey minus white matter by voxel coordinates. Returns false, and zeros, outside
 * the box and where the fractions sum to less than 0.5. */
bool gls_tissue_blend(const gls_tissue *tissue, const double point[3], double value[GLS_TISSUE_TYPES],
                      double gradient[3]);

/* Fraction of grey matter, cortical and deep together. */
static inline float gls_tissue_gm(const float v[GLS_TISSUE_TYPES])
{
    return v[GLS_TISSUE_CGM] + v[GLS_TISSUE_SGM];
}

/* Whether a point with these fractions lies in CSF: no other fraction is larger. Ties are decided as in MRtrix3. */
static inline bool gls_tissue_is_csf(const float v[GLS_TISSUE_TYPES])
{
    const float csf = v[GLS_TISSUE_CSF];
    return csf >= v[GLS_TISSUE_CGM] && csf >= v[GLS_TISSUE_SGM] && csf >= v[GLS_TISSUE_WM] && csf >= v[GLS_TISSUE_PATH];
}

/* Whether a point with these fractions lies in deep grey matter: no other fraction is larger, and at most white matter
 * is equal. */
static inline bool gls_tissue_is_sgm(const float v[GLS_TISSUE_TYPES])
{
    const float sgm = v[GLS_TISSUE_SGM];
    return sgm > v[GLS_TISSUE_CGM] && sgm >= v[GLS_TISSUE_WM] && sgm > v[GLS_TISSUE_CSF] && sgm > v[GLS_TISSUE_PATH];
}

#endif
