/* Single streamlines: lengths, points at equal distances, directions. */
#ifndef GLS_TRACTS_LINES_H
#define GLS_TRACTS_LINES_H

#include <stdbool.h>
#include <stddef.h>

#define GLS_ORIENT_POINTS 12

/* mm, in double. */
double gls_line_length(const float (*point)[3], size_t n);
/* m >= 2 points at equal distances along n >= 1 points, ends exact: as DIPY's set_number_of_points(). */
void gls_line_resample(const float (*point)[3], size_t n, size_t m, float (*out)[3]);
/* The part of a line from .. until, mm from its start: out has room for n + 1 points; returns how many there are. */
size_t gls_line_part(const float (*point)[3], size_t n, double from, double until, float (*out)[3]);
/* Whether GLS_ORIENT_POINTS points along it lie nearer to those of the standard in reverse order: the sum of distances,
 * as DIPY's orient_by_streamline(). */
bool gls_line_is_backwards(const float (*point)[3], size_t n, const float (*standard)[3]);
/* The same for m points each. */
bool gls_nodes_are_backwards(const float (*node)[3], const float (*standard)[3], size_t m);
void gls_line_reverse(float (*point)[3], size_t n);

#endif
