/* Functions and structs that the filters of streamlines share. */
#ifndef GLS_STREAMLINES_FILTER_PARTS_H
#define GLS_STREAMLINES_FILTER_PARTS_H

#include <stddef.h>

#include <glslines/filters.h>
#include <glslines/streamlines.h>

/* --- Work of several threads on the streamlines of a block. */

/* Works on streamline i on one thread. thread: see gls_parallel_task. */
typedef void (*gls_line_task)(void *user, int thread, const gls_streamlines *lines, size_t i);
/* Calls the task for each streamline of a block, by gls_parallel() with this grain and number of threads. */
void gls_lines_parallel(const gls_streamlines *lines, size_t grain, int n_threads, gls_line_task task, void *user);

/* --- Builder: makes new streamlines from incoming ones, with their columns, and hands them on in blocks of bounded
 * size. */

/* A block that the builder hands on has at most so many streamlines, and so many points unless one streamline has
 * more. */
#define GLS_BUILDER_LINES 16384
#define GLS_BUILDER_POINTS ((uint64_t)1 << 17)

/* Collects new streamlines and passes them on in blocks. Several threads may set points at the same time, by
 * gls_builder_copy() and gls_builder_mix(); all other functions are for one thread. */
typedef struct gls_builder {
    /* receives the blocks; owned */
    gls_sink next;
    void (*discard)(void *user); /* of the filter, see gls_builder_sink() */
    const gls_streamlines *in;   /* input, between begin and flush */
    /* number of streamlines in the block, and of streamlines for which memory is allocated */
    size_t n, line_capacity;
    /* number of points in the block, and of points for which memory is allocated */
    uint64_t n_points, point_capacity;
    /* n + 1 elements: first point of each streamline, and the end */
    uint64_t *offset;
    /* world mm */
    float (*point)[3];
    size_t n_columns, n_dps, n_groups; /* numbers of columns, fixed by the first block */
    gls_column *column; /* columns in the order dps, groups, dpv as in `in`; their data are the memory below */
    /* for each column its values, n rows or n_points rows */
    void **memory;
} gls_builder;

/* Makes the sink of a filter whose state begins with its builder, which owns next afterwards. append: the function of
 * the sink, which gets the state. discard: frees the state, and the builder by gls_builder_finish(); the sink calls it
 * when next has finished, or when the filter is aborted. */
gls_sink gls_builder_sink(gls_builder *builder, const gls_sink *next,
                          gls_status (*append)(void *user, const gls_streamlines *streamlines),
                          void (*discard)(void *user));
/* Aborts next, unless it has finished, and frees the builder's memory. */
void gls_builder_finish(gls_builder *builder);

/* Starts a block of new streamlines that are made from those of `in`. *in must not change until gls_builder_flush().
 * GLS_ERR_ARGUMENT: the columns differ from those of earlier blocks. */
gls_status gls_builder_begin(gls_builder *builder, const gls_streamlines *in);
/* Whether a streamline of n points still fits into the block. */
static inline bool gls_builder_fits(const gls_builder *b, uint64_t n)
{
    return b->n < GLS_BUILDER_LINES && (b->n == 0 || b->n_points + n <= GLS_BUILDER_POINTS);
}
/* Adds a streamline of n points with the dps and groups of input streamline i. If the block is full, hands it on first
 * and begins an empty one. *first: index of the streamline's first point. Set its points and dpv with the functions
 * below. */
gls_status gls_builder_add(gls_builder *builder, size_t i, uint64_t n, uint64_t *first);
/* Copies n points with their dpv from index `from` of the input to index `to`. */
void gls_builder_copy(gls_builder *builder, uint64_t to, uint64_t from, uint64_t n);
/* Sets point `to` to the point between input points `from` and from + 1, at share 0 .. 1 of the way, with its dpv. */
void gls_builder_mix(gls_builder *builder, uint64_t to, uint64_t from, double share);
/* Hands on the streamlines that were added, if any. */
gls_status gls_builder_flush(gls_builder *builder);

/* Distance of two points of a block, mm, in double precision. */
double gls_builder_distance(const gls_streamlines *s, uint64_t point, uint64_t other);
/* Length of streamline i of a block, mm: the sum of the distances between successive points. */
double gls_builder_length(const gls_streamlines *s, size_t i);

/* --- Columns from files. */

/* Like gls_filter_dps_create(). path: the file from which the column was read, named in messages; borrowed. */
gls_status gls_filter_dps_create_from(const char *path, const gls_column *column, uint64_t rows, const gls_sink *next,
                                      gls_sink *filter);

/* --- Groups. */

/* Groups, of which each streamline is in one at most. Everything is borrowed. */
typedef struct gls_line_groups {
    const char *const *name; /* n names */
    size_t n;
    const uint32_t *index; /* group of each streamline; n or more: in none */
    uint64_t rows;         /* number of streamlines */
    const char *path;      /* file that the groups come from, named in messages */
} gls_line_groups;
/* Makes a filter that adds the groups behind those that streamlines have. GLS_ERR_INPUT if the number of streamlines
 * differs from rows. */
gls_status gls_filter_groups_create(const gls_line_groups *groups, const gls_sink *next, gls_sink *filter);

/* --- Cardinal spline of tension 0.1, on which MRtrix3 places new points; computed in float32 as in MRtrix3. */

/* Point at share mu, 0 .. 1, between b and c. a and d: the points before b and behind c. */
void gls_spline_at(float mu, const float *a, const float *b, const float *c, const float *d, float q[3]);

/* --- Removing points. */

/* Selects points so that each removed point lies within `tolerance` of the line through its neighbours that stay, and
 * these neighbours are at most max_segment apart, in mm: as compress_streamlines() of DIPY decides. kept: memory for n,
 * gets the indices. Returns their number. */
size_t gls_points_compress(const float (*point)[3], size_t n, double tolerance, double max_segment, size_t *kept);
/* Selects both ends and every factor-th point between them, counted in both directions from point `fixed`, which stays.
 * factor 0: only the ends. kept: memory for n, gets the indices. Returns their number. */
size_t gls_points_downsample(size_t n, size_t factor, size_t fixed, size_t *kept);

#endif
