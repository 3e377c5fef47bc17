/* Inside the gradient module. */
#ifndef GLS_DWI_GRADIENTS_TABLE_H
#define GLS_DWI_GRADIENTS_TABLE_H

#include <glslines/gradients.h>

/* A table of n zero entries; for gls_gradients_destroy(). */
gls_status gls_gradients_allocate(size_t n, gls_gradients **gradients);

/* "700 (30 volumes), 2000 (60 volumes)": the weighted shells. */
void gls_gradients_name_shells(const gls_shell *shell, size_t n, char *text, size_t room);
/* "3 (b = 700), ..": the volumes that belong to no shell, "" if there are none. */
void gls_gradients_name_unassigned(const gls_gradients *gradients, const size_t *of, char *text, size_t room);

#endif
