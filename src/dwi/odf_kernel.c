/* ODF kernels for the instruction sets worth having, chosen at run time: results differ by rounding only. */
#include "dwi/odf_parts.h"

#include <string.h>

/* Fused multiply-add where the target has it; gcc does not fuse in ISO mode unless told, clang does. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=fast")
#endif

#if defined(__x86_64__)
#define LANES 16
#define WIDE 4
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl,avx2,fma")))
#define NAME(x) x##_avx512
#include "dwi/odf_lanes.h"

#define LANES 8
#define WIDE 2
#define TARGET __attribute__((target("avx2,fma")))
#define NAME(x) x##_avx2
#include "dwi/odf_lanes.h"
#endif

#define LANES 4
#define WIDE 2
#define TARGET
#define NAME(x) x##_plain
#include "dwi/odf_lanes.h"

size_t gls_odf_kernel_list(gls_odf_kernel kernels[3])
{
    size_t n = 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        kernels[n++] = multiply_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) kernels[n++] = multiply_avx2;
#endif
    kernels[n++] = multiply_plain;
    return n;
}

gls_odf_kernel gls_odf_kernel_best(void)
{
    gls_odf_kernel kernels[3];
    gls_odf_kernel_list(kernels);
    return kernels[0];
}
