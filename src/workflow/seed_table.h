/* The table of --output-seeds: where the streamlines that are kept began. */
#ifndef GLS_WORKFLOW_SEED_TABLE_H
#define GLS_WORKFLOW_SEED_TABLE_H

#include <glslines/streamlines.h>

#include "util/output.h"
#include "util/text.h"

/* Zeroed, with output GLS_OUTPUT_NONE: none. */
typedef struct gls_seed_table {
    gls_output output;
    gls_text text; /* rows that were not written yet */
    uint64_t n;    /* streamlines so far */
} gls_seed_table;

/* Begins the file, which gets its name with the group. */
gls_status gls_seed_table_begin(const char *path, bool overwrite, gls_output_group *group, gls_seed_table *table);
/* Takes streamlines with the columns of the tracker; only appended to. */
gls_sink gls_seed_table_sink(gls_seed_table *table);
gls_status gls_seed_table_end(gls_seed_table *table);
/* Accepts one that was ended or never begun. */
void gls_seed_table_discard(gls_seed_table *table);

#endif
