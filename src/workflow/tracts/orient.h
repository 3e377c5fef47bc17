/* The text of --orient. */
#ifndef GLS_WORKFLOW_TRACTS_ORIENT_H
#define GLS_WORKFLOW_TRACTS_ORIENT_H

#include <glslines/select.h>

#include "workflow/tracts/job.h"

typedef struct gls_tract_orient {
    gls_orientation orientation;
    double centre[3];
    float (*line)[3]; /* from malloc */
} gls_tract_orient;

/* x, y, z, a region whose centre counts, or a tractogram whose first streamline counts; NULL: all zero. */
/* What of it may name a file, which is an input; NULL: nothing. Borrowed. */
const char *gls_tract_orient_file(const char *text);
gls_status gls_tract_orient_read(gls_tract_orient *orient, const gls_tract_job *job, const char *text);
void gls_tract_orient_finish(gls_tract_orient *orient);

#endif
