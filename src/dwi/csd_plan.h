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

#endif
