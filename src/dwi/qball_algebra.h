/* Least squares behind the q-ball models. */
#ifndef GLS_DWI_QBALL_ALGEBRA_H
#define GLS_DWI_QBALL_ALGEBRA_H

#include <glslines/common.h>

/* inverse = (B'B + diag(penalty)^2)^-1 B' for B n x k, n > k, all row-major (inverse is k x n), by a QR factorisation
 * of B above diag(penalty). leverage (n values, may be NULL) gets the diagonal of B inverse. GLS_ERR_INPUT if the
 * columns are not independent. */
gls_status gls_ridge_inverse(const double *basis, size_t n, size_t k, const double *penalty, double *inverse,
                             double *leverage);

#endif
