/* The model of a direction getter on its way to a device: what all getters do alike. */
#ifndef GLS_TRACK_ENGINE_MODEL_H
#define GLS_TRACK_ENGINE_MODEL_H

#include "track/engine/plan.h"

/* The field, the contents of the model buffer and the getter's definitions; nothing on a device. To be finished after a
 * failure, too. */
gls_status gls_model_plan_make(const gls_device_info *limits, const gls_track_params *params,
                               const gls_track_plan *plan, const gls_track_input *input, gls_model_plan *model);
void gls_model_plan_finish(gls_model_plan *plan);
/* Makes the field, empty, and the model buffer; the plan's tables are gone then. */
gls_status gls_model_create(gls_device *device, gls_model_plan *plan, gls_model *model);
void gls_model_finish(gls_model *model);

#endif
