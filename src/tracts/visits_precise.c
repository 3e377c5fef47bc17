/* Lengths along the spline as tckmap -precise has them: the streamline is upsampled, and where it leaves a voxel, the
 * face is found by halving until both sides lie within 0.005 of a voxel. With a step over a million voxels it has the
 * lengths of its straight steps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "streamlines/spline.h"
#include "tracts/visits.h"

#define ACCURACY 0.005 /* of the smallest side of a voxel */

typedef struct upsampled {
    float (*p)[3];
    size_t n;
    float before[3], after[3];
} upsampled;

static double distance(const float a[3], const float b[3])
{
    float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return (double)sqrtf(x * x + (y * y + z * z));
}

static double square(const float a[3], const float b[3])
{
    float x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return (double)(x * x + (y * y + z * z));
}

static bool upsample(const float (*p)[3], size_t n, uint32_t ratio, upsampled *u)
{
    float before[3], after[3];
    u->n = (n - 1) * ratio + 1;
    u->p = malloc(u->n * sizeof *u->p);
    if (!u->p) return false;
    for (int a = 0; a < 3; a++) {
        before[a] = p[0][a] + (p[0][a] - p[1][a]);
        after[a] = p[n - 1][a] + (p[n - 1][a] - p[n - 2][a]);
    }
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

/* What is not a number is everywhere, so that it ends nothing. */
static bool is_same(const double a[3], const double b[3])
{
    for (int r = 0; r < 3; r++)
        if (a[r] < b[r] || a[r] > b[r]) return false;
    return true;
}

/* Between points k - 1, from share `low` on, and k: where the voxel `here` ends. exit gets the first point found behind
 * the face, next its voxel. Returns its share. */
static double find_face(const upsampled *u, const gls_visit_grid *g, size_t k, double low, const double here[3],
                        const float from[3], float exit[3], double next[3])
{
    const float *a = k == 1 ? u->before : u->p[k - 2], *d = k + 1 == u->n ? u->after : u->p[k + 1];
    const double side = (double)g->least_side * ACCURACY, reach = side * side;
    double high = 1, mu = low;
    float near[3], q[3];
    memcpy(near, from, sizeof near);
    memcpy(exit, u->p[k], 3 * sizeof *exit);
    gls_visit_voxel_turned(g, u->p[k], next);
    while (square(near, exit) > reach) {
        double v[3];
        mu = 0.5 * (low + high);
        if ((float)mu == (float)low || (float)mu == (float)high) break; /* far away floats lie further apart */
        gls_spline_at((float)mu, a, u->p[k - 1], u->p[k], d, q);
        gls_visit_voxel_turned(g, q, v);
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

/* The same, going on at the end of the segment where no way is made along it. */
static double leave(const upsampled *u, const gls_visit_grid *g, size_t k, double low, const double here[3],
                    const float from[3], float exit[3], double next[3])
{
    double mu = find_face(u, g, k, low, here, from, exit, next);
    if ((float)mu > (float)low) return mu;
    memcpy(exit, u->p[k], 3 * sizeof *exit);
    gls_visit_voxel_turned(g, u->p[k], next);
    return mu;
}

static void put(gls_visits *s, const gls_visit_grid *g, const double v[3], double mm)
{
    uint64_t voxel = 0;
    s->places++;
    for (int a = 2; a >= 0; a--) {
        if (!(v[a] >= 0 && v[a] < g->dim[a])) {
            s->outside = true;
            s->places_outside++;
            return;
        }
        voxel = voxel * (uint64_t)g->dim[a] + (uint64_t)v[a];
    }
    gls_visits_note(s, voxel, mm);
}

/* Voxels that a step passes at most: a longer one is damage, and following it face by face comes to no end. */
#define MOST_VOXELS 1e6

static bool has_long_step(const gls_visit_grid *g, const float (*point)[3], size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (!(distance(point[i - 1], point[i]) <= MOST_VOXELS * (double)g->least_side)) return true;
    return false;
}

void gls_visits_precise(gls_visits *s, const gls_visit_grid *g, uint32_t ratio, const float (*point)[3], size_t n)
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
    gls_visit_voxel_turned(g, u.p[0], next);
    for (size_t k = 0; k < u.n;) {
        double here[3], mm = 0;
        memcpy(entry, exit, sizeof entry);
        memcpy(last, entry, sizeof last);
        memcpy(here, next, sizeof here);
        for (; k < u.n; k++) {
            gls_visit_voxel_turned(g, u.p[k], v);
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
        if (distance(exit, entry) > 0) put(s, g, here, mm);
    }
    free(u.p);
}
