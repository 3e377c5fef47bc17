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
    GLS_DENSITY_PRECISE, /* those through which the spline passes, each with the mm inside it, in float32. As tckmap
                            -precise: upsample is gls_density_precise_upsampling() */
    GLS_DENSITY_ENDS     /* those of its two ends, twice where both lie in one. As tckmap -ends_only */
} gls_density_mapping;

/* The value f of a streamline, which the voxels that it visits get. */
typedef enum gls_density_value {
    GLS_DENSITY_ONE,       /* 1 */
    GLS_DENSITY_MM,        /* its length, mm */
    GLS_DENSITY_INVERSE,   /* 1 / length */
    GLS_DENSITY_COLUMN,    /* a column per streamline */
    GLS_DENSITY_IS_NONZERO /* 1 where the column is not 0 */
} gls_density_value;

/* What a voxel makes of the values f and the weights w of its visits. With the mappings in mm, w includes the mm. */
typedef enum gls_density_stat {
    GLS_DENSITY_SUM,  /* of w f */
    GLS_DENSITY_MEAN, /* sum of w f / sum of w */
    GLS_DENSITY_MIN,  /* of f; both ignore w */
    GLS_DENSITY_MAX
} gls_density_stat;

typedef struct gls_density_options {
    size_t size;                 /* of this struct */
    gls_density_mapping mapping; /* default GLS_DENSITY_SEGMENT */
    uint32_t upsample;           /* GLS_DENSITY_MRTRIX, GLS_DENSITY_PRECISE: >= 1 points for each; see
                                    gls_density_upsampling(). Default 1 */
    const char *weights;         /* column per streamline of one component by which each visit counts; default NULL: 1.
                                    Borrowed until the map is destroyed */
    double sum_weights;          /* with weights: at least the sum of their absolute values, from which the spacing of
                                    the fixed point follows; default 0. Sums of other values than 1 have 64 bits before
                                    and behind the point and do not need it */
    gls_density_value value;     /* default GLS_DENSITY_ONE */
    const char *column;          /* for GLS_DENSITY_COLUMN and GLS_DENSITY_IS_NONZERO; borrowed as weights */
    gls_density_stat stat;       /* default GLS_DENSITY_SUM */
    bool map_zero;   /* streamlines whose value is 0 or not finite count, too, as 0; default false: they are left out */
    bool directions; /* three volumes, x, y and z: the mean direction of each streamline in a voxel, without signs, is
                        summed, and the sum is given the length that the map has; default false. GLS_DENSITY_SUM only,
                        and not with GLS_DENSITY_PRECISE or GLS_DENSITY_ENDS */
    const char *const *group; /* n_groups: a volume for each of these groups of the streamlines, in place of all
                                 streamlines; borrowed as weights. Default NULL */
    size_t n_groups;
} gls_density_options;
GLS_API gls_density_options gls_density_options_default(void);

/* By how much tckmap upsamples streamlines of this step, mm: ceil(step / (0.333 * smallest voxel side)). */
GLS_API uint32_t gls_density_upsampling(double step, const gls_grid *grid);

/* The same for tckmap -precise: ceil(step / (0.1 * smallest voxel side)). */
GLS_API uint32_t gls_density_precise_upsampling(double step, const gls_grid *grid);

typedef struct gls_density_counts {
    uint64_t streamlines;
    uint64_t used;    /* streamlines that visit a voxel of the grid */
    uint64_t empty;   /* streamlines without points */
    uint64_t partial; /* streamlines that also visit what lies outside the grid, which is not counted */
    uint64_t zero;    /* streamlines left out because their value is 0 or not finite */
    double weight;    /* of those used; their number without weights */
    /* Where streamlines were looked for, and how often that was outside the grid: at their points, those of upsampling
     * among them; at their ends with GLS_DENSITY_ENDS; in each voxel with GLS_DENSITY_PRECISE. */
    uint64_t places, places_outside;
} gls_density_counts;

typedef struct gls_density gls_density;

/* Memory: 8 bytes a voxel; with values other than 1 16 bytes, for means 32, for directions 64; for each group. As many
 * times as there are threads, where that is 64 MB at most.
 * GLS_ERR_ARGUMENT: an option out of range. */
GLS_API gls_status gls_density_create(const gls_grid *grid, const gls_density_options *options, gls_density **density);
/* The map as a sink, which stays with the caller: finishing or aborting it does nothing. Points have to be finite.
 * GLS_ERR_INPUT: no column of weights, a weight that is not finite. GLS_ERR_UNSUPPORTED: a sum of mm or weights that
 * passes the range. Parcels are worked on by several threads. */
GLS_API gls_sink gls_density_sink(gls_density *density);
GLS_API gls_density_counts gls_density_get_counts(const gls_density *density);
/* Volumes of the map: 3 with directions, else the groups, else 1. */
GLS_API size_t gls_density_volumes(const gls_density *density);
/* From now on all values are multiplied by this. */
GLS_API void gls_density_set_scale(gls_density *density, double factor);
/* The value of each voxel, x fastest: out has room for gls_density_volumes() * gls_grid_voxels() values. */
GLS_API void gls_density_get(const gls_density *density, double *out);
/* Writes NIfTI (.nii or .nii.gz): int32 for numbers of visits, float64 where one exceeds 2^31 - 1; float32 for all
 * else. An existing file is replaced. */
GLS_API gls_status gls_density_write(const gls_density *density, const char *path);
/* Accepts NULL. */
GLS_API void gls_density_destroy(gls_density *density);

#ifdef __cplusplus
}
#endif
#endif
