/* The sidecar of a tractogram: everything needed to know how it was made. */
#ifndef GLS_RUN_TRACK_SIDECAR_H
#define GLS_RUN_TRACK_SIDECAR_H

#include <glslines/workflow.h>

/* Composes the text of the sidecar from the job and its result. From malloc; NULL: out of memory. */
char *gls_track_sidecar_text(const gls_job *job);

#endif
