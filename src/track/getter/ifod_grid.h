/* The fixed candidates of iFOD1 and iFOD2, which bound the weights of all others: directions so close to each other,
 * out over the edge of the cone, that whatever sharpest peak the order of the harmonics allows is never more than a
 * factor above what the nearest of them finds (Tournier et al. 2010; the search for spacing and factor is MRtrix3's).
 */
#ifndef GLS_TRACK_GETTER_IFOD_GRID_H
#define GLS_TRACK_GETTER_IFOD_GRID_H

#include <glslines/track.h>

typedef struct gls_ifod_grid {
    double (*direction)[2]; /* angle to the cone's axis and turn about it, radians */
    size_t n;
    double ratio;    /* of a weight to the largest of the fixed ones, at most */
    double expected; /* candidates a step that were expected: those above, and the draws */
} gls_ifod_grid;

/* voxel: the cube root of a voxel's volume, mm. parts: places of an arc, 0 for iFOD1. GLS_ERR_MEMORY. */
gls_status gls_ifod_grid_make(const gls_track_params *params, int sh_order, double voxel, int parts,
                              gls_ifod_grid *grid);
void gls_ifod_grid_finish(gls_ifod_grid *grid);
/* The exponent of FOD amplitudes. */
double gls_ifod_power(const gls_track_params *params);

#endif
