/* Convex hull of directions: the triangulation of a sphere by its vertices. */
#ifndef GLS_DWI_HULL_H
#define GLS_DWI_HULL_H

#include <glslines/common.h>

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
