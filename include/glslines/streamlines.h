/* Streamlines in memory, and how they flow: a source (the tracker, the reader of a file) appends them to a sink; a sink
 * writes them, counts them, or changes them and hands them on to the next sink. */
#ifndef GLSLINES_STREAMLINES_H
#define GLSLINES_STREAMLINES_H

#include <glslines/type.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Named values of streamlines or points. Each row has `components` values of one type, side by side; row i begins at
 * byte i * components * gls_type_size(type). */
typedef struct gls_column {
    const char *name; /* unique among the columns of its kind */
    gls_type type;
    uint32_t components; /* >= 1 */
    const void *data;
} gls_column;

/* A block of streamlines. Everything is borrowed: it is valid during the call that hands it over, or as long as the
 * source says. All blocks of one source have the same columns and groups in the same order. */
typedef struct gls_streamlines {
    size_t n;                /* number of streamlines */
    const uint64_t *offset;  /* n + 1 elements: index of the first point of each streamline; offset[0] = 0, offset[n] =
                                number of points. A streamline may have no points; writers refuse such streamlines, see
                                gls_filter_valid_create() */
    const float (*point)[3]; /* world mm, RAS+; the affine of the image maps voxel centres to this space */
    size_t n_dps, n_dpv, n_groups;
    const gls_column *dps;   /* columns with a row for each streamline: n rows */
    const gls_column *dpv;   /* columns with a row for each point: offset[n] rows */
    const gls_column *group; /* groups: n values of GLS_TYPE_BOOL each, 1 if the streamline is a member */
} gls_streamlines;

/* Columns of the tracker, with a row for each streamline: position of the seed (3 x float32, world mm), and its global
 * index (uint32). Filters that move points move seeds, too. */
#define GLS_DPS_SEEDS "seeds"
#define GLS_DPS_SEED_INDEX "seed_index"

/* Finds the column of this name among n; NULL: none. */
GLS_API const gls_column *gls_column_find(const gls_column *columns, size_t n, const char *name);
/* Size of one row in bytes. */
GLS_API size_t gls_column_row_bytes(const gls_column *column);
/* Value of a column as double; i counts values, not rows. int64 and uint64 beyond 2^53 are rounded. */
GLS_API double gls_column_value(const gls_column *column, uint64_t i);

/* Receives streamlines. The source appends any number of times, in order and one call at a time, from any thread; then
 * its caller calls either finish or abort, once. Both free the sink. A source such as gls_tracker_run() only appends.
 */
typedef struct gls_sink {
    gls_status (*append)(void *user, const gls_streamlines *streamlines); /* a failure ends the stream */
    gls_status (*finish)(void *user);                                     /* NULL: nothing to do at the end */
    void (*abort)(void *user);                                            /* NULL: nothing to free */
    void *user;
} gls_sink;

/* Appends a block to the sink and returns the status of its append(). */
GLS_API gls_status gls_sink_append(const gls_sink *sink, const gls_streamlines *streamlines);
/* Completes the result of the sink and empties *sink. The sink is freed even after a failure. An empty sink is GLS_OK.
 */
GLS_API gls_status gls_sink_finish(gls_sink *sink);
/* Drops the result of the sink and empties *sink. Accepts an empty sink. */
GLS_API void gls_sink_abort(gls_sink *sink);

/* Makes a sink that hands all streamlines to each of n sinks in turn. It owns these sinks; the array is copied.
 * Finishing finishes them in order; after a failure the remaining sinks are aborted. If this function fails, the sinks
 * stay with the caller. */
GLS_API gls_status gls_sink_tee(const gls_sink *sinks, size_t n, gls_sink *tee);

#ifdef __cplusplus
}
#endif
#endif
