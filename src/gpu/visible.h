/* Which GPUs a scheduler or user has left to this process, by the variables that CUDA, ROCm and Slurm use. */
#ifndef GLS_GPU_VISIBLE_H
#define GLS_GPU_VISIBLE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the GPU at this PCI address ("0000:3b:00.0") may be used; else *variable is the name of what forbids it. GPUs
 * that cannot be matched with a variable may be used. root: "" or, in tests, a folder with /proc, /sys and /dev. */
bool gls_visible_address(const char *root, const char *address, const char **variable);

/* The PCI address of a render node ("/dev/dri/renderD128"); false where it has none. */
bool gls_visible_address_of(const char *node, char *address, size_t size);
/* Whether the GPU of this render node ("": none is known) may be used. */
bool gls_visible_node(const char *node, const char **variable);

#endif
