/* Text for HTML pages, and the embedded parts of a report's page. */
#include "render/page.h"
#include "render/report_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"

const char *gls_page_part(const char *name)
{
    for (const gls_page_file *file = gls_page_files; file->name; file++)
        if (strcmp(file->name, name) == 0) return file->text;
    return NULL;
}

void gls_html_puts(gls_text *out, const char *text)
{
    static const char special[] = "&<>\"'", *const instead[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    char escape[GLS_ESCAPE_BYTES];
    /* text that is not UTF-8 and control characters are escaped, as the program prints them */
    for (size_t n; *text; text += n) {
        const char *found = strchr(special, *text);
        n = gls_escape_next(text, escape);
        if (found)
            gls_text_puts(out, instead[found - special]);
        else if (*escape && *text != '\n' && *text != '\t')
            gls_text_puts(out, escape);
        else
            gls_text_append(out, text, n);
    }
}

void gls_text_number(gls_text *out, double v)
{
    char text[32];
    if (!isfinite(v))
        gls_text_puts(out, "-");
    else if (v == floor(v) && v >= 0 && v < 1e15)
        gls_text_puts(out, gls_format_count((uint64_t)v, text, sizeof text));
    else
        gls_text_printf(out, "%.2f", v);
}

void gls_html_json(gls_text *out, const char *json)
{
    /* bytes that are not UTF-8 become ?; "<" is escaped, because </script> inside the JSON would end the script
     * element */
    for (size_t n; *json; json += n ? n : 1) {
        n = gls_utf8_bytes(json);
        const bool control = n == 1 && (unsigned char)*json < ' ' && *json != '\n' && *json != '\t';
        if (*json == '<')
            gls_text_puts(out, "\\u003c");
        else if (n == 0 || control)
            gls_text_puts(out, "?");
        else
            gls_text_append(out, json, n);
    }
}

void gls_html_base64(gls_text *out, const void *data, size_t bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *b = data;
    /* base64: three bytes become four digits; = fills up the last four */
    for (size_t i = 0; i < bytes; i += 3) {
        uint32_t word =
            (uint32_t)b[i] << 16 | (i + 1 < bytes ? (uint32_t)b[i + 1] << 8 : 0) | (i + 2 < bytes ? b[i + 2] : 0);
        char four[4] = {digits[word >> 18], digits[word >> 12 & 63], i + 1 < bytes ? digits[word >> 6 & 63] : '=',
                        i + 2 < bytes ? digits[word & 63] : '='};
        gls_text_append(out, four, 4);
    }
}

gls_status gls_html_packed(gls_text *out, const void *data, size_t bytes)
{
    uLongf packed = compressBound((uLong)bytes);
    uint8_t *small = malloc(packed);
    const bool done = small && compress2(small, &packed, data, (uLong)bytes, 9) == Z_OK;
    if (done) gls_html_base64(out, small, packed);
    free(small);
    return done ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for the 3-D view");
}

void gls_page_fill(gls_text *out, const char *page, void (*value)(void *user, gls_text *out, const char *name),
                   void *user)
{
    char name[32];
    /* text up to {{NAME}}, then the value of NAME */
    for (const char *at; (at = strstr(page, "{{")); page = strstr(at, "}}") + 2) {
        gls_text_append(out, page, (size_t)(at - page));
        snprintf(name, sizeof name, "%.*s", (int)(strstr(at, "}}") - at - 2), at + 2);
        value(user, out, name);
    }
    gls_text_puts(out, page);
}
