#include "ref/peak_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "track/shader/packed.h"
#include "util/maths.h"

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static bool inside(const gls_grid *grid, const double p[3])
{
    for (int a = 0; a < 3; a++)
        if (p[a] < -0.5 || p[a] >= grid->dim[a] - 0.5) return false;
    return true;
}

static size_t place(const gls_grid *grid, const double voxel[3])
{
    return ((size_t)voxel[2] * (size_t)grid->dim[1] + (size_t)voxel[1]) * (size_t)grid->dim[0] + (size_t)voxel[0];
}

static size_t nearest(const gls_grid *grid, const double p[3])
{
    return place(grid, (const double[3]){floor(p[0] + 0.5), floor(p[1] + 0.5), floor(p[2] + 0.5)});
}

static double stop_value(const gls_image *stop, const double p[3])
{
    double sum = 0;
    for (int corner = 0; corner < 8; corner++) {
        double voxel[3], w = 1;
        for (int a = 0; a < 3; a++) {
            double last = stop->grid.dim[a] - 1, q = fmax(0, fmin(p[a], last)), f = q - floor(q);
            voxel[a] = fmin(floor(q) + (corner >> a & 1), last);
            w *= corner >> a & 1 ? f : 1 - f;
        }
        sum += w * (double)stop->data[place(&stop->grid, voxel)];
    }
    return sum;
}

/* Computes peak k of voxel i as a unit vector. Returns its amplitude; 0: there is no peak. */
static double peak(const peak_ref *ref, size_t i, size_t k, double unit[3])
{
    size_t n = gls_grid_voxels(&ref->peaks->grid);
    for (int a = 0; a < 3; a++) unit[a] = (double)ref->peaks->data[(3 * k + (size_t)a) * n + i];
    double length = sqrt(dot(unit, unit));
    if (!(length > 0) || !isfinite(length)) return 0;
    for (int a = 0; a < 3; a++) unit[a] /= length;
    return length;
}

/* Finds, among the peaks above `least`, the one nearest to the line of d, turned to it. Returns 0 if none lies within
 * the angle. */
static double choose(const peak_ref *ref, size_t i, const double d[3], double least, double out[3], bool *any)
{
    double largest = 0, amplitude = 0, cosine = cos(ref->params->max_angle * acos(-1.0) / 180), u[3];
    *any = false;
    for (size_t k = 0; k < ref->peaks->n_volumes / 3; k++) {
        double a = peak(ref, i, k, u), c = dot(u, d);
        *any = *any || a > 0;
        if (a <= least || fabs(c) < cosine || fabs(c) <= largest) continue;
        largest = fabs(c);
        amplitude = a;
        for (int x = 0; x < 3; x++) out[x] = c < 0 ? -u[x] : u[x];
    }
    return amplitude;
}

static gls_end step_fact(const peak_ref *ref, const double p[3], const double d[3], double next[3])
{
    bool any;
    double amplitude = choose(ref, nearest(&ref->peaks->grid, p), d, 0, next, &any);
    return !any                                                          ? GLS_END_OUTSIDE
           : amplitude == 0 || amplitude < gls_track_cutoff(ref->params) ? GLS_END_NO_DIRECTION
                                                                         : GLS_END_COUNT;
}

static gls_end step_eudx(const peak_ref *ref, const double p[3], const double d[3], double next[3])
{
    const gls_grid *grid = &ref->peaks->grid;
    double total = 0, sum[3] = {0, 0, 0}, u[3];
    for (int corner = 0; corner < 8; corner++) {
        double voxel[3], w = 1;
        bool in = true, any;
        for (int a = 0; a < 3; a++) {
            double low = floor(p[a]), f = p[a] - low;
            voxel[a] = low + (corner >> a & 1);
            in = in && voxel[a] >= 0 && voxel[a] < grid->dim[a];
            w *= corner >> a & 1 ? f : 1 - f;
        }
        if (!in || choose(ref, place(grid, voxel), d, gls_track_cutoff(ref->params), u, &any) == 0) continue;
        total += w;
        for (int a = 0; a < 3; a++) sum[a] += w * u[a];
    }
    double size = sqrt(dot(sum, sum));
    if (total < 0.5 || size == 0) return GLS_END_NO_DIRECTION;
    for (int a = 0; a < 3; a++) next[a] = sum[a] / size;
    return GLS_END_COUNT;
}

/* Takes one step from p: stores its direction and end point, or returns why there is none. */
static gls_end move(const peak_ref *ref, const double p[3], const double d[3], double next[3], double q[3])
{
    gls_end end = ref->params->dg == GLS_DG_FACT ? step_fact(ref, p, d, next) : step_eudx(ref, p, d, next);
    if (end != GLS_END_COUNT) return end;
    for (int a = 0; a < 3; a++) q[a] = p[a] + next[a] * ref->params->step_size / ref->peaks->grid.voxel_size[a];
    if (!inside(&ref->peaks->grid, q)) return GLS_END_OUTSIDE;
    return stop_value(ref->stop, q) <= ref->params->stop_threshold ? GLS_END_STOP_MAP : GLS_END_COUNT;
}

static size_t track_half(const peak_ref *ref, const double seed[3], const double first[3], double (*point)[3],
                         gls_end *end)
{
    const size_t most = (size_t)floor(ref->params->max_length / ref->params->step_size * (1 + 1e-9));
    double p[3], d[3], next[3], q[3];
    size_t n = 0;
    memcpy(p, seed, sizeof p);
    memcpy(d, first, sizeof d);
    while ((*end = move(ref, p, d, next, q)) == GLS_END_COUNT) {
        memcpy(point[n++], q, sizeof q);
        memcpy(p, q, sizeof p);
        memcpy(d, next, sizeof d);
        *end = GLS_END_MAX_LENGTH;
        if (n >= most) break;
    }
    return n;
}

/* Returns the direction with the precision of a word, as pass 1 leaves it to pass 2. */
static void pack(double d[3])
{
    float f[3];
    gls_direction_unpack(gls_direction_pack((const float[3]){(float)d[0], (float)d[1], (float)d[2]}), f);
    for (int i = 0; i < 3; i++) d[i] = f[i];
}

static void random_direction(const peak_ref *ref, uint32_t index, double d[3])
{
    uint32_t word[4];
    gls_philox((const uint32_t[4]){0, 0, index, 0x80000000u}, ref->params->rng_seed, word);
    double angle = 2 * acos(-1.0) * (word[0] >> 8) / 16777216.0, z = 2 * ((word[1] >> 8) + 0.5) / 16777216.0 - 1;
    d[0] = sqrt(1 - z * z) * cos(angle);
    d[1] = sqrt(1 - z * z) * sin(angle);
    d[2] = z;
}

typedef struct start {
    double amplitude, unit[3];
    size_t k;
} start;

static int stronger_first(const void *a, const void *b)
{
    const start *x = a, *y = b;
    if (x->amplitude != y->amplitude) return x->amplitude > y->amplitude ? -1 : 1;
    return x->k > y->k ? 1 : -1;
}

size_t peak_starts(const peak_ref *ref, const double seed[3], uint32_t index, double (*direction)[3])
{
    const double cutoff = gls_track_seed_cutoff(ref->params);
    start list[16];
    size_t n = 0;
    bool any;
    if (!inside(&ref->peaks->grid, seed)) return 0;
    size_t i = nearest(&ref->peaks->grid, seed);
    if (ref->params->dg == GLS_DG_FACT && ref->params->max_directions_per_seed == 1) {
        double d[3];
        random_direction(ref, index, d);
        double amplitude = choose(ref, i, d, 0, direction[0], &any);
        if (amplitude == 0 || amplitude < cutoff) return 0;
        pack(direction[0]);
        return 1;
    }
    for (size_t k = 0; k < ref->peaks->n_volumes / 3; k++) {
        list[n].amplitude = peak(ref, i, k, list[n].unit);
        list[n].k = k;
        if (list[n].amplitude > 0 && list[n].amplitude >= cutoff) n++;
    }
    qsort(list, n, sizeof *list, stronger_first);
    if (n > (size_t)ref->params->max_directions_per_seed) n = (size_t)ref->params->max_directions_per_seed;
    for (size_t k = 0; k < n; k++) {
        memcpy(direction[k], list[k].unit, sizeof *direction);
        pack(direction[k]);
    }
    return n;
}

size_t peak_track(const peak_ref *ref, const double seed[3], const double direction[3], double (*point)[3],
                  gls_end ends[2])
{
    double back[3], next[3], q[3];
    /* EuDX goes back against the first step, if there is one; FACT goes back against the direction of the seed */
    bool first = move(ref, seed, direction, next, q) == GLS_END_COUNT;
    for (int a = 0; a < 3; a++) back[a] = first ? -next[a] : -direction[a];
    size_t n = track_half(ref, seed, back, point, &ends[0]);
    for (size_t i = 0; i < n / 2; i++) {
        double swapped[3];
        memcpy(swapped, point[i], sizeof swapped);
        memcpy(point[i], point[n - 1 - i], sizeof swapped);
        memcpy(point[n - 1 - i], swapped, sizeof swapped);
    }
    memcpy(point[n], seed, sizeof *point);
    return n + 1 + track_half(ref, seed, direction, point + n + 1, &ends[1]);
}
