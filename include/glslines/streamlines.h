/* Streamlines in memory and how they flow: a source (tracker, reader of a file) appends them to a sink; a sink writes,
 * counts, or changes them and hands them on to the next sink. */
#ifndef GLSLINES_STREAMLINES_H
#define GLSLINES_STREAMLINES_H

#include <glslines/type.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Named values that go with streamlines. Each row has `components` values of one type, which lie side by side; row i
 * begins at byte i * components * gls_type_size(type). */
typedef struct gls_column {
    const char *name; /* unique among the columns of its kind */
    gls_type type;
    uint32_t components; /* >= 1 */
    const void *data;
} gls_column;

/* Some streamlines. Everything is borrowed: it is valid during the call that hands it over, or as long as the source
 * says. All parcels of one source have the same columns and groups, in the same order. */
typedef struct gls_streamlines {
    size_t n;                /* streamlines */
    const uint64_t *offset;  /* n + 1: first point of each; offset[0] = 0, offset[n] = number of points. A streamline
                                may have no points; writers refuse those, see gls_filter_valid_create() */
    const float (*point)[3]; /* world mm (RAS+, origin at the centre of voxel 0) */
    size_t n_dps, n_dpv, n_groups;
    const gls_column *dps;   /* data per streamline: n rows each */
    const gls_column *dpv;   /* data per vertex: offset[n] rows each */
    const gls_column *group; /* membership: n values of GLS_TYPE_BOOL each, 1 where the streamline is in the group */
} gls_streamlines;

/* Columns per streamline that the tracker gives: the position of the seed (3 x float32, world mm), and its global
 * index (uint32). Filters that move points move seeds with them. */
#define GLS_DPS_SEEDS "seeds"
#define GLS_DPS_SEED_INDEX "seed_index"

/* The column of that name among n, or NULL. */
GLS_API const gls_column *gls_column_find(const gls_column *columns, size_t n, const char *name);
/* Bytes of one row. */
GLS_API size_t gls_column_row_bytes(const gls_column *column);
/* A value of a column as double; i counts values, not rows. int64 and uint64 beyond 2^53 are rounded. */
GLS_API double gls_column_value(const gls_column *column, uint64_t i);

/* Takes streamlines. Whoever feeds a sink appends any number of times, in order and one call at a time, from whatever
 * thread, and then calls either finish or abort, once; both free the sink. A source such as gls_tracker_run() only
 * appends: finish and abort are for its caller. */
typedef struct gls_sink {
    gls_status (*append)(void *user, const gls_streamlines *streamlines); /* a failure ends the stream */
    gls_status (*finish)(void *user);                                     /* NULL: nothing is to be done at the end */
    void (*abort)(void *user);                                            /* NULL: nothing is to be freed */
    void *user;
} gls_sink;

GLS_API gls_status gls_sink_append(const gls_sink *sink, const gls_streamlines *streamlines);
/* Completes what the sink makes and empties *sink. Whatever is returned, the sink is freed. An empty sink is GLS_OK. */
GLS_API gls_status gls_sink_finish(gls_sink *sink);
/* Drops what the sink has made and empties *sink. Accepts an empty sink. */
GLS_API void gls_sink_abort(gls_sink *sink);

/* Hands all it gets to each of n sinks in turn, which then belong to it; the array is copied. finish finishes them in
 * order; after a failure the others are aborted. On failure the sinks stay with the caller. */
GLS_API gls_status gls_sink_tee(const gls_sink *sinks, size_t n, gls_sink *tee);

#ifdef __cplusplus
}
#endif
#endif
