/* Maxima of spherical functions between the directions of a sphere. */
#ifndef GLS_DWI_PEAK_CLIMB_H
#define GLS_DWI_PEAK_CLIMB_H

/* Moves the unit vector u to the maximum near it of a function of GLS_SH_DESCOTEAUX07_LEGACY coefficients, by Newton's
 * method in the tangent plane; returns the amplitude there. Where the function is not curved down it stays. */
double gls_peak_climb(int order, const double *sh, double u[3]);

#endif
