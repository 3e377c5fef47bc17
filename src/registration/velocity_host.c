/* The arithmetic of nonlinear registration on the CPU: the same steps, in the same order of additions, as the shaders
 * of glsl/registration. Sums over voxels are whole numbers, and the rest is computed voxel by voxel, so the result does
 * not depend on the number of threads. */
#include "registration/velocity_host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "registration/smooth.h"
#include "registration/trilinear.h"
#include "util/status.h"

#define N_SUMS 5

typedef struct host_solver {
    gls_velocity_solver base;
    const gls_velocity_options *options;
    const gls_velocity_pair *pair;
    size_t n_pairs, n;
    int32_t dim[3];
    float *memory;                /* memory of all planes below */
    float *v, *a, *b, *w, *spare; /* three planes each */
    float *f, *m, *sums, *other;  /* f and m: one plane each; sums and other: N_SUMS planes each */
    uint8_t *inside;
} host_solver;

/* --- Flows. */

/* Computes out, the field s u composed with itself. */
static void square(const float *u, const int32_t dim[3], float s, float *out)
{
    const size_t nx = (size_t)dim[0], ny = (size_t)dim[1], n = nx * ny * (size_t)dim[2];
#pragma omp parallel for schedule(static)
    for (int32_t z = 0; z < dim[2]; z++)
        for (size_t y = 0; y < ny; y++)
            for (size_t x = 0; x < nx; x++) {
                const size_t i = ((size_t)z * ny + y) * nx + x;
                const float d[3] = {s * u[i], s * u[n + i], s * u[2 * n + i]},
                            p[3] = {(float)x + d[0], (float)y + d[1], (float)z + d[2]};
                const gls_corners c = gls_corners_at(dim, p);
                for (size_t k = 0; k < 3; k++) out[k * n + i] = d[k] + s * gls_corners_value(&c, u + k * n);
            }
}

void gls_velocity_host_flow(const float *v, const int32_t dim[3], float factor, int squarings, float *u, float *spare)
{
    const float *from = v;
    float s = factor / (float)(1 << squarings);
    /* the last of the squarings has to end in u */
    float *to = squarings % 2 ? u : spare;
    for (int k = 0; k < squarings; k++) {
        square(from, dim, s, to);
        from = to;
        to = to == u ? spare : u;
        s = 1;
    }
}

/* --- Images. */

/* Reads an image at a point, beyond it at its border: a jump to 0 there would draw the rims of both images together.
 * *counts: whether the point lies in the image, at a voxel that counts. */
static float read_image(const gls_level *level, const float p[3], bool *counts)
{
    const gls_corners c = gls_corners_at(level->grid.dim, p);
    const size_t nearest = c.voxel + (c.share[0] > 0.5f ? c.step[0] : 0) + (c.share[1] > 0.5f ? c.step[1] : 0) +
                           (c.share[2] > 0.5f ? c.step[2] : 0);
    *counts = gls_corners_inside(level->grid.dim, p) && level->mask[nearest];
    return gls_corners_value(&c, level->value);
}

/* Reads both images at the middle of the way: f and m, and whether both count. */
static void warp(const host_solver *s, const gls_velocity_pair *pair)
{
    const size_t nx = (size_t)s->dim[0], ny = (size_t)s->dim[1], n = s->n;
    const float(*map)[4] = pair->to_moving;
#pragma omp parallel for schedule(static)
    for (int32_t z = 0; z < s->dim[2]; z++)
        for (size_t y = 0; y < ny; y++)
            for (size_t x = 0; x < nx; x++) {
                const size_t i = ((size_t)z * ny + y) * nx + x;
                const float p[3] = {(float)x + s->a[i], (float)y + s->a[n + i], (float)z + s->a[2 * n + i]},
                            q[3] = {(float)x + s->b[i], (float)y + s->b[n + i], (float)z + s->b[2 * n + i]};
                float r[3];
                bool fixed, moving;
                for (int k = 0; k < 3; k++) r[k] = map[k][0] * q[0] + map[k][1] * q[1] + map[k][2] * q[2] + map[k][3];
                s->f[i] = read_image(&pair->fixed, p, &fixed);
                s->m[i] = read_image(&pair->moving, r, &moving);
                s->inside[i] = fixed && moving;
            }
}

/* Computes the gradient of a plane at a voxel, per voxel: central differences, one-sided at the border. */
static void gradient(const float *data, const int32_t dim[3], const size_t at[3], size_t i, float g[3])
{
    size_t stride = 1;
    for (int a = 0; a < 3; a++) {
        const size_t low = at[a] > 0 ? stride : 0, high = at[a] + 1 < (size_t)dim[a] ? stride : 0;
        const float apart = (float)((low > 0) + (high > 0));
        g[a] = apart > 0 ? (data[i + high] - data[i - low]) / apart : 0;
        stride *= (size_t)dim[a];
    }
}

/* Returns the number of voxels of a window along one axis. */
static float taken(size_t at, int32_t n, int radius)
{
    const int64_t low = (int64_t)at - radius, high = (int64_t)at + radius;
    return (float)((high < n - 1 ? high : n - 1) - (low > 0 ? low : 0) + 1);
}

/* Computes the factors of the gradients of f and of m in the forces at one voxel. Returns the cost. */
static float correlate(const host_solver *s, const size_t at[3], size_t i, float *of_f, float *of_m)
{
    const size_t n = s->n;
    const int radius = s->options->radius;
    const float count =
                    taken(at[0], s->dim[0], radius) * taken(at[1], s->dim[1], radius) * taken(at[2], s->dim[2], radius),
                f = s->sums[i] / count, m = s->sums[n + i] / count, ff = s->sums[2 * n + i] / count - f * f,
                mm = s->sums[3 * n + i] / count - m * m, fm = s->sums[4 * n + i] / count - f * m;
    *of_f = *of_m = 0;
    if (!s->inside[i] || !(ff > GLS_VELOCITY_LEAST_VARIANCE) || !(mm > GLS_VELOCITY_LEAST_VARIANCE)) return 0;
    const float k = 2 * fm / (ff * mm), df = s->f[i] - f, dm = s->m[i] - m;
    *of_f = k * (dm - fm / ff * df);
    *of_m = k * (df - fm / mm * dm);
    return fm * fm / (ff * mm);
}

/* Computes the sums of f, m, ff, mm and fm over the windows. */
static void sum_windows(host_solver *s)
{
    const gls_smooth_taps taps = gls_smooth_window(s->options->radius);
    const size_t n = s->n;
    memcpy(s->other, s->f, n * sizeof *s->f);
    memcpy(s->other + n, s->m, n * sizeof *s->m);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++) {
        s->other[2 * n + i] = s->f[i] * s->f[i];
        s->other[3 * n + i] = s->m[i] * s->m[i];
        s->other[4 * n + i] = s->f[i] * s->m[i];
    }
    for (size_t k = 0; k < N_SUMS; k++) {
        float *one = s->other + k * n, *two = s->sums + k * n;
        gls_smooth_axis(one, s->dim, 0, &taps, false, two);
        gls_smooth_axis(two, s->dim, 1, &taps, false, one);
        gls_smooth_axis(one, s->dim, 2, &taps, false, two);
    }
}

/* Adds the forces of one pair to w. Returns its cost, and the number of voxels inside. */
static double add_forces(host_solver *s, const gls_velocity_pair *pair, uint64_t *n_inside)
{
    const size_t nx = (size_t)s->dim[0], ny = (size_t)s->dim[1], n = s->n;
    const bool ssd = s->options->ssd;
    uint64_t cost = 0, inside = 0;
#pragma omp parallel for schedule(static) reduction(+ : cost, inside)
    for (int32_t z = 0; z < s->dim[2]; z++)
        for (size_t y = 0; y < ny; y++)
            for (size_t x = 0; x < nx; x++) {
                const size_t at[3] = {x, y, (size_t)z}, i = ((size_t)z * ny + y) * nx + x;
                float of_f, of_m, gf[3], gm[3], one;
                if (ssd) {
                    const float d = s->inside[i] ? s->m[i] - s->f[i] : 0;
                    of_f = d;
                    of_m = -d;
                    one = fminf(d * d, 2000);
                } else {
                    one = correlate(s, at, i, &of_f, &of_m);
                }
                inside += s->inside[i];
                cost += (uint32_t)(one * GLS_VELOCITY_COST_UNIT + 0.5f);
                gradient(s->f, s->dim, at, i, gf);
                gradient(s->m, s->dim, at, i, gm);
                for (size_t k = 0; k < 3; k++) s->w[k * n + i] += pair->weight * (of_m * gm[k] - of_f * gf[k]);
            }
    *n_inside = inside;
    return (double)cost / (double)GLS_VELOCITY_COST_UNIT;
}

/* --- The solver. */

static gls_status begin(gls_velocity_solver *solver, const gls_velocity_pair *pair, size_t n_pairs, const float *v)
{
    host_solver *s = (host_solver *)solver;
    const size_t n = gls_grid_voxels(&pair->fixed.grid);
    memcpy(s->dim, pair->fixed.grid.dim, sizeof s->dim);
    s->pair = pair;
    s->n_pairs = n_pairs;
    s->n = n;
    s->memory = malloc((17 + 2 * N_SUMS) * n * sizeof *s->memory);
    s->inside = malloc(n);
    if (!s->memory || !s->inside) return gls_no_memory();
    float **const planes[] = {&s->v, &s->a, &s->b, &s->w, &s->spare};
    for (size_t k = 0; k < 5; k++) *planes[k] = s->memory + 3 * k * n;
    s->f = s->memory + 15 * n;
    s->m = s->f + n;
    s->sums = s->m + n;
    s->other = s->sums + N_SUMS * n;
    memcpy(s->v, v, 3 * n * sizeof *v);
    return GLS_OK;
}

static gls_status measure(gls_velocity_solver *solver, double *cost)
{
    host_solver *s = (host_solver *)solver;
    gls_velocity_host_flow(s->v, s->dim, -0.5f, GLS_VELOCITY_SQUARINGS, s->a, s->spare);
    gls_velocity_host_flow(s->v, s->dim, 0.5f, GLS_VELOCITY_SQUARINGS, s->b, s->spare);
    memset(s->w, 0, 3 * s->n * sizeof *s->w);
    *cost = 0;
    for (size_t k = 0; k < s->n_pairs; k++) {
        uint64_t n_inside;
        warp(s, &s->pair[k]);
        if (!s->options->ssd) sum_windows(s);
        const double sum = add_forces(s, &s->pair[k], &n_inside);
        *cost += (double)s->pair[k].weight * (n_inside > 0 ? sum / (double)n_inside : 0);
    }
    return GLS_OK;
}

/* Smooths three planes along all axes. The spare planes are overwritten. */
static void smooth(host_solver *s, float *u, double sd)
{
    const gls_smooth_taps taps = gls_smooth_gauss(sd);
    for (size_t k = 0; k < 3 && taps.radius > 0; k++) {
        float *one = u + k * s->n, *two = s->spare;
        gls_smooth_axis(one, s->dim, 0, &taps, true, two);
        gls_smooth_axis(two, s->dim, 1, &taps, true, s->spare + s->n);
        gls_smooth_axis(s->spare + s->n, s->dim, 2, &taps, true, one);
    }
}

static gls_status update(gls_velocity_solver *solver)
{
    host_solver *s = (host_solver *)solver;
    const size_t n = s->n;
    float *w = s->w, most = 0;
    smooth(s, w, s->options->smooth_update);
#pragma omp parallel for schedule(static) reduction(max : most)
    for (size_t i = 0; i < n; i++) {
        const float square = w[i] * w[i] + w[n + i] * w[n + i] + w[2 * n + i] * w[2 * n + i];
        most = square > most ? square : most;
    }
    const float scale = most > 0 ? 2 * (float)s->options->step / sqrtf(most) : 0;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < 3 * n; i++) s->v[i] += scale * w[i];
    smooth(s, s->v, s->options->smooth_total);
    return GLS_OK;
}

static gls_status end(gls_velocity_solver *solver, float *v)
{
    host_solver *s = (host_solver *)solver;
    if (v) memcpy(v, s->v, 3 * s->n * sizeof *v);
    free(s->memory);
    free(s->inside);
    s->memory = NULL;
    s->inside = NULL;
    return GLS_OK;
}

static void destroy(gls_velocity_solver *solver)
{
    end(solver, NULL);
    free(solver);
}

gls_status gls_velocity_host_create(const gls_velocity_options *options, gls_velocity_solver **solver)
{
    host_solver *s = calloc(1, sizeof *s);
    if (!s) return gls_no_memory();
    s->base = (gls_velocity_solver){begin, measure, update, end, destroy};
    s->options = options;
    *solver = &s->base;
    return GLS_OK;
}
