/* Tensor kernels for the instruction sets worth having, chosen at run time: results differ by rounding only. */
#include "dwi/tensor_plan.h"
#include "util/threads.h"

#include <math.h>

/* Fused multiply-add where the target has it; gcc does not fuse in ISO mode unless told, clang does. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=fast", "no-math-errno")
#endif

/* Smallest pivot relative to its diagonal entry: what is left of 16 digits still gives FA to 1e-6. */
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
