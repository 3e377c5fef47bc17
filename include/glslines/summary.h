/* A summary of streamlines: their number, lengths, positions, the regularity of their steps, and the contents of their
 * columns. */
#ifndef GLSLINES_SUMMARY_H
#define GLSLINES_SUMMARY_H

#include <glslines/image.h>
#include <glslines/streamlines.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Statistics of values in mm; all 0 without values. */
typedef struct gls_spread {
    uint64_t n;
    double mean, sd; /* sd has the divisor n - 1; 0 for a single value */
    double min, max;
    double median;      /* for more than 65,536 values exact to 2 parts in 100,000; as numpy.median() */
    double quartile[2]; /* first and third quartile, as exact as the median, as numpy.quantile() */
} gls_spread;

typedef enum gls_column_kind { GLS_COLUMN_DPS, GLS_COLUMN_DPV, GLS_COLUMN_GROUP } gls_column_kind;

/* Contents of a column, over all its components. */
typedef struct gls_column_summary {
    gls_column_kind kind;
    const char *name;
    gls_type type;
    uint32_t components;
    uint64_t n;            /* number of finite values; for a group, of its members */
    uint64_t n_not_finite; /* number of NaN and infinities, which the other members leave out */
    double min, mean, max; /* 0 if n is 0 */
} gls_column_summary;

typedef struct gls_summary_result {
    uint64_t streamlines, points;
    uint64_t empty;         /* number of streamlines without points */
    uint64_t single_points; /* number of streamlines of one point, whose length is 0 */
    uint64_t not_finite;    /* number of streamlines with a coordinate that is not finite; they are left out of all that
                               follows but `column` */
    uint64_t first_not_finite; /* position of the first streamline with a point that is not finite, counted from 0, if
                                  not_finite > 0 */
    uint64_t zero_steps;       /* number of pairs of successive points that are equal */
    uint64_t outside;          /* number of streamlines with a point outside the grid; 0 without a grid */
    uint64_t first_outside;  /* position of the first streamline with a point outside, counted from 0, if outside > 0 */
    uint64_t points_outside; /* number of points of all streamlines outside the grid */
    double low[3], high[3];  /* box around all points, world mm; 0 without points */
    gls_spread length,
        step;         /* length: lengths of the streamlines with points; step: distances between successive points */
    size_t n_columns; /* dps, dpv, groups in this order */
    const gls_column_summary *column;
} gls_summary_result;

typedef struct gls_summary gls_summary;

/* Creates a summary. grid: of the image to which the streamlines belong, or NULL; points beyond the outer faces of its
 * voxels count as outside. Memory: 33 MiB, for any number of streamlines. */
GLS_API gls_status gls_summary_create(const gls_grid *grid, gls_summary **summary);
/* Returns the summary as a sink. The summary stays with the caller: finishing or aborting the sink does nothing. All
 * streamlines must have the same columns. */
GLS_API gls_sink gls_summary_sink(gls_summary *summary);
/* The summary of all streamlines appended so far; valid until the next append. NULL for NULL. */
GLS_API const gls_summary_result *gls_summary_get(gls_summary *summary);
/* Frees `summary`, which may be NULL. */
GLS_API void gls_summary_destroy(gls_summary *summary);

#ifdef __cplusplus
}
#endif
#endif
