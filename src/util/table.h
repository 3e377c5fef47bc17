/* Numeric text tables: b-values, gradient vectors, seeds, directions. */
#ifndef GLS_UTIL_TABLE_H
#define GLS_UTIL_TABLE_H

#include <glslines/common.h>

/* Reads rows of numbers separated by blanks, tabs or commas. '#' starts a comment; blank lines are skipped; line ends
 * of any system; "nan" and "inf" are numbers. Every row must have the same length and the file at least one number and
 * at most 256 MiB. *values (row after row) is from malloc. GLS_ERR_INPUT names the file and the line. Independent of
 * the locale. */
gls_status gls_table_read(const char *path, double **values, size_t *rows, size_t *cols);

/* The same from memory; text[n] must be NUL, name is used in messages. */
gls_status gls_table_parse(const char *name, const char *text, size_t n, double **values, size_t *rows, size_t *cols);

#endif
