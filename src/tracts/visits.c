/* Finds the voxels that a streamline visits: those of its points, upsampled or not, those of its ends, or those along
 * its spline with the length in each; lines between points are left to visits_polyline.c. Also chooses how finely steps
 * are upsampled. */
#include "tracts/visits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "streamlines/builder.h"
#include "tracts/visits_list.h"
#include "tracts/visits_polyline.h"
#include "util/maths.h"

/* The voxel of a point as MRtrix3 finds it: float32, axes flipped towards RAS, points midway between two centres
 * rounded away from 0. */
static void find_voxel(const gls_visit_grid *g, const float p[3], double v[3])
{
    for (int r = 0; r < 3; r++) {
        const float *m = g->turned[r];
        float x = m[0] * p[0], y = m[1] * p[1], z = m[2] * p[2], sum = x + y;
        sum += z;
        sum += m[3];
        v[r] = round((double)sum);
        if (g->flip[r]) v[r] = g->dim[r] - 1 - v[r];
    }
}

/* Index of voxel v, whole numbers; false outside the grid. */
static bool index_of(const gls_visit_grid *g, const double v[3], uint64_t *voxel)
{
    for (int a = 0; a < 3; a++)
        if (!(v[a] >= 0 && v[a] < g->dim[a])) return false;
    *voxel = ((uint64_t)v[2] * (uint64_t)g->dim[1] + (uint64_t)v[1]) * (uint64_t)g->dim[0] + (uint64_t)v[0];
    return true;
}

/* Counts a lookup of voxel v, whole numbers, and notes its visit with a length in mm, or that it lies outside the grid.
 */
static void visit(gls_visits *s, const gls_visit_grid *g, const double v[3], double mm)
{
    uint64_t voxel;
    s->places++;
    if (index_of(g, v, &voxel)) {
        gls_visits_note(s, voxel, mm);
        return;
    }
    s->outside = true;
    s->places_outside++;
}

/* Extrapolates one point beyond each end of a line of n >= 2 points, for the spline. */
static void extend_ends(const float (*p)[3], size_t n, float before[3], float after[3])
{
    for (int a = 0; a < 3; a++) {
        before[a] = p[0][a] + (p[0][a] - p[1][a]);
        after[a] = p[n - 1][a] + (p[n - 1][a] - p[n - 2][a]);
    }
}

/* --- Lengths along the spline as in tckmap -precise: upsamples the streamline and finds each face between two voxels
 * by bisection, to 0.005 of a voxel. A streamline with a step of over a million voxels gets the lengths of its straight
 * steps. */

#define ACCURACY 0.005 /* accuracy of the position of a face, as a share of the smallest side of a voxel */

/* The points of an upsampled streamline, and one point mirrored at each end. */
typedef struct upsampled {
    /* points, world mm */
    float (*p)[3];
    /* number of points */
    size_t n;
    float before[3], after[3];
} upsampled;

/* Distance of two points in float32, in MRtrix3's order of sums, so that lengths round as tckmap's. */
static double distance(const float a[3], const float b[3])
{
    float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return (double)sqrtf(x * x + (y * y + z * z));
}

/* Square of the distance of two points in float32, in MRtrix3's order of sums. */
static double square(const float a[3], const float b[3])
{
    float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return (double)(x * x + (y * y + z * z));
}

/* Upsamples a streamline of n >= 2 points along the spline: ratio - 1 new points in each step. Allocates u->p, which
 * the caller frees. Returns false if memory ran out. */
static bool upsample(const float (*p)[3], size_t n, uint32_t ratio, upsampled *u)
{
    float before[3], after[3];
    u->n = (n - 1) * ratio + 1;
    u->p = malloc(u->n * sizeof *u->p);
    if (!u->p) return false;
    extend_ends(p, n, before, after);
    for (size_t i = 0; i + 1 < n; i++) {
        memcpy(u->p[i * ratio], p[i], sizeof *u->p);
        for (uint32_t k = 1; k < ratio; k++)
            gls_spline_at((float)k / (float)ratio, i > 0 ? p[i - 1] : before, p[i], p[i + 1],
                          i + 2 < n ? p[i + 2] : after, u->p[i * ratio + k]);
    }
    memcpy(u->p[u->n - 1], p[n - 1], sizeof *u->p);
    for (int a = 0; a < 3; a++) {
        u->before[a] = 2 * u->p[0][a] - u->p[1][a];
        u->after[a] = 2 * u->p[u->n - 1][a] - u->p[u->n - 2][a];
    }
    return true;
}

/* Whether two voxels are the same. NaN equals every number, so that a NaN coordinate never ends a segment. */
static bool is_same(const double a[3], const double b[3])
{
    for (int r = 0; r < 3; r++)
        if (a[r] < b[r] || a[r] > b[r]) return false;
    return true;
}

/* Finds by bisection where the spline leaves the voxel `here` between the points k - 1 and k. low: share of the way at
 * which the search begins; from: the point there. exit: the nearest point found behind the face; next: the voxel of
 * exit. Returns the share that was tested last, close to the face. */
static double find_face(const upsampled *u, const gls_visit_grid *g, size_t k, double low, const double here[3],
                        const float from[3], float exit[3], double next[3])
{
    const float *a = k == 1 ? u->before : u->p[k - 2], *d = k + 1 == u->n ? u->after : u->p[k + 1];
    const double side = (double)g->min_side * ACCURACY, reach = side * side;
    double high = 1, mu = low;
    float near[3], q[3];
    memcpy(near, from, sizeof near);
    memcpy(exit, u->p[k], 3 * sizeof *exit);
    find_voxel(g, u->p[k], next);
    while (square(near, exit) > reach) {
        double v[3];
        mu = 0.5 * (low + high);
        if ((float)mu == (float)low || (float)mu == (float)high)
            break; /* stop: there is no float between the shares low and high */
        gls_spline_at((float)mu, a, u->p[k - 1], u->p[k], d, q);
        find_voxel(g, q, v);
        if (is_same(v, here)) {
            low = mu;
            memcpy(near, q, sizeof near);
        } else {
            high = mu;
            memcpy(exit, q, sizeof q);
            memcpy(next, v, sizeof v);
        }
    }
    return mu;
}

/* Like find_face(), but moves to the end of the segment if bisection makes no progress. */
static double leave(const upsampled *u, const gls_visit_grid *g, size_t k, double low, const double here[3],
                    const float from[3], float exit[3], double next[3])
{
    double mu = find_face(u, g, k, low, here, from, exit, next);
    if ((float)mu > (float)low) return mu;
    memcpy(exit, u->p[k], 3 * sizeof *exit);
    find_voxel(g, u->p[k], next);
    return mu;
}

/* Largest number of voxels that a step may pass: longer steps come from damaged files and would take too long to
 * follow. */
#define MAX_VOXELS 1e6

/* Whether a step is longer than MAX_VOXELS of the smallest side of a voxel, or is not a number. */
static bool has_long_step(const gls_visit_grid *g, const float (*point)[3], size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (!(distance(point[i - 1], point[i]) <= MAX_VOXELS * (double)g->min_side)) return true;
    return false;
}

/* Visits for GLS_DENSITY_PRECISE: voxels along a Hermite spline, with the length in each, as tckmap -precise. ratio:
 * see gls_density_precise_upsampling(). One point has no length and no visit. */
static void visits_precise(gls_visits *s, const gls_visit_grid *g, uint32_t ratio, const float (*point)[3], size_t n)
{
    upsampled u;
    float exit[3], entry[3], last[3];
    double next[3], v[3], mu = 0;
    if (n < 2) return;
    if (has_long_step(g, point, n)) {
        gls_visits_polyline(s, g, true, point, n);
        return;
    }
    if (!upsample(point, n, ratio, &u)) {
        s->failed = true;
        return;
    }
    memcpy(exit, u.p[0], sizeof exit);
    find_voxel(g, u.p[0], next);
    /* one voxel after the other: entry is where the line comes in, exit where it leaves */
    for (size_t k = 0; k < u.n;) {
        double here[3], mm = 0;
        memcpy(entry, exit, sizeof entry);
        memcpy(last, entry, sizeof last);
        memcpy(here, next, sizeof here);
        /* upsampled points in this voxel */
        for (; k < u.n; k++) {
            find_voxel(g, u.p[k], v);
            if (!is_same(v, here)) break;
            mm += distance(last, u.p[k]);
            memcpy(last, u.p[k], sizeof last);
            mu = 0;
        }
        if (k == u.n)
            memcpy(exit, u.p[u.n - 1], sizeof exit);
        else
            mu = leave(&u, g, k, mu, here, last, exit, next);
        mm += distance(last, exit);
        const double way = distance(exit, entry);
        if (!(way > 0)) continue;
        for (int r = 0; r < 3; r++) s->heading[r] = (double)(exit[r] - entry[r]) / way;
        visit(s, g, here, mm);
    }
    free(u.p);
}

/* Voxel coordinates with corners at whole numbers. */
static void to_corner(const gls_visit_grid *g, const float point[3], double c[3])
{
    double p[3] = {point[0], point[1], point[2]};
    gls_affine_apply(g->world_to_voxel, p, c);
    for (int a = 0; a < 3; a++) c[a] += 0.5;
}

bool gls_visit_voxel(const gls_visit_grid *g, const float point[3], uint64_t *voxel)
{
    double v[3];
    find_voxel(g, point, v);
    return index_of(g, v, voxel);
}

/* The points of a streamline, one after the other, for mappings of points. With directions a point gets the direction
 * from its predecessor to its successor, so it waits until the successor arrives. */
typedef struct point_stream {
    /* receives the voxels */
    gls_visits *visits;
    /* grid of the map */
    const gls_visit_grid *grid;
    bool turned; /* round voxel coordinates as MRtrix3 does; false: to the nearest voxel */
    int n;       /* number of points so far; stays 2 from the second on */
    float before[3], last[3];
} point_stream;

/* Visits the voxel of a point in world mm. */
static void visit_from(point_stream *t, const float p[3])
{
    double v[3];
    if (t->turned) {
        find_voxel(t->grid, p, v);
    } else {
        to_corner(t->grid, p, v);
        for (int r = 0; r < 3; r++) v[r] = floor(v[r]);
    }
    visit(t->visits, t->grid, v, 1);
}

/* Visits p with the direction from its neighbour `from` to its neighbour `to`. Does nothing if these coincide. */
static void visit_directed(point_stream *t, const float p[3], const float from[3], const float to[3])
{
    double d[3], length = 0;
    for (int r = 0; r < 3; r++) {
        d[r] = fabs((double)(to[r] - from[r]));
        length += d[r] * d[r];
    }
    if (length == 0) return;
    length = sqrt(length);
    for (int r = 0; r < 3; r++) t->visits->heading[r] = d[r] / length;
    visit_from(t, p);
}

/* Takes the next point of a streamline. Directed visits are one point late, because a direction needs the points before
 * and behind. */
static void take_point(point_stream *t, const float p[3])
{
    if (!t->visits->directed) {
        visit_from(t, p);
        return;
    }
    if (t->n > 0) visit_directed(t, t->last, t->n > 1 ? t->before : t->last, p);
    if (t->n > 0) memcpy(t->before, t->last, sizeof t->before);
    memcpy(t->last, p, sizeof t->last);
    t->n = t->n < 2 ? t->n + 1 : 2;
}

/* Visits the last point of a directed stream, with the direction from the point before; one point has no direction, and
 * no visit. */
static void end_stream(point_stream *t)
{
    if (t->visits->directed && t->n > 1) visit_directed(t, t->last, t->before, t->last);
}

/* Visits the points of a streamline, upsampled by `ratio`. */
static void visit_points(gls_visits *s, const gls_visit_grid *g, bool turned, uint32_t ratio, const float (*p)[3],
                         size_t n)
{
    point_stream t = {.visits = s, .grid = g, .turned = turned};
    float before[3] = {0}, after[3] = {0}, q[3];
    if (n > 1) extend_ends(p, n, before, after);
    for (size_t i = 0; i + 1 < n; i++) {
        const float *first = i > 0 ? p[i - 1] : before, *last = i + 2 < n ? p[i + 2] : after;
        take_point(&t, p[i]);
        for (uint32_t k = 1; k < ratio; k++) {
            gls_spline_at((float)k / (float)ratio, first, p[i], p[i + 1], last, q);
            take_point(&t, q);
        }
    }
    take_point(&t, p[n - 1]);
    end_stream(&t);
}

/* Visits the voxels of the first and the last point, twice if both are one voxel; a single point is visited once. */
static void visit_ends(gls_visits *s, const gls_visit_grid *g, const float (*p)[3], size_t n)
{
    double v[3];
    uint64_t voxel;
    if (s->capacity < 2 && !gls_visits_grow(s)) return;
    for (size_t i = 0; i < (n > 1 ? 2 : 1); i++) {
        find_voxel(g, i == 0 ? p[0] : p[n - 1], v);
        const bool inside = index_of(g, v, &voxel);
        s->places++;
        s->places_outside += !inside;
        s->outside |= !inside;
        if (inside) s->voxel[s->n++] = voxel;
    }
}

void gls_visits_find(gls_visits *s, const gls_visit_grid *g, const gls_density_options *o, const float (*point)[3],
                     size_t n)
{
    s->n = 0;
    s->outside = false;
    s->places = s->places_outside = 0;
    switch (o->mapping) {
    case GLS_DENSITY_SEGMENT:
    case GLS_DENSITY_LENGTH: gls_visits_polyline(s, g, o->mapping == GLS_DENSITY_LENGTH, point, n); break;
    case GLS_DENSITY_VERTEX: visit_points(s, g, false, 1, point, n); break;
    case GLS_DENSITY_MRTRIX: visit_points(s, g, true, o->upsample, point, n); break;
    case GLS_DENSITY_PRECISE: visits_precise(s, g, o->upsample, point, n); break;
    case GLS_DENSITY_ENDS: visit_ends(s, g, point, n); return;
    }
    /* empty the hash table: all of it, or only the taken slots if most are free. The last voxel goes first, since a
     * slot is found only while the slots before it in its chain are taken */
    if (s->slots <= 4 * s->n) {
        if (s->slot) memset(s->slot, 0, s->slots * sizeof *s->slot);
        return;
    }
    for (size_t i = s->n; i-- > 0;) s->slot[gls_visits_slot(s, s->voxel[i])] = 0;
}

/* MRtrix3 upsamples to a third of a voxel for tckmap, and to a tenth with -precise; in MRtrix3 both constants are
 * float32, which decides at exact multiples. */
uint32_t gls_density_upsampling(double step, const gls_grid *grid)
{
    double side = fmin(grid->voxel_size[0], fmin(grid->voxel_size[1], grid->voxel_size[2]));
    double ratio = ceil((double)(float)step / (side * (double)0.333f));
    return ratio >= 1 && ratio < 1e6 ? (uint32_t)ratio : 1;
}

uint32_t gls_density_precise_upsampling(double step, const gls_grid *grid)
{
    double side = fmin(grid->voxel_size[0], fmin(grid->voxel_size[1], grid->voxel_size[2]));
    double ratio = ceil((double)(float)step / (side * (double)0.1f));
    return ratio >= 1 && ratio < 1e6 ? (uint32_t)ratio : 1;
}
