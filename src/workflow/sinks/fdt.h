/* Streamlines as FSL's probtrackx2 counts them, for the sinks whose names begin with fdt_. */
#ifndef GLS_WORKFLOW_SINKS_FDT_H
#define GLS_WORKFLOW_SINKS_FDT_H

#include "workflow/sinks/sinks.h"

/* A grid in which points are looked up: each point belongs to the voxel with the nearest centre. */
typedef struct gls_fdt_grid {
    /* voxels along each axis */
    int32_t dim[3];
    /* world mm to voxel coordinates */
    double to_voxel[3][4];
} gls_fdt_grid;

/* Prepares the lookup of points in this grid. */
void gls_fdt_grid_init(gls_fdt_grid *to, const gls_grid *grid);
/* Index of the voxel of a point in world mm; -1: outside. */
int64_t gls_fdt_voxel(const gls_fdt_grid *grid, const float point[3]);

/* A half of a streamline: its points from the seed to one end. The seed is the first point of both halves. */
typedef struct gls_fdt_half {
    /* the seed, world mm; further points follow in steps of `sense` */
    const float (*seed)[3];
    ptrdiff_t sense; /* index step from a point to the next one after the seed: 1 or -1 */
    size_t n;        /* 0: the half does not count */
} gls_fdt_half;

/* Point k of a half, world mm; k = 0 is the seed. */
static inline const float *gls_fdt_point(const gls_fdt_half *half, size_t k)
{
    return half->seed[(ptrdiff_t)k * half->sense];
}

/* Regions of --fdt-network. */
typedef struct gls_fdt_rois {
    /* grid of the image of labels */
    gls_fdt_grid grid;
    /* number of regions */
    size_t n;
    uint32_t *of_voxel; /* number of the region of each voxel, from 1; 0: none */
} gls_fdt_rois;

/* Region of a point, from 1; 0: none. */
uint32_t gls_fdt_roi_at(const gls_fdt_rois *rois, const float point[3]);
/* Regions of the run; NULL: it has no network. */
const gls_fdt_rois *gls_fdt_find_rois(gls_job *job);

/* Splits streamline i into its first and its second half. With rois (NULL: none) a half counts only where it meets
 * another region than that of the seed. Returns whether any half counts. */
bool gls_fdt_halves(const gls_streamlines *s, size_t i, const gls_fdt_rois *rois, gls_fdt_half half[2]);

/* Checks that a run has all points of all streamlines in one piece, as results of these sinks need. */
gls_status gls_fdt_check(const gls_run_sink *sink, const gls_job *job);

#endif
