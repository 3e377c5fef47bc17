/* Streamlines are upsampled along a cubic and cut where it leaves a voxel, which bisection finds: as MRtrix3 maps them
 * to fixels. */
#include "weights/walk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/affine.h"
#include "util/memory.h"

/* Halvings of a piece: beyond double precision. */
#define MAX_HALVINGS 60

typedef struct spot {
    int32_t v[3];
} spot;

/* A Hermite cubic of tension 0.1 between the second and the third of four points. */
static void cubic(double p, double w[4])
{
    const double q = 0.05, p2 = p * p, p3 = p2 * p;
    w[0] = (0.5 - q) * (2 * p2 - p3 - p);
    w[1] = 1 + (1.5 + q) * p3 - (2.5 + q) * p2;
    w[2] = (2 + 2 * q) * p2 + (0.5 - q) * p - (1.5 + q) * p3;
    w[3] = (0.5 - q) * (p3 - p2);
}

static void set_weights(bool straight, double p, double w[4])
{
    if (!straight) {
        cubic(p, w);
        return;
    }
    w[0] = w[3] = 0;
    w[1] = 1 - p;
    w[2] = p;
}

void gls_walk_grid_init(gls_walk_grid *walk, const gls_grid *grid, uint32_t ratio, bool straight)
{
    memcpy(walk->dim, grid->dim, sizeof walk->dim);
    gls_grid_inverse(grid, walk->to_voxel);
    walk->precision = 0.005 * fmin(grid->voxel_size[0], fmin(grid->voxel_size[1], grid->voxel_size[2]));
    walk->ratio = ratio;
    walk->straight = straight;
    for (uint32_t k = 0; k < ratio; k++) set_weights(straight, (double)k / ratio, walk->piece[k]);
}

void gls_walk_finish(gls_walk *walk)
{
    free(walk->visit);
    free(walk->point);
    *walk = (gls_walk){0};
}

static void mix(const double w[4], const double a[3], const double b[3], const double c[3], const double d[3],
                double out[3])
{
    for (int r = 0; r < 3; r++) out[r] = w[0] * a[r] + w[1] * b[r] + w[2] * c[r] + w[3] * d[r];
}

static double distance(const double a[3], const double b[3])
{
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return sqrt(x * x + y * y + z * z);
}

/* b mirrored at a */
static void mirror(const double a[3], const double b[3], double out[3])
{
    for (int r = 0; r < 3; r++) out[r] = 2 * a[r] - b[r];
}

static void upsample(gls_walk *walk, const gls_walk_grid *grid, const float (*point)[3], size_t n)
{
    const size_t ratio = grid->ratio, m = (n - 1) * ratio + 1;
    /* one more in front and one behind: the mirrored points */
    if (m + 2 > walk->point_capacity) {
        double(*to)[3] = realloc(walk->point, (m + 2) * 2 * sizeof *to);
        walk->failed |= !to;
        if (!to) return;
        walk->point = to;
        walk->point_capacity = (m + 2) * 2;
    }
    double(*p)[3] = walk->point + 1;
    for (size_t i = 0; i < n; i++)
        for (int r = 0; r < 3; r++) p[i * ratio][r] = (double)point[i][r];
    double before[3], behind[3];
    mirror(p[0], p[ratio], before);
    mirror(p[m - 1], p[m - 1 - ratio], behind);
    for (size_t i = 0; i + 1 < n && ratio > 1; i++)
        for (size_t k = 1; k < ratio; k++)
            mix(grid->piece[k], i > 0 ? p[(i - 1) * ratio] : before, p[i * ratio], p[(i + 1) * ratio],
                i + 2 < n ? p[(i + 2) * ratio] : behind, p[i * ratio + k]);
    mirror(p[0], p[1], p[-1]);
    mirror(p[m - 1], p[m - 2], p[m]);
    walk->n_points = m;
}

static spot find(const gls_walk_grid *grid, const double p[3])
{
    double v[3];
    spot s;
    gls_affine_apply(grid->to_voxel, p, v);
    for (int a = 0; a < 3; a++) {
        double x = v[a] + 0.5;
        x = x < -1e9 ? -1e9 : x > 1e9 ? 1e9 : x;
        s.v[a] = (int32_t)x;
        s.v[a] -= x < s.v[a];
    }
    return s;
}

static bool same(spot a, spot b)
{
    return a.v[0] == b.v[0] && a.v[1] == b.v[1] && a.v[2] == b.v[2];
}

static void add_visit(gls_walk *walk, const gls_walk_grid *grid, spot at, const double entry[3], const double leave[3],
                      double length)
{
    for (int a = 0; a < 3; a++)
        if (at.v[a] < 0 || at.v[a] >= grid->dim[a]) return;
    if (!gls_list_reserve(&walk->visit, walk->n, &walk->capacity, 256, sizeof *walk->visit)) {
        walk->failed = true;
        return;
    }
    gls_visit *visit = &walk->visit[walk->n++];
    visit->voxel = ((size_t)at.v[2] * (size_t)grid->dim[1] + (size_t)at.v[1]) * (size_t)grid->dim[0] + (size_t)at.v[0];
    for (int r = 0; r < 3; r++) visit->chord[r] = leave[r] - entry[r];
    visit->length = length;
}

/* Where the piece from p[0] to p[1], entered at `from` with the parameter *mu, leaves the voxel at: the first point
 * found outside, and its voxel. *mu: where the search ended. */
static spot find_exit(const gls_walk_grid *grid, const double (*p)[3], spot at, spot last, const double from[3],
                      double *mu, double leave[3])
{
    double low = *mu, high = 1, inside[3], q[3], w[4];
    spot next = last;
    memcpy(inside, from, sizeof inside);
    memcpy(leave, p[1], sizeof inside);
    for (int k = 0; k < MAX_HALVINGS && distance(inside, leave) > grid->precision; k++) {
        *mu = 0.5 * (low + high);
        set_weights(grid->straight, *mu, w);
        mix(w, p[-1], p[0], p[1], p[2], q);
        spot found = find(grid, q);
        if (same(found, at)) {
            low = *mu;
            memcpy(inside, q, sizeof inside);
        } else {
            high = *mu;
            memcpy(leave, q, sizeof q);
            next = found;
        }
    }
    return next;
}

void gls_walk_visits(gls_walk *walk, const gls_walk_grid *grid, const float (*point)[3], size_t n)
{
    walk->n = 0;
    if (n < 2) return;
    upsample(walk, grid, point, n);
    if (walk->failed) return;
    const double(*p)[3] = (const double(*)[3])walk->point + 1;
    double entry[3], length = 0, leave[3];
    spot at = find(grid, p[0]);
    memcpy(entry, p[0], sizeof entry);
    for (size_t i = 0; i + 1 < walk->n_points; i++) {
        spot last = find(grid, p[i + 1]);
        double from[3], mu = 0;
        memcpy(from, p[i], sizeof from);
        while (!same(at, last)) {
            spot next = find_exit(grid, p + i, at, last, from, &mu, leave);
            add_visit(walk, grid, at, entry, leave, length + distance(from, leave));
            length = 0;
            memcpy(entry, leave, sizeof entry);
            memcpy(from, leave, sizeof from);
            at = next;
        }
        length += distance(from, p[i + 1]);
    }
    add_visit(walk, grid, at, entry, p[walk->n_points - 1], length);
}
