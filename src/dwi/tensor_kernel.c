/* Compiles the tensor kernels for several instruction sets. The kernel is chosen at run time; results differ by
 * rounding only. */
#include "dwi/tensor_plan.h"
#include "util/threads.h"

#include <math.h>

/* Fused multiply-add where the target has it. In ISO mode gcc fuses only on request; clang fuses by default. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=fast", "no-math-errno")
#endif

/* Smallest pivot relative to its diagonal entry: the digits left of 16 still give FA to 1e-6. */
#define MIN_PIVOT 1e-9

#if GLS_CPU_HAS_LEVELS
#define LANES 8
#define TARGET GLS_TARGET_AVX512
#define NAME(x) x##_avx512
#include "dwi/tensor_lanes.h"

#define LANES 4
#define TARGET GLS_TARGET_AVX2
#define NAME(x) x##_avx2
#include "dwi/tensor_lanes.h"
#endif

#define LANES 2
#define TARGET
#define NAME(x) x##_plain
#include "dwi/tensor_lanes.h"

const gls_tensor_kernel gls_tensor_kernels[GLS_CPU_LEVELS] = GLS_CPU_VARIANTS(fit);
