/* Inside the gradient module. */
#ifndef GLS_DWI_GRADIENTS_TABLE_H
#define GLS_DWI_GRADIENTS_TABLE_H

#include <glslines/gradients.h>

/* A table of n zero entries; for gls_gradients_destroy(). */
gls_status gls_gradients_allocate(size_t n, gls_gradients **gradients);

#endif
