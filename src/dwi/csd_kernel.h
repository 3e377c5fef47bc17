/* Compiles the deconvolution kernel for several instruction sets. */
#ifndef GLS_DWI_CSD_KERNEL_H
#define GLS_DWI_CSD_KERNEL_H

#include "dwi/csd_plan.h"
#include "util/threads.h"

/* Bytes of scratch memory that a kernel needs, for whatever instruction set it is. */
size_t gls_csd_scratch_bytes(const gls_csd_plan *plan);

/* Solves count <= GLS_CSD_BLOCK voxels. signal[i * stride + v]: weighted volume i of voxel v, readable for all v <
 * GLS_CSD_BLOCK. coefficients[j * GLS_CSD_BLOCK + v]: results. scratch: 64-byte aligned. Returns the number of voxels
 * that did not converge. */
typedef size_t (*gls_csd_kernel)(const gls_csd_plan *plan, const float *signal, size_t stride, size_t count,
                                 void *scratch, double *coefficients);

/* The kernel for each value of gls_cpu_level(); the last is the fastest. */
extern const gls_csd_kernel gls_csd_kernels[GLS_CPU_LEVELS];

#endif
