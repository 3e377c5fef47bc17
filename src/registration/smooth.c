/* Filters along one axis of an image. The order of additions is that of the taps, so the result does not depend on the
 * number of threads. */
#include "registration/smooth.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

gls_smooth_taps gls_smooth_gauss(double sd)
{
    gls_smooth_taps t = {.radius = (int)fmin(ceil(3 * sd), GLS_SMOOTH_MOST)};
    double sum = 0;
    for (int k = -t.radius; k <= t.radius; k++) sum += sd > 0 ? exp(-0.5 * k * k / (sd * sd)) : 1;
    for (int k = -t.radius; k <= t.radius; k++)
        t.weight[t.radius + k] = (float)((sd > 0 ? exp(-0.5 * k * k / (sd * sd)) : 1) / sum);
    return t;
}

gls_smooth_taps gls_smooth_window(int radius)
{
    gls_smooth_taps t = {.radius = radius};
    for (int k = 0; k <= 2 * radius; k++) t.weight[k] = 1;
    return t;
}

/* Returns 1 / the sum of the weights at position p of an axis of n voxels; 1 unless normalised. */
static float share(const gls_smooth_taps *t, int p, int n, bool normalised)
{
    float sum = 0;
    if (!normalised) return 1;
    for (int k = -t->radius; k <= t->radius; k++)
        if (p + k >= 0 && p + k < n) sum += t->weight[t->radius + k];
    return 1 / sum;
}

/* Filters one row of n voxels along itself. */
static void filter_row(const float *in, int n, const gls_smooth_taps *t, bool normalised, float *out)
{
    memset(out, 0, (size_t)n * sizeof *out);
    for (int k = -t->radius; k <= t->radius; k++) {
        const float w = t->weight[t->radius + k];
        const int first = k < 0 ? -k : 0, last = k > 0 ? n - k : n;
        for (int x = first; x < last; x++) out[x] += w * in[x + k];
    }
    for (int x = 0; x < n && normalised; x++)
        if (x < t->radius || x >= n - t->radius) out[x] *= share(t, x, n, true);
}

void gls_smooth_axis(const float *in, const int32_t dim[3], int axis, const gls_smooth_taps *t, bool normalised,
                     float *out)
{
    const int nx = dim[0], ny = dim[1], nz = dim[2];
    const ptrdiff_t stride = axis == 1 ? nx : (ptrdiff_t)nx * ny;
#pragma omp parallel for schedule(static) collapse(2)
    for (int z = 0; z < nz; z++)
        for (int y = 0; y < ny; y++) {
            const ptrdiff_t row = ((ptrdiff_t)z * ny + y) * nx;
            float *to = out + row;
            if (axis == 0) {
                filter_row(in + row, nx, t, normalised, to);
                continue;
            }
            const int p = axis == 1 ? y : z, n = dim[axis];
            const float one = share(t, p, n, normalised && (p < t->radius || p >= n - t->radius));
            memset(to, 0, (size_t)nx * sizeof *to);
            for (int k = -t->radius; k <= t->radius; k++) {
                if (p + k < 0 || p + k >= n) continue;
                const float w = t->weight[t->radius + k] * one;
                const float *from = in + row + k * stride;
                for (int x = 0; x < nx; x++) to[x] += w * from[x];
            }
        }
}
