/* Inside the deconvolution: tables of one shell. */
#ifndef GLS_DWI_CSD_SHELL_H
#define GLS_DWI_CSD_SHELL_H

#include <glslines/gradients.h>
#include <glslines/image.h>

/* The series has the volumes, and the table b0s and one shell: weighted b-values of one shell, or within 1 % or
 * 20 s/mm2 of each other. what names the caller in messages. */
gls_status gls_csd_check_series(const char *what, const gls_image *dwi, const gls_gradients *gradients,
                                const size_t *volume);

/* The highest even order, at most highest and at least 2, whose coefficients are no more than the weighted directions
 * of the table; a direction and its opposite count once. */
int gls_csd_order_for(const gls_gradients *gradients, int highest, size_t *n_directions);

#endif
