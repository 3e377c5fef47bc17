/* The map of a T1 image to a series, made better by the border of white matter, which is dark in the series. */
#ifndef GLS_ANAT_BOUNDARY_H
#define GLS_ANAT_BOUNDARY_H

#include "registration/linear.h"

/* Whether the map has changed, or why it has not. */
typedef enum gls_boundary_end {
    GLS_BOUNDARY_TAKEN,
    GLS_BOUNDARY_NO_BETTER, /* the map before is as good as the cost can show */
    GLS_BOUNDARY_FEW,       /* points: nothing was compared, so that there are no costs */
    GLS_BOUNDARY_UNSEEN,    /* the cost stays near 1, as that of noise does */
    GLS_BOUNDARY_FAR        /* the change is too large */
} gls_boundary_end;

/* The costs of both maps, the change between them, and how the search ended. */
typedef struct gls_boundary {
    size_t points;        /* on the border */
    double before, after; /* mean cost of the points, 0 to 2: 0, the grey side is brighter everywhere; 1, neither is */
    double shift, turn;   /* between the map before and after: mm in the middle of the points, and degrees */
    gls_boundary_end end;
} gls_boundary;

#define GLS_BOUNDARY_MIN_POINTS 50
/* A map of a cost below the first is kept, and one whose cost does not fall to this share: near its minimum the cost is
 * so flat that noise and the edges of voxels decide. */
#define GLS_BOUNDARY_MIN_COST 0.01
#define GLS_BOUNDARY_FALL 0.5
/* Changes from these on are not taken, mm and degrees, and costs, which noise alone brings near 1. */
#define GLS_BOUNDARY_MAX_SHIFT 4.0
#define GLS_BOUNDARY_MAX_TURN 4.0
#define GLS_BOUNDARY_MAX_COST 0.8

/* Changes a rigid map from points of the series to points of the T1, world mm, so that the series is brighter on the
 * grey side of the border than on the white side. white: share of white matter in each voxel, in the space of the
 * series as `map` brings it there; mask: the brain, on the same grid. b0: the series without diffusion weighting, which
 * is finite. Unless found->end is GLS_BOUNDARY_TAKEN the map stays as it is. Same bytes for any number of threads. */
gls_status gls_boundary_refine(const float *white, const gls_image *mask, const gls_image *b0, double map[3][4],
                               const gls_go_on *go_on, gls_boundary *found);

#endif
