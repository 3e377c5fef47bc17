/* Signal of the phantom: one tensor for each fibre population, isotropic compartments, Rician noise. The elementary
 * functions are polynomials, so that compilers can vectorise the loops and every machine computes the same noise. */
#include "phantom/parts.h"
#include "util/maths.h"
#include <math.h>
#include <string.h>

/* Signals at b = 0, without a unit, and diffusivities, mm2/s. */
#define S_WHITE 1000.0f
#define S_GREY 1300.0f
#define S_CSF 2500.0f
#define D_PARALLEL 1.7e-3 /* diffusivity along the fibres of a bundle; D_PERPENDICULAR: across them */
#define D_PERPENDICULAR 0.25e-3
#define D_WHITE 0.7e-3 /* diffusivity of white matter between bundles, where fibres of all directions mix */
#define D_GREY 0.8e-3
#define D_CSF 3.0e-3

#define BLOCK 64 /* number of voxels for which random words are made at a time */

/* The float with these bits. memcpy() is the way that the C standard allows. */
static inline float from_bits(int32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The bits of a float as an integer. */
static inline int32_t to_bits(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* e^x for -80 <= x <= 0: 2^n from the exponent's bits, times a polynomial of the rest. */
static inline float decay(float x)
{
    float y = x * 1.44269504f;
    int32_t n = (int32_t)(y - 0.5f);
    float f = (y - (float)n) * 0.693147181f;
    float e =
        1.0f +
        f * (1.0f + f * (0.5f + f * (1.66666667e-1f + f * (4.16666667e-2f + f * (8.3333333e-3f + f * 1.3888889e-3f)))));
    return e * from_bits((n + 127) << 23);
}

/* Square root of x >= 0: three steps of Newton's method from an estimate by the bits of 1 / sqrt(x). */
static inline float root(float x)
{
    float r = from_bits((int32_t)(0x5f3759dfu - ((uint32_t)to_bits(x) >> 1))), half = 0.5f * x;
    r = r * (1.5f - half * r * r);
    r = r * (1.5f - half * r * r);
    r = r * (1.5f - half * r * r);
    return x * r;
}

/* Natural logarithm of a normal number > 0: exponent and mantissa m, ln m = 2 artanh((m - 1) / (m + 1)) by its
 * series. */
static inline float logarithm(float x)
{
    int32_t bits = to_bits(x), e = (bits - 0x3f3504f3) >> 23;
    float m = from_bits(bits - (int32_t)((uint32_t)e << 23)), z = (m - 1.0f) / (m + 1.0f), w = z * z;
    return (float)e * 0.693147181f +
           z * (2.0f + w * (6.66666667e-1f + w * (0.4f + w * (2.85714286e-1f + w * 2.22222222e-1f))));
}

/* Cosine of 2 pi u, u in [0, 1). */
static inline float cosine(float u)
{
    float w = 6.28318531f * (fabsf(u - 0.5f) - 0.25f), w2 = w * w;
    return w *
           (1.0f + w2 * (-1.66666667e-1f +
                         w2 * (8.3333333e-3f + w2 * (-1.98412698e-4f + w2 * (2.75573192e-6f - w2 * 2.50521084e-8f)))));
}

/* Magnitude of signal + sigma (n1 + i n2) with n1 and n2 normal, by the method of Box and Muller. */
static inline float rician(float signal, float sigma, uint32_t word0, uint32_t word1)
{
    float u = (float)(int32_t)(0x1000000u - (word0 >> 8)) * 0x1p-24f, radius = sigma * root(-2.0f * logarithm(u));
    float square =
        signal * signal + radius * (2.0f * signal * cosine((float)(int32_t)(word1 >> 8) * 0x1p-24f) + radius);
    return root(fabsf(square)); /* at least (signal - radius)^2 except for rounding, hence the absolute value */
}

/* Computes the signal of volume v of a row without noise. signal: one value for each voxel; amplitude: memory for one
 * value for each fibre population. The sum over populations runs in their order, so that results do not depend on the
 * width of vector instructions. */
static void clean(const phantom_scan *scan, const phantom_row *row, size_t v, float *amplitude, float *signal)
{
    double b = scan->gradients->bval[v];
    const double *g = scan->direction[v];
    const float gx = (float)g[0], gy = (float)g[1], gz = (float)g[2];
    const float offset = (float)(-b * D_PERPENDICULAR), slope = (float)(-b * (D_PARALLEL - D_PERPENDICULAR));
    const float white = S_WHITE * (float)exp(-b * D_WHITE), grey = S_GREY * (float)exp(-b * D_GREY),
                csf = S_CSF * (float)exp(-b * D_CSF);
    const float *dx = row->direction[0], *dy = row->direction[1], *dz = row->direction[2], *fraction = row->fraction;
#pragma omp simd
    for (int x = 0; x < row->n; x++) signal[x] = white * row->white[x] + grey * row->grey[x] + csf * row->csf[x];
#pragma omp simd
    for (size_t i = 0; i < row->n_fibres; i++) {
        float c = gx * dx[i] + gy * dy[i] + gz * dz[i];
        amplitude[i] = S_WHITE * fraction[i] * decay(offset + slope * c * c);
    }
    for (size_t i = 0; i < row->n_fibres; i++) signal[row->voxel[i]] += amplitude[i];
}

/* Adds Rician noise of standard deviation sigma to n <= BLOCK voxels, from index `voxel` on, in the volumes 2 pair and
 * 2 pair + 1: one counter of Philox gives the random words of both. The noise of a voxel depends on seed, voxel and
 * volume only. */
static void noise(uint64_t seed, size_t voxel, size_t pair, int n, float sigma, const float *even, const float *odd,
                  float *out0, float *out1)
{
    uint32_t word[4][BLOCK];
    for (int i = 0; i < n; i++) {
        const uint32_t counter[4] = {(uint32_t)(voxel + (size_t)i), (uint32_t)pair, 0, GLS_PHILOX_NOISE};
        uint32_t r[4];
        gls_philox(counter, seed, r);
        for (int k = 0; k < 4; k++) word[k][i] = r[k];
    }
#pragma omp simd
    for (int i = 0; i < n; i++) {
        out0[i] = rician(even[i], sigma, word[0][i], word[1][i]);
        out1[i] = rician(odd[i], sigma, word[2][i], word[3][i]);
    }
}

void gls_phantom_signal(const phantom_scan *scan, const phantom_row *row, size_t first, float *scratch, gls_image *dwi)
{
    const size_t voxels = gls_grid_voxels(&dwi->grid);
    const float sigma = scan->snr > 0 ? (float)(S_WHITE / scan->snr) : 0.0f;
    const uint64_t seed = scan->seed;
    float *even = scratch, *odd = scratch + row->n, *amplitude = scratch + 2 * row->n;
    for (size_t v = 0; v < dwi->n_volumes; v += 2) {
        float *out0 = dwi->data + v * voxels + first, *out1 = v + 1 < dwi->n_volumes ? out0 + voxels : odd;
        clean(scan, row, v, amplitude, even);
        if (v + 1 < dwi->n_volumes) clean(scan, row, v + 1, amplitude, odd);
        if (sigma == 0.0f) {
            memcpy(out0, even, (size_t)row->n * sizeof *out0);
            if (out1 != odd) memcpy(out1, odd, (size_t)row->n * sizeof *out1);
            continue;
        }
        for (int x = 0; x < row->n; x += BLOCK) {
            int n = row->n - x < BLOCK ? row->n - x : BLOCK;
            noise(seed, first + (size_t)x, v / 2, n, sigma, even + x, odd + x, out0 + x, out1 + x);
        }
    }
}
