/* Text: growing strings, and escapes of text that comes from outside. Numbers and letters are those of plain.h. */
#ifndef GLS_UTIL_TEXT_H
#define GLS_UTIL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "util/plain.h"

/* --- A growing text. If memory runs out, later appends do nothing and gls_text_take() returns NULL. All zero is an
 * empty text. */

/* A growing string. failed: memory ran out, and the text is incomplete. All zero is an empty text. */
typedef struct gls_text {
    /* ended by NUL once something was appended; owned */
    char *data;
    /* bytes without the NUL, and allocated bytes */
    size_t length, capacity;
    bool failed;
} gls_text;

/* Appends `length` bytes. If memory runs out, in this function or in one of the next two, `failed` is set and later
 * calls do nothing. */
void gls_text_append(gls_text *text, const char *data, size_t length);
/* Appends `length` bytes, which the caller fills, and takes no more memory than for them. NULL: it ran out. */
char *gls_text_extend(gls_text *text, size_t length);
/* Appends a string. */
void gls_text_puts(gls_text *text, const char *string);
/* Appends formatted text, in the C locale. */
void gls_text_printf(gls_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Returns the text, which the caller frees, or NULL if memory ran out. The object is empty afterwards. */
char *gls_text_take(gls_text *text);
/* Frees the text. The object is empty afterwards. */
void gls_text_finish(gls_text *text);
/* Copy of a string from malloc; NULL: out of memory. */
char *gls_text_copy(const char *string);

/* --- Text from outside the program: names of files, groups and columns, keys and values of headers. It may contain any
 * bytes, and is escaped before it is shown or stored. */

/* Size of the escape of one character, with its NUL. */
#define GLS_ESCAPE_BYTES 8

/* Number of bytes of the UTF-8 character at the start of text; 0: no valid character. */
size_t gls_utf8_bytes(const char *text);

/* Number of bytes of the next character, at least 1. escape gets the text to show in its place: \x1b for a control
 * character or a byte that is not UTF-8; \u202e for a character beyond ASCII that controls the terminal, changes the
 * direction of text, ends a line or is a byte order mark; "" if the character can be shown as it is. */
size_t gls_escape_next(const char *text, char escape[GLS_ESCAPE_BYTES]);

/* Writes text with escapes, at most size bytes with the NUL; the rest is left out. Backslashes stay, so that escaping
 * twice gives the same text. */
void gls_escape(const char *text, char *shown, size_t size);
/* Appends a text of one line, such as a name, with escapes. */
void gls_text_show(gls_text *out, const char *text);
/* Like gls_text_show(), but leaves the control characters in kept, such as "\n\t", as they are. */
void gls_text_show_lines(gls_text *out, const char *text, const char *kept);

/* Appends text for a file that must be UTF-8, such as JSON or a table: bytes that are not UTF-8 become \xHH, and so
 * does the backslash of a text that looks like such an escape. */
void gls_utf8_encode(gls_text *out, const char *text);
/* Reverses gls_utf8_encode(), in place. Any other text stays as it is. */
void gls_utf8_decode(char *text);
/* Whether text begins with an escape that gls_utf8_decode() would turn into a byte. */
bool gls_utf8_is_escape(const char *text);

/* Whether c is a character that labels of BIDS may have. */
static inline bool gls_is_label_letter(char c)
{
    return gls_is_alnum((unsigned char)c) || c == '+';
}

/* Whether the text is a label of BIDS, that is, one or more letters, digits or +. */
bool gls_is_label(const char *text);

#endif
