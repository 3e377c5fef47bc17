/* The identity of a run of tracking: the parameters and contents on which streamlines depend. */
#ifndef GLS_RUN_RUN_IDENTITY_H
#define GLS_RUN_RUN_IDENTITY_H

#include <glslines/common.h>
#include <glslines/workflow.h>

#include "run/job_parts.h"

/* Sets the hashes in job->shard. Call it after the inputs are read and the lengths are in mm. */
gls_status gls_job_identify(gls_job *job);
/* Sets job->other_inputs. Call it after the inputs are read. */
gls_status gls_job_hash_others(gls_job *job);
/* Whether all outputs and the sidecar exist; only then was the run complete. */
bool gls_job_outputs_exist(const gls_job *job);
/* If all outputs exist and an equal run wrote them: sets result.skipped; GLS_ERR_OUTPUT if picture and report are not
 * those of that run. If all exist, but no equal run is known to have written them, and force is not set: returns
 * GLS_ERR_OUTPUT. Otherwise acts like gls_job_check_outputs(). */
gls_status gls_job_find_done(gls_job *job);
/* Records in job->written the outputs, which are complete in the output group but do not have their final names. */
gls_status gls_job_note_outputs(gls_job *job);
/* Records a file that was made from the outputs and has its final name: the picture or the report. Writes the sidecar
 * again. Does nothing if the run has no sidecar. */
gls_status gls_job_note_extra(gls_job *job, gls_job_extra extra);

#endif
