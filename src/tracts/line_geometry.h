/* Geometry of single streamlines: length, resampling, parts, direction. */
#ifndef GLS_TRACTS_LINE_GEOMETRY_H
#define GLS_TRACTS_LINE_GEOMETRY_H

#include <stdbool.h>
#include <stddef.h>

/* Points to which lines are resampled before their directions are compared, as in DIPY. */
#define GLS_ORIENT_POINTS 12

/* Length in mm. */
double gls_line_length(const float (*point)[3], size_t n);
/* Writes m >= 2 points at equal distances along n >= 1 points; the ends stay exact. As DIPY's set_number_of_points().
 */
void gls_line_resample(const float (*point)[3], size_t n, size_t m, float (*out)[3]);
/* Writes the part of a line from `from` to `until`, in mm from its start. out: memory for n + 1 points. Returns the
 * number of points, at least 1. */
size_t gls_line_part(const float (*point)[3], size_t n, double from, double until, float (*out)[3]);
/* Whether GLS_ORIENT_POINTS points along the line are closer to the standard in reverse order: by the sum of distances,
 * as DIPY's orient_by_streamline(). */
bool gls_line_is_backwards(const float (*point)[3], size_t n, const float (*standard)[3]);
/* Like gls_line_is_backwards(), for lines that have m points already. */
bool gls_nodes_are_backwards(const float (*node)[3], const float (*standard)[3], size_t m);
/* Reverses the order of n points. */
void gls_line_reverse(float (*point)[3], size_t n);

#endif
