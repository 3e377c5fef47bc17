/* Is an image one of SH coefficients, or of peaks? */
#ifndef GLS_DWI_IMAGE_KIND_H
#define GLS_DWI_IMAGE_KIND_H

#include <glslines/image.h>

/* Checks that an image holds SH coefficients. GLS_ERR_INPUT if it holds something else, such as peaks. Warns in
 * doubtful cases. */
gls_status gls_fod_check(const gls_image *sh, const char *name);
/* Warns if an image of peaks may be something else: SH coefficients, tensors, a colour map, a series. */
void gls_peaks_doubt(const gls_image *peaks, const char *name);

#endif
