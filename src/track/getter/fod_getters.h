/* Bounds the weights of the candidates of iFOD1 and iFOD2. Each step first evaluates a fixed grid of directions over
 * the cone and a little beyond. Their largest weight times `ratio` bounds the weight of any direction in the cone,
 * because the grid is so dense that the sharpest peak of the given harmonic order is at most `ratio` times as high as
 * its value at the nearest grid direction (Tournier et al. 2010; the search for spacing and ratio follows MRtrix3). */
#ifndef GLS_TRACK_GETTER_FOD_GETTERS_H
#define GLS_TRACK_GETTER_FOD_GETTERS_H

#include <glslines/track.h>

/* The fixed grid of directions. gls_ifod_grid_finish() frees its memory. */
typedef struct gls_ifod_grid {
    double (*direction)[2]; /* radians: angle to the axis of the cone, and angle about the axis */
    size_t n;
    double ratio;    /* upper bound of a weight over the largest weight of the grid */
    double expected; /* expected number of candidates in a step: the grid and the draws */
} gls_ifod_grid;

/* Makes the grid. voxel: cube root of a voxel's volume, mm. parts: positions of an arc; 0: iFOD1. GLS_ERR_MEMORY. */
gls_status gls_ifod_grid_make(const gls_track_params *params, int sh_order, double voxel, int parts,
                              gls_ifod_grid *grid);
/* Frees the directions. */
void gls_ifod_grid_finish(gls_ifod_grid *grid);
/* Power to which FOD amplitudes are raised in the weight of an arc of iFOD2. iFOD1 does not use it. */
double gls_ifod_power(const gls_track_params *params);

#endif
