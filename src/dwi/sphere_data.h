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

/* Computes the triangles of the hull of n >= 4 unit vectors, of which no two may be closer than GLS_HULL_MIN_ANGLE.
 * Facets with more than three corners (of a cube, or of one half of an icosahedron) are split; points with the same
 * label are treated alike, so that a set closed under v -> -v with one label for each pair gets an antipodal
 * triangulation. (*face)[f]: three indices, counter-clockwise from outside; freed by the caller. *n_faces is 2 n - 4.
 * GLS_ERR_INPUT if all points lie in a plane, or nearly so, or if points are too close to each other. */
gls_status gls_hull_create(const double (*point)[3], const uint32_t *label, size_t n, uint32_t (**face)[3],
                           size_t *n_faces);

#endif
