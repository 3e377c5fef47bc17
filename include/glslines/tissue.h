/* Tissue between voxels: where grey matter, white matter and cerebrospinal fluid are, for anatomically constrained
 * tracking (Smith et al. 2012) and continuous map criteria (Girard et al. 2014). */
#ifndef GLSLINES_TISSUE_H
#define GLSLINES_TISSUE_H

#include <glslines/image.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Volumes of a tissue image, in the order of MRtrix3's 5TT images: fractions 0 .. 1 whose sum is 1, or 0 outside the
 * brain. */
enum {
    GLS_TISSUE_CGM,  /* cortical grey matter */
    GLS_TISSUE_SGM,  /* deep grey matter */
    GLS_TISSUE_WM,   /* white matter */
    GLS_TISSUE_CSF,  /* cerebrospinal fluid */
    GLS_TISSUE_PATH, /* tissue of which nothing is assumed, such as pathology; often also the brain stem */
    GLS_TISSUE_TYPES
};

/* How tissue affects a half-streamline. */
typedef enum gls_tissue_rule {
    GLS_TISSUE_RULE_ACT, /* as MRtrix3: a half-streamline ends in cortical or deep grey matter; an end in CSF is a bad
                            end */
    GLS_TISSUE_RULE_PVE, /* thresholds as in DIPY: a good end where grey matter > 0.5, else a bad end where CSF > 0.5 */
    GLS_TISSUE_RULE_CMC  /* continuous map criterion as in DIPY: a half-streamline ends at random, with a probability
                            that grows with grey matter and CSF */
} gls_tissue_rule;

/* Tissue for the points of streamlines on one grid. Several threads may read it. */
typedef struct gls_tissue gls_tissue;

/* Makes tissue from an image of the five volumes on any grid. grid: of the streamlines. name: for messages. Voxels with
 * a value that is not a number become 0, with a warning; a sum that is neither 0 nor 1, to 0.001, gives a warning.
 * Values are rounded to half precision unless precision is GLS_PRECISION_FLOAT. GLS_ERR_INPUT: another number of
 * volumes, values outside -0.001 .. 1.001, no grey matter, or no voxel of at least 0.5 white matter. */
GLS_API gls_status gls_tissue_create(const gls_grid *grid, const gls_image *image, const char *name,
                                     gls_tissue_rule rule, gls_precision precision, gls_tissue **tissue);
/* Makes the image of five volumes from fractions of white matter, grey matter and CSF, one volume each on one grid, as
 * FAST, Atropos and others write them. wm NULL: white matter is what gm and csf leave. deep: fraction of deep grey
 * matter, NULL for none: sgm = (gm + wm) deep, cgm = gm (1 - deep), wm = wm (1 - deep). */
GLS_API gls_status gls_tissue_join(const gls_image *wm, const gls_image *gm, const gls_image *csf,
                                   const gls_image *deep, gls_image **image);
/* Frees `tissue`, which may be NULL. */
GLS_API void gls_tissue_destroy(gls_tissue *tissue);

/* Checks that the tissue covers the voxels > 0 of mask, an image on the grid of the streamlines. GLS_ERR_INPUT if no
 * such voxel has tissue. Warns if less than half of them have tissue (unless mask is > 0 everywhere), or if holes
 * without tissue touch white matter. */
GLS_API gls_status gls_tissue_check(const gls_tissue *tissue, const gls_image *mask);
/* The rule that gls_tissue_create() was given. */
GLS_API gls_tissue_rule gls_tissue_get_rule(const gls_tissue *tissue);
/* The five fractions at a point, in voxel coordinates of the grid of the streamlines, interpolated as on a device.
 * Returns false, and zeros, where there is no tissue: outside the image, where the nearest voxel has no tissue, and
 * where the sum of the fractions is below 0.5. */
GLS_API bool gls_tissue_at(const gls_tissue *tissue, const float point[3], float value[GLS_TISSUE_TYPES]);
/* Hash of the tissue: equal for equal tissue. */
GLS_API uint64_t gls_tissue_hash(const gls_tissue *tissue);
/* Makes an image for seeds on the interface of grey and white matter: for each voxel of the tissue's image the size of
 * the step between both, as 5tt2gmwmi of MRtrix3. */
GLS_API gls_status gls_tissue_interface(const gls_tissue *tissue, gls_image **image);

#ifdef __cplusplus
}
#endif
#endif
