/* track --weights: computes weights of streamlines (SIFT2) during tracking, as a column of the tractogram or as text.
 */
#ifndef GLS_SINKS_WEIGHTS_SINK_H
#define GLS_SINKS_WEIGHTS_SINK_H

#include <glslines/common.h>

#include "sinks/sinks.h"

/* Solves for the weights at the first call. Call it after the last streamline. weights: the sink from
 * gls_sink_find(sinks, gls_weights_kinds). *weight: the weights of the *n streamlines, in their order; the sink owns
 * the array. If no weights can be computed, all are 1, with a warning, so that the streamlines are not lost. */
gls_status gls_weights_sink_solve(gls_run_sink *weights, gls_run_sinks *sinks, const float **weight, uint64_t *n);

#endif
