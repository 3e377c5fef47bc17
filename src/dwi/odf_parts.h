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

#endif
