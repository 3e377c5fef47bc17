/* The JSON file beside a tractogram: everything needed to know how it was made. */
#ifndef GLS_WORKFLOW_TRACK_SIDECAR_H
#define GLS_WORKFLOW_TRACK_SIDECAR_H

#include "workflow/job.h"

/* The text, from malloc; NULL without memory. */
char *gls_track_sidecar_text(const gls_job *job);

#endif
