/* Reads the groups of --groups: which streamlines belong together. */
#ifndef GLS_TOOLS_SIGNAL_GROUPS_H
#define GLS_TOOLS_SIGNAL_GROUPS_H

#include <glslines/connectome.h>
#include <glslines/streamlines.h>

#include "record/tract_run.h"

/* The name of the group of each streamline; names are numbers. All zero is empty. */
typedef struct gls_signal_names {
    uint64_t *of; /* group of each streamline */
    size_t n, capacity;
    const char *text; /* --groups */
    double *value;    /* numbers of a text file; NULL: another source */
    size_t n_values;
    gls_labels *labels; /* regions of edges: */
    gls_connectome *connectome;
    bool failed; /* memory ran out */
} gls_signal_names;

/* The file that `text` names; NULL: none. */
const char *gls_signal_names_file(const char *text);
/* Opens the source of the groups. Call gls_signal_names_finish() even after a failure. */
gls_status gls_signal_names_open(gls_signal_names *names, const char *text);
/* The sink that collects the groups of streamlines. Finishing or aborting it does nothing. */
gls_sink gls_signal_names_sink(gls_signal_names *names);
/* Checks after the last streamline that each has a group. tracks: the tractogram, for messages. */
gls_status gls_signal_names_check(const gls_signal_names *names, const char *tracks);
/* Frees everything. */
void gls_signal_names_finish(gls_signal_names *names);

#endif
