/* Built-in sets of directions and their triangulation. */
#ifndef GLS_DWI_SPHERE_DATA_H
#define GLS_DWI_SPHERE_DATA_H

#include <stddef.h>

#include <glslines/common.h>

/* --- The built-in sets of directions; test/peer/make_spheres.py makes sphere_data.c. */

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

/* --- Convex hull of directions: the triangulation of a sphere by its vertices. */

/* Angle in radian that two directions must be apart for gls_hull_create() to keep both as vertices. */
#define GLS_HULL_MIN_ANGLE 1e-3

/* Triangles of the hull of n >= 4 unit vectors, none of which are closer than GLS_HULL_MIN_ANGLE. Facets with more than
 * three corners (cubes, icosahedra cut in half) are split; points of the same label are treated alike, so that a set
 * closed under v -> -v, with one label per pair, gets an antipodal triangulation.
 * (*face)[f] are three indices, counter-clockwise from outside; freed by the caller. There are 2 n - 4. GLS_ERR_INPUT
 * if all points lie in a plane. */
gls_status gls_hull_create(const double (*point)[3], const uint32_t *label, size_t n, uint32_t (**face)[3],
                           size_t *n_faces);

#endif
