#include "ref/tensor_lines.h"

#include <math.h>
#include <string.h>

#include "track/shader/packed.h"
#include "util/maths.h"

/* --- the fit ---------------------------------------------------------------------- */

/* Computes fit = inverse of (design' design) times design', by elimination; columns are scaled. */
void tensor_ref_prepare(tensor_ref *ref)
{
    const size_t n = ref->gradients->n;
    double a[7][14] = {{0}}, scale = 0;
    for (size_t t = 0; t < n; t++) scale = fmax(scale, ref->gradients->bval[t]);
    for (size_t t = 0; t < n; t++) {
        const double *g = ref->gradients->bvec[t], b = -ref->gradients->bval[t] / scale;
        const double row[7] = {b * g[0] * g[0],
                               b * g[1] * g[1],
                               b * g[2] * g[2],
                               2 * b * g[0] * g[1],
                               2 * b * g[0] * g[2],
                               2 * b * g[1] * g[2],
                               1};
        memcpy(ref->design[t], row, sizeof row);
        for (int i = 0; i < 7; i++)
            for (int j = 0; j < 7; j++) a[i][j] += row[i] * row[j];
    }
    for (int i = 0; i < 7; i++) a[i][7 + i] = 1;
    for (int i = 0; i < 7; i++) {
        int pivot = i;
        for (int k = i; k < 7; k++)
            if (fabs(a[k][i]) > fabs(a[pivot][i])) pivot = k;
        for (int j = 0; j < 14; j++) {
            const double swapped = a[i][j];
            a[i][j] = a[pivot][j];
            a[pivot][j] = swapped;
        }
        const double by = a[i][i];
        for (int j = 0; j < 14; j++) a[i][j] /= by;
        for (int k = 0; k < 7; k++) {
            const double factor = k == i ? 0 : a[k][i];
            for (int j = 0; j < 14; j++) a[k][j] -= factor * a[i][j];
        }
    }
    for (int i = 0; i < 7; i++)
        for (size_t t = 0; t < n; t++) {
            ref->fit[i][t] = 0;
            for (int j = 0; j < 7; j++) ref->fit[i][t] += a[i][7 + j] * ref->design[t][j];
        }
}

static void fit_of(const tensor_ref *ref, const double *signal, double beta[7])
{
    for (int i = 0; i < 7; i++) {
        beta[i] = 0;
        for (size_t t = 0; t < ref->gradients->n; t++) beta[i] += ref->fit[i][t] * (signal[t] > 0 ? log(signal[t]) : 0);
    }
}

/* --- signals ---------------------------------------------------------------------- */

static bool inside(const gls_grid *grid, const double p[3])
{
    for (int a = 0; a < 3; a++)
        if (p[a] < -0.5 || p[a] >= grid->dim[a] - 0.5) return false;
    return true;
}

/* Finds corner 0 to 7 of the cell around p, constant beyond the outermost centres: its number and weight. */
static size_t corner_of(const gls_grid *grid, const double p[3], int corner, double *weight)
{
    size_t voxel[3];
    *weight = 1;
    for (int a = 0; a < 3; a++) {
        const double last = grid->dim[a] - 1, q = fmax(0, fmin(p[a], last)), f = q - floor(q);
        voxel[a] = (size_t)fmin(floor(q) + (corner >> a & 1), last);
        *weight *= corner >> a & 1 ? f : 1 - f;
    }
    return (voxel[2] * (size_t)grid->dim[1] + voxel[1]) * (size_t)grid->dim[0] + voxel[0];
}

/* Draws the wild bootstrap of a voxel, which is the same whenever a streamline needs it. */
static void flip_residuals(const tensor_ref *ref, size_t voxel, uint32_t index, double *signal)
{
    double beta[7];
    uint32_t word[4] = {0};
    fit_of(ref, signal, beta);
    for (size_t t = 0; t < ref->gradients->n; t++) {
        double fitted = 0;
        for (int i = 0; i < 7; i++) fitted += ref->design[t][i] * beta[i];
        const double residual = fitted != 0 ? signal[t] - exp(fitted) : 0;
        if (t % 128 == 0) {
            const uint32_t block = (uint32_t)(t / 128) << 8;
            gls_philox((const uint32_t[4]){(uint32_t)voxel, 0x7fffffffu ^ block, index, 0x80000000u},
                       ref->params->rng_seed, word);
        }
        signal[t] += word[t % 4] >> (t / 4 % 32) & 1 ? -residual : residual;
    }
}

static bool signal_at(const tensor_ref *ref, const double p[3], uint32_t index, double *signal)
{
    const gls_grid *grid = &ref->dwi->grid;
    const size_t n = gls_grid_voxels(grid), volumes = ref->gradients->n;
    double nearest[3], weight, of_voxel[TENSOR_REF_VOLUMES];
    bool any = false;
    if (!inside(grid, p)) return false;
    for (int a = 0; a < 3; a++) nearest[a] = floor(p[a] + 0.5);
    const size_t at = corner_of(grid, nearest, 0, &weight);
    for (size_t t = 0; t < volumes; t++) any = any || ref->dwi->data[t * n + at] != 0;
    memset(signal, 0, volumes * sizeof *signal);
    for (int corner = 0; corner < 8; corner++) {
        const size_t voxel = corner_of(grid, p, corner, &weight);
        for (size_t t = 0; t < volumes; t++) of_voxel[t] = (double)ref->dwi->data[t * n + voxel];
        if (ref->params->dg == GLS_DG_TENSORPROB) flip_residuals(ref, voxel, index, of_voxel);
        for (size_t t = 0; t < volumes; t++) signal[t] += weight * of_voxel[t];
    }
    return any;
}

static double stop_value(const gls_image *stop, const double p[3])
{
    double sum = 0, weight;
    for (int corner = 0; corner < 8; corner++) {
        const size_t voxel = corner_of(&stop->grid, p, corner, &weight);
        sum += weight * (double)stop->data[voxel];
    }
    return sum;
}

/* --- tensors ---------------------------------------------------------------------- */

/* Computes FA and the main axis of xx yy zz xy xz yz, by Jacobi rotations. */
static double main_axis(const double t[6], double axis[3])
{
    double m[3][3] = {{t[0], t[3], t[4]}, {t[3], t[1], t[5]}, {t[4], t[5], t[2]}},
           v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int sweep = 0; sweep < 60; sweep++) {
        const int p = sweep % 3 == 2, q = sweep % 3 == 0 ? 1 : 2;
        if (m[p][q] == 0) continue;
        const double angle = 0.5 * atan2(2 * m[p][q], m[q][q] - m[p][p]), c = cos(angle), s = sin(angle);
        for (int k = 0; k < 3; k++) {
            const double a = m[k][p], b = m[k][q];
            m[k][p] = c * a - s * b;
            m[k][q] = s * a + c * b;
        }
        for (int k = 0; k < 3; k++) {
            const double a = m[p][k], b = m[q][k];
            m[p][k] = c * a - s * b;
            m[q][k] = s * a + c * b;
        }
        for (int k = 0; k < 3; k++) {
            const double a = v[k][p], b = v[k][q];
            v[k][p] = c * a - s * b;
            v[k][q] = s * a + c * b;
        }
    }
    int best = 0;
    double mean = (m[0][0] + m[1][1] + m[2][2]) / 3, off = 0, all = 0;
    for (int k = 0; k < 3; k++) {
        best = m[k][k] > m[best][best] ? k : best;
        off += (m[k][k] - mean) * (m[k][k] - mean);
        all += m[k][k] * m[k][k];
    }
    for (int k = 0; k < 3; k++) axis[k] = v[k][best];
    return all > 0 ? sqrt(1.5 * off / all) : 0;
}

static bool axis_at(const tensor_ref *ref, const double p[3], uint32_t index, double *fa, double axis[3])
{
    double signal[TENSOR_REF_VOLUMES], beta[7];
    if (!signal_at(ref, p, index, signal)) return false;
    fit_of(ref, signal, beta);
    *fa = main_axis(beta, axis);
    return true;
}

static void turn_to(double axis[3], const double d[3])
{
    const bool back = axis[0] * d[0] + axis[1] * d[1] + axis[2] * d[2] < 0;
    for (int a = 0; a < 3 && back; a++) axis[a] = -axis[a];
}

bool tensor_start(const tensor_ref *ref, const double seed[3], uint32_t index, double direction[3])
{
    double fa;
    float f[3];
    if (!axis_at(ref, seed, index, &fa, direction) || fa < gls_track_seed_cutoff(ref->params)) return false;
    gls_direction_unpack(
        gls_direction_pack((const float[3]){(float)direction[0], (float)direction[1], (float)direction[2]}), f);
    for (int i = 0; i < 3; i++) direction[i] = (double)f[i];
    return true;
}

/* Returns the axis at p, turned to d. */
static gls_end axis_along(const tensor_ref *ref, const double p[3], uint32_t index, const double d[3], double least,
                          double axis[3])
{
    double fa;
    if (!axis_at(ref, p, index, &fa, axis)) return GLS_END_OUTSIDE;
    turn_to(axis, d);
    const double c = axis[0] * d[0] + axis[1] * d[1] + axis[2] * d[2];
    return fa < gls_track_cutoff(ref->params) || c < least ? GLS_END_NO_DIRECTION : GLS_END_COUNT;
}

static void place(const tensor_ref *ref, const double p[3], double part, const double d[3], double q[3])
{
    for (int a = 0; a < 3; a++) q[a] = p[a] + part * d[a] * ref->params->step_size / ref->dwi->grid.voxel_size[a];
}

static void unit_sum(const double a[3], double n, const double b[3], double sum[3])
{
    double square = 0;
    for (int i = 0; i < 3; i++) {
        sum[i] = a[i] + n * b[i];
        square += sum[i] * sum[i];
    }
    for (int i = 0; i < 3; i++) sum[i] /= sqrt(square);
}

/* Returns the direction of a step by the classical rule of fourth order. */
static gls_end runge_kutta(const tensor_ref *ref, const double p[3], uint32_t index, const double d[3], double least,
                           double out[3])
{
    double k[5][3], q[3], mean[3], both[3];
    gls_end end = axis_along(ref, p, index, d, 0, k[0]);
    place(ref, p, 0.5, k[0], q);
    if (end == GLS_END_COUNT) end = axis_along(ref, q, index, d, 0, k[1]);
    place(ref, p, 0.5, k[1], q);
    if (end == GLS_END_COUNT) end = axis_along(ref, q, index, d, 0, k[2]);
    place(ref, p, 1, k[2], q);
    unit_sum(k[1], 1, k[2], mean);
    if (end == GLS_END_COUNT) end = axis_along(ref, q, index, mean, 0, k[3]);
    for (int a = 0; a < 3 && end == GLS_END_COUNT; a++) {
        both[a] = k[0][a] + k[3][a];
        mean[a] = k[1][a] + k[2][a];
    }
    if (end != GLS_END_COUNT) return end;
    unit_sum(both, 2, mean, out);
    place(ref, p, 1, out, q);
    end = axis_along(ref, q, index, out, 0, k[4]);
    const double c = k[0][0] * k[4][0] + k[0][1] * k[4][1] + k[0][2] * k[4][2];
    return end == GLS_END_COUNT && c < least ? GLS_END_NO_DIRECTION : end;
}

static gls_end move(const tensor_ref *ref, const double p[3], uint32_t index, double d[3], double q[3])
{
    double axis[3];
    const double least = cos(ref->params->max_angle * acos(-1.0) / 180);
    const gls_end end =
        ref->params->rk4 ? runge_kutta(ref, p, index, d, least, axis) : axis_along(ref, p, index, d, least, axis);
    if (end != GLS_END_COUNT) return end;
    memcpy(d, axis, sizeof axis);
    place(ref, p, 1, d, q);
    if (!inside(&ref->dwi->grid, q)) return GLS_END_OUTSIDE;
    return stop_value(ref->stop, q) <= ref->params->stop_threshold ? GLS_END_STOP_MAP : GLS_END_COUNT;
}

static size_t track_half(const tensor_ref *ref, const double seed[3], uint32_t index, double d[3], double (*point)[3],
                         gls_end *end)
{
    const size_t most = (size_t)floor(ref->params->max_length / ref->params->step_size * (1 + 1e-9));
    double p[3], q[3];
    size_t n = 0;
    memcpy(p, seed, sizeof p);
    while ((*end = move(ref, p, index, d, q)) == GLS_END_COUNT) {
        memcpy(point[n++], q, sizeof q);
        memcpy(p, q, sizeof p);
        *end = GLS_END_MAX_LENGTH;
        if (n >= most) break;
    }
    return n;
}

size_t tensor_track(const tensor_ref *ref, const double seed[3], uint32_t index, const double direction[3],
                    double (*point)[3], gls_end ends[2])
{
    double back[3], forward[3];
    for (int a = 0; a < 3; a++) back[a] = -direction[a];
    memcpy(forward, direction, sizeof forward);
    size_t n = track_half(ref, seed, index, back, point, &ends[0]);
    for (size_t i = 0; i < n / 2; i++) {
        double swapped[3];
        memcpy(swapped, point[i], sizeof swapped);
        memcpy(point[i], point[n - 1 - i], sizeof swapped);
        memcpy(point[n - 1 - i], swapped, sizeof swapped);
    }
    memcpy(point[n], seed, sizeof *point);
    return n + 1 + track_half(ref, seed, index, forward, point + n + 1, &ends[1]);
}
