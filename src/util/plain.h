/* Numbers and letters as in the C locale: points in numbers, and only ASCII characters count as blanks, digits and
 * letters, whatever locale the calling program has set. The library calls no function of the C library that depends on
 * the locale except through these (test/check_source.sh). */
#ifndef GLS_UTIL_PLAIN_H
#define GLS_UTIL_PLAIN_H

#include <locale.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Sets the C locale for the calling thread, until gls_plain_leave() restores the one before. Threads that are started
 * in between do not inherit it. */
locale_t gls_plain_enter(void);
/* Restores the locale that gls_plain_enter() returned. */
void gls_plain_leave(locale_t before);

/* strtod() in the C locale: the point is "." whatever locale the calling program has set. */
double gls_strtod(const char *text, char **end);
/* These functions do in the C locale what the functions without gls_ of the C library do. gls_vasprintf() and
 * gls_asprintf() set *text to NULL after a failure. */
int gls_snprintf(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
int gls_vsnprintf(char *text, size_t size, const char *format, va_list args) __attribute__((format(printf, 3, 0)));
int gls_vasprintf(char **text, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
int gls_asprintf(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));
int gls_fprintf(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Classes of characters. c: a byte or EOF. */
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

/* strcasecmp() for ASCII: no other letters count as equal, whatever the locale. */
int gls_case_compare(const char *a, const char *b);
/* strncasecmp() for ASCII: compares at most n characters. */
int gls_case_compare_n(const char *a, const char *b, size_t n);
/* First occurrence of part in text; upper and lower case count as equal. NULL: none. */
char *gls_case_find(const char *text, const char *part);
/* Whether name is longer than suffix and ends with it; upper and lower case count as equal. */
bool gls_case_ends(const char *name, const char *suffix);

#endif
