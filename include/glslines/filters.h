/* Filters: sinks that change or select streamlines and hand them on to the next sink.
 *
 * Each function makes a sink that owns `next`: finishing or aborting it does so with all that follow. On failure (out
 * of range: GLS_ERR_ARGUMENT; GLS_ERR_MEMORY) `next` stays with the caller. Columns and groups go with their
 * streamlines. Where points are new, values per vertex are interpolated linearly (float16, float32, float64) or taken
 * from the nearer vertex (all other types). Memory does not grow with the number of streamlines. */
#ifndef GLSLINES_FILTERS_H
#define GLSLINES_FILTERS_H

#include <glslines/streamlines.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a selecting filter has seen; set to 0 when the filter is made, and to be kept until it is finished. */
typedef struct gls_filter_counts {
    uint64_t taken, kept;
} gls_filter_counts;

/* Keeps streamlines of min <= length <= max, mm, both with a slack of 1e-4 mm; max may be INFINITY. The length is the
 * sum of the distances between successive points. counts may be NULL here and below. */
GLS_API gls_status gls_filter_length_create(double min, double max, gls_filter_counts *counts, const gls_sink *next,
                                            gls_sink *filter);
/* Keeps streamlines of min to max points, both included. */
GLS_API gls_status gls_filter_vertices_create(uint64_t min, uint64_t max, gls_filter_counts *counts,
                                              const gls_sink *next, gls_sink *filter);
/* Passes over `skip` streamlines, then keeps one of every `every` (>= 1), `number` at most. */
GLS_API gls_status gls_filter_every_create(uint64_t skip, uint64_t every, uint64_t number, gls_filter_counts *counts,
                                           const gls_sink *next, gls_sink *filter);
/* Keeps `number` (>= 1) of `total` streamlines, evenly spread and the first among them; all of them where there are no
 * more. Both are below 2^32. */
GLS_API gls_status gls_filter_spread_create(uint64_t number, uint64_t total, gls_filter_counts *counts,
                                            const gls_sink *next, gls_sink *filter);
/* Drops streamlines without points and those with a coordinate that is not finite. */
GLS_API gls_status gls_filter_valid_create(gls_filter_counts *counts, const gls_sink *next, gls_sink *filter);
/* Keeps streamline i of the stream where keep[i] is not 0; the `rows` values are borrowed until the filter is finished,
 * streamlines behind them are dropped. */
GLS_API gls_status gls_filter_listed_create(const float *keep, uint64_t rows, gls_filter_counts *counts,
                                            const gls_sink *next, gls_sink *filter);
/* Hands on only those columns and groups whose names are among these n, which are copied. */
GLS_API gls_status gls_filter_columns_create(const char *const *names, size_t n, const gls_sink *next,
                                             gls_sink *filter);
/* Adds a column per streamline in front of the others, in place of one of the same name: row i belongs to streamline i
 * of the stream. Its name and its data, `rows` of them, are borrowed until the filter is finished. GLS_ERR_INPUT if
 * there are more or fewer streamlines than rows. */
GLS_API gls_status gls_filter_dps_create(const gls_column *column, uint64_t rows, const gls_sink *next,
                                         gls_sink *filter);
/* Moves points and seeds: world = map applied to (x, y, z, 1), in double. */
GLS_API gls_status gls_filter_transform_create(const double map[3][4], const gls_sink *next, gls_sink *filter);
/* Where new points lie, at their distance along the lines between the old points. */
typedef enum gls_interpolation {
    GLS_INTERPOLATE_LINEAR, /* on these lines */
    GLS_INTERPOLATE_HERMITE /* on a cardinal spline of tension 0.1, as tckresample of MRtrix3 */
} gls_interpolation;
/* n >= 2 points at equal distances along each streamline; both ends stay as they are. A streamline of length 0 becomes
 * n equal points; one without points stays so. Linear: as DIPY's set_number_of_points(). */
GLS_API gls_status gls_filter_points_create(uint32_t n, gls_interpolation how, const gls_sink *next, gls_sink *filter);
/* Points every `step` mm (> 0) along each streamline from its start, and its last point. */
GLS_API gls_status gls_filter_step_create(double step, gls_interpolation how, const gls_sink *next, gls_sink *filter);
/* Points `step` mm apart in a straight line, from point n / 2 towards both ends, and the ends. As tckresample
 * -step_size of MRtrix3. */
GLS_API gls_status gls_filter_middle_step_create(double step, gls_interpolation how, const gls_sink *next,
                                                 gls_sink *filter);
/* factor - 1 new points between each two (factor >= 1). */
GLS_API gls_status gls_filter_upsample_create(uint32_t factor, gls_interpolation how, const gls_sink *next,
                                              gls_sink *filter);
/* Both ends and one of every `factor` (>= 1) points between, of which point n / 2 is one, as tckresample -downsample.
 * 0: the ends alone. */
GLS_API gls_status gls_filter_downsample_create(uint32_t factor, const gls_sink *next, gls_sink *filter);
/* Leaves out points that lie within `tolerance` mm (>= 0) of the line through the kept ones on both sides, which are
 * max_segment mm apart at most (> 0; INFINITY: any); both ends stay. Presseau et al. 2015, as DIPY's
 * compress_streamlines(), whose defaults are 0.01 and 10. */
GLS_API gls_status gls_filter_compress_create(double tolerance, double max_segment, const gls_sink *next,
                                              gls_sink *filter);

/* Keeps each streamline whose random key, a number from 0 to 2^64 - 1 that seed and its place in the stream give, is at
 * most `largest`. */
GLS_API gls_status gls_filter_random_create(uint64_t seed, uint64_t largest, gls_filter_counts *counts,
                                            const gls_sink *next, gls_sink *filter);
/* The n-th smallest of the keys of `total` streamlines: with it the filter keeps n of them. 2^64 - 1 for n >= total.
 * GLS_ERR_ARGUMENT: n is 0. Memory: 8 bytes n. */
GLS_API gls_status gls_random_largest(uint64_t seed, uint64_t total, uint64_t n, uint64_t *largest);

/* A set of streamlines, for comparing tractograms. Two are equal if all their points agree when rounded to so many
 * decimals of mm. Memory: 16 to 32 bytes a streamline, of which only a hash of 64 bits is kept. */
typedef struct gls_line_set gls_line_set;
typedef enum gls_line_sense {
    GLS_LINES_DIRECTED,  /* the reverse of a streamline is another one */
    GLS_LINES_EITHER_WAY /* it is the same */
} gls_line_sense;
/* decimals: 0 .. 6. */
GLS_API gls_status gls_line_set_create(int decimals, gls_line_sense sense, gls_line_set **set);
/* Accepts NULL. */
GLS_API void gls_line_set_destroy(gls_line_set *set);
/* A sink that adds streamlines to the set; the set stays with the caller. */
GLS_API gls_sink gls_line_set_sink(gls_line_set *set);
typedef enum gls_line_set_keep {
    GLS_KEEP_MEMBERS, /* those in the set */
    GLS_KEEP_OTHERS,  /* those not in it */
    GLS_KEEP_NEW      /* those not in it, which are then added: the first of equal ones */
} gls_line_set_keep;
/* The set has to outlive the filter. */
GLS_API gls_status gls_filter_set_create(gls_line_set *set, gls_line_set_keep keep, gls_filter_counts *counts,
                                         const gls_sink *next, gls_sink *filter);

#ifdef __cplusplus
}
#endif
#endif
