/* Bounds the weights of the candidates of iFOD1 and iFOD2. Each step first weighs the directions of a fixed grid over
 * the cone and a little beyond. The largest of these weights times `ratio` bounds the weight of any direction in the
 * cone: the grid is so dense that even the sharpest peak of the given harmonic order weighs at most `ratio` times as
 * much as the nearest direction of the grid (Tournier et al. 2010; the search for spacing and ratio follows MRtrix3).
 */
#ifndef GLS_TRACK_GETTER_FOD_GETTERS_H
#define GLS_TRACK_GETTER_FOD_GETTERS_H

#include <glslines/track.h>

/* The fixed grid of directions. gls_ifod_grid_finish() frees its memory. */
typedef struct gls_ifod_grid {
    double (*direction)[2]; /* radians: angle to the axis of the cone, and angle about the axis */
    size_t n;
    double ratio;    /* upper bound of the weights in the cone, divided by the largest weight of the grid */
    double expected; /* expected number of candidates in a step, fixed and random; INFINITY in a very narrow cone */
} gls_ifod_grid;

/* Makes the grid. voxel: cube root of a voxel's volume, mm. parts: number of parts of an arc; 0: iFOD1, without arcs.
 * GLS_ERR_MEMORY. */
gls_status gls_ifod_grid_make(const gls_track_params *params, int sh_order, double voxel, int parts,
                              gls_ifod_grid *grid);
/* Frees the directions. */
void gls_ifod_grid_finish(gls_ifod_grid *grid);
/* Power to which FOD amplitudes are raised in the weight of an arc of iFOD2. iFOD1 does not use it. */
double gls_ifod_power(const gls_track_params *params);

#endif
