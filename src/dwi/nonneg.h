/* Least squares under linear inequalities: plan, kernels of the CPU, kernel of a device, and the problem of
 * multi-tissue deconvolution. */
#ifndef GLS_DWI_NONNEG_H
#define GLS_DWI_NONNEG_H

#include <glslines/common.h>
#include <glslines/csd.h>
#include <glslines/device.h>
#include <glslines/msmt.h>

#include "util/threads.h"

/* --- Least squares under linear inequalities for many voxels with one design: the problem inside multi-tissue
 * deconvolution and inside the estimate of a response. *   minimise |H f - s|^2 + ridges   subject to   A f >= 0 * With
 * the Cholesky factor L of H'H, y = L' f turns this into: the point y nearest to y_u = L^-1 H' s with B y >= 0, where B
 * = A L^-T with rows of length 1. Two ridges of 1e-10 make it well posed, as in Jeurissen et al. 2014's own program:
 * one on the diagonal of H'H, and one on the multipliers, (B_a B_a' + 1e-10) lambda = -B_a y_u for the active rows a,
 * which is a penalty on negative values. * Up to GLS_NONNEG_ACTIVE_MAX coefficients a dual active set method solves it,
 * voxel by voxel (nonneg_active.h). Beyond, and where that method does not come to an end, a primal-dual interior point
 * method (Mehrotra 1992) does: a fixed amount of work per iteration without branches, hence several voxels in the lanes
 * of vector registers. */

enum {
    GLS_NONNEG_BLOCK = 128,         /* voxels that a kernel takes at a time */
    GLS_NONNEG_MAX_ITERATIONS = 60, /* usual are 14 to 22 */
    GLS_NONNEG_TILE = 3,            /* rows and columns of a tile of the normal matrix */
    GLS_NONNEG_ACTIVE_MAX = 60      /* coefficients: with more the interior point method is the faster one */
};

typedef struct gls_nonneg_plan {
    size_t n;      /* data of a voxel */
    size_t k;      /* coefficients */
    size_t padded; /* k up to the next multiple of GLS_NONNEG_TILE */
    size_t n_rows; /* inequalities */
    double
        *project;   /* n x padded: the transpose of L^-1 H', y_u = project' s; 64-byte aligned like all matrices here */
    double *rows;   /* B, padded; rows of zeros follow up to a multiple of 8 */
    double *factor; /* L, k x k, row-major */
    double *inside; /* k: a point y with B y > 0, and then its n_rows values B y */
    double drift;   /* length of the sum of all rows */

    /* Of the active set method; NULL where there are too many coefficients. */
    size_t stride, wide;  /* n_rows and k, up to multiples of 64 and 8: what lies beyond is 0 */
    size_t max_active;    /* rows that may be active together, a multiple of 8 */
    double *columns;      /* B transposed: wide x stride */
    float *columns_float; /* the same */
    double *products;     /* B B': n_rows x stride */
    double *wide_rows;    /* B again: n_rows x wide */
} gls_nonneg_plan;

/* design: H (n x k), or with standard_form the matrix H'H itself (k x k, n = k), then the data are H's. rows: A (n_rows
 * x k). inside: coefficients with A inside > 0 in every row. GLS_ERR_INPUT where H'H with its ridge is singular or
 * inside is not inside; what names the caller. */
gls_status gls_nonneg_plan_init(gls_nonneg_plan *plan, const char *what, const double *design, size_t n, size_t k,
                                bool standard_form, const double *rows, size_t n_rows, const double *inside);
void gls_nonneg_plan_finish(gls_nonneg_plan *plan);

/* Bytes of scratch memory for any kernel. */
size_t gls_nonneg_scratch_bytes(const gls_nonneg_plan *plan);

/* Solves count <= GLS_NONNEG_BLOCK voxels: data[i * GLS_NONNEG_BLOCK + v], finite for all v of the block, and
 * coefficients[j * GLS_NONNEG_BLOCK + v]. Returns how many did not converge; they keep their last point. scratch is
 * 64-byte aligned like both arrays. */
typedef size_t (*gls_nonneg_kernel)(const gls_nonneg_plan *plan, const double *data, size_t count, void *scratch,
                                    double *coefficients);

/* By gls_cpu_level(): the last is the fastest. */
extern const gls_nonneg_kernel gls_nonneg_kernels[GLS_CPU_LEVELS];

/* One problem alone, e.g. of a response: data (n) to coefficients (k). */
gls_status gls_nonneg_solve(const gls_nonneg_plan *plan, const double *data, double *coefficients);

/* --- The constrained fit of many voxels on a device in place of the CPU: glsl/fit/nonneg.comp. */

typedef struct gls_nonneg_work {
    const gls_nonneg_plan *plan; /* of the active set method */
    const float *const *volume;  /* plan->n volumes of data */
    float *const *to;            /* plan->k volumes of coefficients */
    const size_t *index;         /* n voxels, ascending */
    size_t n;
    gls_csd_progress progress; /* or NULL */
    void *progress_user;
    size_t *left;    /* room for n; gets the voxels that the device leaves to the CPU, of which nothing is stored */
    size_t n_left;   /* so many */
    size_t n_broken; /* voxels with values that are not finite, fitted as zeros */
    double setup_seconds; /* of the host, until the first slice starts */
} gls_nonneg_work;

/* Whether this device can: it needs double precision, and shared memory. */
bool gls_nonneg_device_can(const gls_nonneg_plan *plan, gls_device *device);
gls_status gls_nonneg_device_run(gls_nonneg_work *work, gls_device *device);

/* --- Inside multi-tissue deconvolution: the least-squares problem of a table and responses. */

typedef struct gls_msmt_plan {
    gls_nonneg_plan fit;
    size_t *volume; /* fit.n: of the series, those that belong to a shell */
    size_t n_tissues;
    int order[GLS_MSMT_MAX_TISSUES];
    size_t first[GLS_MSMT_MAX_TISSUES + 1]; /* coefficient of each tissue */
} gls_msmt_plan;

/* order: of each tissue; direction: n along the voxel axes. */
gls_status gls_msmt_plan_init(gls_msmt_plan *plan, const gls_gradients *gradients,
                              const gls_tissue_response *const *response, const int *order, size_t n_tissues,
                              const double (*direction)[3], size_t n_directions);
void gls_msmt_plan_finish(gls_msmt_plan *plan);

/* The directions of a constraint along the voxel axes: those given along the scanner axes, or for NULL the built-in
 * ones. From malloc. */
gls_status gls_msmt_directions(const gls_grid *grid, const double (*given)[3], size_t n_given, double (**direction)[3],
                               size_t *n);

#endif
