/* The report and the picture that a run of tracking makes of its output, and what else the program writes beside it. */
#ifndef GLS_RENDER_ILLUSTRATE_H
#define GLS_RENDER_ILLUSTRATE_H

#include <glslines/workflow.h>

typedef struct gls_illustrations {
    const char *report, *picture; /* files; NULL: none; report "": beside the output */
    const char *trace, *json;     /* files that the caller writes; NULL: none; json "": printed */
} gls_illustrations;

/* Opens the job, once it is known that they can be written, or, where it was done before, that they are there. */
gls_status gls_illustrations_open(const gls_illustrations *illustrations, gls_job *job);
/* Makes those that were asked for. What fails is a warning: the run has its result. */
void gls_illustrations_make(const gls_illustrations *illustrations, gls_job *job);

#endif
