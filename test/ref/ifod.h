/* iFOD1, iFOD2 and SD_STREAM in double and in plain loops: all of a step's candidates one after the other, SH by the
 * library's matrix of basis functions, peaks by differences. Of the tracker it has the random numbers, so that the same
 * streamlines can be expected, and the grid of fixed candidates. */
#ifndef GLS_TEST_REF_IFOD_H
#define GLS_TEST_REF_IFOD_H

#include <glslines/track.h>

#include "track/getter/fod_getters.h"

typedef struct ifod_ref {
    const gls_track_params *params;
    const gls_image *sh;   /* GLS_SH_DESCOTEAUX07_LEGACY along the voxel axes */
    const gls_image *stop; /* halves end where it is at or below the threshold */
    int order;
    gls_ifod_grid grid;
} ifod_ref;

bool ifod_ref_init(ifod_ref *ref, const gls_track_params *params, const gls_image *sh, const gls_image *stop);
void ifod_ref_finish(ifod_ref *ref);

/* Returns the amplitude of the SH at p, voxels, along d. */
double ifod_amplitude(const ifod_ref *ref, const double p[3], const double d[3]);
/* Tracks the streamline of a seed, voxels. Returns false if the seed has no direction. point: room for 2 x (longest
 * length / step + 1) points. parts: number of parts of its steps that were passed. */
bool ifod_track(const ifod_ref *ref, const double seed[3], uint32_t index, double (*point)[3], size_t *n, size_t *parts,
                gls_end ends[2]);

#endif
