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

/* Loads the kernels that the method needs, and on a device that maps that one, into the device's cache: where it fails,
 * it fails and is told when they are used. */
void gls_weights_load_kernels(gls_device *device, gls_weights_method method, bool maps);
gls_status gls_weights_run_sift2(gls_weights *weights, gls_device *const *devices, size_t n,
                                 gls_weights_progress progress, void *user);
gls_status gls_weights_run_sift(gls_weights *weights, gls_weights_progress progress, void *user);

#endif
