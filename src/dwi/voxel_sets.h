/* Voxels of a series: work in blocks, sets of voxels, thresholds. */
#ifndef GLS_DWI_VOXEL_SETS_H
#define GLS_DWI_VOXEL_SETS_H

#include <glslines/common.h>
#include <glslines/csd.h>
#include <glslines/image.h>

/* --- Work on the voxels of a mask in blocks, on all cores. */

typedef struct gls_blocks {
    const char *what;      /* names the work in messages */
    const gls_image *mask; /* 1 volume, or NULL: all voxels */
    size_t voxels;
    size_t size;          /* voxels of a block, at most; those of a block come from a run of 1024 */
    size_t scratch_bytes; /* that solve gets, 64-byte aligned, its own for each thread */
    gls_csd_progress progress;
    void *progress_user;
    void (*solve)(void *job, const size_t *index, size_t n, void *scratch); /* from any thread; n voxels, ascending */
    void *job;
} gls_blocks;

/* Which voxels share a block does not depend on the number of threads. GLS_ERR_CANCELLED if progress returns false. */
gls_status gls_blocks_run(const gls_blocks *blocks);

/* Voxels of the mask. */
size_t gls_blocks_total(const gls_image *mask, size_t voxels);

/* Values of n voxels (n <= size) of n_volumes volumes, value (i, v) at i * size + v; the rest, and voxels with a value
 * that is not finite, are 0. Returns how many of these there are. */
size_t gls_blocks_gather(const float *const *volume, size_t n_volumes, const size_t *index, size_t n, size_t size,
                         float *values);

/* --- Sets of voxels: erosion, dilation, components. A set is one byte a voxel, 0 or 1, x fastest. */

/* All by the 6 neighbours; what lies outside the grid is not in the set, so erosion takes voxels at its border. times
 * >= 0 passes. */
gls_status gls_morphology_erode(const int32_t dim[3], uint8_t *set, int times);
gls_status gls_morphology_dilate(const int32_t dim[3], uint8_t *set, int times);
/* Keeps the largest component; of several as large the one that comes first. */
gls_status gls_morphology_largest(const int32_t dim[3], uint8_t *set);
/* Keeps voxels with a majority in their 3 x 3 x 3 neighbourhood, of those inside the grid. */
gls_status gls_morphology_median(const int32_t dim[3], uint8_t *set);
/* Adds what the complement's largest component does not reach. */
gls_status gls_morphology_fill(const int32_t dim[3], uint8_t *set);
size_t gls_morphology_count(const int32_t dim[3], const uint8_t *set);

/* --- Order of voxel values, and the threshold that splits them best. */

/* The threshold t for which the values correlate best with the 0/1 image value > t (Ridgway et al. 2009), found by
 * golden section to 1 %: the steps and their single precision are MRtrix3's, because the tolerance shows. Values that
 * are not finite do not count. False if the values do not vary. */
bool gls_threshold_optimal(const float *value, size_t n, float *threshold);

/* The n-th largest (from 1) of count values. Sorts in place. */
double gls_threshold_nth_largest(double *value, size_t count, size_t n);

#endif
