/* Compiles the arithmetic on points for several instruction sets, without fused multiply-add, so that all give the same
 * bytes. */
#include "geometry/kernels.h"

#include <math.h>
#include <string.h>

#include "util/threads.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=off")
#endif

/* Sums that are added up beside each other. */
typedef double four __attribute__((vector_size(4 * sizeof(double))));
typedef float lanes __attribute__((vector_size(GLS_POINT_LANES * sizeof(float))));

#define GLS_LEVEL_FILE "geometry/lanes.h"
#include "util/each_level.h"

#define FUNCTIONS(set)                                                                                          \
    {                                                                                                           \
        gaps##set, near##set, both##set, parts##set, nearest##set, from_nearest##set, outside##set, exact##set, \
            senses##set, move##set, pull##set, within##set, grow##set, boxes##set                               \
    }
static const gls_geometry_kernel kernels[GLS_CPU_LEVELS] = {
    FUNCTIONS(_plain),
#if GLS_CPU_HAS_LEVELS
    FUNCTIONS(_avx2),
    FUNCTIONS(_avx512),
#endif
};

const gls_geometry_kernel *gls_geometry_kernels(void)
{
    return &kernels[gls_cpu_level()];
}

void gls_points_parts(const float *x, const float *y, size_t points, size_t pad, float part[GLS_PARTS])
{
    enum { QUARTERS = GLS_POINT_LANES / 2 };
    for (size_t k = 0; k < 3; k++, part += GLS_POINT_LANES)
        for (size_t l = 0; l < GLS_POINT_LANES; l++) {
            const float *at = (l < QUARTERS ? x : y) + k * pad;
            const size_t q = l % QUARTERS;
            double sum = 0;
            for (size_t p = q * points / QUARTERS; p < (q + 1) * points / QUARTERS; p++) sum += (double)at[p];
            part[l] = (float)(sum / (double)points);
        }
}

void gls_points_mean(const float *a, size_t points, size_t pad, float mean[3])
{
    for (int k = 0; k < 3; k++, a += pad) {
        double sum = 0;
        for (size_t p = 0; p < points; p++) sum += (double)a[p];
        mean[k] = (float)(sum / (double)points);
    }
}

float gls_points_extent(const float *at, size_t n)
{
    int32_t largest = 0;
    float extent;
    /* positive floats, infinity and NaN are ordered as their bits are */
#pragma omp simd reduction(max : largest)
    for (size_t k = 0; k < n; k++) {
        int32_t bits;
        memcpy(&bits, &at[k], sizeof bits);
        bits &= INT32_MAX;
        largest = bits > largest ? bits : largest;
    }
    memcpy(&extent, &largest, sizeof extent);
    return extent;
}
