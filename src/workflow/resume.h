/* Runs that go on where one before them was killed: the journal beside the output, which is there until the outputs
 * have their names. */
#ifndef GLS_WORKFLOW_RESUME_H
#define GLS_WORKFLOW_RESUME_H

#include "track/run/journal.h"
#include "util/output_file.h"
#include "workflow/job_state.h"

/* The journal's name; from malloc, NULL: no memory. */
char *gls_resume_name(const char *output);
/* Whether what stands at path was written by a run whose journal says that it is complete: it was killed before it
 * could remove the journal. */
bool gls_resume_is_own(const char *journal, const char *path);
/* The journal of the job's run, which is NULL where none is wanted. Tells what is there already. */
gls_status gls_resume_open(const gls_job *job, gls_journal **journal);
/* Notes the outputs before they get their names. */
gls_status gls_resume_complete(gls_journal *journal, const gls_output_group *group);

#endif
