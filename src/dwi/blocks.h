/* Work on the voxels of a mask in blocks, by all threads. */
#ifndef GLS_DWI_BLOCKS_H
#define GLS_DWI_BLOCKS_H

#include <glslines/csd.h>
#include <glslines/image.h>

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

#endif
