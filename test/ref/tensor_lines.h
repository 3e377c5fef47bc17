/* Tracking along tensors in double and in plain loops over the signals of a series. Of the tracker it has the random
 * numbers, so that the same streamlines can be expected. */
#ifndef GLS_TEST_REF_TENSOR_LINES_H
#define GLS_TEST_REF_TENSOR_LINES_H

#include <glslines/track.h>

enum { TENSOR_REF_VOLUMES = 160 };

typedef struct tensor_ref {
    const gls_track_params *params;
    const gls_image *dwi;
    const gls_gradients *gradients;
    const gls_image *stop; /* halves end where it is at or below the threshold */
    double design[TENSOR_REF_VOLUMES][7], fit[7][TENSOR_REF_VOLUMES];
} tensor_ref;

/* Needs the other members. */
void tensor_ref_prepare(tensor_ref *ref);
/* Finds the first direction of a seed along the voxel axes. Returns false if there is none. */
bool tensor_start(const tensor_ref *ref, const double seed[3], uint32_t index, double direction[3]);
/* Tracks a streamline along it, voxels. point: room for 2 x (longest length / step + 1) points. */
size_t tensor_track(const tensor_ref *ref, const double seed[3], uint32_t index, const double direction[3],
                    double (*point)[3], gls_end ends[2]);

#endif
