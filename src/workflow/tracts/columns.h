/* Columns of streamlines from files beside a tractogram: tables, and track scalar files. */
#ifndef GLS_WORKFLOW_TRACTS_COLUMNS_H
#define GLS_WORKFLOW_TRACTS_COLUMNS_H

#include <glslines/streamlines.h>

#include "tractogram/file_formats.h"

/* A table with a header line; neighbouring columns x_0, x_1 ... are components of one column x. */
typedef struct gls_tract_table {
    size_t n;
    uint64_t rows;
    gls_column *column;
    char *header;   /* holds the names */
    double *values; /* each column's rows, one column behind the other */
} gls_tract_table;
/* NULL path: no column. GLS_ERR_INPUT names the file and what is wrong. */
gls_status gls_tract_table_read(gls_tract_table *table, const char *path);
void gls_tract_table_finish(gls_tract_table *table);

/* A track scalar file, read along with the streamlines. */
typedef struct gls_tract_scalars {
    char *path;
    const char *name; /* within path */
    int fd;           /* of path; -1: not open */
    gls_tck_header header;
    gls_cursor cursor;
    char *stamp;   /* of the TCK file to which it belongs; NULL: not said */
    uint64_t line; /* streamlines read */
} gls_tract_scalars;
/* text: "FILE=NAME". */
gls_status gls_tract_scalars_open(gls_tract_scalars *scalars, const char *text);
/* Puts a filter in front of sink that adds the column; the scalars have to outlive it. GLS_ERR_INPUT: more or fewer
 * values than vertices. */
gls_status gls_tract_scalars_sink(gls_tract_scalars *scalars, gls_sink *sink);
void gls_tract_scalars_close(gls_tract_scalars *scalars);

#endif
