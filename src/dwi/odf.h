/* Sources of ODFs: images of SH coefficients or amplitudes, sampled on a sphere. */
#ifndef GLS_DWI_ODF_H
#define GLS_DWI_ODF_H

#include <glslines/common.h>
#include <glslines/gradients.h>
#include <glslines/image.h>

/* Sets map to the matrix whose columns are the directions of the voxel axes in the frame, as unit vectors. */
void gls_odf_frame_map(gls_bvec_frame frame, const gls_grid *grid, double map[3][3]);
/* Returns GLS_ERR_INPUT with a message that n volumes fit no SH basis. name: name of the image. */
gls_status gls_odf_fail_order(const char *name, size_t n);

#endif
