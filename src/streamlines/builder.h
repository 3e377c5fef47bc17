/* Builds new streamlines from incoming ones and hands them on in blocks; shares the streamlines of a block among
 * threads; computes points on the spline of MRtrix3. */
#ifndef GLS_STREAMLINES_BUILDER_H
#define GLS_STREAMLINES_BUILDER_H

#include <glslines/common.h>
#include <glslines/streamlines.h>

#include "streamlines/filter_parts.h"

/* Works on streamline i on one thread. thread: see gls_parallel_task. */
typedef void (*gls_line_task)(void *user, int thread, const gls_streamlines *lines, size_t i);

/* Calls the task for each streamline of a block, by gls_parallel() with this grain and number of threads. */
void gls_lines_parallel(const gls_streamlines *lines, size_t grain, int n_threads, gls_line_task task, void *user);
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
/* Point at share mu, 0 .. 1, between b and c. a and d: the points before b and behind c. */
void gls_spline_at(float mu, const float *a, const float *b, const float *c, const float *d, float q[3]);

#endif
