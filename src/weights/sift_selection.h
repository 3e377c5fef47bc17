/* SIFT (Smith et al. 2013): removes streamlines as long as a removal brings the densities of streamlines closer to
 * those of the FODs. */
#ifndef GLS_WEIGHTS_SIFT_SELECTION_H
#define GLS_WEIGHTS_SIFT_SELECTION_H

#include <glslines/common.h>
#include <glslines/weights.h>

/* Selects streamlines by SIFT on the CPU. progress as for gls_weights_run_sift2(). */
gls_status gls_weights_run_sift(gls_weights *weights, gls_weights_progress progress, void *user);

#endif
