/* Makes the plan of a least-squares fit under inequalities (nonneg.h): the matrices that all voxels share. */
#include "dwi/nonneg_plan.h"
#include "dwi/nonneg.h"

#include "util/allocation.h"
#include "util/lapack.h"
#include "util/status.h"
#include "util/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RIDGE 1e-10 /* ridge, relative to the largest diagonal entry of the normal matrix */

void gls_nonneg_plan_finish(gls_nonneg_plan *plan)
{
    free(plan->project);
    free(plan->rows);
    free(plan->factor);
    free(plan->columns);
    free(plan->columns_float);
    free(plan->products);
    free(plan->wide_rows);
    plan->project = plan->rows = plan->factor = NULL;
    plan->columns = plan->products = plan->wide_rows = NULL;
    plan->columns_float = NULL;
}

/* Computes plan->factor, the Cholesky factor L of H'H with its ridge. design: H'H with standard_form, otherwise H.
 * Returns false if the matrix is not finite or not positive definite. */
static bool set_factor(gls_nonneg_plan *plan, const double *design, bool standard_form)
{
    size_t k = plan->k;
    double *normal = plan->factor, largest = 0;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = standard_form ? design[i * k + j] : 0;
            for (size_t t = 0; t < plan->n && !standard_form; t++) sum += design[t * k + i] * design[t * k + j];
            normal[i * k + j] = sum;
        }
    for (size_t i = 0; i < k; i++) largest = fmax(largest, normal[i * k + i]);
    for (size_t i = 0; i < k; i++) normal[i * k + i] += RIDGE * largest;
    gls_blas_begin();
    bool good =
        isfinite(largest) && gls_lapack()->dpotrf(LAPACK_ROW_MAJOR, 'L', (lapack_int)k, normal, (lapack_int)k) == 0;
    gls_blas_end();
    return good;
}

/* x = L^-1 x for a vector of length k. */
static void forward(const gls_nonneg_plan *plan, double *x)
{
    for (size_t i = 0; i < plan->k; i++) {
        for (size_t j = 0; j < i; j++) x[i] -= plan->factor[i * plan->k + j] * x[j];
        x[i] /= plan->factor[i * plan->k + i];
    }
}

/* Fills the matrix that takes the data of a voxel to its unconstrained solution y_u = L^-1 H' s. standard_form: the
 * data are H' s already. */
static void set_project(gls_nonneg_plan *plan, const double *design, bool standard_form)
{
    for (size_t t = 0; t < plan->n; t++) {
        double *column = plan->project + t * plan->padded;
        if (standard_form)
            column[t] = 1;
        else
            memcpy(column, design + t * plan->k, plan->k * sizeof *column);
        forward(plan, column);
    }
}

/* Computes B (plan->rows, rows of length 1). rows: the matrix A of the inequalities. */
static void set_rows(gls_nonneg_plan *plan, const double *rows)
{
    size_t k = plan->k;
    for (size_t r = 0; r < plan->n_rows; r++) {
        double *row = plan->rows + r * plan->padded, norm = 0;
        memcpy(row, rows + r * k, k * sizeof *row);
        /* a row of A L^-T is L^-1 times the row of A */
        forward(plan, row);
        for (size_t j = 0; j < k; j++) norm += row[j] * row[j];
        for (size_t j = 0; j < k; j++) row[j] /= sqrt(norm);
    }
}

/* n rounded up to a multiple of `to`. */
static size_t rounded(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* Computes the matrices of the active set method. Returns false if memory runs out. */
static bool set_active(gls_nonneg_plan *plan)
{
    size_t k = plan->k, n = plan->n_rows;
    plan->stride = rounded(n, 64);
    plan->wide = rounded(k, 8);
    /* more rows than coefficients may be active, because SOFTNESS keeps the matrix of active rows regular */
    plan->max_active = rounded(2 * k + 16 < n ? 2 * k + 16 : n, 8);
    plan->columns = gls_aligned_zeros(plan->wide * plan->stride);
    plan->columns_float = (float *)gls_aligned_zeros((plan->wide * plan->stride + 1) / 2);
    plan->products = gls_aligned_zeros(n * plan->stride);
    plan->wide_rows = gls_aligned_zeros(n * plan->wide);
    if (!plan->columns || !plan->columns_float || !plan->products || !plan->wide_rows) return false;
    for (size_t r = 0; r < n; r++) {
        const double *row = plan->rows + r * plan->padded;
        memcpy(plan->wide_rows + r * plan->wide, row, k * sizeof *row);
        for (size_t j = 0; j < k; j++) {
            plan->columns[j * plan->stride + r] = row[j];
            plan->columns_float[j * plan->stride + r] = (float)row[j];
        }
        for (size_t q = 0; q < n; q++)
            for (size_t j = 0; j < k; j++)
                plan->products[r * plan->stride + q] += row[j] * plan->rows[q * plan->padded + j];
    }
    return true;
}

gls_status gls_nonneg_plan_init(gls_nonneg_plan *plan, const char *what, const double *design, size_t n, size_t k,
                                bool standard_form, const double *rows, size_t n_rows)
{
    GLS_REQUIRE(plan && design && rows && k > 0 && n_rows > 0 && (!standard_form || n == k));
    gls_status status = gls_blas_check(what);
    size_t padded = rounded(k, GLS_NONNEG_TILE);
    *plan = (gls_nonneg_plan){.n = n, .k = k, .padded = padded, .n_rows = n_rows};
    if (status) return status;
    plan->project = gls_aligned_zeros(n * padded);
    plan->rows = gls_aligned_zeros(rounded(n_rows, 8) * padded);
    plan->factor = gls_aligned_zeros(k * k);
    if (!plan->project || !plan->rows || !plan->factor)
        status = gls_fail(GLS_ERR_MEMORY, "%s: out of memory for a fit of %zu coefficients", what, k);
    else if (!set_factor(plan, design, standard_form))
        status = gls_fail(GLS_ERR_INPUT, "%s: the data do not determine %zu coefficients", what, k);
    if (status) goto fail;
    set_project(plan, design, standard_form);
    set_rows(plan, rows);
    if (!set_active(plan)) status = gls_fail(GLS_ERR_MEMORY, "%s: out of memory for %zu constraints", what, n_rows);
fail:
    if (status) gls_nonneg_plan_finish(plan);
    return status;
}
