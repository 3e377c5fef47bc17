/* Tensor kernels for the instruction sets worth having, chosen at run time: results differ by rounding only. */
#include "dwi/tensor_plan.h"

#include <math.h>

/* Fused multiply-add where the target has it; gcc does not fuse in ISO mode unless told, clang does. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=fast", "no-math-errno")
#endif

/* Smallest pivot relative to its diagonal entry: what is left of 16 digits still gives FA to 1e-6. */
#define MIN_PIVOT 1e-9

#if defined(__x86_64__)
#define LANES 8
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl,avx2,fma")))
#define NAME(x) x##_avx512
#include "dwi/tensor_lanes.h"

#define LANES 4
#define TARGET __attribute__((target("avx2,fma")))
#define NAME(x) x##_avx2
#include "dwi/tensor_lanes.h"
#endif

#define LANES 2
#define TARGET
#define NAME(x) x##_plain
#include "dwi/tensor_lanes.h"

size_t gls_tensor_kernel_list(gls_tensor_kernel kernels[3])
{
    size_t n = 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        kernels[n++] = fit_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) kernels[n++] = fit_avx2;
#endif
    kernels[n++] = fit_plain;
    return n;
}

gls_tensor_kernel gls_tensor_kernel_best(void)
{
    gls_tensor_kernel kernels[3];
    gls_tensor_kernel_list(kernels);
    return kernels[0];
}
