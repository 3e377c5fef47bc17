/* The voxels that the streamlines of a batch result visit, as the device counted them. */
#ifndef GLS_TRACK_ENGINE_VISITED_H
#define GLS_TRACK_ENGINE_VISITED_H

#include <stdbool.h>

#include <glslines/image.h>

/* Counts of visited voxels, made by a device. A voxel counts streamlines, not points. Owned by a batch result. */
typedef struct gls_visited {
    bool valid;         /* false: the device did not count; the host must */
    bool ends_alone;    /* the result holds only first and last points of streamlines that are not left to the host */
    gls_grid grid;      /* the grid of tracking, on which voxels are counted */
    size_t n_voxels, n; /* n_voxels: number of voxels of the grid; n: number of streamlines */
    uint64_t n_points;  /* number of points of the streamlines that are not left to the host */
    size_t capacity;    /* allocated elements of `word` */
    uint32_t *word; /* first n_voxels words: number of streamlines in each voxel; streamlines left to the host are not
                       counted */
    uint32_t *left; /* one word for each streamline; not 0: the host must count its voxels */
} gls_visited;

#endif
