/* Small mathematics: affine maps, float16, random numbers, quantiles. */
#ifndef GLS_UTIL_MATHS_H
#define GLS_UTIL_MATHS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* --- Affine maps: 3x4 matrices in double precision. */

/* out = map applied to the point p. out may be p. */
static inline void gls_affine_apply(const double map[3][4], const double p[3], double out[3])
{
    double x = p[0], y = p[1], z = p[2];
    for (int r = 0; r < 3; r++) out[r] = map[r][0] * x + map[r][1] * y + map[r][2] * z + map[r][3];
}

/* Determinant of the linear part. */
static inline double gls_affine_det(const double a[3][4])
{
    return a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) - a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
           a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
}

/* Inverse of a map with a determinant other than 0. out must not alias a. */
static inline void gls_affine_invert(const double a[3][4], double out[3][4])
{
    double s = 1.0 / gls_affine_det(a);
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            int r1 = (c + 1) % 3, r2 = (c + 2) % 3, c1 = (r + 1) % 3, c2 = (r + 2) % 3;
            out[r][c] = s * (a[r1][c1] * a[r2][c2] - a[r1][c2] * a[r2][c1]);
        }
    }
    for (int r = 0; r < 3; r++) out[r][3] = -(out[r][0] * a[0][3] + out[r][1] * a[1][3] + out[r][2] * a[2][3]);
}

/* The rotation or reflection q nearest to the linear part of a map whose determinant is not 0, by Newton's iteration
 * for the polar decomposition (Higham 1986). */
static inline void gls_affine_rotation(const double affine[3][4], double q[3][3])
{
    double a[3][4], inverse[3][4];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++) a[r][c] = c < 3 ? affine[r][c] : 0.0;
    for (int i = 0; i < 50; i++) {
        double change = 0.0;
        gls_affine_invert(a, inverse);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) {
                double next = 0.5 * (a[r][c] + inverse[c][r]);
                change = fmax(change, fabs(next - a[r][c]));
                q[r][c] = next;
            }
        for (int r = 0; r < 3; r++) memcpy(a[r], q[r], sizeof q[r]);
        if (change < 1e-14) break;
    }
}

/* --- float16: half precision, IEEE 754 binary16. */

/* Nearest float16, ties to even. Magnitudes from 65520 on become infinity; NaN stays NaN. */
uint16_t gls_half(float value);
/* Exact value of a float16. */
float gls_half_value(uint16_t half);
/* Converts n values like gls_half(). Returns false if a result is not finite. */
bool gls_half_convert(const float *in, size_t n, uint16_t *out);

/* --- Random numbers: Philox4x32-10 (Salmon et al. 2011), the C twin of glsl/base/philox.glsl. */

/* Encrypts counter with key; out: four words of random bits. Equal counter and key give equal words on every
 * machine. */
static inline void gls_philox(const uint32_t counter[4], uint64_t key, uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
        uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0, n2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        c0 = n0;
        c2 = n2;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* Maps a random word to a number uniform in [0, 1), from its upper 24 bits: exact in float and double. */
static inline double gls_uniform(uint32_t word)
{
    return (word >> 8) * 0x1p-24;
}

/* Uses of random numbers: last word of the counter, so that two uses never share numbers. */
enum {
    GLS_PHILOX_TRACK = 0,
    GLS_PHILOX_SEED = 1,
    GLS_PHILOX_SHUFFLE = 2,
    GLS_PHILOX_NOISE = 3,
    GLS_PHILOX_SEED_SPHERE = 4,
    GLS_PHILOX_SEED_WEIGHT = 5,
    GLS_PHILOX_SEED_INTERFACE = 6,
    GLS_PHILOX_INITIAL = 7,
    GLS_PHILOX_ORDER = 8,
    GLS_PHILOX_SEED_FIXEL = 9,
    GLS_PHILOX_PERMUTATION = 10
};

/* --- Quantiles by the default rule of numpy: linear interpolation between two ranks. The median of an even number of
 * values is the mean of the two in the middle. */

/* Position of a quantile among n sorted values: between two ranks, counted from 0. */
typedef struct gls_quantile {
    uint64_t lower, upper; /* equal if the quantile is one of the values */
    double part;           /* weight of the upper value, 0 <= part < 1 */
} gls_quantile;

/* Finds the position of quantile q, 0 <= q <= 1, among n >= 1 values. */
gls_quantile gls_quantile_find(uint64_t n, double q);
/* Interpolates the quantile from the values at both ranks. */
double gls_quantile_between(const gls_quantile *quantile, double lower, double upper);

/* Quantile q of n values in ascending order; NaN if n is 0. */
double gls_quantile_of_sorted(const double *sorted, size_t n, double q);
/* Median of unsorted values, which are sorted in place; NaN if n is 0. */
double gls_median(double *value, size_t n);
/* Quantiles q[0 .. n_quantiles - 1] of unsorted values, which are sorted in place; out gets n_quantiles values, NaN if
 * n is 0. */
void gls_quantiles_of_floats(float *value, size_t n, const double *q, size_t n_quantiles, double *out);

/* Index of the bin of a histogram that contains the value of this rank; ranks count from 0 in ascending order. */
size_t gls_histogram_bin(const uint64_t *bin, size_t n_bins, uint64_t rank);
/* Median of the bin indices of all n > 0 values of a histogram. */
double gls_histogram_median(const uint64_t *bin, size_t n_bins, uint64_t n);

/* Sorts in ascending order. No value may be NaN. */
void gls_sort(double *value, size_t n);

/* A member of a list, such as a cluster, by its number and its size. */
typedef struct gls_sized {
    uint64_t size;
    uint32_t id;
} gls_sized;
/* Comparison of two gls_sized for qsort(): the larger first, then by number. */
int gls_sized_compare(const void *a, const void *b);

/* Reverses the byte order of n values of 2, 4 or 8 bytes each. Values of one byte stay as they are. */
void gls_swap_bytes(void *data, size_t n, size_t bytes);

#endif
