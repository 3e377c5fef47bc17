/* LAPACK and BLAS on the CPU: OpenBLAS and LAPACKE, which a library of its own (src/blas) is linked to. It is loaded at
 * the first use: OpenBLAS starts its threads and takes their memory when it is loaded, which most commands need not
 * wait for, and waits for ever where the address space is limited and leaves too little. */
#ifndef GLS_UTIL_LAPACK_H
#define GLS_UTIL_LAPACK_H

#include <cblas.h>
#include <lapacke.h>

/* Functions of LAPACKE that are used: name, parameters. */
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
typedef struct gls_lapack_functions {
    GLS_LAPACK_FUNCTIONS(GLS_LAPACK_MEMBER)
    __typeof__(&cblas_sgemm) sgemm;
    void (*set_threads)(int n);
    int (*get_threads)(void);
    int (*get_parallel)(void);
    char *(*get_config)(void);
} gls_lapack_functions;
#undef GLS_LAPACK_MEMBER

/* Of the library of src/blas. */
#define GLS_LAPACK_SYMBOL "gls_lapack_loaded"
extern const gls_lapack_functions gls_lapack_loaded;

/* Where gls_blas_check() fails, its functions do, too: those of LAPACK return LAPACK_WORK_MEMORY_ERROR, the others do
 * nothing. */
const gls_lapack_functions *gls_lapack(void);

#endif
