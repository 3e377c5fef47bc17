/* The exemplar of an edge of a connectome: one line that stands for all streamlines between two regions. */
#ifndef GLS_TRACTS_EXEMPLAR_H
#define GLS_TRACTS_EXEMPLAR_H

#include <stdbool.h>
#include <stddef.h>

#include <glslines/common.h>

/* Adds weight times a streamline of m >= 1 points to the sum of n points: point k at k (m - 1) / n steps from its
 * start, or with `backwards` from its end. */
void gls_exemplar_add(const float (*point)[3], size_t m, bool backwards, double weight, double (*sum)[3], size_t n);
/* The part of a streamline of m >= 1 points between those nearest to the centres a and b, in which direction it runs.
 * Returns false if both are the same point. */
bool gls_exemplar_part(const float (*point)[3], size_t m, const double a[3], const double b[3], size_t *first,
                       size_t *n, bool *backwards);
/* Makes the line from the mean of n >= 5 points: its first and last quarter are led to the centres a and b, then points
 * are placed every `step` mm from the middle to both ends, as by connectome2tck. *line, of *n_line points, comes from
 * malloc. GLS_ERR_ARGUMENT: the step is too short for a line of this length. */
gls_status gls_exemplar_make(double (*mean)[3], size_t n, const double a[3], const double b[3], double step,
                             float (**line)[3], size_t *n_line);

#endif
