/* Convex hull of directions on a sphere, by inserting points one after another: the facets that a new point sees are
 * replaced by triangles from the point to their outline. */
#ifndef GLS_DWI_HULL_H
#define GLS_DWI_HULL_H

#include <glslines/common.h>

/* Computes the triangles of the hull of n >= 4 unit vectors, of which no two may be closer than GLS_HULL_MIN_ANGLE.
 * Facets with more than three corners (of a cube, or of one half of an icosahedron) are split; points with the same
 * label are treated alike, so that a set closed under v -> -v with one label for each pair gets an antipodal
 * triangulation. (*face)[f]: three indices, counter-clockwise from outside; freed by the caller. *n_faces is 2 n - 4.
 * GLS_ERR_INPUT if all points lie in a plane, or nearly so, or if points are too close to each other. */
gls_status gls_hull_create(const double (*point)[3], const uint32_t *label, size_t n, uint32_t (**face)[3],
                           size_t *n_faces);

#endif
