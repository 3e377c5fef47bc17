/* The inside of gls_weights. */
#ifndef GLS_WEIGHTS_INSIDE_H
#define GLS_WEIGHTS_INSIDE_H

#include "weights/model.h"
#include "weights/queue.h"

struct gls_weights {
    gls_weights_options options;
    float *mask, *scale; /* of each voxel; NULL: 1 */
    gls_rows rows;
    gls_row_queue *queue; /* of a device that maps; NULL: threads do */
    gls_weight_model model;
    float *weight;
    float *coefficient;     /* SIFT2 */
    gls_model_state *state; /* at the end */
    gls_model_mean *mean;   /* SIFT2 */
    gls_weights_iteration *iteration;
    gls_weights_result result;
};

gls_status gls_weights_run_sift2(gls_weights *weights, gls_device *const *devices, size_t n,
                                 gls_weights_progress progress, void *user);
gls_status gls_weights_run_linear(gls_weights *weights);
gls_status gls_weights_run_sift(gls_weights *weights, gls_weights_progress progress, void *user);

#endif
