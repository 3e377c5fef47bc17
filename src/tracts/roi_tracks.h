/* Regions from tractograms: the voxels that their streamlines pass. */
#ifndef GLS_TRACTS_ROI_TRACKS_H
#define GLS_TRACTS_ROI_TRACKS_H

#include <glslines/common.h>
#include <glslines/image.h>

#include "tracts/rois.h"

/* Like gls_rois_add(), but a .trx, .trk, .tck or .vtk file is a tractogram, and the region is the voxels that its
 * streamlines pass. grid: grid of these voxels; NULL: the tractogram's own. */
gls_status gls_rois_add_any(gls_rois *rois, const char *option, const char *text, const gls_grid *grid, double mm,
                            size_t *index);

#endif
