/* Places that outputs go to. */
#ifndef GLS_WORKFLOW_OUTPUT_H
#define GLS_WORKFLOW_OUTPUT_H

#include "workflow/inputs.h"

/* A place that cannot be written is told before the work, not after it: a folder that is not there, a file that exists
 * without force, one of the inputs (NULL: there are none) or of the other outputs (NULL entries count for nothing),
 * what is no regular file. */
gls_status gls_place_check(const char *path, bool force, const gls_inputs *inputs, const char *const *others,
                           size_t n_others);

#endif
