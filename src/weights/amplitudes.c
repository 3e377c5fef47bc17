#include "weights/amplitudes.h"

#include <stdlib.h>
#include <string.h>

#include <glslines/sh.h>

#include "util/cpu.h"
#include "util/status.h"
#include "weights/sphere.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF /* gcc does not fuse in ISO mode */
#endif

typedef float lane8 __attribute__((vector_size(32), may_alias));

enum { WIDE = 2 };

static inline __attribute__((always_inline)) void sample(const float *rows, size_t n, const float *sh, float *out)
{
    for (size_t i = 0; i < GLS_AMPLITUDE_STRIDE; i += 8 * WIDE) {
        lane8 sum[GLS_AMPLITUDE_VOXELS][WIDE] = {{{0}}};
        size_t wide = i + 8 * WIDE <= GLS_AMPLITUDE_STRIDE ? WIDE : 1;
        for (size_t j = 0; j < n; j++) {
            const lane8 *row = (const lane8 *)(rows + j * GLS_AMPLITUDE_STRIDE + i);
            if (wide == WIDE) {
                for (size_t v = 0; v < GLS_AMPLITUDE_VOXELS; v++)
                    for (size_t k = 0; k < WIDE; k++) sum[v][k] += sh[v * n + j] * row[k];
            } else {
                for (size_t v = 0; v < GLS_AMPLITUDE_VOXELS; v++) sum[v][0] += sh[v * n + j] * row[0];
            }
        }
        for (size_t v = 0; v < GLS_AMPLITUDE_VOXELS; v++)
            memcpy(out + v * GLS_AMPLITUDE_STRIDE + i, sum[v], wide * sizeof(lane8));
    }
}

static void sample_plain(const float *rows, size_t n, const float *sh, float *out)
{
    sample(rows, n, sh, out);
}

#if GLS_CPU_HAS_LEVELS
/* without FMA, which would round otherwise */
__attribute__((target("avx2"))) static void sample_avx2(const float *rows, size_t n, const float *sh, float *out)
{
    sample(rows, n, sh, out);
}
#endif

void gls_amplitudes_sample(const float *rows, size_t n, const float *sh, float *out)
{
#if GLS_CPU_HAS_LEVELS
    if (gls_cpu_level() >= GLS_CPU_AVX2) {
        sample_avx2(rows, n, sh, out);
        return;
    }
#endif
    sample_plain(rows, n, sh, out);
}

gls_status gls_amplitudes_matrix(int order, float **out)
{
    const gls_lobe_sphere *sphere = gls_lobe_sphere_get();
    const size_t n = gls_sh_count(order);
    double *matrix = malloc(GLS_LOBE_DIRECTIONS * n * sizeof *matrix);
    float *rows = aligned_alloc(32, n * GLS_AMPLITUDE_STRIDE * sizeof *rows);
    gls_status status = GLS_OK;
    if (!matrix || !rows)
        status = gls_fail(GLS_ERR_MEMORY, "out of memory for the directions of FODs");
    else
        status = gls_sh_matrix(GLS_SH_TOURNIER07, order, sphere->direction, GLS_LOBE_DIRECTIONS, matrix);
    for (size_t j = 0; j < n && !status; j++)
        for (size_t i = 0; i < GLS_AMPLITUDE_STRIDE; i++)
            rows[j * GLS_AMPLITUDE_STRIDE + i] = i < GLS_LOBE_DIRECTIONS ? (float)matrix[i * n + j] : 0;
    free(matrix);
    if (status)
        free(rows);
    else
        *out = rows;
    return status;
}
