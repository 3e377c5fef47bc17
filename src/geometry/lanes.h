/* Arithmetic on points for one instruction set. Include this file once for each set, with these macros:
 *   TARGET  function attribute that allows the instructions
 *   NAME(x) x with a suffix of its own */

TARGET static void NAME(gaps)(const float *restrict x, const float *restrict y, const float *restrict z, size_t n,
                              const float q[3], float *restrict square)
{
    const float qx = q[0], qy = q[1], qz = q[2];
#pragma omp simd
    for (size_t i = 0; i < n; i++) {
        const float dx = x[i] - qx, dy = y[i] - qy, dz = z[i] - qz;
        square[i] = dx * dx + dy * dy + dz * dz;
    }
}

TARGET static void NAME(both)(const float *restrict a, const float *restrict b, const float *restrict c, size_t points,
                              size_t pad, float *ab, float *ac)
{
    float s = 0, t = 0;
#pragma omp simd reduction(+ : s, t)
    for (size_t p = 0; p < pad; p++) {
        const float x = a[p], y = a[pad + p], z = a[2 * pad + p];
        const float bx = x - b[p], by = y - b[pad + p], bz = z - b[2 * pad + p];
        const float cx = x - c[p], cy = y - c[pad + p], cz = z - c[2 * pad + p];
        s += sqrtf(bx * bx + by * by + bz * bz);
        t += sqrtf(cx * cx + cy * cy + cz * cz);
    }
    *ab = s / (float)points;
    *ac = t / (float)points;
}

TARGET static double NAME(exact)(const float *restrict a, const float *restrict b, size_t points, size_t pad)
{
    double s[GLS_MAX_POINTS], sum = 0;
#pragma omp simd
    for (size_t p = 0; p < pad; p++) {
        const double x = (double)(a[p] - b[p]), y = (double)(a[pad + p] - b[pad + p]),
                     z = (double)(a[2 * pad + p] - b[2 * pad + p]);
        s[p] = sqrt(x * x + y * y + z * z);
    }
    for (size_t p = 0; p < points; p++) sum += s[p];
    return sum / (double)points;
}

TARGET static void NAME(grow)(float *restrict c, const float *restrict x, float n, size_t count)
{
    const float next = n + 1;
#pragma omp simd
    for (size_t i = 0; i < count; i++) c[i] = (c[i] * n + x[i]) / next;
}

TARGET static void NAME(boxes)(const float *const mid[3], const float *const half[3], size_t n, const float own_mid[3],
                               const float own_half[3], float wide, uint8_t *hit)
{
    const float *mx = mid[0], *my = mid[1], *mz = mid[2], *hx = half[0], *hy = half[1], *hz = half[2];
    const double x = (double)own_mid[0], y = (double)own_mid[1], z = (double)own_mid[2];
    const float ox = own_half[0], oy = own_half[1], oz = own_half[2];
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        hit[i] = (fabs((double)mx[i] - x) <= (double)(hx[i] + ox + wide)) &
                 (fabs((double)my[i] - y) <= (double)(hy[i] + oy + wide)) &
                 (fabs((double)mz[i] - z) <= (double)(hz[i] + oz + wide));
}

#undef TARGET
#undef NAME
