/* Finds shells, the volumes of one b-value, from how densely the b-values lie: a density-based clustering with the
 * parameters of MRtrix3. */
#ifndef GLS_DWI_GRADIENTS_SHELLS_H
#define GLS_DWI_GRADIENTS_SHELLS_H

#include <glslines/gradients.h>

/* Lists the weighted shells in text of `room` bytes: "700 (30 volumes), 2000 (60 volumes)". Shells that do not fit are
 * left out; "none" if there is no weighted shell. */
void gls_gradients_name_shells(const gls_shell *shell, size_t n, char *text, size_t room);

#endif
