/* Compiles a file once for each instruction set for which CPU kernels are written (gls_cpu of threads.h). To use it,
 * define GLS_LEVEL_FILE, the file in quotes, and include this header. In that file
 *   LANES    is the number of doubles in a vector register
 *   TARGET   is the attribute of functions that allows the instructions
 *   NAME(x)  is x with the suffix of the set; GLS_CPU_VARIANTS(x) is then the table of all.
 * It has no guard, because one file may compile several others. */
#include "util/threads.h"

#if GLS_CPU_HAS_LEVELS
#define LANES 8
#define TARGET GLS_TARGET_AVX512
#define NAME(x) x##_avx512
#include GLS_LEVEL_FILE
#undef LANES
#undef TARGET
#undef NAME

#define LANES 4
#define TARGET GLS_TARGET_AVX2
#define NAME(x) x##_avx2
#include GLS_LEVEL_FILE
#undef LANES
#undef TARGET
#undef NAME
#endif

#define LANES 2
#define TARGET
#define NAME(x) x##_plain
#include GLS_LEVEL_FILE
#undef LANES
#undef TARGET
#undef NAME
#undef GLS_LEVEL_FILE
