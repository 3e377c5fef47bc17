/* Values of images along streamlines: at each point, and as one number for each streamline. */
#ifndef GLSLINES_SAMPLE_H
#define GLSLINES_SAMPLE_H

#include <glslines/image.h>
#include <glslines/streamlines.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Statistic of the values along a streamline. Median, minimum and maximum leave NaN out; for means, sums and deviations
 * see gls_sample_options.keep_not_finite. Statistics of the ends are NaN if the value at an end is NaN. */
typedef enum gls_track_stat {
    GLS_TRACK_MEAN,
    GLS_TRACK_MEDIAN, /* the mean of the two middle values if there is an even number of them */
    GLS_TRACK_MIN,
    GLS_TRACK_MAX,
    GLS_TRACK_SUM,
    GLS_TRACK_STD,          /* divisor n; with the weights of the mean */
    GLS_TRACK_MEAN_NONZERO, /* mean of the values that are not 0, equally weighted; NaN if there are none */
    GLS_TRACK_UPPER_MEDIAN, /* of an even number of values, the upper of the two in the middle; NaN counts as largest.
                               As tckmap */
    GLS_TRACK_ENDS_MIN,     /* value at the end where its absolute value is smaller */
    GLS_TRACK_ENDS_MAX,     /* value at the end where its absolute value is larger */
    GLS_TRACK_ENDS_MEAN,
    GLS_TRACK_ENDS_PROD, /* product of the values at both ends; 0 unless both have the same sign */
    GLS_TRACK_ENDS_CORR  /* Pearson correlation of the series of volumes at both ends: a single number */
} gls_track_stat;
/* Number of values of gls_track_stat. */
#define GLS_TRACK_STATS 13
/* Name of a statistic: "mean", "median", "min", "max", "sum", "std", "mean_nonzero", "upper_median", "ends_min",
 * "ends_max", "ends_mean", "ends_prod" or "ends_corr". */
GLS_API const char *gls_track_stat_name(gls_track_stat stat);

typedef enum gls_sample_edge {
    GLS_EDGE_CLAMP, /* the image ends at the outer faces of its voxels; beyond the outermost centres values stay
                       constant */
    GLS_EDGE_ZERO   /* the image ends one voxel beyond the outermost centres; voxels outside count as 0. As DIPY */
} gls_sample_edge;

typedef enum gls_sample_weight {
    GLS_SAMPLE_BY_LENGTH, /* a point weighs half the length of the segments at it, as in tcksample -stat_tck mean */
    GLS_SAMPLE_BY_POINT,  /* all points weigh the same */
    GLS_SAMPLE_BY_VOXEL,  /* samples are the voxels that the streamline passes, in place of its points; a voxel weighs
                             the mm inside it, in the median, too */
    GLS_SAMPLE_BY_SPLINE  /* like GLS_SAMPLE_BY_VOXEL, along the spline of GLS_DENSITY_PRECISE; the median is the
                             largest value up to which the weights add up to at most half of their sum, or the smallest
                             value if there is none. As tcksample -precise */
} gls_sample_weight;

typedef struct gls_sample_options {
    size_t size;              /* size of this struct, set by the default function */
    bool nearest;             /* take the value of the nearest voxel; default false: trilinear interpolation */
    gls_sample_edge edge;     /* default GLS_EDGE_CLAMP */
    bool outside_zero;        /* the value outside the image is 0; default false: NaN */
    bool keep_not_finite;     /* as tcksample: keep infinities of voxels; means, sums and deviations over NaN are NaN.
                                 Default false: infinities become NaN; means, sums and deviations leave NaN out */
    gls_sample_weight weight; /* what is sampled, and weights of means and deviations; default GLS_SAMPLE_BY_LENGTH */
    const double *total; /* with GLS_SAMPLE_BY_VOXEL and GLS_SAMPLE_BY_SPLINE, for images on one grid: the length, mm,
                            of all streamlines in each voxel. The value of a voxel is multiplied by the share of this
                            length that the streamline has. Borrowed until the filter is finished. Default NULL:
                            values are not multiplied */
} gls_sample_options;
GLS_API gls_sample_options gls_sample_options_default(void);

/* Value of each volume of an image at a point, world mm. out: memory for n_volumes values. Does nothing if image, point
 * or out is NULL. */
GLS_API void gls_sample_at(const gls_image *image, const gls_sample_options *options, const float point[3],
                           double *out);

/* A column that a filter adds: values per vertex (float32), or a statistic (float64), a component for each volume
 * (GLS_TRACK_ENDS_CORR: one). */
typedef struct gls_sample_column {
    const gls_image *image;
    const char *name; /* borrowed, like the image, until the filter is finished */
    bool per_vertex;
    gls_track_stat stat; /* used if per_vertex is false */
} gls_sample_column;

typedef struct gls_sample_counts {
    uint64_t streamlines;
    uint64_t points;  /* number of points, or voxels (see gls_sample_weight), at which images were sampled; columns of
                         one image that follow each other are sampled once, but points apart from voxels */
    uint64_t outside; /* number of points outside their image */
    uint64_t not_finite;    /* number of points inside at which the value of a volume is NaN or infinite */
    uint64_t without_value; /* number of streamlines whose values are all NaN in some column */
} gls_sample_counts;

/* Creates a filter that adds n columns in front of the other columns; a new column replaces an old one with the same
 * name. A streamline without values gets NaN. Several threads sample. counts may be NULL. */
GLS_API gls_status gls_filter_sample_create(const gls_sample_column *columns, size_t n,
                                            const gls_sample_options *options, gls_sample_counts *counts,
                                            const gls_sink *next, gls_sink *filter);

#ifdef __cplusplus
}
#endif
#endif
