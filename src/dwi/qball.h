/* Q-ball models: OPDT (Tristan-Vega et al. 2010) and CSA (Aganj et al. 2010), with what the residual bootstrap needs
 * (Berman et al. 2008). */
#ifndef GLS_DWI_QBALL_H
#define GLS_DWI_QBALL_H

#include <glslines/common.h>

/* inverse (k x n) = (B'B + diag(penalty)^2)^-1 B' for basis B (n x k, n > k), all row-major, by a QR factorisation of B
 * above diag(penalty). leverage (n values, may be NULL): diagonal of the product of `basis` and `inverse`.
 * GLS_ERR_INPUT if the columns of B are dependent. */
gls_status gls_ridge_inverse(const double *basis, size_t n, size_t k, const double *penalty, double *inverse,
                             double *leverage);

#endif
