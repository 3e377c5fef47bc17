#include "util/threads.h"

#if GLS_CPU_HAS_LEVELS
#include <cpuid.h>
#include <stdbool.h>

/* The compiler's question, with the answer of the operating system; gcc 12 does not ask for F16C by that name. */
static gls_cpu ask(void)
{
    unsigned a, b, c, d;
    __builtin_cpu_init();
    bool f16c = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !f16c) return GLS_CPU_PLAIN;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw"))
        return GLS_CPU_AVX512;
    return GLS_CPU_AVX2;
}

gls_cpu gls_cpu_level(void)
{
    /* kept, since on virtual machines every such question leaves the guest; threads that ask at once agree */
    static _Atomic int known;
    if (known == 0) known = 1 + (int)ask();
    return (gls_cpu)(known - 1);
}
#else
gls_cpu gls_cpu_level(void)
{
    return GLS_CPU_PLAIN;
}
#endif
