/* Single-shell deconvolution inside the library: the plan that all voxels share, and the choice of a shell. */
#ifndef GLS_DWI_CSD_PLAN_H
#define GLS_DWI_CSD_PLAN_H

#include <glslines/csd.h>
#include <glslines/gradients.h>
#include <glslines/image.h>

#include "util/threads.h"

enum {
    GLS_CSD_TILE = 8,  /* rows and columns of a tile of a symmetric matrix */
    GLS_CSD_BLOCK = 64 /* number of voxels that a kernel processes at a time */
};

/* Matrices: X, the responses to the coefficients (n x k); P = X'X; B, the scaled amplitudes of the coefficients on the
 * sphere (n_rows x k). Symmetric k x k matrices are stored as the 8 x 8 tiles of their lower half, tile (I, J <= I) at
 * 64 (I (I + 1) / 2 + J), padded with zeros. All matrices are 64-byte aligned. */
typedef struct gls_csd_plan {
    size_t n;      /* number of weighted volumes */
    size_t k;      /* number of SH coefficients */
    size_t padded; /* k rounded up to a multiple of 8 */
    size_t n_rows; /* number of directions of the constraint */
    size_t n_low;  /* number of coefficients of orders up to 4, of those that the fit has */
    int max_iterations;
    double threshold; /* a direction is constrained where its scaled amplitude is below `threshold` times the first SH
                         coefficient of the first solution */
    double *start;    /* n x 2 padded: row i has row i of X, and column i of the matrix that gives the first solution;
                         by DIPY's rule this is (P + mu)^-1 X' */
    double *rows;     /* B with padded rows; 7 rows of zeros follow */
    double *normal;   /* P + mu in tiles */
    double *full;     /* P + mu + B'B in tiles */
    bool regularised; /* true: by DIPY's rule mu is not 0, because P alone is not positive definite; by MRtrix3's rule
                         always false */
    bool solve_all;   /* true: iterate also in voxels whose first solution is nowhere below the threshold */
} gls_csd_plan;

/* Number of tiles in the lower half of a symmetric matrix of `padded` rows. */
static inline size_t gls_csd_tiles(size_t padded)
{
    size_t n = padded / GLS_CSD_TILE;
    return n * (n + 1) / 2;
}

/* Makes the plan. harmonics: rotational harmonics of the response for l = 0, 2, ..., that is, the zonal coefficients of
 * the response divided by the coefficients of a delta along z; by MRtrix3's rule 0 beyond the order of the response.
 * sphere: directions of the constraint; the directions in `options` are not used. */
gls_status gls_csd_plan_init(gls_csd_plan *plan, const gls_gradients *gradients, const double *harmonics,
                             const gls_csd_options *options, const gls_sphere *sphere);
/* Frees the matrices of the plan. */
void gls_csd_plan_finish(gls_csd_plan *plan);

/* Bytes of scratch memory that a kernel needs, for whatever instruction set it is. */
size_t gls_csd_scratch_bytes(const gls_csd_plan *plan);

/* Solves count <= GLS_CSD_BLOCK voxels. signal[i * stride + v]: weighted volume i of voxel v, readable for all v <
 * GLS_CSD_BLOCK. coefficients[j * GLS_CSD_BLOCK + v]: results. scratch: 64-byte aligned. Returns the number of voxels
 * that did not converge. */
typedef size_t (*gls_csd_kernel)(const gls_csd_plan *plan, const float *signal, size_t stride, size_t count,
                                 void *scratch, double *coefficients);

/* The kernel for each value of gls_cpu_level(); the last is the fastest. */
extern const gls_csd_kernel gls_csd_kernels[GLS_CPU_LEVELS];

/* --- Choice of one shell. */

/* Checks that the series has the volumes that volume[] lists, and that the table has b0 volumes and one shell: weighted
 * b-values that differ by at most 1 % or 20 s/mm2, or that gls_gradients_shells() counts as one shell. what: names the
 * caller in messages. */
gls_status gls_csd_check_series(const char *what, const gls_image *dwi, const gls_gradients *gradients,
                                const size_t *volume);

/* Highest even order, from 2 to `highest`, with no more coefficients than the table has different weighted directions;
 * 2 if there is none. Directions that are equal or opposite within 1.1 degrees count once; *n_directions: number of
 * different ones. */
int gls_csd_order_for(const gls_gradients *gradients, int highest, size_t *n_directions);

#endif
