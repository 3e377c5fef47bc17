/* Constrained fit of a block of voxels for one instruction set, see util/each_level.h. Products with matrices that all
 * voxels share are computed for LANES voxels at a time; the active set method (nonneg_active.h) solves voxels one by
 * one. The result of a voxel does not depend on its neighbours. */

#define VD NAME(vd)
#define VU NAME(vu)
#define VECS (GLS_NONNEG_BLOCK / LANES)
#define T GLS_NONNEG_TILE
#define SELECT(mask, a, b) ((VD)(((mask) & (VU)(a)) | (~(mask) & (VU)(b))))

typedef double VD __attribute__((vector_size(8 * LANES), may_alias));
typedef int64_t VU __attribute__((vector_size(8 * LANES), may_alias));

/* Larger of a and b in each lane; b if a is NaN. */
TARGET static inline VD NAME(larger)(VD a, VD b)
{
    VU mask = (VU)(a > b);
    return SELECT(mask, a, b);
}

#include "dwi/nonneg_active.h"

/* Computes the unconstrained solutions y_u of the voxels of the block. start: padded x VECS. */
TARGET static void NAME(project)(const gls_nonneg_plan *plan, const double *data, VD *start)
{
    const VD *in = (const VD *)data;
    for (size_t j = 0; j < plan->padded; j += T)
        for (size_t v = 0; v < VECS; v++) {
            VD sum[T] = {{0}};
            for (size_t i = 0; i < plan->n; i++)
                for (size_t q = 0; q < T; q++) sum[q] += plan->project[i * plan->padded + j + q] * in[i * VECS + v];
            for (size_t q = 0; q < T; q++) start[(j + q) * VECS + v] = sum[q];
        }
}

/* Computes f = L^-T y for the block. solution: padded x VECS, y. */
TARGET static void NAME(finish)(const gls_nonneg_plan *plan, const VD *solution, double *coefficients)
{
    VD *f = (VD *)coefficients;
    for (size_t v = 0; v < VECS; v++)
        for (size_t j = plan->k; j-- > 0;) {
            VD sum = solution[j * VECS + v];
            for (size_t i = j + 1; i < plan->k; i++) sum -= plan->factor[i * plan->k + j] * f[i * VECS + v];
            f[j * VECS + v] = sum * (1.0 / plan->factor[j * plan->k + j]);
        }
}

/* Fits `count` voxels; returns how many did not converge. */
TARGET static size_t NAME(fit)(const gls_nonneg_plan *plan, const double *data, size_t count, void *scratch,
                               double *coefficients)
{
    VD *start = scratch, *solution = start + plan->padded * VECS;
    NAME(active) voxel = NAME(active_layout)(plan, solution + plan->padded * VECS);
    size_t n_unconverged = 0;
    NAME(project)(plan, data, start);
    memset((void *)solution, 0, plan->padded * VECS * sizeof *solution);
    for (size_t v = 0; v < count; v++) {
        for (size_t j = 0; j < plan->k; j++) voxel.start[j] = ((double *)start)[j * GLS_NONNEG_BLOCK + v];
        n_unconverged += !NAME(solve_active)(plan, &voxel);
        for (size_t j = 0; j < plan->k; j++) ((double *)solution)[j * GLS_NONNEG_BLOCK + v] = voxel.y[j];
    }
    NAME(finish)(plan, solution, coefficients);
    return n_unconverged;
}

#undef VD
#undef VU
#undef VECS
#undef T
#undef SELECT
