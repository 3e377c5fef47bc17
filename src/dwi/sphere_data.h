/* Built-in sets of directions and their triangulation. */
#ifndef GLS_DWI_SPHERE_DATA_H
#define GLS_DWI_SPHERE_DATA_H

#include <stddef.h>

#include <glslines/common.h>

/* --- Built-in sets of directions. */

/* Either one point of each orbit of the reflections, with coordinates >= 0: first orbits of 4 antipodal pairs (no
 * coordinate is zero), then of 2 (one is zero), then of 1 (on an axis); or one point of each pair, of a set that has no
 * such symmetry. test/peer/make_spheres.py makes the data. */
struct gls_sphere_data {
    const char *name;
    size_t n_pairs, n_points; /* n_pairs: antipodal pairs of the set; n_points: points in `point`; equal: the set is not
                                 reflected */
    const double *point;      /* x, y and z of each point */
};

extern const struct gls_sphere_data gls_sphere_data[];
extern const size_t gls_sphere_data_count;

/* --- Convex hull: triangulation of a sphere by its vertices. */

/* Smallest angle, in radians, between two directions that gls_hull_create() accepts. */
#define GLS_HULL_MIN_ANGLE 1e-3

#endif
