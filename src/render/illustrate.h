/* Report and picture of a run of tracking, and what else the program writes beside it. */
#ifndef GLS_RENDER_ILLUSTRATE_H
#define GLS_RENDER_ILLUSTRATE_H

#include <glslines/workflow.h>

/* Names of the files beside a tractogram. */
typedef struct gls_illustrations {
    const char *report, *picture; /* file names; NULL: none; report "": beside the output */
    const char *trace, *json;     /* files that the caller writes; NULL: none; json "": printed */
    char *beside;                 /* NULL; gls_illustrations_open() keeps here the name of a report beside the output */
} gls_illustrations;

/* Opens the job, and checks that the named files can be written. If the job is skipped because it was done before,
 * checks instead that report and picture are those of the earlier run. */
gls_status gls_illustrations_open(gls_illustrations *illustrations, gls_job *job);
/* Makes report and picture, if requested. A failure is only a warning, because the tractogram exists. */
void gls_illustrations_make(const gls_illustrations *illustrations, gls_job *job);
void gls_illustrations_finish(gls_illustrations *illustrations);

#endif
