/* Text that comes from outside: names of files, groups and columns, keys and values of headers. */
#ifndef GLS_UTIL_ESCAPE_H
#define GLS_UTIL_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "util/text.h"

/* Room for the escape of one character, and its end. */
#define GLS_ESCAPE_BYTES 8

/* Bytes of the character of UTF-8 at the start of text; 0: there is none. */
size_t gls_utf8_bytes(const char *text);

/* Bytes that the next character of a text takes: at least 1. escape gets what is shown in its place: \x1b for a control
 * character or a byte that is no UTF-8, \u202e for a character beyond ASCII that controls the terminal, turns the
 * direction of text, ends a line or is the mark of byte order; "" where the character is shown as it is. */
size_t gls_escape_next(const char *text, char escape[GLS_ESCAPE_BYTES]);

/* Writes text with escapes, size bytes at most with the end; what does not fit is left out. A backslash stays as it is,
 * so that a text that was escaped before does not change. */
void gls_escape(const char *text, char *shown, size_t size);
/* Appends a name, or another text of one line, with escapes. */
void gls_text_show(gls_text *out, const char *text);
/* The same of a text that has control characters of its own: those in kept, such as "\n\t", stay. */
void gls_text_show_lines(gls_text *out, const char *text, const char *kept);

/* Files that must be UTF-8, as JSON and tables are, have bytes that are no UTF-8 as \xHH. Appends text so. */
void gls_utf8_encode(gls_text *out, const char *text);
/* What gls_utf8_encode() made of a text becomes that text again, in place; any other text stays as it is. */
void gls_utf8_decode(char *text);
/* Whether a backslash at text begins what gls_utf8_decode() would take for a byte. */
bool gls_utf8_is_escape(const char *text);

#endif
