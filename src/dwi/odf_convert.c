/* Converts SH images between bases and between coordinate frames. Both are linear maps of the coefficients of a voxel,
 * one matrix for the whole image. */
#include <glslines/odf.h>

#include "dwi/odf_parts.h"
#include "image/formats.h"
#include "util/maths.h"
#include "util/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Evaluates one basis (even, or full) at n directions. matrix: a row of basis functions for each direction. */
static gls_status evaluate(gls_sh_basis basis, int order, bool full, const double (*direction)[3], size_t n,
                           double *matrix)
{
    return full ? gls_sh_full_matrix(basis, order, direction, n, matrix)
                : gls_sh_matrix(basis, order, direction, n, matrix);
}

/* Spreads n directions evenly over the whole sphere (a spiral of golden angles), where even and odd functions can be
 * distinguished. */
static void spread(size_t n, double (*direction)[3])
{
    for (size_t i = 0; i < n; i++) {
        double z = 1 - (2 * (double)i + 1) / (double)n, r = sqrt(1 - z * z), phi = (double)i * M_PI * (3 - sqrt(5));
        direction[i][0] = r * cos(phi);
        direction[i][1] = r * sin(phi);
        direction[i][2] = z;
    }
}

void gls_odf_frame_map(gls_bvec_frame frame, const gls_grid *grid, double map[3][3])
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            map[r][c] = frame == GLS_BVEC_WORLD ? grid->affine[r][c] / grid->voxel_size[c] : r == c;
    if (frame == GLS_BVEC_FSL && gls_grid_determinant(grid) > 0) map[0][0] = -1;
}

gls_status gls_odf_fail_order(const char *name, size_t n)
{
    return gls_fail(GLS_ERR_INPUT,
                    "%s: %zu volumes fit no SH order (even orders have 1, 6, 15, 28, 45, 66, 91, 120 or 153, full "
                    "bases 4, 9, 16, 25, 36, ... 289)",
                    name, n);
}

/* Computes the transform (k x k) from old to new coefficients: samples the old basis at more directions than there are
 * coefficients, rotated into the old frame, and fits the new basis to the samples. turn: maps directions of the new
 * frame to the old one. Degrees do not mix, so entries between degrees, which are rounding, are 0. */
static gls_status set_transform(gls_sh_basis from, gls_sh_basis to, int order, bool full, const double turn[3][3],
                                double *transform)
{
    size_t k = full ? gls_sh_full_count(order) : gls_sh_count(order), n = 4 * k + 8;
    gls_status status = GLS_ERR_MEMORY;
    double(*direction)[3] = malloc(n * sizeof *direction);
    double *here = malloc(n * k * sizeof *here), *there = malloc(n * k * sizeof *there),
           *inverse = malloc(n * k * sizeof *inverse);
    double *no_penalty = calloc(k, sizeof *no_penalty);
    if (!direction || !here || !there || !inverse || !no_penalty) {
        gls_fail(status, "out of memory for %zu SH coefficients", k);
        goto fail;
    }
    spread(n, direction);
    status = evaluate(to, order, full, (const double(*)[3])direction, n, here);
    for (size_t i = 0; i < n; i++) {
        double d[3] = {direction[i][0], direction[i][1], direction[i][2]};
        for (int r = 0; r < 3; r++) direction[i][r] = turn[r][0] * d[0] + turn[r][1] * d[1] + turn[r][2] * d[2];
    }
    if (!status) status = evaluate(from, order, full, (const double(*)[3])direction, n, there);
    if (!status) status = gls_ridge_inverse(here, n, k, no_penalty, inverse, NULL);
    if (status) goto fail;
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++) {
            bool same = full ? (int)sqrt((double)i) == (int)sqrt((double)j) : gls_sh_degree(i) == gls_sh_degree(j);
            double sum = 0;
            for (size_t d = 0; same && d < n; d++) sum += inverse[i * n + d] * there[d * k + j];
            transform[i * k + j] = fabs(sum) < 1e-12 ? 0 : sum;
        }
fail:
    free(direction);
    free(here);
    free(there);
    free(inverse);
    free(no_penalty);
    return status;
}

/* Applies the transform to all voxels of `sh`; `to` has the same size. matrix: k x k, then rows of zeros up to a
 * multiple of GLS_ODF_ROWS. */
static void transform_image(const float *matrix, size_t k, const gls_image *sh, gls_image *to)
{
    const gls_odf_kernel kernel = gls_odf_kernels[gls_cpu_level()];
    size_t voxels = gls_grid_voxels(&sh->grid), padded = (k + GLS_ODF_ROWS - 1) / GLS_ODF_ROWS * GLS_ODF_ROWS;
    long long blocks = (long long)((voxels + GLS_ODF_BLOCK - 1) / GLS_ODF_BLOCK);
#pragma omp parallel
    {
        float in[(GLS_SH_MAX_ORDER + 1) * (GLS_SH_MAX_ORDER + 1) * GLS_ODF_BLOCK] __attribute__((aligned(64)));
#pragma omp for schedule(static)
        for (long long block = 0; block < blocks; block++) {
            size_t first = (size_t)block * GLS_ODF_BLOCK,
                   count = voxels - first < GLS_ODF_BLOCK ? voxels - first : GLS_ODF_BLOCK;
            memset(in, 0, k * GLS_ODF_BLOCK * sizeof *in);
            for (size_t j = 0; j < k; j++)
                memcpy(in + j * GLS_ODF_BLOCK, sh->data + j * voxels + first, count * sizeof *in);
            kernel(matrix, padded, k, k, in, count, to->data + first, voxels);
        }
    }
}

gls_status gls_odf_transform(const gls_grid *grid, const char *name, gls_sh_basis from, gls_bvec_frame from_frame,
                             gls_sh_basis to, gls_bvec_frame to_frame, int order, bool full, float **out)
{
    size_t k = full ? gls_sh_full_count(order) : gls_sh_count(order),
           padded = (k + GLS_ODF_ROWS - 1) / GLS_ODF_ROWS * GLS_ODF_ROWS;
    size_t bytes = (padded * k * sizeof(float) + 63) / 64 * 64;
    double voxel_to_old[3][3], voxel_to_new[3][3], turn[3][3], new_to_voxel[3][4], map[3][4] = {{0}};
    /* turn: from directions along the new axes to directions along the old ones, by way of the voxel axes; the new
     * coefficients describe the old function at turned directions */
    gls_odf_frame_map(from_frame, grid, voxel_to_old);
    gls_odf_frame_map(to_frame, grid, voxel_to_new);
    for (int r = 0; r < 3; r++) memcpy(map[r], voxel_to_new[r], sizeof voxel_to_new[r]);
    gls_affine_invert((const double(*)[4])map, new_to_voxel);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            turn[r][c] = 0;
            for (int i = 0; i < 3; i++) turn[r][c] += voxel_to_old[r][i] * new_to_voxel[i][c];
        }
    double *transform = malloc(k * k * sizeof *transform);
    float *matrix = aligned_alloc(64, bytes);
    gls_status status = transform && matrix
                            ? set_transform(from, to, order, full, (const double(*)[3])turn, transform)
                            : gls_fail(GLS_ERR_MEMORY, "%s: out of memory for %zu coefficients", name, k);
    if (!status) {
        memset(matrix, 0, bytes);
        for (size_t i = 0; i < k * k; i++) matrix[i] = (float)transform[i];
        *out = matrix;
    } else {
        free(matrix);
    }
    free(transform);
    return status;
}

gls_status gls_odf_convert_sh(const gls_image *sh, const char *name, gls_sh_basis from, gls_bvec_frame from_frame,
                              gls_sh_basis to, gls_bvec_frame to_frame, gls_image **converted)
{
    GLS_REQUIRE(sh && name && converted);
    size_t k = sh->n_volumes;
    int order = gls_sh_order(k);
    bool full = order < 0;
    if (full) order = gls_sh_full_order(k);
    if (order < 0) return gls_odf_fail_order(name, k);
    gls_image *made = NULL;
    float *matrix = NULL;
    gls_status status = gls_odf_transform(&sh->grid, name, from, from_frame, to, to_frame, order, full, &matrix);
    if (!status) status = gls_image_allocate(&sh->grid, k, false, &made);
    if (!status) {
        transform_image(matrix, k, sh, made);
        *converted = made;
    }
    free(matrix);
    return status;
}
