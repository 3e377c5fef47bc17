/* Which of the instruction sets that kernels on the CPU are written for this processor has: the one place that asks. */
#ifndef GLS_UTIL_CPU_H
#define GLS_UTIL_CPU_H

/* Each level has the instructions of those before it. On other processors than x86-64 there is only the first. */
typedef enum gls_cpu {
    GLS_CPU_PLAIN,  /* what the compiler may use without asking */
    GLS_CPU_AVX2,   /* AVX2, FMA and F16C */
    GLS_CPU_AVX512, /* AVX-512 F, DQ, VL and BW */
    GLS_CPU_LEVELS
} gls_cpu;

/* For functions compiled for a level, at file scope; and a table of them with a place for each level. */
#if defined(__x86_64__) && defined(__GNUC__)
#define GLS_CPU_HAS_LEVELS 1
#define GLS_CPU_VARIANTS(name)                   \
    {                                            \
        name##_plain, name##_avx2, name##_avx512 \
    }
#define GLS_TARGET_AVX2 __attribute__((target("avx2,fma,f16c")))
#define GLS_TARGET_AVX512 __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")))
#else
#define GLS_CPU_HAS_LEVELS 0
#define GLS_CPU_VARIANTS(name) \
    {                          \
        name##_plain           \
    }
#endif

/* The highest level of this processor; it is found out once. Any thread. */
gls_cpu gls_cpu_level(void);

#endif
