/* Parses and prints JSON through cJSON, independent of the locale, and keeps bytes that are not UTF-8. */
#include "util/json_text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "util/output_file.h"
#include "util/status.h"
#include "util/text.h"

/* Restores in all keys and strings the bytes that printed() has written as escapes. */
static void decode(cJSON *json)
{
    for (; json; json = json->next) {
        if (json->string) gls_utf8_decode(json->string);
        if (cJSON_IsString(json)) gls_utf8_decode(json->valuestring);
        decode(json->child);
    }
}

/* Restores the bytes that printed() wrote as \\xHH in the strings of json, which was parsed from a text of n bytes.
 * json may be NULL. */
static cJSON *parsed(cJSON *json, const char *text, size_t n)
{
    /* printed() writes \xHH as "\\xHH"; without that text there is nothing to decode */
    if (json && memmem(text, n, "\\\\x", 3)) decode(json);
    return json;
}

cJSON *gls_json_parse(const char *text)
{
    locale_t before = gls_plain_enter();
    cJSON *json = cJSON_Parse(text);
    gls_plain_leave(before);
    return json ? parsed(json, text, strlen(text)) : NULL;
}

cJSON *gls_json_parse_bytes(const char *text, size_t n)
{
    locale_t before = gls_plain_enter();
    cJSON *json = cJSON_ParseWithLength(text, n);
    gls_plain_leave(before);
    return parsed(json, text, n);
}

cJSON *gls_json_parse_whole(const char *text, size_t n, const char **stopped)
{
    locale_t before = gls_plain_enter();
    cJSON *json = cJSON_ParseWithLengthOpts(text, n + 1, stopped, true);
    gls_plain_leave(before);
    return parsed(json, text, n);
}

/* Number of bytes at the start of text that can be copied: printable ASCII without backslashes, line ends and tabs. */
static size_t plain_bytes(const char *text)
{
    size_t n = 0;
    while ((text[n] >= ' ' && text[n] < 0x7f && text[n] != '\\') || text[n] == '\n' || text[n] == '\t') n++;
    return n;
}

/* Appends the next character or JSON escape of text in a safe form. Returns its number of bytes in text. */
static size_t append_character(gls_text *out, const char *text)
{
    char escape[GLS_ESCAPE_BYTES];
    if (*text == '\\') {
        const bool is_byte = text[1] == '\\' && gls_utf8_is_escape(text + 1);
        /* an escape of gls_utf8_encode() that stood in the text itself gets its backslash escaped, so that parsing
         * gives it back */
        gls_text_append(out, is_byte ? "\\\\x5c" : text, is_byte ? 5 : 2);
        return 2;
    }
    const size_t n = gls_escape_next(text, escape);
    if (!*escape)
        gls_text_append(out, text, n);
    else if (gls_utf8_bytes(text) == 0)
        gls_text_printf(out, "\\%s", escape);
    else if (n == 1)
        gls_text_printf(out, "\\u%04x", (unsigned)*text);
    else
        gls_text_puts(out, escape);
    return n;
}

/* Turns text from cJSON into valid UTF-8 with escapes, and frees the original. */
static char *printed(char *text)
{
    gls_text out = {0};
    if (!text) return NULL;
    for (const char *at = text; *at;) {
        const size_t n = plain_bytes(at);
        gls_text_append(&out, at, n);
        at += n;
        if (*at) at += append_character(&out, at);
    }
    free(text);
    return gls_text_take(&out);
}

char *gls_json_print(const cJSON *json)
{
    locale_t before = gls_plain_enter();
    char *text = cJSON_Print(json);
    gls_plain_leave(before);
    return printed(text);
}

char *gls_json_print_line(const cJSON *json)
{
    locale_t before = gls_plain_enter();
    char *text = cJSON_PrintUnformatted(json);
    gls_plain_leave(before);
    return printed(text);
}

cJSON *gls_json_at(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

const char *gls_json_text_at(const cJSON *object, const char *key)
{
    return cJSON_GetStringValue(gls_json_at(object, key));
}

gls_status gls_json_write(const cJSON *json, const char *path, bool overwrite, gls_output_group *group, const char *end)
{
    gls_text text = {0};
    /* write the JSON and `end` as one file; if printing fails, memory ran out */
    char *all = gls_json_print(json);
    if (all) gls_text_puts(&text, all);
    gls_text_puts(&text, end);
    text.failed |= !all;
    free(all);
    return gls_text_write(&text, path, overwrite, group, GLS_OK);
}
