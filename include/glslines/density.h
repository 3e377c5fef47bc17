/* Track density: how many streamlines, or how many mm of them, lie in each voxel.
 *
 * Sums are whole numbers or fixed point of 64 bits, so that they are the same for any number of threads and any
 * division of the streamlines into parcels. */
#ifndef GLSLINES_DENSITY_H
#define GLSLINES_DENSITY_H

#include <glslines/image.h>
#include <glslines/streamlines.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which voxels a streamline visits. A streamline of one point visits the voxel of the point. */
typedef enum gls_density_mapping {
    GLS_DENSITY_SEGMENT, /* those through which the line between its points passes, cut exactly at voxel faces; each
                            once. As scilpy */
    GLS_DENSITY_LENGTH,  /* the same, each with the mm inside it */
    GLS_DENSITY_VERTEX,  /* those of its points, each once. As DIPY's density_map() */
    GLS_DENSITY_MRTRIX,  /* those of its points after upsampling along a spline, each once, in float32. As MRtrix3's
                            tckmap 3.0 */
    GLS_DENSITY_ENDS     /* those of its two ends, twice where both lie in one. As tckmap -ends_only */
} gls_density_mapping;

typedef struct gls_density_options {
    size_t size;                 /* of this struct */
    gls_density_mapping mapping; /* default GLS_DENSITY_SEGMENT */
    uint32_t upsample;           /* GLS_DENSITY_MRTRIX: >= 1 points for each; see gls_density_upsampling(). Default 1 */
    const char *weights;         /* column per streamline of one component by which each visit counts; default NULL: 1.
                                    Borrowed until the map is destroyed */
    double sum_weights;          /* with weights: at least the sum of their absolute values, from which the spacing of
                                    the fixed point follows; default 0 */
} gls_density_options;
GLS_API gls_density_options gls_density_options_default(void);

/* By how much tckmap upsamples streamlines of this step, mm: ceil(step / (0.333 * smallest voxel side)). */
GLS_API uint32_t gls_density_upsampling(double step, const gls_grid *grid);

typedef struct gls_density_counts {
    uint64_t streamlines;
    uint64_t used;    /* streamlines that visit a voxel of the grid */
    uint64_t empty;   /* streamlines without points */
    uint64_t partial; /* streamlines that also visit what lies outside the grid, which is not counted */
} gls_density_counts;

typedef struct gls_density gls_density;

/* Memory: 8 bytes a voxel. GLS_ERR_ARGUMENT: an option out of range. */
GLS_API gls_status gls_density_create(const gls_grid *grid, const gls_density_options *options, gls_density **density);
/* The map as a sink, which stays with the caller: finishing or aborting it does nothing. Points have to be finite.
 * GLS_ERR_INPUT: no column of weights, a weight that is not finite. GLS_ERR_UNSUPPORTED: a sum of mm or weights that
 * passes the range. Parcels are worked on by several threads. */
GLS_API gls_sink gls_density_sink(gls_density *density);
GLS_API gls_density_counts gls_density_get_counts(const gls_density *density);
/* The value of each voxel, x fastest: out has room for gls_grid_voxels() values. */
GLS_API void gls_density_get(const gls_density *density, double *out);
/* Writes NIfTI (.nii or .nii.gz): int32 for numbers of visits, float64 where one exceeds 2^31 - 1; float32 for mm and
 * weights. An existing file is replaced. */
GLS_API gls_status gls_density_write(const gls_density *density, const char *path);
/* Accepts NULL. */
GLS_API void gls_density_destroy(gls_density *density);

#ifdef __cplusplus
}
#endif
#endif
