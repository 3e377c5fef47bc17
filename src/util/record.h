/* Tables of text with a separator between fields: RFC 4180 where it is a comma, and the same rules for a tab, as BIDS
 * and pandas have them. Tables are UTF-8: bytes of a field that are no UTF-8 are as gls_utf8_encode() writes them. */
#ifndef GLS_UTIL_RECORD_H
#define GLS_UTIL_RECORD_H

#include "util/text.h"

/* Appends a field: in quotes if it has the separator, a quote or an end of line. */
void gls_field_put(gls_text *out, const char *field, char separator);
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

#endif
