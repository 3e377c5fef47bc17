/* Streamlines as FSL's probtrackx2 counts them, for the sinks whose names begin with fdt_. */
#ifndef GLS_SINKS_FDT_H
#define GLS_SINKS_FDT_H

#include "sinks/sinks.h"

/* A grid in which points are looked up: each point belongs to the voxel with the nearest centre. */
typedef struct gls_fdt_grid {
    int32_t dim[3];
    double to_voxel[3][4];
} gls_fdt_grid;

/* Voxels of an image with numbers from 1: all or those of a mask, x fastest, or the labels of regions in rising order.
 */
typedef struct gls_fdt_numbering {
    gls_grid image;
    gls_fdt_grid grid;
    uint32_t n;
    uint32_t *number; /* number of each voxel of the image; 0: none. NULL: voxel v has the number v + 1 */
    uint32_t *label;  /* the n labels of regions; NULL: voxels are numbered, not regions */
} gls_fdt_numbering;

/* A half of a streamline: its points from the seed to one end. The seed is the first point of both halves. */
typedef struct gls_fdt_half {
    const float (*seed)[3];
    ptrdiff_t sense; /* index step from a point to the next one after the seed: 1 or -1 */
    size_t n;        /* 0: the half does not count */
} gls_fdt_half;

/* Point k of a half, world mm; k = 0 is the seed. */
static inline const float *gls_fdt_point(const gls_fdt_half *half, size_t k)
{
    return half->seed[(ptrdiff_t)k * half->sense];
}

/* Numbers all voxels of a grid. */
void gls_fdt_numbering_of_grid(const gls_grid *grid, gls_fdt_numbering *numbering);
/* Numbers the voxels above 0 of a mask, or with path NULL of the seed mask. GLS_ERR_INPUT: there is none.
 * GLS_ERR_ARGUMENT: the run has no seed mask. */
gls_status gls_fdt_numbering_of_mask(const gls_run_sink *sink, const gls_run_sinks *sinks, const char *path,
                                     gls_fdt_numbering *numbering);
/* Reads an image and numbers its labels. GLS_ERR_INPUT: it has fewer than `least` or too many. */
gls_status gls_fdt_numbering_of_labels(const char *path, uint32_t least, gls_fdt_numbering *numbering);
/* Frees the arrays. The numbering may be zeroed. */
void gls_fdt_numbering_finish(gls_fdt_numbering *numbering);
/* Number of the voxel with the centre nearest to a point, world mm; 0: it has none, or the point lies outside. */
uint32_t gls_fdt_number_at(const gls_fdt_numbering *numbering, const float point[3]);
/* Regions of --fdt-network; NULL: the run has no network. */
const gls_fdt_numbering *gls_fdt_find_rois(gls_run_sinks *sinks);

/* Splits streamline i into its first and its second half. With rois (NULL: none) a half counts only where it meets
 * another region than that of the seed. Returns whether any half counts. */
bool gls_fdt_halves(const gls_streamlines *s, size_t i, const gls_fdt_numbering *rois, gls_fdt_half half[2]);

/* Refuses options that leave out points of streamlines, and --shard unless the results of shards can be added.
 * adds_up: they can. */
gls_status gls_fdt_check(const gls_run_sink *sink, const gls_run_sinks *sinks, bool adds_up);

#endif
