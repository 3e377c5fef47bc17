/* The signal of water in impermeable cylinders, such as axons of a given radius. */
#ifndef GLS_WEIGHTS_CYLINDER_H
#define GLS_WEIGHTS_CYLINDER_H

#include <stddef.h>

/* Duration and separation of the two gradient pulses of a volume, s: delta and Delta. */
typedef struct gls_pulse_timing {
    double duration, separation;
} gls_pulse_timing;

/* Sets across[i] to minus the logarithm of the signal of volume i for a gradient across the cylinder, in the
 * approximation of Gaussian phases (van Gelderen et al. 1994). b: s/mm2; d: diffusivity inside, mm2/s; radius: mm,
 * above 0. For each volume, 0 < duration <= separation. */
void gls_cylinder_across(const double *b, const gls_pulse_timing *timing, size_t n, double d, double radius,
                         double *across);

#endif
