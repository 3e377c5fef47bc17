/* The library that is linked to OpenBLAS and LAPACKE, and loaded by src/util/blas.c. */
#include "util/lapack.h"

extern int openblas_get_num_threads(void);
extern void openblas_set_num_threads(int n);
extern int openblas_get_parallel(void);
extern char *openblas_get_config(void);

#define FUNCTION(name, parameters) .name = LAPACKE_##name,
__attribute__((visibility("default"))) const gls_lapack_functions gls_lapack_loaded = {
    GLS_LAPACK_FUNCTIONS(FUNCTION).sgemm = cblas_sgemm,
    .set_threads = openblas_set_num_threads,
    .get_threads = openblas_get_num_threads,
    .get_parallel = openblas_get_parallel,
    .get_config = openblas_get_config,
};
