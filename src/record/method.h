/* Decides which options a run uses, by its method (gls_method_of()). */
#ifndef GLS_RECORD_METHOD_H
#define GLS_RECORD_METHOD_H

#include <glslines/workflow.h>

#include "track/track_params.h"
#include "util/option.h"

/* The first of names[] that is in given[]; both lists end with NULL. given NULL: it is empty. Returns NULL if none is.
 */
const char *gls_first_given(const char *const *names, const char *const *given);
/* Whether the option `name` is in given[]. */
bool gls_is_given(const char *const *given, const char *name);
/* Whether a run by this method uses a parameter, a row of params.def. */
bool gls_method_uses(const gls_method *method, const gls_option *param, const gls_job_options *options);
/* For a parameter that was given: GLS_ERR_ARGUMENT, which says what it needs, if a run by this method does not use it.
 * Not for parameters of a fit where directions are given, and of another model than the one that is fitted. */
gls_status gls_method_require(const gls_method *method, const gls_option *param, const gls_job_options *options);

#endif
