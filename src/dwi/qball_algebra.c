/* Ridge regression of q-ball models by QR, which is better conditioned than the normal equations. */
#include "dwi/odf_parts.h"

#include "util/threads.h"
#include "util/lapack.h"
#include "util/status.h"

#include <stdlib.h>
#include <string.h>

/* Smallest reciprocal condition number of a basis at the gradient directions. With a smaller one the directions do not
 * determine the coefficients. */
#define MIN_RECIPROCAL_CONDITION 1e-10

/* Computes the QR factorisation of a rows x k matrix (rows >= k): q becomes orthonormal in place; r: k x k, upper
 * triangle; tau: k numbers of work space. GLS_ERR_INPUT if r is singular within rounding. */
static gls_status factor(double *q, size_t rows, size_t k, double *r, double *tau)
{
    lapack_int m = (lapack_int)rows, n = (lapack_int)k;
    double condition = 0;
    if (gls_lapack()->dgeqrf(LAPACK_ROW_MAJOR, m, n, q, n, tau) != 0)
        return gls_fail(GLS_ERR_MEMORY, "QR factorisation of a %zu x %zu matrix failed", rows, k);
    memcpy(r, q, k * k * sizeof *r);
    if (gls_lapack()->dtrcon(LAPACK_ROW_MAJOR, '1', 'U', 'N', n, r, n, &condition) != 0)
        return gls_fail(GLS_ERR_MEMORY, "the condition of a %zu x %zu matrix cannot be computed", rows, k);
    if (!(condition > MIN_RECIPROCAL_CONDITION))
        return gls_fail(GLS_ERR_INPUT,
                        "the gradient directions do not determine %zu SH coefficients (too few different ones, or in "
                        "one plane): lower --sh-order",
                        k);
    if (gls_lapack()->dorgqr(LAPACK_ROW_MAJOR, m, n, n, q, n, tau) != 0)
        return gls_fail(GLS_ERR_MEMORY, "QR factorisation of a %zu x %zu matrix failed", rows, k);
    return GLS_OK;
}

/* Least squares with a penalty as plain least squares: the penalty becomes k further rows, whose data are 0. With basis
 * and penalty = Q R the inverse is R^-1 Q'. A QR factorisation loses half as many digits as the normal equations. */
gls_status gls_ridge_inverse(const double *basis, size_t n, size_t k, const double *penalty, double *inverse,
                             double *leverage)
{
    gls_status status = gls_blas_check("spherical harmonics");
    if (status) return status;
    size_t rows = n + k;
    double *q = calloc(rows * k, sizeof *q), *r = malloc(k * k * sizeof *r), *tau = malloc(k * sizeof *tau);
    if (!q || !r || !tau) {
        status = GLS_ERR_MEMORY;
        gls_fail(status, "out of memory for a %zu x %zu matrix", rows, k);
        goto fail;
    }
    /* q: the basis above the diagonal matrix of the penalty */
    memcpy(q, basis, n * k * sizeof *q);
    for (size_t j = 0; j < k; j++) q[(n + j) * k + j] = penalty[j];
    gls_blas_begin();
    status = factor(q, rows, k, r, tau);
    if (status) goto end;
    /* inverse = R^-1 Q', from the upper rows of Q */
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < k; j++) inverse[j * n + i] = q[i * k + j];
    }
    lapack_int info = gls_lapack()->dtrtrs(LAPACK_ROW_MAJOR, 'U', 'N', 'N', (lapack_int)k, (lapack_int)n, r,
                                           (lapack_int)k, inverse, (lapack_int)n);
    if (info != 0) {
        status = gls_fail(GLS_ERR_MEMORY, "inversion of a %zu x %zu matrix failed", k, k);
        goto end;
    }
    /* diagonal of Q Q', the hat matrix */
    for (size_t i = 0; leverage && i < n; i++) {
        leverage[i] = 0;
        for (size_t j = 0; j < k; j++) leverage[i] += q[i * k + j] * q[i * k + j];
    }
end:
    gls_blas_end();
fail:
    free(q);
    free(r);
    free(tau);
    return status;
}
