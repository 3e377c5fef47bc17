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
/* n >= 2 points at equal distances along each streamline, by linear interpolation; both ends stay as they are. A
 * streamline of length 0 becomes n equal points; one without points stays so. As DIPY's set_number_of_points(). */
GLS_API gls_status gls_filter_points_create(uint32_t n, const gls_sink *next, gls_sink *filter);
/* Points every `step` mm (> 0) along each streamline from its start, and its last point. */
GLS_API gls_status gls_filter_step_create(double step, const gls_sink *next, gls_sink *filter);
/* Leaves out points that lie within `tolerance` mm (>= 0) of the line through the kept ones on both sides, which are
 * max_segment mm apart at most (> 0; INFINITY: any); both ends stay. Presseau et al. 2015, as DIPY's
 * compress_streamlines(), whose defaults are 0.01 and 10. */
GLS_API gls_status gls_filter_compress_create(double tolerance, double max_segment, const gls_sink *next,
                                              gls_sink *filter);

#ifdef __cplusplus
}
#endif
#endif
