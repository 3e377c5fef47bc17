/* Decides which options a run uses, by its method (gls_method_of()). */
#ifndef GLS_RECORD_METHOD_H
#define GLS_RECORD_METHOD_H

#include <glslines/workflow.h>

#include "track/track_params.h"
#include "util/option.h"

/* Whether a run by this method uses a parameter, a row of params.def. */
bool gls_method_uses(const gls_method *method, const gls_option *param, const gls_job_options *options);

#endif
