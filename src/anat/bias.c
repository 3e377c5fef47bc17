/* Smooth fields over images, fitted by weighted least squares on products of cosines. Sums go over rows, then over the
 * rows of a slice, then over slices, so that their order does not depend on threads. */
#include "anat/bias.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/lapack.h"
#include "util/status.h"
#include "util/threads.h"

#define HALF_WAVE 60.0 /* mm, the shortest */
#define RIDGE 1e-4     /* share of the mean diagonal that is added to the diagonal */

gls_status gls_bias_init(gls_bias *b, const gls_grid *grid)
{
    *b = (gls_bias){.dim = {grid->dim[0], grid->dim[1], grid->dim[2]}};
    const gls_status status = gls_blas_check("bias field");
    if (status) return status;
    for (int a = 0; a < 3; a++) {
        const int n = grid->dim[a];
        b->n[a] = (int)(n * grid->voxel_size[a] / HALF_WAVE) + 1;
        if (b->n[a] > n) b->n[a] = n;
        b->basis[a] = malloc((size_t)n * (size_t)b->n[a] * sizeof *b->basis[a]);
        if (!b->basis[a]) return gls_no_memory();
        for (int k = 0; k < b->n[a]; k++)
            for (int i = 0; i < n; i++)
                b->basis[a][i * b->n[a] + k] = sqrt((k > 0 ? 2.0 : 1.0) / n) * cos(M_PI * (i + 0.5) * k / n);
    }
    return GLS_OK;
}

void gls_bias_finish(gls_bias *b)
{
    for (int a = 0; a < 3; a++) free(b->basis[a]);
    *b = (gls_bias){.n = {0}};
}

/* Adds to sum[] the products of `n_in` numbers with the functions at one place of an axis: sum[i * n + k] += in[i] *
 * function[k]. */
static void spread(double *sum, const double *in, size_t n_in, const double *function, size_t n)
{
    for (size_t i = 0; i < n_in; i++)
        for (size_t k = 0; k < n; k++) sum[i * n + k] += in[i] * function[k];
}

/* All products of two functions at one place of an axis. */
static void square(const double *function, size_t n, double *products)
{
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k < n; k++) products[j * n + k] = function[j] * function[k];
}

/* Sums over one slice: of weights with products of functions of x and y (normal), and of weighted values with functions
 * (right). scratch: memory for n[0]^2 + n[0] + n[1]^2 + n[0]^2 numbers. */
static void add_slice(const gls_bias *b, const float *value, const float *weight, double *normal, double *right,
                      double *scratch)
{
    const size_t nx = (size_t)b->n[0], ny = (size_t)b->n[1];
    double *row = scratch, *row_right = row + nx * nx, *products = row_right + nx, *products_x = products + ny * ny;
    for (size_t y = 0; y < (size_t)b->dim[1]; y++) {
        memset(row, 0, (nx * nx + nx) * sizeof *row);
        bool any = false;
        for (size_t x = 0; x < (size_t)b->dim[0]; x++) {
            const size_t v = y * (size_t)b->dim[0] + x;
            const double w = (double)weight[v], weighted = w * (double)value[v], *f = b->basis[0] + x * nx;
            if (!(w > 0)) continue;
            any = true;
            square(f, nx, products_x);
            for (size_t i = 0; i < nx * nx; i++) row[i] += w * products_x[i];
            for (size_t i = 0; i < nx; i++) row_right[i] += weighted * f[i];
        }
        if (!any) continue;
        square(b->basis[1] + y * ny, ny, products);
        spread(normal, row, nx * nx, products, ny * ny);
        spread(right, row_right, nx, b->basis[1] + y * ny, ny);
    }
}

/* Solves the normal equations. normal: by pairs of functions of x, of y, then of z; right: by functions of x, y, z, and
 * gets the coefficients. */
static gls_status solve(const gls_bias *b, const double *normal, double *right)
{
    const size_t nx = (size_t)b->n[0], ny = (size_t)b->n[1], nz = (size_t)b->n[2], n = nx * ny * nz, m = n - 1;
    double trace = 0;
    if (m == 0) {
        right[0] = 0;
        return GLS_OK;
    }
    double *a = calloc(m * m, sizeof *a);
    if (!a) return gls_no_memory();
    for (size_t i = 1; i < n; i++)
        for (size_t j = 1; j < n; j++) {
            const size_t x = i / (ny * nz) * nx + j / (ny * nz), y = i / nz % ny * ny + j / nz % ny,
                         z = i % nz * nz + j % nz;
            a[(i - 1) * m + j - 1] = normal[(x * ny * ny + y) * nz * nz + z];
        }
    for (size_t i = 0; i < m; i++) trace += a[i * m + i];
    for (size_t i = 0; i < m; i++) a[i * m + i] += RIDGE * trace / (double)m;
    const bool solved =
        gls_lapack()->dposv(LAPACK_ROW_MAJOR, 'L', (lapack_int)m, 1, a, (lapack_int)m, right + 1, 1) == 0;
    free(a);
    right[0] = 0;
    return solved ? GLS_OK : gls_fail(GLS_ERR_INPUT, "bias field: its equations have no solution: is the mask empty?");
}

/* Stores the field of these coefficients. */
static void evaluate(const gls_bias *b, const double *coefficient, float *field)
{
    const size_t nx = (size_t)b->n[0], ny = (size_t)b->n[1], nz = (size_t)b->n[2];
#pragma omp parallel for schedule(static)
    for (int32_t z = 0; z < b->dim[2]; z++)
        for (int32_t y = 0; y < b->dim[1]; y++) {
            float *out = field + ((size_t)z * (size_t)b->dim[1] + (size_t)y) * (size_t)b->dim[0];
            for (int32_t x = 0; x < b->dim[0]; x++) out[x] = 0;
            for (size_t i = 0; i < nx; i++) {
                double c = 0;
                for (size_t j = 0; j < ny; j++)
                    for (size_t k = 0; k < nz; k++)
                        c += coefficient[(i * ny + j) * nz + k] * b->basis[1][(size_t)y * ny + j] *
                             b->basis[2][(size_t)z * nz + k];
                for (int32_t x = 0; x < b->dim[0]; x++) out[x] += (float)(c * b->basis[0][(size_t)x * nx + i]);
            }
        }
}

gls_status gls_bias_fit(const gls_bias *b, const float *value, const float *weight, float *field)
{
    const size_t nx = (size_t)b->n[0], ny = (size_t)b->n[1], nz = (size_t)b->n[2], slices = (size_t)b->dim[2],
                 slice = (size_t)b->dim[0] * (size_t)b->dim[1], n_normal = nx * nx * ny * ny, n_right = nx * ny,
                 n_scratch = 2 * nx * nx + nx + ny * ny, n_sums = n_normal + n_right + n_scratch;
    double *sums = calloc(slices, n_sums * sizeof *sums), *normal = calloc(n_normal * nz * nz, sizeof *normal),
           *right = calloc(n_right * nz, sizeof *right), *products = malloc(nz * nz * sizeof *products);
    gls_status status = sums && normal && right && products ? GLS_OK : gls_no_memory();
    if (!status) {
#pragma omp parallel for schedule(static)
        for (size_t z = 0; z < slices; z++) {
            double *s = sums + z * n_sums;
            add_slice(b, value + z * slice, weight + z * slice, s, s + n_normal, s + n_normal + n_right);
        }
        for (size_t z = 0; z < slices; z++) {
            const double *s = sums + z * n_sums;
            square(b->basis[2] + z * nz, nz, products);
            spread(normal, s, n_normal, products, nz * nz);
            spread(right, s + n_normal, n_right, b->basis[2] + z * nz, nz);
        }
        status = solve(b, normal, right);
    }
    if (!status) evaluate(b, right, field);
    free(sums);
    free(normal);
    free(right);
    free(products);
    return status;
}
