#include "render/page.h"

#include <stdio.h>
#include <string.h>

const char *gls_page_part(const char *name)
{
    for (const gls_page_file *file = gls_page_files; file->name; file++)
        if (strcmp(file->name, name) == 0) return file->text;
    return NULL;
}

const char *gls_page_reference(const char *key, size_t *length)
{
    char head[32];
    snprintf(head, sizeof head, "{%s,\n", key);
    const char *all = gls_page_part("report.bib"), *found = strstr(all, head);
    *length = 0;
    if (!found) return "";
    while (*found != '@') found--;
    *length = (size_t)(strstr(found, "\n}") - found) + 2;
    return found;
}

/* Bytes of the character of UTF-8 at the start of text, 0 where there is none. */
static size_t character_bytes(const unsigned char *c)
{
    size_t n = c[0] < 0x80 ? 1 : c[0] >= 0xc2 && c[0] < 0xe0 ? 2 : c[0] >= 0xe0 && c[0] < 0xf0 ? 3 : 0;
    if (c[0] >= 0xf0 && c[0] < 0xf5) n = 4;
    for (size_t i = 1; i < n; i++)
        if ((c[i] & 0xc0) != 0x80) return 0;
    if ((n == 3 && c[0] == 0xe0 && c[1] < 0xa0) || (n == 3 && c[0] == 0xed && c[1] > 0x9f) ||
        (n == 4 && c[0] == 0xf0 && c[1] < 0x90) || (n == 4 && c[0] == 0xf4 && c[1] > 0x8f))
        return 0;
    return n;
}

/* Appends text character by character, with those of `special` replaced. */
static void put(gls_text *out, const char *text, const char *special, const char *const *instead, bool keep_lines)
{
    while (*text) {
        size_t n = character_bytes((const unsigned char *)text);
        const char *found = n == 1 ? strchr(special, *text) : NULL;
        bool control = n == 1 && (unsigned char)*text < ' ' && !(keep_lines && (*text == '\n' || *text == '\t'));
        if (found)
            gls_text_puts(out, instead[found - special]);
        else if (n == 0 || control)
            gls_text_puts(out, "?");
        else
            gls_text_append(out, text, n);
        text += n ? n : 1;
    }
}

void gls_html_puts(gls_text *out, const char *text)
{
    static const char *const instead[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    put(out, text, "&<>\"'", instead, true);
}

void gls_html_json(gls_text *out, const char *json)
{
    static const char *const instead[] = {"\\u003c"};
    put(out, json, "<", instead, true);
}

void gls_html_base64(gls_text *out, const void *data, size_t bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *b = data;
    for (size_t i = 0; i < bytes; i += 3) {
        uint32_t word =
            (uint32_t)b[i] << 16 | (i + 1 < bytes ? (uint32_t)b[i + 1] << 8 : 0) | (i + 2 < bytes ? b[i + 2] : 0);
        char four[4] = {digits[word >> 18], digits[word >> 12 & 63], i + 1 < bytes ? digits[word >> 6 & 63] : '=',
                        i + 2 < bytes ? digits[word & 63] : '='};
        gls_text_append(out, four, 4);
    }
}

void gls_page_fill(gls_text *out, const char *page, void (*value)(void *user, gls_text *out, const char *name),
                   void *user)
{
    char name[32];
    for (const char *at; (at = strstr(page, "{{")); page = strstr(at, "}}") + 2) {
        gls_text_append(out, page, (size_t)(at - page));
        snprintf(name, sizeof name, "%.*s", (int)(strstr(at, "}}") - at - 2), at + 2);
        value(user, out, name);
    }
    gls_text_puts(out, page);
}
