/* Growing text, and escapes of text that comes from outside the program. */
#include "util/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gls_text_append(gls_text *text, const char *data, size_t length)
{
    if (text->failed) return;
    /* memory for the text, the new bytes and a NUL */
    if (!text->data || text->length + length + 1 > text->capacity) {
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

char *gls_text_extend(gls_text *text, size_t length)
{
    char *grown = text->failed ? NULL : realloc(text->data, text->length + length + 1);
    if (!grown) {
        text->failed = true;
        return NULL;
    }
    text->data = grown;
    text->length += length;
    text->capacity = text->length + 1;
    grown[text->length] = '\0';
    return grown + text->length - length;
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
    /* the text is too long for `line`: format it once more, into memory of the right size */
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
    /* an empty text is "", not NULL */
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

size_t gls_utf8_bytes(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    size_t n = c[0] < 0x80 ? 1 : c[0] >= 0xc2 && c[0] < 0xe0 ? 2 : c[0] >= 0xe0 && c[0] < 0xf0 ? 3 : 0;
    if (c[0] >= 0xf0 && c[0] < 0xf5) n = 4;
    for (size_t i = 1; i < n; i++)
        if ((c[i] & 0xc0) != 0x80) return 0;
    /* overlong forms, surrogates of UTF-16, and code points beyond U+10FFFF are not UTF-8 */
    if ((n == 3 && c[0] == 0xe0 && c[1] < 0xa0) || (n == 3 && c[0] == 0xed && c[1] > 0x9f) ||
        (n == 4 && c[0] == 0xf0 && c[1] < 0x90) || (n == 4 && c[0] == 0xf4 && c[1] > 0x8f))
        return 0;
    return n;
}

/* Code point of the UTF-8 character of n bytes. */
static uint32_t code_point(const char *text, size_t n)
{
    const unsigned char *c = (const unsigned char *)text;
    uint32_t code = n == 1 ? c[0] : c[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) code = code << 6 | (c[i] & 0x3f);
    return code;
}

/* Whether a character beyond ASCII controls the terminal, changes the direction of text, ends a line or is a byte order
 * mark, so that it must be escaped. */
static bool is_hidden(uint32_t code)
{
    const bool controls = code <= 0x9f, turns = code == 0x61c || (code >= 0x200e && code <= 0x200f) ||
                                                (code >= 0x202a && code <= 0x202e) ||
                                                (code >= 0x2066 && code <= 0x2069);
    return controls || turns || code == 0x2028 || code == 0x2029 || code == 0xfeff;
}

size_t gls_escape_next(const char *text, char escape[GLS_ESCAPE_BYTES])
{
    const size_t n = gls_utf8_bytes(text);
    const uint32_t code = code_point(text, n);
    *escape = '\0';
    if (n == 0 || (n == 1 && (code < ' ' || code == 0x7f)))
        snprintf(escape, GLS_ESCAPE_BYTES, "\\x%02x", (unsigned char)*text);
    else if (n > 1 && is_hidden(code))
        snprintf(escape, GLS_ESCAPE_BYTES, "\\u%04x", code & 0xffff);
    return n ? n : 1;
}

void gls_escape(const char *text, char *shown, size_t size)
{
    char escape[GLS_ESCAPE_BYTES];
    size_t used = 0;
    for (size_t n; *text; text += n) {
        n = gls_escape_next(text, escape);
        const size_t bytes = *escape ? strlen(escape) : n;
        if (used + bytes >= size) break;
        memcpy(shown + used, *escape ? escape : text, bytes);
        used += bytes;
    }
    if (size > 0) shown[used] = '\0';
}

void gls_text_show(gls_text *out, const char *text)
{
    gls_text_show_lines(out, text, "");
}

void gls_text_show_lines(gls_text *out, const char *text, const char *kept)
{
    char escape[GLS_ESCAPE_BYTES];
    for (size_t n; *text; text += n) {
        n = gls_escape_next(text, escape);
        if (!*escape || strchr(kept, *text))
            gls_text_append(out, text, n);
        else
            gls_text_puts(out, escape);
    }
}

/* --- bytes in UTF-8 ---------------------------------------------------------------------------------------------- */

/* Value of a lower-case hexadecimal digit. */
static int hex_digit(char c)
{
    return gls_is_digit(c) ? c - '0' : c - 'a' + 10;
}

/* Whether text begins with an escape \xHH that gls_utf8_encode() writes: for a byte from 0x80 on, or for the backslash
 * of a text that looks like such an escape. */
bool gls_utf8_is_escape(const char *text)
{
    const bool has_byte = text[0] == '\\' && text[1] == 'x' && gls_is_hex(text[2]) && gls_is_hex(text[3]) &&
                          gls_to_lower(text[2]) == text[2] && gls_to_lower(text[3]) == text[3];
    return has_byte && (text[2] >= '8' || strncmp(text + 2, "5c", 2) == 0);
}

void gls_utf8_encode(gls_text *out, const char *text)
{
    char escape[8];
    for (size_t n; *text; text += n ? n : 1) {
        n = gls_utf8_bytes(text);
        if (n == 0 || gls_utf8_is_escape(text)) {
            snprintf(escape, sizeof escape, "\\x%02x", (unsigned char)*text);
            gls_text_puts(out, escape);
        } else {
            gls_text_append(out, text, n);
        }
    }
}

void gls_utf8_decode(char *text)
{
    if (!strstr(text, "\\x")) return;
    char *bytes = strdup(text), *to = bytes;
    gls_text again = {0};
    for (const char *from = text; bytes && *from; to++) {
        const bool escaped = gls_utf8_is_escape(from);
        *to = escaped ? (char)(hex_digit(from[2]) << 4 | hex_digit(from[3])) : *from;
        from += escaped ? 4 : 1;
    }
    if (bytes) *to = '\0';
    if (bytes) gls_utf8_encode(&again, bytes);
    char *encoded = gls_text_take(&again);
    /* only a text that gls_utf8_encode() may have written is decoded */
    if (bytes && encoded && strcmp(encoded, text) == 0) strcpy(text, bytes);
    free(bytes);
    free(encoded);
}

bool gls_is_label(const char *text)
{
    const char *c = text;
    while (gls_is_label_letter(*c)) c++;
    return c > text && !*c;
}
