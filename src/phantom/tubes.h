/* Bundles of the phantom: tubes around smooth centre lines, with elliptical cross-sections of varying size. */
#ifndef GLS_PHANTOM_TUBES_H
#define GLS_PHANTOM_TUBES_H

#include <glslines/common.h>

#include "phantom/parts.h"

/* Makes all bundles of the phantom as tubes in the reference frame. */
gls_status gls_phantom_tubes_create(phantom_tube **tubes, size_t *n_tubes);
/* Frees the tubes; accepts NULL. */
void gls_phantom_tubes_destroy(phantom_tube *tubes, size_t n_tubes);
/* Lists slabs that may hold a point within radius of p; slab i lies between stations i and i + 1. Returns their
 * number. */
size_t gls_phantom_tube_near(const phantom_tube *tube, const double p[3], double radius, uint16_t *slab);
/* Whether p lies in these slabs of the tube. If so, *station: index of p among the stations, with a fraction;
 * direction: tangent of the fibre through p, not normalised. */
bool gls_phantom_tube_at(const phantom_tube *tube, const uint16_t *slab, size_t n_slabs, const double p[3],
                         double *station, double direction[3]);

#endif
