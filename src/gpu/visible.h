/* Which GPUs the variables CUDA_VISIBLE_DEVICES, ROCR_VISIBLE_DEVICES, HIP_VISIBLE_DEVICES, SLURM_STEP_GPUS and
 * SLURM_JOB_GPUS leave to this process. */
#ifndef GLS_GPU_VISIBLE_H
#define GLS_GPU_VISIBLE_H

#include <stdbool.h>

/* Whether the GPU at this PCI address ("0000:3b:00.0") may be used; if not, *variable is the name of the variable that
 * excludes it. A GPU that cannot be matched with a variable may be used. root: "", or, in tests, a folder with copies
 * of /proc, /sys and /dev. */
bool gls_visible_address(const char *root, const char *address, const char **variable);
/* Like gls_visible_address(), for the GPU of a render node such as "/dev/dri/renderD128". An unknown node, "", may be
 * used.
 */
bool gls_visible_node(const char *node, const char **variable);

#endif
