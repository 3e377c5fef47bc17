/* Text: growing strings, characters and numbers in the C locale, escapes of text that comes from outside. */
#ifndef GLS_UTIL_TEXT_H
#define GLS_UTIL_TEXT_H

#include <locale.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* --- Numbers and letters as the C locale has them, whatever locale the calling program has set: points in numbers;
 * blanks, digits, letters and their case of ASCII alone. Elsewhere in the library the functions of the C library that
 * ask the locale are not called (test/check_source.sh). */

/* The C locale for the calling thread, until gls_plain_leave() gives back the one before. Threads that are started in
 * between do not inherit it. */
locale_t gls_plain_enter(void);
void gls_plain_leave(locale_t before);

/* strtod() and printf()'s family. */
double gls_strtod(const char *text, char **end);
int gls_snprintf(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int gls_vsnprintf(char *text, size_t size, const char *format, va_list args) __attribute__((format(printf, 3, 0)));
int gls_vasprintf(char **text, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
int gls_asprintf(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));
int gls_fprintf(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A byte, or EOF. */
static inline bool gls_is_space(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline bool gls_is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static inline bool gls_is_lower(int c)
{
    return c >= 'a' && c <= 'z';
}

static inline int gls_to_lower(int c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static inline int gls_to_upper(int c)
{
    return gls_is_lower(c) ? c - 'a' + 'A' : c;
}

static inline bool gls_is_alnum(int c)
{
    return gls_is_digit(c) || gls_is_lower(gls_to_lower(c));
}

static inline bool gls_is_hex(int c)
{
    return gls_is_digit(c) || (gls_to_lower(c) >= 'a' && gls_to_lower(c) <= 'f');
}

/* strcasecmp() and strncasecmp(). */
int gls_case_compare(const char *a, const char *b);
int gls_case_compare_n(const char *a, const char *b, size_t n);
/* The first place of part in text, in any case; NULL: none. */
char *gls_case_find(const char *text, const char *part);
/* Whether name is longer than suffix and ends with it, in any case. */
bool gls_case_ends(const char *name, const char *suffix);

/* --- A growing text. Appends after a failed allocation do nothing; the failure shows in gls_text_take(). */

typedef struct gls_text {
    char *data;
    size_t length, capacity;
    bool failed;
} gls_text;

void gls_text_append(gls_text *text, const char *data, size_t length);
void gls_text_puts(gls_text *text, const char *string);
void gls_text_printf(gls_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The text, to be freed by the caller, or NULL if memory ran out; the object is empty afterwards. */
char *gls_text_take(gls_text *text);
void gls_text_finish(gls_text *text);
/* A copy of string from malloc, NULL if memory ran out. */
char *gls_text_copy(const char *string);

/* --- Text that comes from outside: names of files, groups and columns, keys and values of headers. */

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
