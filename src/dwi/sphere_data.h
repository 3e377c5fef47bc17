/* The built-in sets of directions; test/peer/make_spheres.py makes sphere_data.c. */
#ifndef GLS_DWI_SPHERE_DATA_H
#define GLS_DWI_SPHERE_DATA_H

#include <stddef.h>

/* One point of each orbit of the reflections, coordinates >= 0: orbits of 4 antipodal pairs (no zero coordinate) first,
 * then of 2 (one zero), then of 1 (an axis). */
struct gls_sphere_data {
    const char *name;
    size_t n_pairs, n_orbits;
    const double (*first)[3];
};

extern const struct gls_sphere_data gls_sphere_data[];
extern const size_t gls_sphere_data_count;

/* DIPY's, one point of each antipodal pair. */
extern const double gls_sphere_repulsion724[362][3];
extern const double gls_sphere_symmetric362[181][3];

#endif
