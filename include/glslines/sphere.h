/* Sets of directions on the sphere on which ODFs are sampled. */
#ifndef GLSLINES_SPHERE_H
#define GLSLINES_SPHERE_H

#include <glslines/common.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Largest number of directions of gls_sphere_create_from(), hence of vertices of any sphere. */
#define GLS_SPHERE_MAX_DIRECTIONS 8192

/* Directions with the neighbourhood that the search for local maxima needs. Immutable; any number of threads may read
 * one.
 *
 * An antipodal sphere keeps one vertex of each pair (v, -v): value[v] stands for both, and an edge to -u counts as an
 * edge to u. Where a sphere is known to be symmetric under the reflections x -> -x, y -> -y and z -> -z (the built-in
 * ones), its vertices are stored in orbits, orbit_size[o] vertices (antipodal pairs) one after the other, orbits of 4
 * first, then of 2, then of 1. The first member has no negative coordinate; members are, with bitwise equal magnitudes,
 * - 4: (x,y,z), (-x,y,z), (x,-y,z), (-x,-y,z), x, y, z > 0
 * - 2: (0,y,z), (0,-y,z) or (x,0,z), (-x,0,z) or (x,y,0), (-x,y,0)
 * - 1: (1,0,0) or (0,1,0) or (0,0,1)
 *
 * The reflections map neighbours to neighbours. So kernels can evaluate even functions for a whole orbit with little
 * more work than for one vertex. */
typedef struct gls_sphere {
    size_t n;            /* vertices stored */
    double (*vertex)[3]; /* unit vectors; no rule for the sign of a pair but that of the orbits: a caller's set keeps
                            the caller's */
    bool antipodal;      /* one vertex per pair */
    uint32_t *first;     /* n + 1 offsets into neighbour */
    uint32_t *neighbour; /* vertex indices, ascending for each vertex */
    size_t n_orbits;     /* 0: no symmetry known */
    uint8_t *orbit_size; /* n_orbits entries, NULL if n_orbits is 0 */
} gls_sphere;

/* Built-in sets: "default" (724 points as 362 antipodal pairs), "small" (362 points as 181 pairs), "repulsion600" (300
 * pairs, for constraints), and DIPY's "repulsion724" (362 pairs) and "symmetric362" (181 pairs). GLS_ERR_ARGUMENT for
 * another name. */
GLS_API gls_status gls_sphere_create(const char *name, gls_sphere **sphere);

/* From 6 .. GLS_SPHERE_MAX_DIRECTIONS directions given by the caller (copied, normalised). Two that are closer than
 * 0.06 degrees count as the same, which is GLS_ERR_INPUT; two that are as close to opposite count as antipodal. If
 * every direction has its antipode in the set, the result is antipodal and keeps the first of each pair; if none has
 * and fold is true, it is antipodal and keeps all; otherwise it is a full, asymmetric set. Edges are those of the
 * convex hull of the (completed) point set, facets with more than three corners split into triangles; GLS_ERR_INPUT if
 * all points lie in a plane. The result's order[v] (may be NULL, else room for n) is the index in the given list of
 * vertex v. */
GLS_API gls_status gls_sphere_create_from(const double (*direction)[3], size_t n, bool fold, gls_sphere **sphere,
                                          uint32_t *order);

/* gls_sphere_create_from() with fold where no pair is antipodal and all lie in one closed hemisphere. */
GLS_API gls_status gls_sphere_create_guess(const double (*direction)[3], size_t n, gls_sphere **sphere,
                                           uint32_t *order);

/* The directions of an antipodal sphere with both ends of each pair as vertices, for functions without antipodal
 * symmetry: vertex v of the n, then at n + v its antipode. No orbits. Of a sphere that is not antipodal it is a copy.
 */
GLS_API gls_status gls_sphere_create_full(const gls_sphere *sphere, gls_sphere **full);

/* Text file, one direction (x y z) a line, '#' comments: gls_sphere_create_guess(). */
GLS_API gls_status gls_sphere_read(const char *path, gls_sphere **sphere);
/* Accepts NULL. */
GLS_API void gls_sphere_destroy(gls_sphere *sphere);

#ifdef __cplusplus
}
#endif
#endif
