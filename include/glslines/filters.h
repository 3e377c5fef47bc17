/* Filters: sinks that change or select streamlines and hand them on to the next sink. Also sets of streamlines, by
 * which tractograms are compared.
 *
 * gls_filter_..._create() creates a sink that owns `next`: finishing or aborting it finishes or aborts all that follow.
 * If the function fails (GLS_ERR_ARGUMENT: out of range; GLS_ERR_MEMORY), `next` stays with the caller. Columns and
 * groups stay with their streamlines. At new points, values per vertex are interpolated linearly (float16, float32,
 * float64) or taken from the nearer vertex (all other types). Memory does not grow with the number of streamlines, but
 * for a set of streamlines. */
#ifndef GLSLINES_FILTERS_H
#define GLSLINES_FILTERS_H

#include <glslines/streamlines.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Counts of a selecting filter: zeroed when the filter is created; keep the struct until the filter is finished. */
typedef struct gls_filter_counts {
    uint64_t taken, kept; /* number of streamlines received, and number handed on */
} gls_filter_counts;

/* Keeps streamlines of min <= length <= max, mm, both with a slack of 1e-4 mm; max may be INFINITY. The length is the
 * sum of the distances between successive points. counts may be NULL here and below. */
GLS_API gls_status gls_filter_length_create(double min, double max, gls_filter_counts *counts, const gls_sink *next,
                                            gls_sink *filter);
/* Keeps streamlines with min to max points, both included. */
GLS_API gls_status gls_filter_vertices_create(uint64_t min, uint64_t max, gls_filter_counts *counts,
                                              const gls_sink *next, gls_sink *filter);
/* Skips `skip` streamlines, then keeps the first of every `every` (>= 1) streamlines, at most `number` in total. */
GLS_API gls_status gls_filter_every_create(uint64_t skip, uint64_t every, uint64_t number, gls_filter_counts *counts,
                                           const gls_sink *next, gls_sink *filter);
/* Keeps `number` (>= 1) of `total` streamlines, evenly spread, the first included; all if total <= number. Both are
 * below 2^32. */
GLS_API gls_status gls_filter_spread_create(uint64_t number, uint64_t total, gls_filter_counts *counts,
                                            const gls_sink *next, gls_sink *filter);
/* Drops streamlines without points and streamlines with a coordinate that is not finite. */
GLS_API gls_status gls_filter_valid_create(gls_filter_counts *counts, const gls_sink *next, gls_sink *filter);
/* Keeps streamline i of the stream if keep[i] is not 0. The `rows` values are borrowed until the filter is finished;
 * streamlines behind them are dropped. */
GLS_API gls_status gls_filter_listed_create(const float *keep, uint64_t rows, gls_filter_counts *counts,
                                            const gls_sink *next, gls_sink *filter);
/* Hands on only columns and groups whose names are in the list. The names are copied. */
GLS_API gls_status gls_filter_columns_create(const char *const *names, size_t n, const gls_sink *next,
                                             gls_sink *filter);
/* Adds a column with a value for each streamline in front of the other columns; it replaces one with the same name. Row
 * i belongs to streamline i of the stream. Name and data are borrowed until the filter is finished. GLS_ERR_INPUT if
 * the number of streamlines differs from rows. */
GLS_API gls_status gls_filter_dps_create(const gls_column *column, uint64_t rows, const gls_sink *next,
                                         gls_sink *filter);
/* Transforms points and seeds: world = map applied to (x, y, z, 1), in double precision. */
GLS_API gls_status gls_filter_transform_create(const double map[3][4], const gls_sink *next, gls_sink *filter);
/* How the position of a new point between two old points is found. */
typedef enum gls_interpolation {
    GLS_INTERPOLATE_LINEAR, /* new points lie on the straight lines between the old points */
    GLS_INTERPOLATE_HERMITE /* new points lie on a cardinal spline of tension 0.1, as tckresample of MRtrix3 */
} gls_interpolation;
/* Places n >= 2 points at equal distances along each streamline; both ends stay as they are. A streamline of length 0
 * becomes n equal points; a streamline without points stays without. Linear: as DIPY's set_number_of_points(). */
GLS_API gls_status gls_filter_points_create(uint32_t n, gls_interpolation how, const gls_sink *next, gls_sink *filter);
/* Places points every `step` mm (> 0) along each streamline from its start, and keeps its last point. */
GLS_API gls_status gls_filter_step_create(double step, gls_interpolation how, const gls_sink *next, gls_sink *filter);
/* Places points at straight-line distances of `step` mm, from the middle point (index n / 2 of n) towards both ends,
 * and keeps the ends. As tckresample -step_size of MRtrix3. */
GLS_API gls_status gls_filter_middle_step_create(double step, gls_interpolation how, const gls_sink *next,
                                                 gls_sink *filter);
/* Inserts factor - 1 points between neighbouring points (factor >= 1). */
GLS_API gls_status gls_filter_upsample_create(uint32_t factor, gls_interpolation how, const gls_sink *next,
                                              gls_sink *filter);
/* Keeps both ends and one of every `factor` (>= 1) points between, counted from the middle point (index n / 2 of n),
 * as tckresample -downsample. 0: only the ends. */
GLS_API gls_status gls_filter_downsample_create(uint32_t factor, const gls_sink *next, gls_sink *filter);
/* Removes points within `tolerance` mm (>= 0) of the line through the kept points on both sides, which are at most
 * max_segment mm apart (> 0; INFINITY: no limit). Both ends stay. Presseau et al. 2015, as compress_streamlines() of
 * DIPY, whose defaults are 0.01 and 10. */
GLS_API gls_status gls_filter_compress_create(double tolerance, double max_segment, const gls_sink *next,
                                              gls_sink *filter);

/* Keeps a streamline if its random key is at most `largest`. The key, from 0 to 2^64 - 1, depends on seed and the
 * position in the stream. */
GLS_API gls_status gls_filter_random_create(uint64_t seed, uint64_t largest, gls_filter_counts *counts,
                                            const gls_sink *next, gls_sink *filter);
/* Returns the n-th smallest of the keys of `total` streamlines, with which the filter keeps n of them; 2^64 - 1 for n
 * >= total. GLS_ERR_ARGUMENT: n is 0. Memory: 8 n bytes. */
GLS_API gls_status gls_random_largest(uint64_t seed, uint64_t total, uint64_t n, uint64_t *largest);

/* A set of streamlines, for comparing tractograms. Two streamlines are equal if all their points agree after rounding
 * to a number of decimals of mm. Only a hash of 64 bits of each streamline is kept: 16 to 32 bytes. */
typedef struct gls_line_set gls_line_set;
typedef enum gls_line_sense {
    GLS_LINES_DIRECTED,  /* a reversed streamline is a different one */
    GLS_LINES_EITHER_WAY /* a reversed streamline counts as the same streamline */
} gls_line_sense;
/* Creates a set. decimals: 0 .. 6. */
GLS_API gls_status gls_line_set_create(int decimals, gls_line_sense sense, gls_line_set **set);
/* Frees `set`, which may be NULL. */
GLS_API void gls_line_set_destroy(gls_line_set *set);
/* A sink that adds streamlines to the set; the set stays with the caller. */
GLS_API gls_sink gls_line_set_sink(gls_line_set *set);
typedef enum gls_line_set_keep {
    GLS_KEEP_MEMBERS, /* streamlines in the set */
    GLS_KEEP_OTHERS,  /* streamlines not in the set */
    GLS_KEEP_NEW      /* streamlines not in the set, which are then added, so that the first of equal ones is kept */
} gls_line_set_keep;
/* Creates a filter that compares streamlines with the set, which must outlive it. */
GLS_API gls_status gls_filter_set_create(gls_line_set *set, gls_line_set_keep keep, gls_filter_counts *counts,
                                         const gls_sink *next, gls_sink *filter);

#ifdef __cplusplus
}
#endif
#endif
