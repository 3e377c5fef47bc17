/* OpenBLAS: whether there is memory for it, and its threads. Its functions are in util/lapack.h. */
#ifndef GLS_UTIL_BLAS_H
#define GLS_UTIL_BLAS_H

#include <glslines/common.h>

/* Before the first call of BLAS or LAPACK by some piece of work, which loads it: GLS_ERR_MEMORY with the limit and what
 * is wanted, if the limit on the address space leaves too little for OpenBLAS on all threads: it would wait for ever.
 * GLS_ERR_UNSUPPORTED: there is no such library. */
gls_status gls_blas_check(const char *what);

/* Threads of products of matrices, from now on or from when OpenBLAS is loaded. */
void gls_blas_set_threads(int n);
/* What OpenBLAS says of itself; NULL where nothing has used it. */
const char *gls_blas_config(void);

/* Between the two OpenBLAS computes on one thread: with several of them its sums depend on their number. What is fitted
 * is small, so that the fit takes no longer. Pairs nest, and may be open on several threads; what was set before comes
 * back after the last. The setting is the process's: meanwhile the calling program's own OpenBLAS has one thread, too,
 * if it is the same library. */
void gls_blas_begin(void);
void gls_blas_end(void);
/* The threads of OpenMP for a parallel region: those inside of a pair name them, as OpenMP's own number may be 1 there.
 */
int gls_blas_team(void);

#endif
