/* Text files that the library reads and writes: tables of numbers, CSV and TSV, headers of MRtrix3. */
#ifndef GLS_UTIL_TABLES_H
#define GLS_UTIL_TABLES_H

#include <glslines/common.h>

#include "util/text.h"

/* --- Numeric text tables: b-values, gradient vectors, seeds, directions. */

/* Reads rows of numbers separated by blanks, tabs or commas. '#' starts a comment; blank lines are skipped; line ends
 * of any system; "nan" and "inf" are numbers. Every row must have the same length and the file at least one number and
 * at most 256 MiB. *values (row after row) is from malloc. GLS_ERR_INPUT names the file and the line. Independent of
 * the locale. */
gls_status gls_table_read(const char *path, double **values, size_t *rows, size_t *cols);

/* The same from memory; text[n] must be NUL, name is used in messages. */
gls_status gls_table_parse(const char *name, const char *text, size_t n, double **values, size_t *rows, size_t *cols);

/* --- Tables of text with a separator between fields: RFC 4180 where it is a comma, and the same rules for a tab, as
 * BIDS and pandas have them. Tables are UTF-8: bytes of a field that are no UTF-8 are as gls_utf8_encode() writes them.
 */

/* Appends a field: in quotes if it has the separator, a quote or an end of line. */
void gls_field_append(gls_text *out, const char *field, char separator);
/* The same for a table that is printed: control characters, tabs and ends of lines among them, are escaped. */
void gls_field_show(gls_text *out, const char *field, char separator);

/* What stands in quotes at the start of field, in place; NULL: the quotes have no end. */
char *gls_field_unquote(char *field);

/* Bytes of the first record of a text, without the end of its line; separators: all that may stand between fields. */
size_t gls_record_bytes(const char *text, const char *separators);

/* A table that is read, in its own memory. */
typedef struct gls_records {
    char *rest; /* what is still to be read; NULL at the end */
    char separator;
    size_t line; /* on which the last record began, from 1 */
    size_t next; /* on which the next one begins, less 1 */
} gls_records;

/* text: is cut into fields; with a NUL at its end. A mark of byte order at its start is passed over. */
gls_records gls_records_begin(char *text, char separator);
/* Cuts off the next record. Its first max fields go into field, without quotes and with the bytes that they stand for.
 * Returns how many fields it has; 0: there is none any more. A blank line is a record of one empty field. */
size_t gls_record_next(gls_records *records, char **field, size_t max);

/* --- Text headers of MRtrix3's files: images, tracks and track scalars. Behind a first line that names the kind of
 * file come lines "key: value" up to a line END. As in MRtrix3, keys and types may have any case, blanks and NUL bytes
 * around a line, a key and a value do not count, and a '#' starts a comment. */

/* The bytes of a header up to the end of its line END; 0: these n bytes have no line END. A last line without a line
 * end counts only if whole is true: no more bytes follow in the file. */
size_t gls_mrtrix_header_bytes(const char *text, size_t n, bool whole);
/* Replaces NUL bytes among the n bytes of a header by blanks and ends it with a NUL at text[n]. Returns what follows
 * the first line. */
char *gls_mrtrix_lines(char *text, size_t n);
/* Cuts the next line off *rest: without blanks around it. NULL: that was the line END, or the last one. */
char *gls_mrtrix_next(char **rest);
/* Cuts a line into key and value, without its comment. false: it has no colon, and MRtrix3 passes over it. */
bool gls_mrtrix_split(char *line, char **key, char **value);

/* Splits the order of bytes, LE or BE, from the name of a type: *n is the length of the rest, *swapped says that it is
 * not this machine's order. */
void gls_mrtrix_type(const char *name, size_t *n, bool *swapped);
/* Where the data are: "NAME OFFSET" or "NAME". *file, from malloc, has the folder of path before it; NULL for the name
 * ".", the file itself. GLS_ERR_INPUT names path. */
gls_status gls_mrtrix_place(const char *path, const char *value, char **file, uint64_t *offset);

#endif
