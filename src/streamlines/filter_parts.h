/* What the filters of streamlines share. */
#ifndef GLS_STREAMLINES_FILTER_PARTS_H
#define GLS_STREAMLINES_FILTER_PARTS_H

#include <stddef.h>

#include <glslines/filters.h>
#include <glslines/streamlines.h>

/* --- What filters share: new streamlines are built from those that come in, with their columns, and handed on in parcels of bounded size. */

#define GLS_BUILDER_LINES 16384
#define GLS_BUILDER_POINTS ((uint64_t)1 << 17)

typedef struct gls_builder {
    gls_sink next;
    const gls_streamlines *in; /* between begin and flush */
    size_t n, line_capacity;
    uint64_t n_points, point_capacity;
    uint64_t *offset;
    float (*point)[3];
    size_t n_columns, n_dps, n_groups; /* of the first parcel, and so of all */
    gls_column *column;                /* dps, groups, dpv, as in `in`, with the memory below as data */
    void **memory;
} gls_builder;

/* Takes over next. */
void gls_builder_init(gls_builder *builder, const gls_sink *next);
/* Frees what was allocated; next has been finished or aborted. */
void gls_builder_finish(gls_builder *builder);

/* Starts a parcel from these streamlines, which must stay as they are until it is flushed. */
gls_status gls_builder_begin(gls_builder *builder, const gls_streamlines *in);
/* Whether a streamline of n points can be added without handing on those before. */
bool gls_builder_fits(const gls_builder *builder, uint64_t n);
/* Adds a streamline of n points with the dps and groups of streamline i of the input; *first gets the place of its
 * first point. Its points and dpv are set by the functions below. */
gls_status gls_builder_add(gls_builder *builder, size_t i, uint64_t n, uint64_t *first);
/* Copies n points with their dpv. */
void gls_builder_copy(gls_builder *builder, uint64_t to, uint64_t from, uint64_t n);
/* The point that lies between points `from` and from + 1 of the input, 0 <= share <= 1 of the way, with its dpv. */
void gls_builder_mix(gls_builder *builder, uint64_t to, uint64_t from, double share);
/* The same on a cardinal spline of tension 0.1 through the points of streamline i; dpv lie on the line all the same. */
void gls_builder_spline(gls_builder *builder, size_t i, uint64_t to, uint64_t from, double share);
/* Hands on what was added, if anything. */
gls_status gls_builder_flush(gls_builder *builder);

/* Both of one streamline of the input, mm. */
double gls_builder_distance(const gls_streamlines *s, uint64_t point, uint64_t other);
double gls_builder_length(const gls_streamlines *s, size_t i);

/* --- Inside of filters: random keys of streamlines, and sets of streamlines. */

/* The random key of the streamline at this place of a stream. */
uint64_t gls_random_key(uint64_t seed, uint64_t place);

/* Whether streamline i is in the set; with add it is from now on. */
bool gls_line_set_has(gls_line_set *set, const gls_streamlines *s, size_t i, bool add);
/* GLS_ERR_MEMORY once the set could not grow. */
gls_status gls_line_set_status(const gls_line_set *set);

/* --- Columns that come from a file, for filters whose messages have to name it. */

/* gls_filter_dps_create(); path: the file that messages name, borrowed. */
gls_status gls_filter_dps_create_from(const char *path, const gls_column *column, uint64_t rows, const gls_sink *next,
                                      gls_sink *filter);

/* --- The cardinal spline of tension 0.1 on which MRtrix3 puts new points, in float32 as there. */

/* The point mu (0 .. 1) of the way from b to c; a and d are the points before and behind them. */
void gls_spline_at(float mu, const float *a, const float *b, const float *c, const float *d, float q[3]);

/* --- Which points of a streamline stay where fewer of them do. */

/* Points between two that stay and are no further than max_segment apart lie within tolerance of the line through them:
 * the decisions of DIPY's compress_streamlines(). kept, room for n, gets their numbers; returns how many. */
size_t gls_points_compress(const float (*point)[3], size_t n, double tolerance, double max_segment, size_t *kept);
/* The ends, and every factor-th point between, counted so that point `fixed` is one of them; factor 0: the ends alone.
 */
size_t gls_points_downsample(size_t n, size_t factor, size_t fixed, size_t *kept);

#endif
