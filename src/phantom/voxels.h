/* Fills the voxels of the phantom: samples each at 27 points for its tissues and fibres, and computes its signal from
 * one tensor for each fibre population, isotropic compartments and Rician noise. */
#ifndef GLS_PHANTOM_VOXELS_H
#define GLS_PHANTOM_VOXELS_H

#include <glslines/common.h>
#include <glslines/phantom.h>

#include "phantom/parts.h"

/* Fills all images of the phantom: series, mask, roi, tissue, and the truth if there is any. scale: from the reference
 * frame to mm of the world, along each axis. direction: gradient direction of each volume, unit vector in the world;
 * zero for b0. GLS_ERR_MEMORY: out of memory. */
gls_status gls_phantom_voxels_fill(gls_phantom *phantom, const phantom_tube *tube, size_t n_tubes,
                                   const double scale[3], const double (*direction)[3]);

#endif
