/* The weights that track --weights computes, for sinks that take them. */
#ifndef GLS_WORKFLOW_SINKS_WEIGHTS_SINK_H
#define GLS_WORKFLOW_SINKS_WEIGHTS_SINK_H

#include <glslines/connectome.h>

#include "workflow/sinks/sinks.h"

/* Hands the ends of all streamlines with their weights, the column GLS_DPS_WEIGHTS, to a connectome, once all
 * streamlines have come. weights: the wanted sink of gls_weights_kind. */
gls_status gls_weights_sink_connect(gls_run_sink *weights, gls_job *job, gls_connectome *connectome);

#endif
