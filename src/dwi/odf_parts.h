/* Inside of ODF sources: kernels of blocks of voxels, maxima, least squares of q-ball models. */
#ifndef GLS_DWI_ODF_PARTS_H
#define GLS_DWI_ODF_PARTS_H

#include <glslines/common.h>
#include <glslines/odf.h>

#include "util/threads.h"

/* --- Inside of ODF sources. */

enum {
    GLS_ODF_BLOCK = 64, /* voxels that a kernel takes at a time */
    GLS_ODF_ROWS = 4,   /* directions that it computes together */
    GLS_ODF_SCRATCH =
        (GLS_SH_MAX_ORDER + 1) * (GLS_SH_MAX_ORDER + 1) * GLS_ODF_BLOCK /* floats of work space for a block */
};

struct gls_odf_parts {
    size_t n_inputs;  /* volumes that take part */
    uint32_t *input;  /* n_inputs: which */
    float *matrix;    /* SH: rows padded to a multiple of GLS_ODF_ROWS, n_inputs each; NULL for amplitudes */
    float *to_legacy; /* even SH: matrix to GLS_SH_DESCOTEAUX07_LEGACY along the voxel axes, padded likewise; NULL where
                         they are that already */
    uint32_t (*ends)[2]; /* amplitudes: the two volumes of which vertex v is the mean; twice the same where it is one */
    gls_sphere *sphere;  /* NULL if borrowed */
    double to_frame[3][3]; /* voxel axes to the frame of the coefficients or directions */
};

/* Columns: the voxel axes in the frame, without the voxels' sizes. */
void gls_odf_frame_map(gls_bvec_frame frame, const gls_grid *grid, double map[3][3]);
/* Message for a number of volumes that is no basis. */
gls_status gls_odf_fail_order(const char *name, size_t n);

/* At most GLS_ODF_BLOCK voxels of gls_odf_slice(), from first on (x fastest): rows[v * stride + i]. scratch:
 * GLS_ODF_SCRATCH floats, 64-byte aligned. */
void gls_odf_block(const gls_odf_source *source, size_t first, size_t count, float *rows, size_t stride,
                   float *scratch);
/* For even SH: coefficients in GLS_SH_DESCOTEAUX07_LEGACY along the voxel axes, rows[j * GLS_ODF_BLOCK + i], neither
 * clipped nor normalised, 0 below the stop threshold. */
void gls_odf_sh_block(const gls_odf_source *source, size_t first, size_t count, float *rows, float *scratch);

/* New coefficients from old ones, rows padded to GLS_ODF_ROWS, 64-byte aligned, from aligned_alloc. */
gls_status gls_odf_transform(const gls_grid *grid, const char *name, gls_sh_basis from, gls_bvec_frame from_frame,
                             gls_sh_basis to, gls_bvec_frame to_frame, int order, bool full, float **matrix);

/* rows[v * stride + i] = sum over j of matrix[v][j] in[j * GLS_ODF_BLOCK + i] for i < count; in and the matrix are
 * 64-byte aligned, n_rows a multiple of GLS_ODF_ROWS. Only the rows below n_stored are stored. */
typedef void (*gls_odf_kernel)(const float *matrix, size_t n_rows, size_t n_stored, size_t n_inputs, const float *in,
                               size_t count, float *rows, size_t stride);

/* By gls_cpu_level(): the last is the fastest. */
extern const gls_odf_kernel gls_odf_kernels[GLS_CPU_LEVELS];

/* --- Maxima of spherical functions between the directions of a sphere. */

/* Moves the unit vector u to the maximum near it of a function of GLS_SH_DESCOTEAUX07_LEGACY coefficients, by Newton's
 * method in the tangent plane; returns the amplitude there. Where the function is not curved down it stays. */
double gls_peak_climb(int order, const double *sh, double u[3]);

/* --- Least squares behind the q-ball models. */

/* inverse = (B'B + diag(penalty)^2)^-1 B' for B n x k, n > k, all row-major (inverse is k x n), by a QR factorisation
 * of B above diag(penalty). leverage (n values, may be NULL) gets the diagonal of B inverse. GLS_ERR_INPUT if the
 * columns are not independent. */
gls_status gls_ridge_inverse(const double *basis, size_t n, size_t k, const double *penalty, double *inverse,
                             double *leverage);

#endif
