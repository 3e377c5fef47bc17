/* Sets of directions on the sphere on which ODFs are sampled. */
#ifndef GLSLINES_SPHERE_H
#define GLSLINES_SPHERE_H

#include <glslines/common.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Directions with the neighbourhood that the search for local maxima needs.
 *
 * An antipodal sphere keeps one vertex of each pair (v, -v): value[v] stands for both, and an edge to -u counts as an edge to u.
 * Where a sphere is symmetric under the reflections x -> -x, y -> -y and z -> -z, its vertices are stored in orbits: n_orbits of size orbit_size[o] (4, 2
 * or 1 antipodal pairs) one after the other, members in the order (x,y,z), (-x,y,z), (x,-y,z), (-x,-y,z) of the orbit's first vertex with those left out
 * that coincide up to sign with an earlier one. Kernels use this to share work; n_orbits = 0 means that nothing is known. */
typedef struct gls_sphere {
    size_t n;              /* vertices stored */
    double (*vertex)[3];   /* unit vectors; antipodal spheres keep z > 0, or z = 0 and y > 0, or the +x axis... whichever representative the orbit rule gives */
    bool antipodal;        /* one vertex per pair */
    uint32_t *first;       /* n + 1 offsets into neighbour */
    uint32_t *neighbour;   /* vertex indices, ascending for each vertex */
    size_t n_orbits;
    uint8_t *orbit_size;   /* n_orbits entries, NULL if n_orbits is 0 */
} gls_sphere;

/* Built-in sets: "default" (724 points as 362 antipodal pairs) and "small" (362 points as 181 pairs). GLS_ERR_ARGUMENT for another name. */
GLS_API gls_status gls_sphere_create(const char *name, gls_sphere **sphere);

/* From directions given by the caller (copied, normalised; at least 6; none twice). If the set is closed under v -> -v, or no two are antipodal and fold is true,
 * the result is antipodal (full sets keep the first of each pair); otherwise it is a full, asymmetric set. Edges are those of the convex hull of the (completed) point set.
 * order[] (result's n entries, may be NULL) receives the index in the given list of each kept vertex. */
GLS_API gls_status gls_sphere_create_from(const double (*direction)[3], size_t n, bool fold, gls_sphere **sphere, uint32_t *order);

/* Text file, one direction (x y z) a line, '#' comments: gls_sphere_create_from() with fold where no pair is antipodal and all lie in one hemisphere. */
GLS_API gls_status gls_sphere_read(const char *path, gls_sphere **sphere);
GLS_API void gls_sphere_destroy(gls_sphere *sphere);

#ifdef __cplusplus
}
#endif
#endif
