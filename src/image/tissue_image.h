/* Inside of <glslines/tissue.h>. */
#ifndef GLS_IMAGE_TISSUE_H
#define GLS_IMAGE_TISSUE_H

#include <glslines/tissue.h>

/* Differences of grey and white matter up to this are the interface. */
#define GLS_TISSUE_ACCURACY 0.01

struct gls_tissue {
    gls_tissue_rule rule;
    char *name;
    gls_grid image;             /* the image's grid */
    gls_grid grid;              /* of the streamlines */
    int32_t origin[3], size[3]; /* the box of the image that is kept: what has tissue, and a border */
    float map[3][4];            /* voxel coordinates of the streamlines to those of the box */
    double exact[3][4];         /* the same */
    float (*value)[GLS_TISSUE_TYPES];
    bool single, has_sgm, has_path;
};

/* In double precision, at voxel coordinates of the box, without the rule of the nearest voxel. gradient (may be NULL):
 * of grey minus white matter, by voxel coordinates. */
bool gls_tissue_blend(const gls_tissue *tissue, const double point[3], double value[GLS_TISSUE_TYPES],
                      double gradient[3]);

/* Types of tissue at a point; ties are decided as MRtrix3 does. */
static inline float gls_tissue_gm(const float v[GLS_TISSUE_TYPES])
{
    return v[GLS_TISSUE_CGM] + v[GLS_TISSUE_SGM];
}
static inline bool gls_tissue_is_csf(const float v[GLS_TISSUE_TYPES])
{
    const float csf = v[GLS_TISSUE_CSF];
    return csf >= v[GLS_TISSUE_CGM] && csf >= v[GLS_TISSUE_SGM] && csf >= v[GLS_TISSUE_WM] && csf >= v[GLS_TISSUE_PATH];
}
static inline bool gls_tissue_is_sgm(const float v[GLS_TISSUE_TYPES])
{
    const float sgm = v[GLS_TISSUE_SGM];
    return sgm > v[GLS_TISSUE_CGM] && sgm >= v[GLS_TISSUE_WM] && sgm > v[GLS_TISSUE_CSF] && sgm > v[GLS_TISSUE_PATH];
}

/* Whether streamlines may start there by the rule of ACT. */
bool gls_tissue_admits(const gls_tissue *tissue, const float point[3]);
/* Whether a seed lies on the cortical side of the interface, so that its streamlines lead into white matter only. */
bool gls_tissue_is_cortical(const gls_tissue *tissue, const float point[3]);
/* Whether grey matter grows along a direction from there: of unit length in mm, along the voxel axes. */
bool gls_tissue_rises(const gls_tissue *tissue, const float point[3], const float direction[3]);
/* The last point of three that ends in cortical grey matter, moved to the interface between it and the one before;
 * voxel coordinates of the streamlines. False: it stays. */
bool gls_tissue_crop(const gls_tissue *tissue, const double before[3], const double from[3], double last[3]);
/* Moves a point, world mm, to the interface; false: there is none near. */
bool gls_tissue_find_interface(const gls_tissue *tissue, double world[3]);

#endif
