/* The directions on which FODs are sampled for their segmentation: 1281 of a half-sphere, with their mesh and the
 * weights of an integral. */
#ifndef GLS_WEIGHTS_SPHERE_H
#define GLS_WEIGHTS_SPHERE_H

#include <stdint.h>

#define GLS_LOBE_DIRECTIONS 1281
#define GLS_LOBE_NEIGHBOURS 6
#define GLS_LOBE_CELLS 32 /* along a side of a face of the cube */

typedef struct gls_lobe_sphere {
    double direction[GLS_LOBE_DIRECTIONS][3]; /* unit length; each stands for its antipode, too */
    /* of the mesh, in ascending order; where there are five the last one comes twice */
    uint16_t neighbour[GLS_LOBE_DIRECTIONS][GLS_LOBE_NEIGHBOURS];
    double weight[GLS_LOBE_DIRECTIONS]; /* of a sample in an integral over the whole sphere; their sum is 4 pi */
    uint16_t start[3][GLS_LOBE_CELLS][GLS_LOBE_CELLS]; /* a direction near the centre of each cell of a cube */
} gls_lobe_sphere;

/* Made at the first call; any thread. */
const gls_lobe_sphere *gls_lobe_sphere_get(void);

/* The direction nearest to the line along v, which is not 0; of equally near ones the first. */
uint16_t gls_lobe_sphere_nearest(const gls_lobe_sphere *sphere, const double v[3]);

#endif
