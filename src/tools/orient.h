/* Reads the value of --orient: the direction in which streamlines shall run. */
#ifndef GLS_TOOLS_ORIENT_H
#define GLS_TOOLS_ORIENT_H

#include <glslines/common.h>
#include <glslines/select.h>

#include "record/tract_run.h"

/* The value of --orient, with the centre of a region or the streamline that it names. */
typedef struct gls_tract_orient {
    /* axis, centre or line, of which one is set */
    gls_orientation orientation;
    /* centre of the region, world mm */
    double centre[3];
    float (*line)[3]; /* the streamline, world mm, from malloc */
} gls_tract_orient;

/* Returns the text if it may name an input file, else NULL. Borrowed. */
const char *gls_tract_orient_file(const char *text);
/* Parses the value and reads the file that it names: x, y or z; a region, of which the centre is kept; or a tractogram,
 * of which the first streamline is kept. text NULL: all zero. Call gls_tract_orient_finish() also after a failure. */
gls_status gls_tract_orient_read(gls_tract_orient *orient, const gls_tract_run *run, const char *text);
/* Frees the streamline that was read. */
void gls_tract_orient_finish(gls_tract_orient *orient);

#endif
