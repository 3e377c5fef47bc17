/* FACT and EuDX in double and in plain loops over the peaks of an image. Of the tracker it has the random numbers, so
 * that the same streamlines can be expected. */
#ifndef GLS_TEST_REF_PEAK_LINES_H
#define GLS_TEST_REF_PEAK_LINES_H

#include <glslines/track.h>

typedef struct peak_ref {
    const gls_track_params *params;
    const gls_image *peaks; /* as gls_peaks_append() makes them */
    const gls_image *stop;  /* halves end where it is at or below the threshold */
} peak_ref;

/* Finds the first directions of a seed, unit vectors along the voxel axes. Returns their number. */
size_t peak_starts(const peak_ref *ref, const double seed[3], uint32_t index, double (*direction)[3]);
/* Tracks a streamline along one of them, voxels. point: room for 2 x (longest length / step + 1) points. */
size_t peak_track(const peak_ref *ref, const double seed[3], const double direction[3], double (*point)[3],
                  gls_end ends[2]);

#endif
