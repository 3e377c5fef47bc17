#include "util/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>


void gls_text_append(gls_text *text, const char *data, size_t length)
{
    if (text->failed) return;
    if (text->length + length + 1 > text->capacity) {
        size_t capacity = (text->length + length + 1) * 2;
        char *grown = realloc(text->data, capacity);
        if (!grown) {
            text->failed = true;
            return;
        }
        text->data = grown;
        text->capacity = capacity;
    }
    memcpy(text->data + text->length, data, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void gls_text_puts(gls_text *text, const char *string)
{
    gls_text_append(text, string, strlen(string));
}

void gls_text_printf(gls_text *text, const char *format, ...)
{
    char line[1024], *all = line;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = gls_vsnprintf(line, sizeof line, format, args);
    if (n >= (int)sizeof line && (all = malloc((size_t)n + 1))) gls_vsnprintf(all, (size_t)n + 1, format, again);
    va_end(again);
    va_end(args);
    if (n < 0 || !all)
        text->failed = true;
    else
        gls_text_append(text, all, (size_t)n);
    if (all != line) free(all);
}

char *gls_text_take(gls_text *text)
{
    if (!text->failed && !text->data) gls_text_append(text, "", 0);
    char *data = text->failed ? NULL : text->data;
    if (text->failed) free(text->data);
    *text = (gls_text){0};
    return data;
}

void gls_text_finish(gls_text *text)
{
    free(text->data);
    *text = (gls_text){0};
}

char *gls_text_copy(const char *string)
{
    return strdup(string);
}
