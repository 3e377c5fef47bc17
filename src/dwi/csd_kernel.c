/* Compiles the deconvolution kernel for several instruction sets. The kernel is chosen at run time; results differ by
 * rounding only. */
#include "dwi/csd_kernel.h"
#include "dwi/csd_plan.h"
#include "util/threads.h"

#include <math.h>
#include <string.h>

/* Fused multiply-add where the target has it. In ISO mode gcc fuses only on request; clang fuses by default. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=fast", "no-math-errno")
#endif

/* Smallest pivot, relative to its diagonal entry, that counts as positive. */
#define MIN_PIVOT 1e-15

#define GLS_LEVEL_FILE "dwi/csd_lanes.h"
#include "util/each_level.h"

size_t gls_csd_scratch_bytes(const gls_csd_plan *plan)
{
    size_t lanes = 8, k = plan->k, vectors = (k + 1) * (k + 2) / 2 + 2 * k, tiles = gls_csd_tiles(plan->padded);
    size_t doubles = (plan->n + 2 * plan->padded) * GLS_CSD_BLOCK + lanes * (vectors + 64 * tiles) + 8;
    return doubles * sizeof(double) + plan->n_rows * (GLS_CSD_BLOCK + lanes + 2 * lanes * sizeof(uint32_t)) + 64;
}

const gls_csd_kernel gls_csd_kernels[GLS_CPU_LEVELS] = GLS_CPU_VARIANTS(fit);
