/* Text files of tables, written line by line in an output group. */
#ifndef GLS_TRACTS_TRACT_TEXT_H
#define GLS_TRACTS_TRACT_TEXT_H

#include <glslines/streamlines.h>

#include "util/output_file.h"

/* A text file that is written line by line in an output group. An error is kept in `failed` until
 * gls_tract_text_close(). */
typedef struct gls_tract_text {
    gls_output output;
    char separator; /* ',' if the file's name ends in .csv, else a tab */
    char *buffer;
    size_t n;
    bool begun;          /* the line has a field */
    const char *missing; /* text for NaN; NULL: nan */
    gls_status failed;
} gls_tract_text;
/* Creates the file at `path` in the group. group NULL: none. */
gls_status gls_tract_text_create(const char *path, bool overwrite, gls_output_group *group, gls_tract_text *text);
/* Appends formatted text as it is. */
void gls_tract_text_printf(gls_tract_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Appends a name as gls_field_append() writes it, with a separator before it unless it begins the line. */
void gls_tract_text_field(gls_tract_text *text, const char *field);
/* Appends the name of component i of n: NAME if n is 1, NAME_I otherwise. */
void gls_tract_text_component(gls_tract_text *text, const char *name, size_t i, size_t n);
/* Ends the current line of the file. */
void gls_tract_text_end_row(gls_tract_text *text);
/* Appends the shortest decimal that reads back as value, with a separator before it unless it begins the line. NaN: see
 * `missing`. */
void gls_tract_text_number(gls_tract_text *text, double value);
/* Appends value i of a column. Integers keep all digits. */
void gls_tract_text_value(gls_tract_text *text, const gls_column *column, uint64_t i);
/* Completes the file in its group and returns the first error of `status` and of the text; after an error removes the
 * file. Returns `status` if the file was not opened. */
gls_status gls_tract_text_close(gls_tract_text *text, gls_status status);

#endif
