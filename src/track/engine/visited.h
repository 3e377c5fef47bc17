/* Voxels that the streamlines of a result visit, as the device counted them. */
#ifndef GLS_TRACK_ENGINE_VISITED_H
#define GLS_TRACK_ENGINE_VISITED_H

#include <stdbool.h>

#include <glslines/image.h>

typedef struct gls_visited {
    bool valid;
    bool ends_alone;    /* of streamlines that are not left to the host the result has the ends alone */
    gls_grid grid;      /* that of tracking, whose voxels are meant */
    size_t n_voxels, n; /* of it, and streamlines */
    uint64_t n_points;  /* of streamlines that are not left to the host */
    size_t capacity;    /* words */
    uint32_t *word;     /* of each voxel the streamlines that visit it, but for those left to the host; then: */
    uint32_t *left;     /* for each streamline: not 0: it is left to the host */
} gls_visited;

#endif
