/* Track density: how many streamlines, or how many mm of streamlines, lie in each voxel. Also maps of values and of
 * directions of streamlines.
 *
 * Sums are integers or fixed point of 64 or 128 bits, so that they do not depend on the number of threads or on the
 * division of the streamlines into blocks. */
#ifndef GLSLINES_DENSITY_H
#define GLSLINES_DENSITY_H

#include <glslines/image.h>
#include <glslines/streamlines.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which voxels a streamline visits. A streamline of one point visits the voxel of the point. */
typedef enum gls_density_mapping {
    GLS_DENSITY_SEGMENT, /* voxels that the lines between its points pass through, cut exactly at voxel faces; each
                            once. As scilpy */
    GLS_DENSITY_LENGTH,  /* voxels of GLS_DENSITY_SEGMENT, each with the length inside it in mm */
    GLS_DENSITY_VERTEX,  /* voxels of its points, each once. As density_map() of DIPY */
    GLS_DENSITY_MRTRIX,  /* voxels of its points after upsampling along a spline, each once, in float32. As tckmap of
                            MRtrix3 3.0 */
    GLS_DENSITY_PRECISE, /* voxels that the spline passes through, each with the length inside it in mm, in float32. As
                            tckmap -precise: upsample is gls_density_precise_upsampling() */
    GLS_DENSITY_ENDS     /* voxels of its two ends; twice if both ends lie in one voxel. As tckmap -ends_only */
} gls_density_mapping;

/* The value f that a streamline gives to each voxel that it visits. */
typedef enum gls_density_value {
    GLS_DENSITY_ONE,       /* f = 1 */
    GLS_DENSITY_MM,        /* length of the streamline, mm */
    GLS_DENSITY_INVERSE,   /* 1 / length */
    GLS_DENSITY_COLUMN,    /* value of a column with one value for each streamline */
    GLS_DENSITY_IS_NONZERO /* 1 if the column is not 0, else 0 */
} gls_density_value;

/* The value of a voxel, computed from the values f and the weights w of its visits. With GLS_DENSITY_LENGTH and
 * GLS_DENSITY_PRECISE, w is multiplied by the length of the visit in mm. */
typedef enum gls_density_stat {
    GLS_DENSITY_SUM,  /* sum of w f */
    GLS_DENSITY_MEAN, /* sum of w f / sum of w */
    GLS_DENSITY_MIN,  /* smallest f; MIN and MAX ignore w */
    GLS_DENSITY_MAX
} gls_density_stat;

typedef struct gls_density_options {
    size_t size;                 /* size of this struct, set by the default function */
    gls_density_mapping mapping; /* default GLS_DENSITY_SEGMENT */
    uint32_t upsample;           /* GLS_DENSITY_MRTRIX, GLS_DENSITY_PRECISE: upsampling factor, >= 1, see
                                    gls_density_upsampling(). Default 1 */
    const char *weights; /* column of one component for each streamline: weight of its visits; default NULL: 1. Borrowed
                            until the map is destroyed */
    double sum_weights;  /* needed if weights are summed, that is, with weights, GLS_DENSITY_ONE and GLS_DENSITY_SUM and
                            without directions: the sum of the absolute values of all weights, or more. The resolution
                            of the fixed-point sums follows from this number. Default 0 */
    gls_density_value value; /* default GLS_DENSITY_ONE */
    const char *column;      /* column for GLS_DENSITY_COLUMN and GLS_DENSITY_IS_NONZERO, else NULL (default); borrowed
                                like weights */
    gls_density_stat stat;   /* default GLS_DENSITY_SUM */
    bool map_zero;   /* streamlines whose value is 0 or not finite count as 0; default false: they are left out */
    bool directions; /* make three volumes, x, y and z: a vector in each voxel, along the sum of the absolute mean
                        directions of its streamlines, as long as the value that the map has without this option;
                        default false. Only with GLS_DENSITY_SUM, not with GLS_DENSITY_PRECISE or GLS_DENSITY_ENDS */
    const char *const *group; /* names of n_groups groups of streamlines: the map has a volume for each group, instead
                                 of one of all streamlines; borrowed as weights. Default NULL */
    size_t n_groups;
} gls_density_options;
GLS_API gls_density_options gls_density_options_default(void);

/* Factor by which tckmap upsamples streamlines of this step in mm: ceil(step / (0.333 * smallest voxel side)). */
GLS_API uint32_t gls_density_upsampling(double step, const gls_grid *grid);

/* Upsampling factor of tckmap -precise for streamlines of this step in mm: ceil(step / (0.1 * smallest voxel side)). */
GLS_API uint32_t gls_density_precise_upsampling(double step, const gls_grid *grid);

typedef struct gls_density_counts {
    uint64_t streamlines;
    uint64_t used;    /* streamlines that visit at least one voxel of the grid */
    uint64_t empty;   /* streamlines without points */
    uint64_t partial; /* streamlines with a part outside the grid, which is not counted */
    uint64_t zero;    /* streamlines left out because their value is 0 or not finite */
    double weight;    /* sum of the weights of the streamlines used; their number without weights */
    /* Number of positions at which streamlines were looked up in the grid, and how many of them were outside. The
     * positions are the points, also the points that upsampling adds; with GLS_DENSITY_ENDS the ends; with
     * GLS_DENSITY_PRECISE the voxels. */
    uint64_t places, places_outside;
} gls_density_counts;

typedef struct gls_density gls_density;

/* Creates a map. Memory for each voxel and group: 8 bytes; 16 for sums of values other than 1, 32 for means, 64 for
 * directions; except for minima and maxima, multiplied by the number of threads where the product is at most 64 MiB.
 * GLS_ERR_ARGUMENT: an option out of range. */
GLS_API gls_status gls_density_create(const gls_grid *grid, const gls_density_options *options, gls_density **density);
/* Returns the map as a sink. The map stays with the caller: finishing or aborting the sink does nothing. Points must be
 * finite. Several threads work on each block of streamlines. GLS_ERR_INPUT: a column or group that the options name is
 * missing, or a weight is not finite. GLS_ERR_UNSUPPORTED: a sum of mm or weights exceeds its range. */
GLS_API gls_sink gls_density_sink(gls_density *density);
/* Counts of the streamlines that the sink has received so far. */
GLS_API gls_density_counts gls_density_get_counts(const gls_density *density);
/* Number of volumes of the map: 3 with directions; otherwise the number of groups, or 1 without groups. */
GLS_API size_t gls_density_volumes(const gls_density *density);
/* Sets the factor by which all values are multiplied when they are read or written; 1 before the call. */
GLS_API void gls_density_set_scale(gls_density *density, double factor);
/* Value of each voxel, x fastest; 0 without visits. out: memory for gls_density_volumes() * gls_grid_voxels() values.
 */
GLS_API void gls_density_get(const gls_density *density, double *out);
/* Writes an image (.nii, .nii.gz, .mif or .mif.gz): int32 for numbers of visits without a scale, float64 if one exceeds
 * 2^31 - 1, float32 for all other maps. An existing file is replaced. */
GLS_API gls_status gls_density_write(const gls_density *density, const char *path);
/* Frees `density`, which may be NULL. */
GLS_API void gls_density_destroy(gls_density *density);

#ifdef __cplusplus
}
#endif
#endif
