/* Convex hull of directions on a sphere, by inserting points one after another: the facets that a new point sees are
 * replaced by triangles from the point to their outline. The facets of the hull are the Delaunay triangles of the
 * directions on the sphere. Peak search looks along their edges for neighbours. */

#include "dwi/hull.h"
#include "util/maths.h"
#include "util/status.h"

#include <math.h>
#include <stdlib.h>

/* Largest relative change of the radius of a point. Such changes make a proper tetrahedron of four points on one
 * circle. The value is far above the rounding of long double and far below GLS_HULL_MIN_ANGLE^2 / 2, the height of a
 * point above the plane of its neighbours. Antipodes change equally, so that an antipodal set has an antipodal hull. */
#define PERTURBATION 1e-10
/* Each coordinate also changes by up to half of this value, because four points on a great circle stay in one plane
 * whatever their radii are. Faces of a complete hull around the origin lie in no such plane, but faces of the first few
 * points do. */
#define SHIFT 1e-14
#define MIN_HEIGHT 1e-6 /* least distance of the fourth point from the plane of the other three */

/* A vector of long double, which has 80 bits on x86, so that PERTURBATION and SHIFT are far above the rounding. */
typedef long double vector[3];

/* A triangle of the hull. */
struct facet {
    uint32_t corner[3]; /* indices of points, counterclockwise seen from outside */
    vector normal;      /* points outwards; its length is twice the area */
};

/* The hull of the points that were inserted so far, and work space. */
struct hull {
    vector *point;       /* n points, perturbed */
    struct facet *facet; /* memory for 2 n facets, in no order */
    size_t n_facets;
    /* memory for 6 n edges */
    uint32_t (*edge)[2]; /* edges of the facets that a new point sees */
};

static void subtract(const vector a, const vector b, vector out)
{
    for (int i = 0; i < 3; i++) out[i] = a[i] - b[i];
}

static void cross(const vector a, const vector b, vector out)
{
    for (int i = 0; i < 3; i++) out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static long double dot(const vector a, const vector b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Appends the triangle a b c with its normal, not normalised: (b - a) x (c - a). */
static void add_facet(struct hull *hull, uint32_t a, uint32_t b, uint32_t c)
{
    struct facet *f = &hull->facet[hull->n_facets++];
    vector ab, ac;
    subtract(hull->point[b], hull->point[a], ab);
    subtract(hull->point[c], hull->point[a], ac);
    cross(ab, ac, f->normal);
    f->corner[0] = a;
    f->corner[1] = b;
    f->corner[2] = c;
}

/* Six times the signed volume of the tetrahedron of a facet and point p: positive if p is outside, so that p sees the
 * facet. */
static long double height(const struct hull *hull, const struct facet *f, uint32_t p)
{
    vector d;
    subtract(hull->point[p], hull->point[f->corner[0]], d);
    return dot(f->normal, d);
}

/* Chooses four points of a thick tetrahedron, greedily: point 0, the point farthest from point 0, the point farthest
 * from the line of these two, and the point farthest from the plane of these three. Returns false if all points lie in
 * a plane, or nearly so. */
static bool find_simplex(const struct hull *hull, size_t n, uint32_t corner[4])
{
    corner[0] = 0;
    for (int stage = 1; stage < 4; stage++) {
        long double best = 0;
        vector e1, e2 = {0, 0, 0}, normal = {0, 0, 0};
        if (stage > 1) subtract(hull->point[corner[1]], hull->point[0], e1);
        if (stage > 2) {
            subtract(hull->point[corner[2]], hull->point[0], e2);
            cross(e1, e2, normal);
        }
        for (uint32_t i = 1; i < n; i++) {
            vector d, c;
            subtract(hull->point[i], hull->point[0], d);
            if (stage == 2) cross(e1, d, c);
            long double size = stage == 1 ? dot(d, d) : stage == 2 ? dot(c, c) : fabsl(dot(normal, d));
            if (size > best) {
                best = size;
                corner[stage] = i;
            }
        }
        if (best == 0) return false;
        if (stage == 3 && best < MIN_HEIGHT * sqrtl(dot(normal, normal))) return false;
    }
    return true;
}

/* Makes the tetrahedron of four points that do not lie in a plane; corners are ordered so that normals point outwards.
 */
static void start(struct hull *hull, const uint32_t c[4])
{
    static const int order[4][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {1, 3, 2, 0}};
    for (int f = 0; f < 4; f++) {
        const int *o = order[f];
        add_facet(hull, c[o[0]], c[o[1]], c[o[2]]);
        if (height(hull, &hull->facet[f], c[o[3]]) > 0) {
            hull->n_facets--;
            add_facet(hull, c[o[0]], c[o[2]], c[o[1]]);
        }
    }
}

/* Inserts point p: replaces the facets that p sees by the cone from p to their outline. Returns false if p sees no
 * facet, or if these facets are not one piece without holes: only rounding causes either. A hull of n points has 2 n -
 * 4 facets, so p adds two. */
static bool insert(struct hull *hull, uint32_t p)
{
    size_t n_edges = 0, n_before = hull->n_facets;
    /* removes the facets that p sees and lists their edges */
    for (size_t f = 0; f < hull->n_facets;) {
        if (height(hull, &hull->facet[f], p) <= 0) {
            f++;
            continue;
        }
        const uint32_t *c = hull->facet[f].corner;
        for (int i = 0; i < 3; i++) {
            hull->edge[n_edges][0] = c[i];
            hull->edge[n_edges++][1] = c[(i + 1) % 3];
        }
        hull->facet[f] = hull->facet[--hull->n_facets];
    }
    /* an edge whose reverse is not listed lies on the outline; it becomes a facet with p */
    for (size_t e = 0; e < n_edges; e++) {
        size_t t = 0;
        while (t < n_edges && !(hull->edge[t][0] == hull->edge[e][1] && hull->edge[t][1] == hull->edge[e][0])) t++;
        if (t < n_edges) continue;
        if (hull->n_facets == n_before + 2) return false;
        add_facet(hull, hull->edge[e][0], hull->edge[e][1], p);
    }
    return hull->n_facets == n_before + 2;
}

/* Greatest common divisor, by Euclid's algorithm. */
static size_t common_divisor(size_t a, size_t b)
{
    while (b > 0) {
        size_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* An incremental hull: begins with a tetrahedron of four points and inserts the other points one after another; each
 * replaces the facets that it sees by new ones. A hull of n points in general position has 2 n - 4 facets and 3 n - 6
 * edges. */
gls_status gls_hull_create(const double (*point)[3], const uint32_t *label, size_t n, uint32_t (**face)[3],
                           size_t *n_faces)
{
    gls_status status = GLS_ERR_MEMORY;
    struct hull hull = {0};
    uint32_t(*result)[3] = NULL;
    uint32_t corner[4] = {0};
    hull.point = malloc(n * sizeof *hull.point);
    hull.facet = malloc(2 * n * sizeof *hull.facet);
    hull.edge = malloc(6 * n * sizeof *hull.edge);
    result = malloc(2 * n * sizeof *result);
    if (!hull.point || !hull.facet || !hull.edge || !result) {
        gls_error_set("out of memory for the hull of %zu directions", n);
        goto fail;
    }
    /* Perturb the points: the radius by a random number of the label, which antipodes share; the coordinates by random
     * numbers of the index. Philox makes the values equal on every machine. */
    for (size_t i = 0; i < n; i++) {
        uint32_t word[4];
        gls_philox((const uint32_t[4]){label[i], 0, 0, 0}, 0, word);
        long double radius = 1 + PERTURBATION * (long double)gls_uniform(word[0]);
        gls_philox((const uint32_t[4]){(uint32_t)i, 1, 0, 0}, 0, word);
        for (int a = 0; a < 3; a++)
            hull.point[i][a] = radius * point[i][a] + SHIFT * ((long double)gls_uniform(word[a]) - 0.5L);
    }
    if (!find_simplex(&hull, n, corner)) {
        status =
            gls_fail(GLS_ERR_INPUT, "the %zu directions lie in one plane: a sphere needs directions on all sides", n);
        goto fail;
    }
    start(&hull, corner);
    /* Insert the points in scattered order, so that each new point sees few facets. The stride is coprime with n, so
     * that each point comes once. */
    size_t stride = (size_t)(0.6180339887 * (double)n) + 1;
    while (common_divisor(stride, n) != 1) stride++;
    for (size_t i = 0, p = 0; i < n; i++, p = (p + stride) % n) {
        if (p == corner[0] || p == corner[1] || p == corner[2] || p == corner[3]) continue;
        if (insert(&hull, (uint32_t)p)) continue;
        status = gls_fail(GLS_ERR_INPUT,
                          "the %zu directions have no hull: some are too close to each other or to a plane", n);
        goto fail;
    }
    for (size_t f = 0; f < hull.n_facets; f++) {
        for (int i = 0; i < 3; i++) result[f][i] = hull.facet[f].corner[i];
    }
    *face = result;
    *n_faces = hull.n_facets;
    result = NULL;
    status = GLS_OK;
fail:
    free(hull.point);
    free(hull.facet);
    free(hull.edge);
    free(result);
    return status;
}
