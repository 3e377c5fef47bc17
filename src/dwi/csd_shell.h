/* Chooses which shell of a series CSD deconvolves, checks that a series has one shell, says whether this shell alone
 * decides the default method, and finds the order that its directions determine. */
#ifndef GLS_DWI_CSD_SHELL_H
#define GLS_DWI_CSD_SHELL_H

#include <glslines/common.h>
#include <glslines/gradients.h>
#include <glslines/image.h>

/* Sets *is: whether the table has b = 0 volumes and one shell, to which all weighted volumes belong, of a b-value and a
 * number of directions from which csd with det is the default. */
gls_status gls_csd_has_high_shell(const gls_gradients *gradients, bool *is);
/* Checks that the series has the volumes that volume[] lists, and that the table has b0 volumes and one shell: weighted
 * b-values that differ by at most 1 % or 20 s/mm2, or that gls_gradients_shells() counts as one shell. what: names the
 * caller in messages. */
gls_status gls_csd_check_series(const char *what, const gls_image *dwi, const gls_gradients *gradients,
                                const size_t *volume);
/* Highest even order, from 2 to `highest`, with no more coefficients than the table has different weighted directions;
 * 2 if there is none. Directions that are equal or opposite within 1.1 degrees count once; *n_directions: number of
 * different ones. */
int gls_csd_order_for(const gls_gradients *gradients, int highest, size_t *n_directions);

#endif
