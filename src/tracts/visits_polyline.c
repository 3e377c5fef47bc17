/* Voxels that the straight lines between points pass.
 *
 * First turns blocks of points into voxels, without branches; then handles the steps that leave their voxel. Most cross
 * one face, nearly all others one face each of two or three axes. Longer steps, steps outside the grid, and steps so
 * close to an edge that rounding decides use the walk of walk.h. */

#include <assert.h>
#include <math.h>

#include "tracts/visits_polyline.h"
#include "tracts/visits_list.h"
#include "tracts/visits_parts.h"
#include "tracts/walk.h"

#define NONE SIZE_MAX
/* Number of points of a block, whose arrays, about 6 kB, stay in the first-level cache. */
enum { BLOCK = 128 };
/* In voxels: steps with a piece shorter than this between two faces are left to walk_step(). */
#define SHORTEST 1e-8

/* A streamline on its way through the grid, block by block. */
typedef struct path {
    /* receives the voxels */
    gls_visits *visits;
    const gls_visit_grid *grid;
    /* points of the streamline, world mm */
    const float (*point)[3];
    /* measured: mm of each visit are wanted; sized: mm or directions are, so that pieces of steps are measured */
    bool measured, sized;
    /* size of the grid, voxels */
    double dim[3];
    /* difference of voxel indices for one step along each axis */
    int64_t stride[3];
    size_t at;    /* index of the last point's voxel among the visits; NONE: not noted yet */
    size_t since; /* index of the first of the latest consecutive points that lie in one voxel */
    bool any;     /* at least one step has a length */
    /* for each point of a block: voxel coordinates with corners at whole numbers, their integer parts, and the voxel's
     * index or -1 */
    double c[3][BLOCK];
    int v[3][BLOCK];
    int64_t voxel[BLOCK];
    uint16_t leaves[BLOCK]; /* indices of the steps between two voxels, or that begin outside */
} path;

/* Finds coordinates and voxels of n <= BLOCK points, without branches that depend on a point. */
static void find_voxels(path *w, const float (*restrict point)[3], size_t n)
{
    const double(*m)[4] = w->grid->world_to_voxel;
    const double dim[3] = {w->dim[0], w->dim[1], w->dim[2]};
    for (size_t i = 0; i < n; i++) {
        const double x = point[i][0], y = point[i][1], z = point[i][2];
        const double a = m[0][0] * x + m[0][1] * y + m[0][2] * z + m[0][3] + 0.5;
        const double b = m[1][0] * x + m[1][1] * y + m[1][2] * z + m[1][3] + 0.5;
        const double c = m[2][0] * x + m[2][1] * y + m[2][2] * z + m[2][3] + 0.5;
        const bool inside = (a >= 0) & (a < dim[0]) & (b >= 0) & (b < dim[1]) & (c >= 0) & (c < dim[2]);
        w->c[0][i] = a;
        w->c[1][i] = b;
        w->c[2][i] = c;
        w->v[0][i] = (int)(inside ? a : -1);
        w->v[1][i] = (int)(inside ? b : 0);
        w->v[2][i] = (int)(inside ? c : 0);
    }
    const int64_t row = w->stride[1], slice = w->stride[2];
    for (size_t i = 0; i < n; i++) w->voxel[i] = w->v[0][i] + w->v[1][i] * row + w->v[2][i] * slice;
}

/* Notes a piece of a step. mm: length of the piece; share: share of the piece in the step; size: absolute size of the
 * step along each axis. Continues the visit w->at, or, if that is NONE, begins one in `voxel`. */
static inline void note(path *w, int64_t voxel, double mm, double share, const double size[3])
{
    gls_visits *v = w->visits;
    if (w->at == NONE) w->at = gls_visits_index(v, (uint64_t)voxel);
    if (w->at == NONE || !w->sized) return;
    v->mm[w->at] += mm;
    for (int r = 0; r < 3 && v->directed; r++) v->direction[w->at][r] += share * size[r];
}

/* Handles any step, from point i of the block to the next, piece by piece. mm: length of the step. */
static void walk_step(path *w, size_t i, double mm, const double size[3])
{
    const double low[3] = {0, 0, 0}, a[3] = {w->c[0][i], w->c[1][i], w->c[2][i]},
                 b[3] = {w->c[0][i + 1], w->c[1][i + 1], w->c[2][i + 1]};
    double v[3], from, until;
    gls_walk walk;
    bool inside = gls_walk_begin(&walk, a, b, low, w->dim);
    w->visits->outside |= walk.is_cut;
    while (inside && gls_walk_next(&walk, v, &from, &until)) {
        bool is_in = true;
        for (int r = 0; r < 3; r++) is_in &= v[r] >= 0 && v[r] < w->dim[r];
        w->at = NONE;
        if (is_in)
            note(w, (int64_t)v[0] + (int64_t)v[1] * w->stride[1] + (int64_t)v[2] * w->stride[2], mm * (until - from),
                 until - from, size);
        else
            w->visits->outside = true;
    }
    w->at = NONE;
}

/* Like walk_step(), for a step between two voxels of the grid that share a face. A step that begins or ends on the face
 * has one piece. */
static inline void cross_face(path *w, size_t i, int axis, double mm, const double size[3])
{
    const double a = w->c[axis][i], whole = w->c[axis][i + 1] - a,
                 part = (whole > 0 ? w->v[axis][i + 1] : w->v[axis][i]) - a;
    const double share = w->sized ? part / whole : 0;
    if (part != 0) note(w, w->voxel[i], mm * share, share, size);
    w->at = NONE;
    if (fabs(part) < fabs(whole)) note(w, w->voxel[i + 1], mm * (1 - share), 1 - share, size);
}

/* Like walk_step(), for a step across n faces, each of another axis. Returns false if the step is too close to an edge.
 */
static bool cross_faces(path *w, size_t i, int n, double mm, const double size[3])
{
    /* share[r]: share of the step at which it crosses the face of axis r; 2: the voxel does not change along r. way:
     * smallest size of the step along the axes whose faces it crosses, at most 1 */
    double share[3], way = 1, least = 1, cut[5] = {0};
    int64_t voxel[4] = {w->voxel[i]}, ahead[3];
    for (int r = 0; r < 3; r++) {
        const int to = w->v[r][i + 1] - w->v[r][i];
        const double a = w->c[r][i], whole = w->c[r][i + 1] - a, face = to > 0 ? w->v[r][i + 1] : w->v[r][i];
        share[r] = (to ? face - a : 2) / (to ? whole : 1);
        way = to && fabs(whole) < way ? fabs(whole) : way;
        ahead[r] = to * w->stride[r];
    }
    /* faces in the order in which they are crossed; on equal shares x comes before y before z */
    for (int k = 1; k <= n; k++) {
        int r = share[0] <= share[1] ? 0 : 1;
        r = share[r] <= share[2] ? r : 2;
        cut[k] = share[r];
        voxel[k] = voxel[k - 1] + ahead[r];
        least = cut[k] - cut[k - 1] < least ? cut[k] - cut[k - 1] : least;
        share[r] = 2;
    }
    cut[n + 1] = 1;
    least = 1 - cut[n] < least ? 1 - cut[n] : least;
    /* a piece this short may be an error of rounding: the caller then uses walk_step() */
    if (!(least * way > SHORTEST)) return false;
    for (int k = 0; k <= n; k++) {
        const double part = cut[k + 1] - cut[k];
        if (k > 0) w->at = NONE;
        note(w, voxel[k], mm * part, part, size);
    }
    return true;
}

/* Handles a step whose ends lie in different voxels: through one face, through one face each of two or three axes,
 * or by the general walk. moved: one bit for each axis along which the voxel changes; far: by more than one voxel. */
static void leave(path *w, size_t i, double mm, const double size[3])
{
    unsigned moved = 0, far = 0;
    for (int r = 0; r < 3; r++) {
        const int to = w->v[r][i + 1] - w->v[r][i];
        moved |= (unsigned)(to != 0) << r;
        far |= (unsigned)(to + 1) > 2;
    }
    if (far || w->voxel[i] < 0 || w->voxel[i + 1] < 0)
        walk_step(w, i, mm, size);
    else if ((moved & (moved - 1)) == 0)
        cross_face(w, i, (int)(moved >> 1), mm, size);
    else if (!cross_faces(w, i, moved == 7 ? 3 : 2, mm, size))
        walk_step(w, i, mm, size);
}

/* Whether two successive points differ. */
static bool is_step(const float (*p)[3])
{
    return p[0][0] != p[1][0] || p[0][1] != p[1][1] || p[0][2] != p[1][2];
}

/* Notes the voxel of points first .. last, unless it is noted already or these points are identical. */
static void stay(path *w, size_t first, size_t last, int64_t voxel)
{
    bool moved = false;
    for (size_t p = first; p < last && !moved && w->at == NONE; p++) moved = is_step(w->point + p);
    if (!moved) return;
    w->any = true;
    if (voxel >= 0) note(w, voxel, 0, 0, (const double[3]){0});
}

/* Handles a block of n points that begins with point `first`, if only the visited voxels are wanted. */
static void visit_block(path *w, size_t first, size_t n)
{
    size_t n_leaves = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        /* every index is stored, and the next overwrites it unless the step leaves: no branch */
        w->leaves[n_leaves] = (uint16_t)i;
        n_leaves += (w->voxel[i] != w->voxel[i + 1]) | (w->voxel[i] < 0);
    }
    for (size_t k = 0; k < n_leaves; k++) {
        /* the points behind the previous step that left its voxel lie in one voxel */
        const size_t i = w->leaves[k];
        if (w->voxel[i] < 0 && !is_step(w->point + first + i)) continue;
        if (w->at == NONE && w->since < first + i) stay(w, w->since, first + i, w->voxel[i]);
        leave(w, i, 1, (const double[3]){0});
        w->any = true;
        w->since = first + i + 1;
    }
}

/* Like visit_block(), with lengths or directions. Steps of length 0 are left out. Without lengths the square stands
 * for mm, since only its sign matters. */
static void measure_block(path *w, size_t first, size_t n)
{
    for (size_t i = 0; i + 1 < n; i++) {
        const float *p = w->point[first + i], *q = w->point[first + i + 1];
        double size[3];
        for (int r = 0; r < 3; r++) size[r] = fabs((double)q[r] - p[r]);
        const double square = size[0] * size[0] + size[1] * size[1] + size[2] * size[2];
        const double mm = w->measured ? sqrt(square) : square;
        if (!(mm > 0)) continue;
        w->any = true;
        if (w->voxel[i] == w->voxel[i + 1] && w->voxel[i] >= 0)
            note(w, w->voxel[i], mm, 1, size);
        else
            leave(w, i, mm, size);
    }
}

/* Walks through blocks of points: finds the voxels of all points of a block, then notes the voxels of the steps between
 * them. Without lengths and directions only the steps that leave a voxel need work. */
void gls_visits_polyline(gls_visits *visits, const gls_visit_grid *grid, bool measured, const float (*point)[3],
                         size_t n)
{
    assert(n > 0);
    path w;
    size_t first = 0, last;
    w.visits = visits;
    w.grid = grid;
    w.point = point;
    w.measured = measured;
    w.sized = measured || visits->directed;
    w.any = false;
    w.at = NONE;
    w.since = 0;
    for (int r = 0; r < 3; r++) {
        w.dim[r] = grid->dim[r];
        w.stride[r] = r > 0 ? w.stride[r - 1] * grid->dim[r - 1] : 1;
    }
    /* the blocks overlap by one point */
    for (bool more = true; more;) {
        const size_t m = n - first < BLOCK ? n - first : BLOCK;
        find_voxels(&w, point + first, m);
        if (w.sized)
            measure_block(&w, first, m);
        else
            visit_block(&w, first, m);
        last = m - 1;
        first += last;
        more = first + 1 < n;
        /* the last point of a block is also the first of the next */
        for (size_t i = 0; i < (more ? last : m); i++) visits->places_outside += w.voxel[i] < 0;
    }
    visits->places += n;
    /* note the points behind the last step that left its voxel */
    if (!w.sized) stay(&w, w.since, n - 1, w.voxel[last]);
    /* where all points coincide: one visit without length */
    if (w.any || visits->directed) return;
    if (w.voxel[last] >= 0)
        gls_visits_note(visits, (uint64_t)w.voxel[last], 0);
    else
        visits->outside = true;
}
