/* Grids that no image has. */
#ifndef GLS_WORKFLOW_TRACTS_BOX_H
#define GLS_WORKFLOW_TRACTS_BOX_H

#include "workflow/tracts/job.h"

/* The same box in voxels of other sides, mm: the corner of the first voxel stays, the last voxels may reach further. As
 * tckmap -template -vox. */
gls_status gls_tract_grid_divide(gls_grid *grid, const double side[3]);
/* A box around all points of the tractogram at path, which is read for it, with three voxels on each side and the axes
 * of the world. As tckmap -vox. */
gls_status gls_tract_grid_around(const gls_tract_job *job, const char *path, const double side[3], gls_grid *grid);

#endif
