/* Inside single-shell deconvolution. */
#ifndef GLS_DWI_CSD_PLAN_H
#define GLS_DWI_CSD_PLAN_H

#include <glslines/csd.h>
#include <glslines/gradients.h>
#include <glslines/image.h>

#include "util/threads.h"

/* --- Inside the deconvolution: what is common to all voxels, and the iteration of a block of voxels. */

enum {
    GLS_CSD_TILE = 8,  /* rows and columns of a tile of a symmetric matrix */
    GLS_CSD_BLOCK = 64 /* voxels that a kernel takes at a time */
};

/* Symmetric k x k matrices are stored as the 8 x 8 tiles of their lower half, tile (I, J <= I) at 64 (I (I + 1) / 2 +
 * J), rows padded with zeros. With X the responses to the coefficients (n x k), P = X'X, and B the scaled amplitudes of
 * the coefficients on the sphere (n_rows x k). */
typedef struct gls_csd_plan {
    size_t n;      /* weighted volumes */
    size_t k;      /* SH coefficients */
    size_t padded; /* k up to the next multiple of 8 */
    size_t n_rows; /* directions of the constraint */
    size_t n_low;  /* coefficients of orders up to 4 */
    int max_iterations;
    double threshold; /* of amplitudes, per unit of the first coefficient */
    double *start;  /* n x 2 padded: row i has X_i0 .. X_ik and the column i of (P + mu)^-1 X'; 64-byte aligned like all
                       matrices here */
    double *rows;   /* B, padded; another 7 rows of zeros follow */
    double *normal; /* P + mu in tiles */
    double *full;   /* P + mu + B'B in tiles */
    bool regularised; /* mu is not 0: P alone is not positive definite */
    bool solve_all;   /* also where the first solution is nowhere below the threshold */
} gls_csd_plan;

static inline size_t gls_csd_tiles(size_t padded)
{
    size_t n = padded / GLS_CSD_TILE;
    return n * (n + 1) / 2;
}

/* harmonics: rotational harmonics of the response for l = 0, 2, ..., i.e. zonal coefficients over those of a delta
 * along z; by MRtrix3's rule 0 beyond the response's order. sphere: the directions, whatever the options have. */
gls_status gls_csd_plan_init(gls_csd_plan *plan, const gls_gradients *gradients, const double *harmonics,
                             const gls_csd_options *options, const gls_sphere *sphere);
void gls_csd_plan_finish(gls_csd_plan *plan);

/* Bytes of scratch memory for any kernel. */
size_t gls_csd_scratch_bytes(const gls_csd_plan *plan);

/* Solves count <= GLS_CSD_BLOCK voxels: signal[i * stride + v] is weighted volume i of voxel v, readable for all v <
 * GLS_CSD_BLOCK; coefficients[j * GLS_CSD_BLOCK + v]. Returns how many did not converge. scratch is 64-byte aligned. */
typedef size_t (*gls_csd_kernel)(const gls_csd_plan *plan, const float *signal, size_t stride, size_t count,
                                 void *scratch, double *coefficients);

/* By gls_cpu_level(): the last is the fastest. */
extern const gls_csd_kernel gls_csd_kernels[GLS_CPU_LEVELS];

/* --- Inside the deconvolution: tables of one shell. */

/* The series has the volumes, and the table b0s and one shell: weighted b-values of one shell, or within 1 % or
 * 20 s/mm2 of each other. what names the caller in messages. */
gls_status gls_csd_check_series(const char *what, const gls_image *dwi, const gls_gradients *gradients,
                                const size_t *volume);

/* The highest even order, at most highest and at least 2, whose coefficients are no more than the weighted directions
 * of the table; a direction and its opposite count once. */
int gls_csd_order_for(const gls_gradients *gradients, int highest, size_t *n_directions);

#endif
