/* Streamlines as FSL's probtrackx2 counts them, for the sinks whose names begin with fdt_. */
#ifndef GLS_SINKS_FDT_H
#define GLS_SINKS_FDT_H

#include "sinks/sinks.h"

/* A grid in which points are looked up: each point belongs to the voxel with the nearest centre. */
typedef struct gls_fdt_grid {
    int32_t dim[3];
    double to_voxel[3][4];
} gls_fdt_grid;

/* Numbers, from 1 on, of all voxels of an image, of the voxels of a mask (both with x fastest), or of the regions of an
 * image of labels (in the order of labels). */
typedef struct gls_fdt_numbering {
    gls_grid image;
    gls_fdt_grid grid;
    uint32_t n;
    uint32_t *number; /* number of each voxel of the image; 0: none. NULL: voxel v has the number v + 1 */
    int32_t *label;   /* the n labels of regions; NULL: voxels are numbered, not regions */
} gls_fdt_numbering;

/* A half-streamline: the points from the seed to one end. The seed is the first point of both half-streamlines. */
typedef struct gls_fdt_half {
    const float (*seed)[3];
    ptrdiff_t sense; /* index step from a point to the next one after the seed: 1 or -1 */
    size_t n;        /* number of points; 0: the half-streamline does not count */
} gls_fdt_half;

/* Point k of a half-streamline, world mm; k = 0 is the seed. */
static inline const float *gls_fdt_point(const gls_fdt_half *half, size_t k)
{
    return half->seed[(ptrdiff_t)k * half->sense];
}

/* Numbers all voxels of a grid. GLS_ERR_UNSUPPORTED: they are more than 32 bits can number. */
gls_status gls_fdt_numbering_of_grid(const gls_grid *grid, gls_fdt_numbering *numbering);
/* Numbers the voxels above 0 of the mask at `path`; path NULL: of the seed mask. GLS_ERR_INPUT: no voxel is above 0.
 * GLS_ERR_ARGUMENT: path is NULL and the run has no seed mask. */
gls_status gls_fdt_numbering_of_mask(const gls_run_sink *sink, const gls_run_sinks *sinks, const char *path,
                                     gls_fdt_numbering *numbering);
/* Reads an image and numbers its labels. GLS_ERR_INPUT: it has fewer labels than `least`, or more than 20000, or a
 * value that is no label. */
gls_status gls_fdt_numbering_of_labels(const gls_run_sinks *sinks, const char *path, uint32_t least,
                                       gls_fdt_numbering *numbering);
/* Frees the arrays. They may be NULL. */
void gls_fdt_numbering_finish(gls_fdt_numbering *numbering);
/* Returns the number of the voxel whose centre is nearest to a point, world mm; 0: the voxel has no number, or the
 * point lies outside the image. */
uint32_t gls_fdt_number_at(const gls_fdt_numbering *numbering, const float point[3]);
/* Splits streamline i at its seed: half[0] goes to the last point, half[1] to the first. With rois (NULL: none) a
 * half-streamline counts only if the seed lies in a region and the half-streamline meets another region. Returns
 * whether one counts. */
bool gls_fdt_halves(const gls_streamlines *s, size_t i, const gls_fdt_numbering *rois, gls_fdt_half half[2]);
/* Refuses options that leave out points of streamlines, and --shard with --select. adds_up: true if the results of
 * shards can be added; false: refuses --shard in any case. */
gls_status gls_fdt_check(const gls_run_sink *sink, const gls_run_sinks *sinks, bool adds_up);

#endif
