/* A growing text. Appends after a failed allocation do nothing; the failure shows in gls_text_take(). */
#ifndef GLS_UTIL_TEXT_H
#define GLS_UTIL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

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

#endif
