/* Compiles the kernels of the constrained fit for several instruction sets. The kernel is chosen at run time; results
 * differ by rounding only. */
#include "dwi/nonneg_kernel.h"
#include "dwi/nonneg.h"
#include "util/threads.h"

#include <math.h>
#include <string.h>

/* Fused multiply-add where the target has it. In ISO mode gcc fuses only on request; clang fuses by default. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=fast", "no-math-errno")
#endif

#define MIN_PIVOT 1e-16 /* smallest pivot; the matrices are I + B'DB, so none is singular */
#define SOFTNESS 1e-10  /* ridge on the multipliers of active rows, see nonneg.h */
/* convergence: mean complementarity, relative to the square of the largest unconstrained amplitude */
#define ENOUGH_GAP 1e-15
#define ENOUGH_RESIDUAL 1e-9 /* convergence: residual of the dual equations, relative to the largest amplitude */
#define BOUNDARY 0.99        /* smallest share of a step, or of its way to the nearest bound, that is taken */
/* smallest pivot of the matrix of active rows; except for rounding, pivots are at least SOFTNESS */
#define MIN_ACTIVE_PIVOT 1e-11
#define HELD 1e30        /* added to values of active rows, so that they are not the lowest */
#define FLOAT_NOISE 2e-7 /* rounding error of values in float, relative to the length of y_u */

#if GLS_CPU_HAS_LEVELS
#define LANES 8
#define COLUMNS 4
#define WIDE 3
#define TARGET GLS_TARGET_AVX512
#define NAME(x) x##_avx512
#include "dwi/nonneg_lanes.h"

#define LANES 4
#define COLUMNS 2
#define WIDE 1
#define TARGET GLS_TARGET_AVX2
#define NAME(x) x##_avx2
#include "dwi/nonneg_lanes.h"
#endif

#define LANES 2
#define COLUMNS 2
#define WIDE 1
#define TARGET
#define NAME(x) x##_plain
#include "dwi/nonneg_lanes.h"

/* Adds up the memory for vectors across slots (see nonneg_lanes.h), for values of a block, and for the active set
 * method. */
size_t gls_nonneg_scratch_bytes(const gls_nonneg_plan *plan)
{
    size_t lanes = 8, rows = (plan->n_rows + 7) / 8 * 8;
    size_t vectors = 8 * rows + 4 * plan->padded + (plan->padded + 1) * (plan->padded + 2) / 2;
    size_t interior = lanes * vectors + (2 * plan->padded + rows) * GLS_NONNEG_BLOCK;
    size_t active = plan->max_active * (plan->max_active + 5) + 2 * plan->wide + 2 * plan->stride;
    return (interior + 8 + active) * sizeof(double) + 64;
}

const gls_nonneg_kernel gls_nonneg_kernels[GLS_CPU_LEVELS] = GLS_CPU_VARIANTS(fit);
