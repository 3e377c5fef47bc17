/* OpenBLAS waits for ever where it finds no address space for its work space (under `ulimit -v`, say). */
#ifndef GLS_UTIL_BLAS_H
#define GLS_UTIL_BLAS_H

#include <glslines/common.h>

/* Before the first call of BLAS or LAPACK by some piece of work: GLS_ERR_MEMORY with the limit and what is wanted, if
 * the limit on the address space leaves too little for OpenBLAS on all threads. Nothing where there is no limit. */
gls_status gls_blas_check(const char *what);

#endif
