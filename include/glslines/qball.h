/* Q-ball models for the residual bootstrap: OPDT (Tristan-Vega et al. 2010), CSA (Aganj et al. 2010), and the hat and
 * residuals (Berman et al. 2008). */
#ifndef GLSLINES_QBALL_H
#define GLSLINES_QBALL_H

#include <glslines/gradients.h>
#include <glslines/image.h>
#include <glslines/sphere.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gls_qball_model { GLS_QBALL_OPDT, GLS_QBALL_CSA } gls_qball_model;

typedef struct gls_qball_options {
    size_t size;           /* size of this struct, set by the default function */
    gls_qball_model model; /* default GLS_QBALL_OPDT */
    int sh_order;          /* even, 2 .. 8; default 4 */
    double smooth;         /* Laplace-Beltrami regularisation, >= 0; default 0.006 */
    double min_signal;     /* raw signal units, > 0; smaller signals are raised to this value; default 1 */
} gls_qball_options;
GLS_API gls_qball_options gls_qball_options_default(void); /* NULL options mean these */

/* A q-ball model: all matrices in double precision, row-major. With d the n diffusion-weighted values of a voxel, S0
 * the mean of its b0 values (each value at least min_signal) and E_i = d_i / S0:
 *
 *     hat       H d = basis (basis_inverse d)
 *     residual  q_i = leverage_scale_i (d_i - (H d)_i),  R d = q - mean(q)
 *     OPDT      c_j = fit_scale_j sum_i fit[j][i] (4 f(E_i) - laplacian_j E_i),  f(E) = -E ln E (3/2 + ln E)
 *     CSA       c_j = fit_scale_j sum_i fit[j][i] ln(-ln E_i) for j > 0, E limited to [0.001, 0.999];
 *               c_0 = 1 / (2 sqrt(pi))
 *
 * Coefficients are those of GLS_SH_DESCOTEAUX07_LEGACY. */
typedef struct gls_qball {
    gls_qball_options options;
    size_t n;               /* number of diffusion-weighted volumes */
    size_t k;               /* number of SH coefficients */
    size_t *volume;         /* n indices of the weighted volumes in the series */
    double *basis;          /* n x k */
    double *basis_inverse;  /* k x n: (B'B)^-1 B' */
    double *leverage_scale; /* n: 1 / sqrt(1 - h_i) */
    double *fit;            /* k x n: (B'B + smooth diag(l^2 (l+1)^2))^-1 B' */
    double *laplacian;      /* k: -l (l + 1) */
    double *fit_scale;      /* k: P_l(0) for OPDT; P_l(0) laplacian_j / (8 pi) for CSA */
} gls_qball;

/* How a fit treats a table of several shells. */
typedef enum gls_shell_rule {
    GLS_SHELLS_ANY, /* use all volumes together, with a warning, as GPUStreamlines does */
    GLS_SHELLS_ONE  /* GLS_ERR_INPUT if the weighted b-values spread by more than 20 s/mm2 and 1 % */
} gls_shell_rule;
/* Computes the matrices of a model for a table. GLS_ERR_INPUT, with the numbers: n <= k, a leverage reaches 1, or the
 * table has no b0. */
GLS_API gls_status gls_qball_create(const gls_gradients *gradients, const gls_qball_options *options,
                                    gls_shell_rule shells, gls_qball **qball);
/* Frees `qball`, which may be NULL. */
GLS_API void gls_qball_destroy(gls_qball *qball);

/* Computes the coefficients of one voxel. signal: n raw values; s0: mean of the clipped b0 values; coefficients: k
 * values. No bootstrap. */
GLS_API void gls_qball_fit(const gls_qball *qball, const double *signal, double s0, double *coefficients);
/* Computes the coefficients of every voxel where mask (NULL: all) is > 0, on all cores. *sh: k volumes along the voxel
 * axes, 0 outside the mask and where the result is not finite. gradients: the table from which the model was made,
 * which describes dwi. The same data give the same bytes for any number of threads. */
GLS_API gls_status gls_qball_fit_image(const gls_qball *qball, const gls_image *dwi, const gls_gradients *gradients,
                                       const gls_image *mask, gls_image **sh);
/* Computes H d (hat) and R d (residual) of the n values d (signal). */
GLS_API void gls_qball_hat(const gls_qball *qball, const double *signal, double *hat, double *residual);

#ifdef __cplusplus
}
#endif
#endif
