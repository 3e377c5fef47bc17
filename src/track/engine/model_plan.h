/* Plans the model of a direction getter: its field, its tables, and the definitions that its kernels need. */
#ifndef GLS_TRACK_ENGINE_MODEL_PLAN_H
#define GLS_TRACK_ENGINE_MODEL_PLAN_H

#include <glslines/common.h>
#include <glslines/device.h>
#include <glslines/track.h>

#include "track/engine/track_plan.h"
#include "track/getter/getter.h"

/* Plans the field, the contents of the model buffer and the getter's definitions; touches no device. Call
 * gls_model_plan_finish() even after a failure. */
gls_status gls_model_plan_make(const gls_device_info *limits, const gls_track_params *params,
                               const gls_track_plan *plan, const gls_track_input *input, gls_model_plan *model);
/* Frees tables and definitions of a plan, which may be all zero. */
void gls_model_plan_finish(gls_model_plan *plan);

#endif
