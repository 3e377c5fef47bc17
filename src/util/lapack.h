/* Access to BLAS and LAPACK. Call functions through gls_lapack(), e.g. gls_lapack()->dposv(...). OpenBLAS and LAPACKE
 * are linked to a library of their own (src/blas), which is loaded at the first use, because loading OpenBLAS starts
 * its threads and takes their memory: most commands do not need them, and with a small limit on the address space
 * OpenBLAS waits for ever. */
#ifndef GLS_UTIL_LAPACK_H
#define GLS_UTIL_LAPACK_H

#include <cblas.h>
#include <lapacke.h>

/* The functions of LAPACKE that the library uses: ROW(name, parameters). */
#define GLS_LAPACK_FUNCTIONS(ROW)                                                                                      \
    ROW(dgelsd, (int order, lapack_int m, lapack_int n, lapack_int n_right, double *a, lapack_int lda, double *b,      \
                 lapack_int ldb, double *s, double rcond, lapack_int *rank))                                           \
    ROW(dgeqrf, (int order, lapack_int m, lapack_int n, double *a, lapack_int lda, double *tau))                       \
    ROW(dgesdd, (int order, char job, lapack_int m, lapack_int n, double *a, lapack_int lda, double *s, double *u,     \
                 lapack_int ldu, double *vt, lapack_int ldvt))                                                         \
    ROW(dorgqr, (int order, lapack_int m, lapack_int n, lapack_int k, double *a, lapack_int lda, const double *tau))   \
    ROW(dpocon, (int order, char part, lapack_int n, const double *a, lapack_int lda, double norm, double *condition)) \
    ROW(dposv, (int order, char part, lapack_int n, lapack_int n_right, double *a, lapack_int lda, double *b,          \
                lapack_int ldb))                                                                                       \
    ROW(dpotrf, (int order, char part, lapack_int n, double *a, lapack_int lda))                                       \
    ROW(dpotrs, (int order, char part, lapack_int n, lapack_int n_right, const double *a, lapack_int lda, double *b,   \
                 lapack_int ldb))                                                                                      \
    ROW(dsyev, (int order, char job, char part, lapack_int n, double *a, lapack_int lda, double *w))                   \
    ROW(dtrcon, (int order, char norm, char part, char unit, lapack_int n, const double *a, lapack_int lda,            \
                 double *condition))                                                                                   \
    ROW(dtrtrs, (int order, char part, char transposed, char unit, lapack_int n, lapack_int n_right, const double *a,  \
                 lapack_int lda, double *b, lapack_int ldb))

#define GLS_LAPACK_MEMBER(name, parameters) __typeof__(&LAPACKE_##name) name;
/* The functions of the loaded library. */
typedef struct gls_lapack_functions {
    GLS_LAPACK_FUNCTIONS(GLS_LAPACK_MEMBER)
    __typeof__(&cblas_sgemm) sgemm;
    void (*set_threads)(int n);
    int (*get_threads)(void);
    int (*get_parallel)(void);
    char *(*get_config)(void);
} gls_lapack_functions;
#undef GLS_LAPACK_MEMBER

/* The table of functions that the library of src/blas exports. */
#define GLS_LAPACK_SYMBOL "gls_lapack_loaded"
extern const gls_lapack_functions gls_lapack_loaded;

/* The functions of BLAS and LAPACK; loads OpenBLAS at the first call. Never NULL: if gls_blas_check() fails, the
 * functions of LAPACK return LAPACK_WORK_MEMORY_ERROR, and the other members are NULL. */
const gls_lapack_functions *gls_lapack(void);

#endif
