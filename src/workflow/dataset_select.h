/* Which participants, sessions and series are asked for. */
#ifndef GLS_WORKFLOW_DATASET_SELECT_H
#define GLS_WORKFLOW_DATASET_SELECT_H

#include "workflow/dataset.h"

/* Whether a folder has the name of a participant or session, PREFIX-LABEL, that is asked for. */
bool gls_dataset_takes_participant(const gls_dataset_options *options, const char *folder);
bool gls_dataset_takes_session(const gls_dataset_options *options, const char *folder);
/* The label of a folder PREFIX-LABEL that would be asked for, were it one of BIDS; NULL: it is one, or is not asked
 * for.
 */
const char *gls_dataset_bad_participant(const gls_dataset_options *options, const char *folder);
const char *gls_dataset_bad_session(const gls_dataset_options *options, const char *folder);
/* Whether files without a session are asked for. */
bool gls_dataset_takes_no_session(const gls_dataset_options *options);
/* Whether a name has the entities of all filters but those of except (NULL: none). Numbers of runs are compared as
 * numbers. */
bool gls_dataset_passes(const gls_dataset_options *options, const char *name, const char *except);
/* Whether a file lies where its name says: in the folder of this participant and session ("": none). */
bool gls_dataset_belongs(const char *name, const char *subject, const char *session);
/* Each participant that is asked for is among these names of folders, and each session is one of any. */
gls_status gls_dataset_check_labels(const gls_dataset_options *options, char *const *names);

#endif
