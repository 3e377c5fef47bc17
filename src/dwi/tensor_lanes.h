/* Weighted fit of GLS_TENSOR_LANES voxels for one instruction set, see util/each_level.h. Define MIN_PIVOT before, the
 * smallest pivot of a well-conditioned matrix, relative to its diagonal entry. Vectors run across voxels, so that every
 * voxel goes through the same operations. */

#define VECS (GLS_TENSOR_LANES / LANES)
#define VD NAME(vd)
#define VU NAME(vu)
#define VF NAME(vf)

typedef double VD __attribute__((vector_size(8 * LANES), may_alias));
typedef uint64_t VU __attribute__((vector_size(8 * LANES), may_alias));
typedef float VF __attribute__((vector_size(4 * LANES), may_alias));

/* a > b ? a : b; b if a is NaN. */
TARGET static inline VD NAME(max)(VD a, VD b)
{
    VU greater = (VU)(a > b);
    return (VD)((greater & (VU)a) | (~greater & (VU)b));
}

/* ln x of positive normal numbers: x = m 2^k with m in [sqrt(1/2), sqrt(2)), ln m = 2 artanh((m - 1) / (m + 1)) by its
 * series. Absolute error < 2e-14 + 2 ulp. */
TARGET static inline VD NAME(ln)(VD x)
{
    const uint64_t one = 0x3ff0000000000000, sqrt_half = 0x3fe6a09e667f3bcd;
    /* splits x by its bits: m keeps the mantissa, k is the exponent, taken so that m is near 1 */
    VU bits = (VU)x;
    VU exponent = (bits + (one - sqrt_half)) >> 52; /* k + 1023 */
    VD m = (VD)(bits + one - (exponent << 52));
    VD k = (VD)(exponent | 0x4330000000000000) - (0x1p52 + 1023);
    VD s = (m - 1.0) / (m + 1.0), z = s * s;
    VD p = z * (1.0 / 15) + 1.0 / 13;
    p = p * z + 1.0 / 11;
    p = p * z + 1.0 / 9;
    p = p * z + 1.0 / 7;
    p = p * z + 1.0 / 5;
    p = p * z + 1.0 / 3;
    return k * 0.69314718055994531 + 2.0 * (s + s * z * p);
}

/* exp x for -700 <= x <= 0 with a relative error < 3e-10, which is enough for weights. */
TARGET static inline VD NAME(exp)(VD x)
{
    VD t = x * 1.4426950408889634 + 0x1.8p52; /* the low bits of t hold the exponent of the power of two */
    VD r = x - (t - 0x1.8p52) * 0.69314718055994531;
    VD p = r * (1.0 / 40320) + 1.0 / 5040;
    p = p * r + 1.0 / 720;
    p = p * r + 1.0 / 120;
    p = p * r + 1.0 / 24;
    p = p * r + 1.0 / 6;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    return (VD)((VU)p + ((VU)t << 52));
}

/* y = ln S of all volumes and voxels; signals below min_signal count as min_signal. */
TARGET static void NAME(log_signal)(const gls_tensor_plan *plan, const float *signal, size_t stride, VD *y)
{
    VD least = (VD){0} + plan->min_signal;
    for (size_t i = 0; i < plan->n; i++)
        for (size_t j = 0; j < VECS; j++) {
            VD value = __builtin_convertvector(*(const VF *)(signal + i * stride + j * LANES), VD);
            y[i * VECS + j] = NAME(ln)(NAME(max)(value, least));
        }
}

/* c[row][lane] = sum over i of a[i][row] b[i][lane]; rows is a multiple of 4. Tiles of four rows by two vectors stay in
 * registers. */
TARGET static void NAME(multiply)(const double *a, size_t rows, const VD *b, size_t n, VD *c)
{
    for (size_t row = 0; row < rows; row += 4) {
        for (size_t j = 0; j < VECS; j += 2) {
            VD sum[4][2] = {{{0}}};
            const double *left = a + row;
            const VD *right = b + j;
            for (size_t i = 0; i < n; i++, left += rows, right += VECS)
                for (int r = 0; r < 4; r++)
                    for (int v = 0; v < 2; v++) sum[r][v] += left[r] * right[v];
            for (size_t r = 0; r < 4; r++)
                for (size_t v = 0; v < 2; v++) c[(row + r) * VECS + j + v] = sum[r][v];
        }
    }
}

/* w = (predicted signal / largest predicted signal of the voxel)^2; y becomes w y. */
TARGET static void NAME(weigh)(const gls_tensor_plan *plan, const VD *ols, VD *y, VD *w)
{
    for (size_t j = 0; j < VECS; j++) {
        VD beta[GLS_TENSOR_PARAMETERS], most = (VD){0} - 1e300;
        for (size_t p = 0; p < GLS_TENSOR_PARAMETERS; p++) beta[p] = ols[p * VECS + j];
        for (size_t i = 0; i < plan->n; i++) {
            const double *x = plan->design + i * GLS_TENSOR_STRIDE;
            VD a = x[0] * beta[0] + x[1] * beta[1], b = x[2] * beta[2] + x[3] * beta[3];
            VD c = x[4] * beta[4] + x[5] * beta[5] + x[6] * beta[6];
            a = a + b + c;
            w[i * VECS + j] = a;
            most = NAME(max)(a, most);
        }
        /* raise lower arguments to -700, because exp() is not valid below; a weight of exp(-700) has no effect */
        VD least = (VD){0} - 700.0;
        for (size_t i = 0; i < plan->n; i++) {
            VD weight = NAME(exp)(NAME(max)(2.0 * (w[i * VECS + j] - most), least));
            w[i * VECS + j] = weight;
            y[i * VECS + j] *= weight;
        }
    }
}

/* Solves the normal equations of one vector of voxels by Cholesky. normal, right and wls: elements VECS apart. trusted:
 * 1 where the matrix is well-conditioned, otherwise 0. */
TARGET static void NAME(solve)(VD *normal, const VD *right, VD *wls, VD *trusted)
{
    enum { P = GLS_TENSOR_PARAMETERS };
    VD l[P * (P + 1) / 2], inverse[P], x[P];
    VU sound = ~(VU){0};
    for (int r = 0; r < P; r++) {
        VD *row = l + r * (r + 1) / 2;
        for (int c = 0; c <= r; c++) {
            const VD *other = l + c * (c + 1) / 2;
            VD entry = normal[(size_t)(r * (r + 1) / 2 + c) * VECS], sum = entry;
            for (int k = 0; k < c; k++) sum -= row[k] * other[k];
            if (c < r) {
                row[c] = sum * inverse[c];
                continue;
            }
            VU good = (VU)(sum > entry * MIN_PIVOT);
            sound &= good;
            sum = (VD)((good & (VU)sum) | (~good & (VU)((VD){0} + 1.0)));
            for (int v = 0; v < LANES; v++) inverse[r][v] = 1 / sqrt(sum[v]);
        }
        VD sum = right[(size_t)r * VECS];
        for (int k = 0; k < r; k++) sum -= row[k] * x[k];
        x[r] = sum * inverse[r];
    }
    /* backward substitution */
    for (int r = P - 1; r >= 0; r--) {
        VD sum = x[r];
        for (int k = r + 1; k < P; k++) sum -= l[k * (k + 1) / 2 + r] * x[k];
        x[r] = sum * inverse[r];
        wls[r * VECS] = x[r];
    }
    *trusted = (VD)(sound & (VU)((VD){0} + 1.0));
}

/* Weighted least squares in two steps: an unweighted fit predicts the signals, whose squares weight the second fit
 * (Salvador et al. 2005). solution->trusted: whether the normal matrix was well-conditioned. */
TARGET static void NAME(fit)(const gls_tensor_plan *plan, const float *signal, size_t stride, double *scratch,
                             gls_tensor_solution *solution)
{
    VD *y = (VD *)scratch, *w = y + plan->n * VECS, *ols = (VD *)solution->ols;
    VD right[GLS_TENSOR_STRIDE * VECS], normal[GLS_TENSOR_PRODUCTS * VECS];
    NAME(log_signal)(plan, signal, stride, y);
    NAME(multiply)(plan->inverse, GLS_TENSOR_STRIDE, y, plan->n, ols);
    NAME(weigh)(plan, ols, y, w);
    NAME(multiply)(plan->design, GLS_TENSOR_STRIDE, y, plan->n, right);
    NAME(multiply)(plan->product, GLS_TENSOR_PRODUCTS, w, plan->n, normal);
    for (size_t j = 0; j < VECS; j++)
        NAME(solve)(normal + j, right + j, (VD *)solution->wls + j, (VD *)solution->trusted + j);
}

#undef VECS
#undef VD
#undef VU
#undef VF
