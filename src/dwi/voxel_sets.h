/* Voxels of a series: work in blocks, sets of voxels, thresholds. */
#ifndef GLS_DWI_VOXEL_SETS_H
#define GLS_DWI_VOXEL_SETS_H

#include <glslines/common.h>
#include <glslines/csd.h>
#include <glslines/image.h>

/* --- Work on the voxels of a mask in blocks, by all threads. */

/* Work on voxels in blocks. Threads share the blocks; solve() may therefore run on several threads at once, each with
 * scratch memory of its own. */
typedef struct gls_blocks {
    const char *what;      /* names the work in messages */
    const gls_image *mask; /* one volume; NULL: all voxels */
    size_t voxels;         /* number of voxels of the grid */
    size_t size; /* maximum number of voxels of a block; a block lies within 1024 consecutive voxels of the grid */
    size_t scratch_bytes;      /* scratch memory of each thread, 64-byte aligned */
    gls_csd_progress progress; /* called from the calling thread only; may be NULL */
    void *progress_user;
    void (*solve)(void *job, const size_t *index, size_t n,
                  void *scratch); /* solves n voxels with ascending indices; called from any thread */
    void *job;                    /* first argument of solve() */
} gls_blocks;

/* Solves all blocks. Which voxels share a block does not depend on the number of threads. GLS_ERR_CANCELLED if progress
 * returned false. */
gls_status gls_blocks_run(const gls_blocks *blocks);

/* Number of voxels in the mask; mask NULL: `voxels`, all voxels of the grid. */
size_t gls_blocks_total(const gls_image *mask, size_t voxels);

/* Gathers n <= size voxels from n_volumes volumes: values[i * size + v] is volume i of voxel v. The rest of each row,
 * and all values of a voxel with a value that is not finite, are 0. Returns the number of such voxels. */
size_t gls_blocks_gather(const float *const *volume, size_t n_volumes, const size_t *index, size_t n, size_t size,
                         float *values);

/* --- Sets of voxels: erosion, dilation, components. A set has one byte for each voxel, 0 or 1, x fastest. */

/* Dilates a set, `times` >= 0 times: adds the 6 neighbours of each of its voxels. GLS_ERR_MEMORY: out of memory. */
gls_status gls_morphology_dilate(const int32_t dim[3], uint8_t *set, int times);
/* Number of voxels in the set. */
size_t gls_morphology_count(const int32_t dim[3], const uint8_t *set);

/* Erodes the mask `erode` times; if that leaves fewer than 1000 voxels, once; if still fewer, not at all. *safe: a set,
 * from malloc. GLS_ERR_INPUT: the mask is empty. */
gls_status gls_responses_safe_mask(const gls_image *mask, int erode, uint8_t **safe);

/* --- The threshold that separates values best. */

/* Finds the threshold t for which values and the 0/1 image value > t correlate best (Ridgway et al. 2009), by golden
 * section to 1 %. Steps and single precision are those of MRtrix3, because with this tolerance they affect the result.
 * Values that are not finite are ignored. Returns false if the values do not vary. */
bool gls_threshold_optimal(const float *value, size_t n, float *threshold);

#endif
