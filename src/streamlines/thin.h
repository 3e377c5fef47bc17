/* Chooses which points of a streamline stay when points are removed. */
#ifndef GLS_STREAMLINES_THIN_H
#define GLS_STREAMLINES_THIN_H

#include <stddef.h>

/* Selects points so that each removed point lies within `tolerance` of the line through its neighbours that stay, and
 * these neighbours are at most max_segment apart, in mm: as compress_streamlines() of DIPY decides. kept: memory for n,
 * gets the indices. Returns their number. */
size_t gls_points_compress(const float (*point)[3], size_t n, double tolerance, double max_segment, size_t *kept);
/* Selects both ends and every factor-th point between them, counted in both directions from point `fixed`, which stays.
 * factor 0: only the ends. kept: memory for n, gets the indices. Returns their number. */
size_t gls_points_downsample(size_t n, size_t factor, size_t fixed, size_t *kept);

#endif
