/* Samples slices and blocks of voxels of an ODF image on the vertices of a sphere, by kernels that are compiled for
 * several instruction sets. */
#ifndef GLS_DWI_ODF_SLICE_H
#define GLS_DWI_ODF_SLICE_H

#include <glslines/odf.h>

#include "util/threads.h"

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

#endif
