/* Q-ball models: OPDT (Tristan-Vega et al. 2010) and CSA (Aganj et al. 2010), with what the residual bootstrap needs
 * (Berman et al. 2008). Ridge regression is by QR, which is better conditioned than the normal equations. */
#include <glslines/qball.h>

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/sh.h>

#include "dwi/qball.h"
#include "util/lapack.h"
#include "util/status.h"
#include "util/threads.h"

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
        gls_error_set("out of memory for a %zu x %zu matrix", rows, k);
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

#define MAX_ORDER 8
#define MAX_COEFFICIENTS ((MAX_ORDER + 1) * (MAX_ORDER + 2) / 2)
/* the attenuation E stays this far from 0 and 1, where CSA's ln(-ln E) is infinite */
#define CSA_MARGIN 0.001
#define MIN_FREEDOM 1e-6 /* a volume with a smaller 1 - leverage has no residual to bootstrap */

gls_qball_options gls_qball_options_default(void)
{
    return (gls_qball_options){
        .size = sizeof(gls_qball_options), .model = GLS_QBALL_OPDT, .sh_order = 4, .smooth = 0.006, .min_signal = 1};
}

void gls_qball_destroy(gls_qball *qball)
{
    if (!qball) return;
    free(qball->volume);
    free(qball->basis);
    free(qball->basis_inverse);
    free(qball->leverage_scale);
    free(qball->fit);
    free(qball->laplacian);
    free(qball->fit_scale);
    free(qball);
}

/* Legendre polynomial P_l(0) of even degree l. */
static double legendre_at_zero(int l)
{
    double p = 1;
    for (int i = 2; i <= l; i += 2) p *= -(i - 1.0) / i;
    return p;
}

/* Requires b0 volumes and more weighted volumes than coefficients; several shells are an error if require_single_shell
 * is true, otherwise a warning. *n_weighted: number of weighted volumes. */
static gls_status check_table(const gls_gradients *gradients, const gls_qball_options *options,
                              bool require_single_shell, size_t *n_weighted)
{
    double low = INFINITY, high = 0;
    size_t n = 0;
    for (size_t i = 0; i < gradients->n; i++) {
        if (gradients->is_b0[i]) continue;
        low = fmin(low, gradients->bval[i]);
        high = fmax(high, gradients->bval[i]);
        n++;
    }
    size_t k = gls_sh_count(options->sh_order);
    if (n == gradients->n)
        return gls_fail(GLS_ERR_INPUT, "the gradient table has no b0 volume; q-ball models need one");
    if (n <= k)
        return gls_fail(GLS_ERR_INPUT,
                        "%zu diffusion-weighted volume%s too few for SH order %d: its %zu coefficients need at least "
                        "%zu; lower --sh-order",
                        n, n == 1 ? " is" : "s are", options->sh_order, k, k + 1);
    if (high - low > 20 && high - low > 0.01 * low) {
        if (require_single_shell)
            return gls_fail(GLS_ERR_INPUT,
                            "q-ball models need one shell, but the weighted volumes have b-values from %g to %g s/mm2: "
                            "select a shell (--shells)",
                            low, high);
        gls_log(
            GLS_LOG_WARNING,
            "the q-ball model treats all weighted volumes as one shell, though their b-values go from %g to %g s/mm2",
            low, high);
    }
    *n_weighted = n;
    return GLS_OK;
}

/* Allocates a model of n weighted volumes; its matrices are not filled yet. NULL if memory runs out.
 * gls_qball_destroy() frees a model, also one that is partly allocated. */
static gls_qball *qball_alloc(const gls_qball_options *options, size_t n)
{
    gls_qball *q = calloc(1, sizeof *q);
    if (!q) return NULL;
    size_t k = gls_sh_count(options->sh_order);
    q->options = *options;
    q->n = n;
    q->k = k;
    q->volume = malloc(n * sizeof *q->volume);
    q->basis = malloc(n * k * sizeof *q->basis);
    q->basis_inverse = malloc(k * n * sizeof *q->basis_inverse);
    q->leverage_scale = malloc(n * sizeof *q->leverage_scale);
    q->fit = malloc(k * n * sizeof *q->fit);
    q->laplacian = malloc(k * sizeof *q->laplacian);
    q->fit_scale = malloc(k * sizeof *q->fit_scale);
    if (q->volume && q->basis && q->basis_inverse && q->leverage_scale && q->fit && q->laplacian && q->fit_scale)
        return q;
    gls_qball_destroy(q);
    return NULL;
}

/* Fills q->volume with the indices of the weighted volumes and q->basis (n x k, row-major) with the basis at their
 * directions along the voxel axes. */
static gls_status set_basis(gls_qball *q, const gls_gradients *gradients)
{
    double(*direction)[3] = malloc(q->n * sizeof *direction);
    if (!direction) return gls_fail(GLS_ERR_MEMORY, "out of memory for a q-ball model of %zu volumes", q->n);
    size_t n = 0;
    for (size_t i = 0; i < gradients->n; i++) {
        if (gradients->is_b0[i]) continue;
        memcpy(direction[n], gradients->bvec[i], sizeof *direction);
        q->volume[n++] = i;
    }
    gls_status status =
        gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, q->options.sh_order, (const double(*)[3])direction, n, q->basis);
    free(direction);
    return status;
}

/* Eigenvalues -l (l + 1) of the Laplace-Beltrami operator, and the factors by which the Funk-Radon transform takes
 * coefficients of the fit to coefficients of the ODF: P_l(0), for CSA times -l (l + 1) / (8 pi). */
static void set_scales(gls_qball *q)
{
    for (size_t j = 0; j < q->k; j++) {
        int l = gls_sh_degree(j);
        q->laplacian[j] = -(double)l * (l + 1);
        q->fit_scale[j] = legendre_at_zero(l);
        if (q->options.model == GLS_QBALL_CSA) q->fit_scale[j] *= q->laplacian[j] / (8 * M_PI);
    }
}

/* Fills q->leverage_scale with the factors 1 / sqrt(1 - leverage) of the bootstrap's residuals, which give all
 * residuals the same variance. GLS_ERR_INPUT if a volume has leverage 1: its residual is 0 whatever the noise. */
static gls_status set_leverage_scale(gls_qball *q, const double *leverage)
{
    for (size_t i = 0; i < q->n; i++) {
        double freedom = 1 - leverage[i];
        if (freedom < MIN_FREEDOM)
            return gls_fail(GLS_ERR_INPUT,
                            "volume %zu (counted from 0) alone determines a coefficient of SH order %d (leverage 1), "
                            "so that it has no residual to bootstrap: lower --sh-order",
                            q->volume[i], q->options.sh_order);
        q->leverage_scale[i] = 1 / sqrt(freedom);
    }
    return GLS_OK;
}

/* Computes both pseudo-inverses: without a penalty for the hat matrix of the bootstrap, and with the penalty smooth l^2
 * (l + 1)^2 for the fit (Descoteaux et al. 2007). */
static gls_status solve(gls_qball *q)
{
    double *penalty = calloc(q->k, sizeof *penalty), *leverage = malloc(q->n * sizeof *leverage);
    gls_status status = GLS_ERR_MEMORY;
    if (!penalty || !leverage) {
        gls_error_set("out of memory for a q-ball model of %zu volumes", q->n);
        goto fail;
    }
    status = gls_ridge_inverse(q->basis, q->n, q->k, penalty, q->basis_inverse, leverage);
    if (!status) status = set_leverage_scale(q, leverage);
    if (status) goto fail;
    for (size_t j = 0; j < q->k; j++) penalty[j] = sqrt(q->options.smooth) * -q->laplacian[j];
    status = gls_ridge_inverse(q->basis, q->n, q->k, penalty, q->fit, NULL);
fail:
    free(penalty);
    free(leverage);
    return status;
}

gls_status gls_qball_create(const gls_gradients *gradients, const gls_qball_options *options, gls_shell_rule shells,
                            gls_qball **qball)
{
    GLS_REQUIRE_SIZE(options);
    GLS_REQUIRE(gradients && qball);
    GLS_REQUIRE_TABLE(gradients);
    const gls_qball_options defaults = gls_qball_options_default();
    if (!options) options = &defaults;
    GLS_REQUIRE(options->model == GLS_QBALL_OPDT || options->model == GLS_QBALL_CSA);
    GLS_REQUIRE(options->sh_order >= 2 && options->sh_order <= MAX_ORDER && options->sh_order % 2 == 0);
    GLS_REQUIRE(isfinite(options->smooth) && options->smooth >= 0);
    GLS_REQUIRE(isfinite(options->min_signal) && options->min_signal > 0);
    gls_status ready = gls_blas_check("q-ball model");
    if (ready != GLS_OK) return ready;
    size_t n = 0;
    gls_status status = check_table(gradients, options, shells == GLS_SHELLS_ONE, &n);
    if (status) return status;
    gls_qball *q = qball_alloc(options, n);
    if (!q) return gls_fail(GLS_ERR_MEMORY, "out of memory for a q-ball model of %zu volumes", n);
    set_scales(q);
    status = set_basis(q, gradients);
    if (!status) status = solve(q);
    if (status) {
        gls_qball_destroy(q);
        return status;
    }
    *qball = q;
    return GLS_OK;
}

/* With the attenuation E = S / S0, f = -E ln E (3/2 + ln E), the Laplace-Beltrami operator L and the Funk-Radon
 * transform FRT, OPDT is FRT(4 f - L(E)) / (2 pi); CSA is FRT(L(ln(-ln E))) / (16 pi^2), whose coefficient of l = 0 is
 * replaced by the coefficient of a function of integral 1. fit_scale contains the Funk-Radon transform, and for CSA
 * also L. */
void gls_qball_fit(const gls_qball *qball, const double *signal, double s0, double *coefficients)
{
    assert(qball->k <= MAX_COEFFICIENTS && s0 > 0);
    double direct[MAX_COEFFICIENTS] = {0}, curved[MAX_COEFFICIENTS] = {0};
    bool csa = qball->options.model == GLS_QBALL_CSA;
    size_t n = qball->n, k = qball->k;
    for (size_t i = 0; i < n; i++) {
        double e = fmax(signal[i], qball->options.min_signal) / s0, f;
        if (csa) {
            e = fmin(fmax(e, CSA_MARGIN), 1 - CSA_MARGIN);
            f = log(-log(e));
        } else {
            f = -e * log(e) * (1.5 + log(e));
        }
        /* adds volume i to the coefficients of E and f, which are scaled below */
        for (size_t j = 0; j < k; j++) {
            direct[j] += qball->fit[j * n + i] * e;
            curved[j] += qball->fit[j * n + i] * f;
        }
    }
    for (size_t j = 0; j < k; j++)
        coefficients[j] = qball->fit_scale[j] * (csa ? curved[j] : 4 * curved[j] - qball->laplacian[j] * direct[j]);
    if (csa) coefficients[0] = 0.5 / sqrt(M_PI);
}

/* The hat matrix is B (B'B)^-1 B', applied in two steps: coefficients, then predictions. Residuals are scaled by their
 * leverage and centred, so that a draw with replacement has mean 0. */
void gls_qball_hat(const gls_qball *qball, const double *signal, double *hat, double *residual)
{
    assert(qball->k <= MAX_COEFFICIENTS);
    double c[MAX_COEFFICIENTS], mean = 0;
    size_t n = qball->n, k = qball->k;
    for (size_t j = 0; j < k; j++) {
        c[j] = 0;
        for (size_t i = 0; i < n; i++) c[j] += qball->basis_inverse[j * n + i] * signal[i];
    }
    for (size_t i = 0; i < n; i++) {
        double h = 0;
        for (size_t j = 0; j < k; j++) h += qball->basis[i * k + j] * c[j];
        residual[i] = qball->leverage_scale[i] * (signal[i] - h);
        hat[i] = h;
        mean += residual[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) residual[i] -= mean;
}
