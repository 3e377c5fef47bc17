/* Five tissue types without a T1 image, from the densities of tissues that a fit of the series found. */
#ifndef GLS_ANAT_FIVE_OF_FIT_H
#define GLS_ANAT_FIVE_OF_FIT_H

#include <glslines/image.h>

/* The densities, all on one grid: the first volume of the first image, and the other images, of one volume each. */
enum { GLS_FIT_WM, GLS_FIT_GM, GLS_FIT_CSF, GLS_FIT_TISSUES };

/* Makes five volumes in the order of GLS_TISSUE_CGM and so on, and a mask of 0 and 1. The brain is where the sum of all
 * densities is above half of its median, of which the largest part, closed by three voxels; what closing adds is fluid.
 * The fractions are the shares of the sum. deep: share of each voxel in which grey matter is deep, on the same grid;
 * NULL: all is cortical. name: of the first image, for messages. Warns of a brain that fills most of the grid or is a
 * small part of what is above the half. GLS_ERR_INPUT: no voxel has a density. */
gls_status gls_five_tissues_of_fit(const gls_image *const tissue[GLS_FIT_TISSUES], const gls_image *deep,
                                   const char *name, gls_image **five, gls_image **mask);

#endif
