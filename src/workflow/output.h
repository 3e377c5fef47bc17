/* Places that outputs go to. */
#ifndef GLS_WORKFLOW_OUTPUT_H
#define GLS_WORKFLOW_OUTPUT_H

#include <glslines/common.h>

/* A place that cannot be written is told before the work, not after it. */
gls_status gls_place_check(const char *path, bool force);

#endif
