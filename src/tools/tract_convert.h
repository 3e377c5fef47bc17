/* `glslines convert`: writes a tractogram of any program in another format, with its columns and groups, and with
 * columns from files beside it: tables, and track scalar files. */
#ifndef GLS_TOOLS_TRACT_CONVERT_H
#define GLS_TOOLS_TRACT_CONVERT_H

#include <glslines/common.h>
#include <glslines/streamlines.h>

#include "tractogram/file_formats.h"
#include "tractogram/readers.h"

/* A table with a header line. Neighbouring columns x_0, x_1 ... become the components of one column x. */
typedef struct gls_tract_table {
    /* number of columns */
    size_t n;
    /* number of rows, one for each streamline */
    uint64_t rows;
    /* owned; the values of each column lie in `values` */
    gls_column *column;
    char *header;   /* text of the header line, which holds the names */
    double *values; /* rows of the first column, then of the second, and so on */
} gls_tract_table;

/* Reads a table. path NULL: no columns. GLS_ERR_INPUT names the file and the fault. */
gls_status gls_tract_table_read(gls_tract_table *table, const char *path);
/* Frees the table. */
void gls_tract_table_finish(gls_tract_table *table);

/* A track scalar file, read in step with the streamlines. */
typedef struct gls_tract_scalars {
    /* owned */
    char *path;
    const char *name; /* name of the column, the text behind = in the memory of `path` */
    int fd;           /* -1: not open */
    /* header, like that of a TCK file */
    gls_tck_header header;
    /* position in the values */
    gls_cursor cursor;
    char *stamp;   /* timestamp of the TCK file that the scalars belong to; NULL: not given */
    uint64_t line; /* streamlines read so far */
} gls_tract_scalars;

/* Opens a track scalar file. text: "FILE=NAME" with the name of the column. */
gls_status gls_tract_scalars_open(gls_tract_scalars *scalars, const char *text);
/* Puts a filter that adds the column in front of *sink. scalars must outlive the sink. The filter fails with
 * GLS_ERR_INPUT if a streamline has more or fewer points than values. */
gls_status gls_tract_scalars_sink(gls_tract_scalars *scalars, gls_sink *sink);
/* Closes the file. Does nothing if it was not opened. */
void gls_tract_scalars_close(gls_tract_scalars *scalars);

#endif
