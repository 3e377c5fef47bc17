/* Sets of directions on the sphere on which ODFs are sampled. */
#ifndef GLSLINES_SPHERE_H
#define GLSLINES_SPHERE_H

#include <glslines/common.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Largest number of directions for gls_sphere_create_from(), and so of vertices of any sphere. */
#define GLS_SPHERE_MAX_DIRECTIONS 8192

/* Directions, and for each its neighbours, in which the search for local maxima looks. It never changes; any number of
 * threads may read one.
 *
 * An antipodal sphere keeps one vertex of each pair (v, -v): value[v] stands for both, and an edge to -u counts as an
 * edge to u. Where a sphere is known to be symmetric under the reflections x -> -x, y -> -y and z -> -z ("default",
 * "small", "repulsion600"), its vertices are stored in orbits, orbit_size[o] vertices (antipodal pairs) one after the
 * other, orbits of 4 first, then of 2, then of 1. The members of an orbit, with bitwise equal magnitudes, are
 * - 4: (x,y,z), (-x,y,z), (x,-y,z), (-x,-y,z), x, y, z > 0
 * - 2: (0,y,z), (0,-y,z) or (x,0,z), (-x,0,z) or (x,y,0), (-x,y,0)
 * - 1: (1,0,0) or (0,1,0) or (0,0,1)
 *
 * The reflections map neighbours to neighbours. So a kernel evaluates even functions for a whole orbit with little more
 * work than for one vertex. */
typedef struct gls_sphere {
    size_t n;            /* number of stored vertices */
    double (*vertex)[3]; /* unit vectors; for a pair in a caller's set, with the sign of the caller's first one */
    bool antipodal;      /* one vertex stands for each antipodal pair */
    uint32_t *first;     /* n + 1 offsets into neighbour */
    uint32_t *neighbour; /* vertex indices, ascending for each vertex */
    size_t n_orbits;     /* 0: no symmetry is known */
    uint8_t *orbit_size; /* n_orbits entries, NULL if n_orbits is 0 */
} gls_sphere;

/* Built-in sets: "default" (724 points as 362 antipodal pairs), "small" (362 points as 181 pairs), "repulsion600" (300
 * pairs, for constraints), and DIPY's "repulsion724" (362 pairs) and "symmetric362" (181 pairs). GLS_ERR_ARGUMENT for
 * another name. */
GLS_API gls_status gls_sphere_create(const char *name, gls_sphere **sphere);
/* Whether there is a built-in sphere of this name. */
GLS_API bool gls_sphere_is_built_in(const char *name);

/* How to treat a list of directions without antipodal pairs. */
typedef enum gls_sphere_lines {
    GLS_SPHERE_AS_GIVEN, /* each direction stands for itself alone */
    GLS_SPHERE_FOLD      /* each direction stands for itself and its antipode */
} gls_sphere_lines;

/* Creates a sphere from n = 6 .. GLS_SPHERE_MAX_DIRECTIONS directions, which are copied and normalised. Two directions
 * that are opposite within 0.06 degrees are an antipodal pair. If all directions form pairs, the sphere is antipodal
 * and keeps the first of each pair. If no two form a pair and lines is GLS_SPHERE_FOLD, the sphere is antipodal and
 * keeps all directions. Otherwise it is a full, asymmetric set. Edges are the edges of the convex hull of the vertices
 * and, on an antipodal sphere, their antipodes; facets with more than three corners are split into triangles. order
 * (NULL, or memory for n) receives for each vertex its index in direction[]. GLS_ERR_INPUT: there are fewer than 6
 * directions, one is 0 or not finite, two are closer than 0.06 degrees, or all lie in a plane. GLS_ERR_UNSUPPORTED:
 * there are more than GLS_SPHERE_MAX_DIRECTIONS. */
GLS_API gls_status gls_sphere_create_from(const double (*direction)[3], size_t n, gls_sphere_lines lines,
                                          gls_sphere **sphere, uint32_t *order);

/* Calls gls_sphere_create_from() with GLS_SPHERE_FOLD if there is no antipodal pair and all directions lie in one
 * closed hemisphere, else with GLS_SPHERE_AS_GIVEN. GLS_ERR_INPUT also for more than GLS_SPHERE_MAX_DIRECTIONS. */
GLS_API gls_status gls_sphere_create_guess(const double (*direction)[3], size_t n, gls_sphere **sphere,
                                           uint32_t *order);

/* Makes a sphere with both ends of each antipodal pair as vertices, for functions without antipodal symmetry: first the
 * n vertices, then at n + v the antipode of vertex v. It has no orbits. A sphere that is not antipodal is
 * copied. GLS_ERR_UNSUPPORTED: more than GLS_SPHERE_MAX_DIRECTIONS vertices. */
GLS_API gls_status gls_sphere_create_full(const gls_sphere *sphere, gls_sphere **full);

/* Creates a sphere, as gls_sphere_create_guess() does, from a text file of directions: x y z in a line, '#' comments.
 */
GLS_API gls_status gls_sphere_read(const char *path, gls_sphere **sphere);
/* Frees `sphere`, which may be NULL. */
GLS_API void gls_sphere_destroy(gls_sphere *sphere);

#ifdef __cplusplus
}
#endif
#endif
