/* Gradient tables: reading, checks, and the map to the voxel axes. */
#ifndef GLS_DWI_GRADIENTS_H
#define GLS_DWI_GRADIENTS_H

#include <glslines/common.h>
#include <glslines/gradients.h>

/* Allocates a table of n zero entries; destroy it by gls_gradients_destroy(). */
gls_status gls_gradients_allocate(size_t n, gls_gradients **gradients);

#endif
