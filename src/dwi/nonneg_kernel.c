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

#define SOFTNESS 1e-10 /* ridge on the multipliers of active rows, see nonneg.h */
/* smallest pivot of the matrix of active rows; except for rounding, pivots are at least SOFTNESS */
#define MIN_ACTIVE_PIVOT 1e-11
#define HELD 1e30        /* added to values of active rows, so that they are not the lowest */
#define FLOAT_NOISE 2e-7 /* rounding error of values in float, relative to the length of y_u */

#define GLS_LEVEL_FILE "dwi/nonneg_lanes.h"
#include "util/each_level.h"

/* Adds up the memory for two arrays of the block, and for the active set method. */
size_t gls_nonneg_scratch_bytes(const gls_nonneg_plan *plan)
{
    const size_t block = 2 * plan->padded * GLS_NONNEG_BLOCK;
    return (block + plan->max_active * (plan->max_active + 5) + 2 * plan->wide + 2 * plan->stride) * sizeof(double);
}

const gls_nonneg_kernel gls_nonneg_kernels[GLS_CPU_LEVELS] = GLS_CPU_VARIANTS(fit);
