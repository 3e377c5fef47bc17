/* The iterations of SIFT2 (Smith et al. 2015). */
#ifndef GLS_WEIGHTS_SIFT2_WEIGHTS_H
#define GLS_WEIGHTS_SIFT2_WEIGHTS_H

#include <glslines/common.h>
#include <glslines/device.h>
#include <glslines/weights.h>

/* Runs SIFT2 on the model, with n devices or, if n is 0, on the CPU. progress may be NULL; GLS_ERR_CANCELLED if
 * progress asks to stop. If a device is lost or has too little memory, the CPU begins anew. */
gls_status gls_weights_run_sift2(gls_weights *weights, gls_device *const *devices, size_t n,
                                 gls_weights_progress progress, void *user);

#endif
