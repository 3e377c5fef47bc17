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
 * A dual active set method solves voxel by voxel (nonneg_active.h). An interior point method, which handled several
 * voxels at once in vector registers, took 1.5 times the time with 68 coefficients and 1.1 times with 93. */

enum {
    GLS_NONNEG_BLOCK = 128, /* number of voxels that a kernel processes at a time */
    GLS_NONNEG_TILE = 3     /* coefficients of a voxel whose products are computed together */
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
    size_t stride, wide;  /* stride: n_rows rounded up to a multiple of 64; wide: k, to a multiple of 8; padding is 0 */
    size_t max_active;    /* maximum number of active rows, a multiple of 8 */
    double *columns;      /* B transposed: wide x stride */
    float *columns_float; /* B transposed, in float */
    double *products;     /* B B': n_rows x stride */
    double *wide_rows;    /* B with rows of length wide */
} gls_nonneg_plan;

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

#endif
