/* Tables in CSV and TSV: quotes fields when writing, cuts records into fields when reading. */
#include "util/text_tables.h"

#include <stdlib.h>
#include <string.h>

#include "util/numbers.h"
#include "util/text.h"

/* Appends a field, which is valid UTF-8, in quotes if it needs them, and frees it. */
static void append_field(gls_text *out, gls_text *field, char separator)
{
    char *text = gls_text_take(field);
    /* characters that need quotes (RFC 4180) */
    const char special[] = {separator, '"', '\n', '\r', '\0'};
    out->failed |= !text;
    if (text && !strpbrk(text, special)) {
        gls_text_puts(out, text);
    } else if (text) {
        gls_text_puts(out, "\"");
        for (const char *c = text; *c; c++) gls_text_append(out, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
        gls_text_puts(out, "\"");
    }
    free(text);
}

/* Whether spreadsheets would compute a field that begins like this, as a formula, even in quotes. Apostrophes in front
 * of such a beginning count, too, so that each of them is written as it is read. */
static bool is_formula(const char *field)
{
    field += strspn(field, "'");
    return *field && strchr("=+-@", *field) != NULL;
}

void gls_field_append(gls_text *out, const char *field, char separator)
{
    gls_text text = {0};
    double number;
    if (is_formula(field) && !gls_parse_double(field, &number)) gls_text_puts(&text, "'");
    gls_utf8_encode(&text, field);
    append_field(out, &text, separator);
}

void gls_field_show(gls_text *out, const char *field, char separator)
{
    gls_text text = {0};
    gls_text_show(&text, field);
    append_field(out, &text, separator);
}

/* The quote that ends the quoted text at the start of field; NULL: none. */
static const char *find_end(const char *field)
{
    const char *at = field + 1;
    while ((at = strchr(at, '"')) && at[1] == '"') at += 2;
    return at;
}

/* A quotation mark quotes a field only if it is the first character of the field. */
size_t gls_record_bytes(const char *text, const char *separators)
{
    const char *at = text;
    for (bool begins = true; *at && *at != '\n'; at++) {
        const char *end = begins && *at == '"' ? find_end(at) : NULL;
        begins = strchr(separators, *at) != NULL;
        if (end) at = end;
    }
    return (size_t)(at - text);
}

gls_records gls_records_begin(char *text, char separator)
{
    const bool marked = text && strncmp(text, "\xef\xbb\xbf", 3) == 0;
    return (gls_records){.rest = marked ? text + 3 : text, .separator = separator};
}

/* Moves the text between the quotes to the start of field. Returns its length. */
static size_t take_quoted(char *field, const char *end)
{
    char *to = field;
    for (const char *from = field + 1; from < end; from++) {
        *to++ = *from;
        from += *from == '"'; /* a quote inside a quoted field is written twice */
    }
    return (size_t)(to - field);
}

char *gls_field_unquote(char *field)
{
    const char *end = find_end(field);
    if (end) field[take_quoted(field, end)] = '\0';
    return end ? field : NULL;
}

/* Cuts the next field off. *last: it was the last field of its record. */
static char *cut_field(gls_records *r, bool *last)
{
    /* characters at which an unquoted field ends */
    const char ends[] = {r->separator, '\n', '\0'};
    char *field = r->rest, *to = field;
    const char *from = field, *end = *from == '"' ? find_end(field) : NULL;
    if (end) {
        to += take_quoted(field, end);
        for (const char *c = field; c < to; c++) r->next += *c == '\n';
        from = end + 1;
    }
    /* take text behind the closing quote, or an unquoted field, as it is */
    const size_t n = strcspn(from, ends);
    memmove(to, from, n);
    to += n;
    from += n;
    *last = *from != r->separator;
    r->next += *from == '\n';
    r->rest = *from ? field + (from + 1 - field) : NULL;
    if (*last && n > 0 && to[-1] == '\r') to--;
    *to = '\0';
    if (*field == '\'' && is_formula(field)) memmove(field, field + 1, (size_t)(to - field));
    gls_utf8_decode(field);
    return field;
}

size_t gls_record_next(gls_records *r, char **field, size_t max)
{
    size_t n = 0;
    if (!r->rest || !*r->rest) return 0;
    r->line = r->next + 1;
    for (bool last = false; !last; n++) {
        char *one = cut_field(r, &last);
        if (n < max) field[n] = one;
    }
    return n;
}
