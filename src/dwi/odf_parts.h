/* Parts of ODF sources: kernels for blocks of voxels, maxima between vertices, least squares of q-ball models,
 * coherence of directions. */
#ifndef GLS_DWI_ODF_PARTS_H
#define GLS_DWI_ODF_PARTS_H

#include <glslines/common.h>
#include <glslines/odf.h>

#include "util/threads.h"

enum {
    GLS_ODF_BLOCK = 64, /* number of voxels that a kernel processes at a time */
    GLS_ODF_ROWS = 4,   /* number of rows of its matrix that a kernel computes together */
    GLS_ODF_SCRATCH =
        (GLS_SH_MAX_ORDER + 1) * (GLS_SH_MAX_ORDER + 1) * GLS_ODF_BLOCK /* floats of work space for a block */
};

struct gls_odf_parts {
    size_t n_inputs; /* for SH: number of volumes that are sampled; 0 for amplitudes */
    uint32_t *input; /* indices of these n_inputs volumes */
    /* for SH: one row of n_inputs values for each vertex, and rows of zeros up to a multiple of GLS_ODF_ROWS; NULL for
     * amplitudes */
    float *matrix;
    /* for even SH: takes coefficients to the basis GLS_SH_DESCOTEAUX07_LEGACY along the voxel axes, with rows of
     * zeros up to a multiple of GLS_ODF_ROWS; NULL if the coefficients are in this basis already */
    float *to_legacy;
    /* for amplitudes: the amplitude at vertex v is the mean of volumes ends[v][0] and ends[v][1], which are equal if a
     * single volume belongs to the vertex */
    uint32_t (*ends)[2];
    gls_sphere *sphere;    /* sphere that the source owns; NULL: its sphere is borrowed */
    double to_frame[3][3]; /* matrix from the voxel axes to the frame of coefficients or directions */
};

/* Sets map to the matrix whose columns are the directions of the voxel axes in the frame, as unit vectors. */
void gls_odf_frame_map(gls_bvec_frame frame, const gls_grid *grid, double map[3][3]);
/* Returns GLS_ERR_INPUT with a message that n volumes fit no SH basis. name: name of the image. */
gls_status gls_odf_fail_order(const char *name, size_t n);

/* Samples `count` voxels, at most GLS_ODF_BLOCK, from index `first` on (x fastest), with the values of gls_odf_slice():
 * rows[v * stride + i] for vertex v and voxel first + i. scratch: GLS_ODF_SCRATCH floats, 64-byte aligned. */
void gls_odf_block(const gls_odf_source *source, size_t first, size_t count, float *rows, size_t stride,
                   float *scratch);
/* For even SH: coefficients in GLS_SH_DESCOTEAUX07_LEGACY along the voxel axes, rows[j * GLS_ODF_BLOCK + i]. They are
 * neither clipped nor normalised; in voxels whose stop map lies below the threshold they are 0. */
void gls_odf_sh_block(const gls_odf_source *source, size_t first, size_t count, float *rows, float *scratch);

/* rows[v * stride + i] = sum over j of matrix[v][j] in[j * GLS_ODF_BLOCK + i] for i < count. in and matrix are 64-byte
 * aligned; n_rows is a multiple of GLS_ODF_ROWS. Only the first n_stored rows are stored. */
typedef void (*gls_odf_kernel)(const float *matrix, size_t n_rows, size_t n_stored, size_t n_inputs, const float *in,
                               size_t count, float *rows, size_t stride);

/* The kernel for each value of gls_cpu_level(); the last is the fastest. */
extern const gls_odf_kernel gls_odf_kernels[GLS_CPU_LEVELS];

/* --- Maxima of spherical functions between the vertices of a sphere. */

/* Moves the unit vector u towards a nearby maximum of a function with GLS_SH_DESCOTEAUX07_LEGACY coefficients, by at
 * most 6 steps of Newton's method in the tangent plane. Stops, perhaps at once, where the function is not concave.
 * Returns the amplitude at u. */
double gls_peak_climb(int order, const double *sh, double u[3]);

/* Makes six rows, a number for each coefficient: their products with the coefficients are the value of a function at
 * the unit vector u, its two first derivatives in the tangent plane, the two second ones, and the mixed one. */
void gls_peak_rows(int order, const double u[3], double *rows);
/* Takes a step of Newton's method from u, of at most `longest` radians; *to may be u. rows: of gls_peak_rows() at u.
 * Returns false, without a step, where the function is not concave. */
bool gls_peak_step(int order, const double *sh, const double *rows, const double u[3], double longest, double to[3]);

/* --- Least squares of q-ball models. */

/* inverse (k x n) = (B'B + diag(penalty)^2)^-1 B' for basis B (n x k, n > k), all row-major, by a QR factorisation of B
 * above diag(penalty). leverage (n values, may be NULL): diagonal of the product of `basis` and `inverse`.
 * GLS_ERR_INPUT if the columns of B are dependent. */
gls_status gls_ridge_inverse(const double *basis, size_t n, size_t k, const double *penalty, double *inverse,
                             double *leverage);

/* --- Doubts about axes and basis. */

/* Warns if directions fit together better from voxel to voxel along other axes than those of `frame`: directions of
 * ODFs, or, where odf is NULL, of peaks as gls_peaks_append() makes them. samples: number of samples of bedpostX in
 * `peaks`; 0: none. file: where the directions were read; NULL: a fit. Coefficients from a file are also tried in other
 * bases. Says nothing of ODFs that are not harmonics of even orders. */
void gls_coherence_advise(const gls_odf_source *odf, const gls_image *peaks, uint32_t samples, gls_bvec_frame frame,
                          const gls_image *mask, const char *file);

#endif
