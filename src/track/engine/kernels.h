/* The kernels of an engine: their definitions and slots, and how they are loaded. */
#ifndef GLS_TRACK_ENGINE_KERNELS_H
#define GLS_TRACK_ENGINE_KERNELS_H

#include "track/engine/model.h"

typedef struct gls_kernels {
    gls_kernel *initial;                      /* pass 1 in one kernel */
    gls_kernel *track;                        /* pass 2 in one kernel */
    gls_kernel *step;                         /* staged: some turns of pass 2 */
    gls_kernel *sample, *first_sample, *turn; /* split: both passes; first_sample is that of pass 1 where it differs */
    gls_kernel *gather;                       /* pass 3 */
} gls_kernels;

/* Adds definitions to the model's, and tells the driver what will be loaded: it may compile meanwhile. */
gls_status gls_kernels_announce(gls_device *device, const gls_track_params *params, const gls_track_plan *plan,
                                const gls_track_input *input, gls_model_plan *model);
/* Loads those that the plan needs, which were announced. To be destroyed after a failure, too. */
gls_status gls_kernels_load(gls_device *device, const gls_track_params *params, const gls_track_plan *plan,
                            gls_model_plan *model, gls_kernels *kernels);
void gls_kernels_destroy(gls_kernels *kernels);

#endif
