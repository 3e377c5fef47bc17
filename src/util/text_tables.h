/* Text files that the library reads and writes: tables of numbers, CSV and TSV, headers of MRtrix3. */
#ifndef GLS_UTIL_TEXT_TABLES_H
#define GLS_UTIL_TEXT_TABLES_H

#include <glslines/common.h>

#include "util/text.h"

/* --- Numeric text tables: b-values, gradient vectors, seeds, directions. */

/* Reads rows of numbers separated by blanks, tabs or commas. '#' starts a comment; blank lines are skipped; any line
 * ends are accepted; "nan" and "inf" are numbers. All rows must have the same length; the file must have at least one
 * number and at most 256 MiB. *values: rows x cols numbers, row after row, from malloc. GLS_ERR_INPUT names the file
 * and the line. The locale does not matter. */
gls_status gls_table_read(const char *path, double **values, size_t *rows, size_t *cols);

/* Like gls_table_read(), from a text of n bytes with a NUL behind them. name: used in messages. */
gls_status gls_table_parse(const char *name, const char *text, size_t n, double **values, size_t *rows, size_t *cols);

/* --- Tables of text: CSV as RFC 4180 defines it, and the same rules with a tab, as BIDS and pandas use it. Tables are
 * UTF-8; other bytes are written as gls_utf8_encode() does. */

/* Appends a field, in quotes if it contains the separator, a quote or a line end. A text that spreadsheets would take
 * for a formula, such as "=1+1", gets an apostrophe in front, which gls_record_next() removes; numbers get none. */
void gls_field_append(gls_text *out, const char *field, char separator);
/* Like gls_field_append(), for a table on a terminal: control characters are escaped, tabs and line ends included. */
void gls_field_show(gls_text *out, const char *field, char separator);

/* Removes the quotes around the text at the start of field, in place, and returns field. NULL: the closing quote is
 * missing. */
char *gls_field_unquote(char *field);

/* Number of bytes of the first record of a text, without its line end. separators: all characters that may separate
 * fields. */
size_t gls_record_bytes(const char *text, const char *separators);

/* A table that is being read from memory. */
typedef struct gls_records {
    char *rest; /* text not read yet; NULL at the end */
    char separator;
    size_t line; /* line on which the record that was read last began, from 1 */
    size_t next; /* number of lines in front of the next record */
} gls_records;

/* Starts reading. text ends with a NUL and is cut into fields in place. A byte order mark at its start is skipped. */
gls_records gls_records_begin(char *text, char separator);
/* Cuts off the next record and stores its first max fields, unquoted and with escapes decoded. Returns the number of
 * its fields; 0: no more records. A blank line is a record of one empty field. */
size_t gls_record_next(gls_records *records, char **field, size_t max);

/* --- Text headers of MRtrix3: images, tracks and track scalars. The first line names the kind of file; lines "key:
 * value" follow, up to a line END. As in MRtrix3, the case of keys and types does not matter, blanks and NUL bytes
 * around lines, keys and values are ignored, and '#' starts a comment. */

/* Size of a header up to the end of its line END; 0: no line END in these n bytes. whole: no more bytes follow in the
 * file, so that a last line without a line end counts. */
size_t gls_mrtrix_header_bytes(const char *text, size_t n, bool whole);
/* Prepares a header of n bytes: NUL bytes become blanks, text[n] becomes NUL. Returns the end of the first line,
 * for gls_mrtrix_next(). */
char *gls_mrtrix_lines(char *text, size_t n);
/* Cuts the next line off *rest and trims blanks. NULL: it was the line END, or no line is left. */
char *gls_mrtrix_next(char **rest);
/* Splits a line into key and value, without its comment. Returns false for a line without a colon, which MRtrix3
 * ignores. */
bool gls_mrtrix_split(char *line, char **key, char **value);

/* Splits the byte order, LE or BE, off the name of a type. *n: length of the name without it. *swapped: the byte order
 * differs from this machine's. */
void gls_mrtrix_type(const char *name, size_t *n, bool *swapped);
/* Parses the header line that says where the data are, "NAME OFFSET" or "NAME". *file: path of the data, from
 * malloc; a relative NAME counts from the folder of `path`; NULL if NAME is ".", the file itself. GLS_ERR_INPUT names
 * path. */
gls_status gls_mrtrix_data_file(const char *path, const char *value, char **file, uint64_t *offset);

#endif
