/* The JSON file beside a tractogram: everything needed to know how it was made. */
#ifndef GLS_WORKFLOW_TRACK_SIDECAR_H
#define GLS_WORKFLOW_TRACK_SIDECAR_H

#include "workflow/job_state.h"

/* Takes the sidecar's place in the group: the first time, or in place of the one that was begun before under a name
 * that is taken by now. */
gls_status gls_track_sidecar_begin(gls_job *job, gls_output_group *group, gls_output *sidecar);
/* The text, from malloc; NULL without memory. */
char *gls_track_sidecar_text(const gls_job *job);

#endif
