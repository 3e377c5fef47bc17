/* Compiles the ODF kernels for several instruction sets. The kernel is chosen at run time; results differ by rounding
 * only. */
#include "dwi/odf_parts.h"
#include "util/threads.h"

#include <string.h>

/* Fused multiply-add where the target has it. In ISO mode gcc fuses only on request; clang fuses by default. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=fast")
#endif

#if GLS_CPU_HAS_LEVELS
#define LANES 16
#define WIDE 4
#define TARGET GLS_TARGET_AVX512
#define NAME(x) x##_avx512
#include "dwi/odf_lanes.h"

#define LANES 8
#define WIDE 2
#define TARGET GLS_TARGET_AVX2
#define NAME(x) x##_avx2
#include "dwi/odf_lanes.h"
#endif

#define LANES 4
#define WIDE 2
#define TARGET
#define NAME(x) x##_plain
#include "dwi/odf_lanes.h"

const gls_odf_kernel gls_odf_kernels[GLS_CPU_LEVELS] = GLS_CPU_VARIANTS(multiply);
