/* Kernels that a driver compiles on threads of its own while the host does other things. */
#ifndef GLS_GPU_ANNOUNCE_H
#define GLS_GPU_ANNOUNCE_H

#include <glslines/device.h>

/* Says that gls_kernel_load() will be asked for this kernel. Worth it, and done, only where the driver has such threads
 * and has not compiled the kernel before: they cost it a fifth of a second at the end of the process. */
void gls_kernel_announce(gls_device *device, const char *file, const gls_define *defines, size_t n_defines);

#endif
