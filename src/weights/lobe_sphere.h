/* Makes the sphere of samples: an icosahedron whose triangles are split in four, four times. */
#ifndef GLS_WEIGHTS_LOBE_SPHERE_H
#define GLS_WEIGHTS_LOBE_SPHERE_H

#include "weights/fixel_parts.h"

/* Returns the sphere, which the first call makes. Safe from any thread. */
const gls_lobe_sphere *gls_lobe_sphere_get(void);
/* Returns the index of the direction nearest to the line along v, which must not be 0; of equally near directions the
 * first. */
uint16_t gls_lobe_sphere_nearest(const gls_lobe_sphere *sphere, const double v[3]);

#endif
