/* Work on the voxels of a mask in blocks, on all cores. */
#ifndef GLS_DWI_BLOCKS_H
#define GLS_DWI_BLOCKS_H

#include <glslines/csd.h>
#include <glslines/image.h>

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

#endif
