/* Compiles the kernels of the constrained fit for several instruction sets. */
#ifndef GLS_DWI_NONNEG_KERNEL_H
#define GLS_DWI_NONNEG_KERNEL_H

#include "dwi/nonneg.h"
#include "util/threads.h"

/* Bytes of scratch memory that a kernel needs: enough for each of the instruction sets. */
size_t gls_nonneg_scratch_bytes(const gls_nonneg_plan *plan);

/* Solves count <= GLS_NONNEG_BLOCK voxels. data[i * GLS_NONNEG_BLOCK + v] must be finite for all v of the block.
 * coefficients[j * GLS_NONNEG_BLOCK + v]: results. All arrays are 64-byte aligned. Returns the number of voxels that
 * did not converge; these keep their last point. */
typedef size_t (*gls_nonneg_kernel)(const gls_nonneg_plan *plan, const double *data, size_t count, void *scratch,
                                    double *coefficients);

/* The kernel for each value of gls_cpu_level(); the last is the fastest. */
extern const gls_nonneg_kernel gls_nonneg_kernels[GLS_CPU_LEVELS];

#endif
