/* Least squares under linear inequalities: plan, kernels for the CPU, kernel for a device, and the problem of
 * multi-tissue deconvolution. */
#ifndef GLS_DWI_NONNEG_H
#define GLS_DWI_NONNEG_H

#include <glslines/common.h>
#include <glslines/csd.h>
#include <glslines/device.h>
#include <glslines/msmt.h>

#include "util/threads.h"

/* Least squares under linear inequalities, for many voxels with one design: used by multi-tissue deconvolution and by
 * the estimate of responses.
 *
 *   minimise |H f - s|^2 + ridges   subject to   A f >= 0
 *
 * With the Cholesky factor L of H'H and y = L' f the problem is: find the point y nearest to y_u = L^-1 H' s with
 * B y >= 0, where B = A L^-T with rows scaled to length 1. Two ridges make the problem well posed, as in the program of
 * Jeurissen et al. 2014: 1e-10 of the largest diagonal entry of H'H on its diagonal; and 1e-10 on the multipliers of
 * the active rows B_a, (B_a B_a' + 1e-10) lambda = -B_a y_u, which penalises negative values.
 *
 * Up to GLS_NONNEG_ACTIVE_MAX coefficients a dual active set method solves voxel by voxel (nonneg_active.h). With more
 * coefficients, or if that method does not finish, a primal-dual interior point method does (Mehrotra 1992): each of
 * its iterations is a fixed amount of work without branches, so several voxels share vector registers. */

enum {
    GLS_NONNEG_BLOCK = 128,         /* number of voxels that a kernel processes at a time */
    GLS_NONNEG_MAX_ITERATIONS = 60, /* of the interior point method, for a voxel; 14 to 22 are usual */
    GLS_NONNEG_TILE = 3,            /* rows and columns of a tile of the normal matrix */
    /* Largest number of coefficients for the active set method; with more, the interior point method is used. The
       latter takes twice the time with 47 coefficients, and a sixth more with 68 and 93; its results differ in the last
       digits. */
    GLS_NONNEG_ACTIVE_MAX = 60
};

/* The matrices of this problem, with the letters used above, which all voxels share. Read-only during the fits, so
 * threads may share the plan. */
typedef struct gls_nonneg_plan {
    size_t n;        /* number of data of a voxel */
    size_t k;        /* number of coefficients */
    size_t padded;   /* k rounded up to a multiple of GLS_NONNEG_TILE */
    size_t n_rows;   /* number of inequalities */
    double *project; /* n x padded: transpose of L^-1 H', so that y_u = project' s. All matrices are 64-byte aligned */
    double *rows;    /* B, each row of length padded; rows of zeros follow up to a multiple of 8 rows */
    double *factor;  /* L, k x k, row-major */
    double *inside;  /* k + n_rows: a point y with B y > 0, and its values B y */
    double drift;    /* length of the sum of all rows of B */

    /* The members below are for the active set method; they are 0 or NULL if there are more than GLS_NONNEG_ACTIVE_MAX
     * coefficients. */
    size_t stride, wide;  /* stride: n_rows rounded up to a multiple of 64; wide: k, to a multiple of 8; padding is 0 */
    size_t max_active;    /* maximum number of active rows, a multiple of 8 */
    double *columns;      /* B transposed: wide x stride */
    float *columns_float; /* B transposed, in float */
    double *products;     /* B B': n_rows x stride */
    double *wide_rows;    /* B with rows of length wide */
} gls_nonneg_plan;

/* Makes the plan. design: H, n x k; with standard_form, H'H (k x k, n = k), and the data of a voxel are then H' s
 * instead of s. rows: A, n_rows x k. inside: coefficients with A inside > 0 in every row. what: names the caller in
 * messages. GLS_ERR_INPUT if H'H with its ridge is singular, or if inside violates a row. */
gls_status gls_nonneg_plan_init(gls_nonneg_plan *plan, const char *what, const double *design, size_t n, size_t k,
                                bool standard_form, const double *rows, size_t n_rows, const double *inside);
/* Frees the matrices of the plan. */
void gls_nonneg_plan_finish(gls_nonneg_plan *plan);

/* Bytes of scratch memory that a kernel needs: enough for each of the instruction sets. */
size_t gls_nonneg_scratch_bytes(const gls_nonneg_plan *plan);

/* Solves count <= GLS_NONNEG_BLOCK voxels. data[i * GLS_NONNEG_BLOCK + v] must be finite for all v of the block.
 * coefficients[j * GLS_NONNEG_BLOCK + v]: results. All arrays are 64-byte aligned. Returns the number of voxels that
 * did not converge; these keep their last point. */
typedef size_t (*gls_nonneg_kernel)(const gls_nonneg_plan *plan, const double *data, size_t count, void *scratch,
                                    double *coefficients);

/* The kernel for each value of gls_cpu_level(); the last is the fastest. */
extern const gls_nonneg_kernel gls_nonneg_kernels[GLS_CPU_LEVELS];

/* --- Fit on a device instead of the CPU, by glsl/fit/nonneg.comp. */

/* The voxels that the device fits, and what it found. */
typedef struct gls_nonneg_work {
    const gls_nonneg_plan *plan; /* plan with the matrices of the active set method */
    const float *const *volume;  /* plan->n volumes of data */
    float *const *to;            /* plan->k volumes of coefficients */
    const size_t *index;         /* n voxels, ascending */
    size_t n;
    gls_csd_progress progress; /* may be NULL */
    void *progress_user;
    size_t *left;         /* memory for n: voxels that the device could not fit; their coefficients are NaN */
    size_t n_left;        /* number of these voxels */
    size_t n_broken;      /* number of voxels with values that are not finite, which were fitted as zeros */
    double setup_seconds; /* time of the host until the first slice starts */
} gls_nonneg_work;

/* --- The problem of multi-tissue deconvolution, from a gradient table and responses. */

/* The plan of multi-tissue deconvolution: coefficients of all tissues one after the other. */
typedef struct gls_msmt_plan {
    gls_nonneg_plan fit;
    size_t *volume;                         /* fit.n indices of the volumes of the series that belong to a shell */
    size_t n_tissues;                       /* number of tissues */
    int order[GLS_MSMT_MAX_TISSUES];        /* SH order of each tissue */
    size_t first[GLS_MSMT_MAX_TISSUES + 1]; /* index of the first coefficient of each tissue */
} gls_msmt_plan;

/* Makes the plan. order: SH order of each tissue. direction: n_directions directions of the constraint, along the voxel
 * axes. */
gls_status gls_msmt_plan_init(gls_msmt_plan *plan, const gls_gradients *gradients,
                              const gls_tissue_response *const *response, const int *order, size_t n_tissues,
                              const double (*direction)[3], size_t n_directions);
/* Frees the matrices of the plan, also after a failure of gls_msmt_plan_init(). */
void gls_msmt_plan_finish(gls_msmt_plan *plan);

/* Makes *direction, from malloc: the directions of the constraint along the voxel axes. given: unit vectors along the
 * scanner axes; NULL: the built-in ones. GLS_ERR_ARGUMENT: one is no unit vector. */
gls_status gls_msmt_directions(const gls_grid *grid, const double (*given)[3], size_t n_given, double (**direction)[3],
                               size_t *n);

#endif
