/* Peaks of sampled functions on a sphere, and their refinement between the vertices. */
#ifndef GLS_DWI_PEAKS_H
#define GLS_DWI_PEAKS_H

#include <stdbool.h>

/* Moves the unit vector u towards a nearby maximum of a function with GLS_SH_DESCOTEAUX07_LEGACY coefficients, by at
 * most 6 steps of Newton's method in the tangent plane. Stops after a step of less than 1e-7 radians, and, perhaps at
 * once, where the function is not concave. Returns the amplitude at u. */
double gls_peak_climb(int order, const double *sh, double u[3]);
/* Makes six rows, a number for each coefficient: their products with the coefficients are the value of a function at
 * the unit vector u, its two first derivatives in the tangent plane, the two second ones, and the mixed one. */
void gls_peak_rows(int order, const double u[3], double *rows);
/* Takes a step of Newton's method from u, of at most `longest` radians; *to may be u. rows: of gls_peak_rows() at u.
 * Returns false, without a step, where the function is not concave. */
bool gls_peak_step(int order, const double *sh, const double *rows, const double u[3], double longest, double to[3]);

#endif
