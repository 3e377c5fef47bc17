/* Which points of a streamline stay where fewer of them do. */
#ifndef GLS_STREAMLINES_THIN_H
#define GLS_STREAMLINES_THIN_H

#include <stddef.h>

/* Points between two that stay and are no further than max_segment apart lie within tolerance of the line through them:
 * the decisions of DIPY's compress_streamlines(). kept, room for n, gets their numbers; returns how many. */
size_t gls_points_compress(const float (*point)[3], size_t n, double tolerance, double max_segment, size_t *kept);
/* The ends, and every factor-th point between, counted so that point `fixed` is one of them; factor 0: the ends alone.
 */
size_t gls_points_downsample(size_t n, size_t factor, size_t fixed, size_t *kept);

#endif
