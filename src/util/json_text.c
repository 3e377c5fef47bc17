/* JSON through cJSON: parses and prints it independent of the locale, keeps bytes that are not UTF-8, writes numbers
 * that readers get back exactly, compares values, and reads files. */
#include "util/json_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/file.h"
#include "util/numbers.h"
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

cJSON *gls_json_parse_whole(const char *text, size_t n, const char **stopped)
{
    locale_t before = gls_plain_enter();
    cJSON *json = cJSON_ParseWithLengthOpts(text, n + 1, stopped, true);
    gls_plain_leave(before);
    return parsed(json, text, n);
}

/* Number of bytes at the start of text that can be copied as they are: line ends, tabs, and printable ASCII other than
 * backslashes. */
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

cJSON *gls_json_object_at(cJSON *object, const char *key)
{
    cJSON *member = gls_json_at(object, key);
    return member ? member : cJSON_AddObjectToObject(object, key);
}

const cJSON *gls_json_at_path(const cJSON *root, const char *path)
{
    char key[64];
    while (root && *path) {
        const size_t n = strcspn(path, "/");
        snprintf(key, sizeof key, "%.*s", (int)n, path);
        root = gls_json_at(root, key);
        path += n + (path[n] == '/');
    }
    return root;
}

const char *gls_json_text_at(const cJSON *object, const char *key)
{
    return cJSON_GetStringValue(gls_json_at(object, key));
}

gls_status gls_json_write(const cJSON *json, const char *path, bool overwrite, gls_output_group *group, const char *end)
{
    return gls_json_write_text(gls_json_print(json), path, overwrite, group, end);
}

gls_status gls_json_write_text(char *json, const char *path, bool overwrite, gls_output_group *group, const char *end)
{
    gls_text text = {.failed = !json};
    if (json) gls_text_puts(&text, json);
    gls_text_puts(&text, end);
    free(json);
    return gls_text_write(&text, path, overwrite, group, GLS_OK);
}

/* --- values ---------------------------------------------------------------------------------------------------------
 */

cJSON *gls_json_new_double(double v)
{
    char text[40];
    return isfinite(v) ? cJSON_CreateRaw(gls_format_double(v, text, sizeof text)) : cJSON_CreateNull();
}

void gls_json_append_double(cJSON *array, double v)
{
    cJSON_AddItemToArray(array, gls_json_new_double(v));
}

void gls_json_bool(cJSON *object, const char *key, bool v)
{
    cJSON_AddBoolToObject(object, key, v);
}

void gls_json_double(cJSON *object, const char *key, double v)
{
    cJSON_AddItemToObject(object, key, gls_json_new_double(v));
}

void gls_json_text(cJSON *object, const char *key, const char *text)
{
    cJSON_AddItemToObject(object, key, text ? cJSON_CreateString(text) : cJSON_CreateNull());
}

cJSON *gls_json_new_uint(uint64_t v)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, v);
    return v <= UINT64_C(1) << 53 ? cJSON_CreateRaw(text) : cJSON_CreateString(text);
}

void gls_json_uint(cJSON *object, const char *key, uint64_t v)
{
    cJSON_AddItemToObject(object, key, gls_json_new_uint(v));
}

cJSON *gls_json_exact(const cJSON *entry)
{
    const cJSON *child;
    char text[40];
    if (cJSON_IsNumber(entry)) {
        double v = entry->valuedouble;
        if (v != floor(v) || fabs(v) > 0x1p53) return gls_json_new_double(v);
        gls_snprintf(text, sizeof text, "%.0f", v);
        return cJSON_CreateRaw(text);
    }
    if (!cJSON_IsObject(entry) && !cJSON_IsArray(entry)) return cJSON_Duplicate(entry, true);
    cJSON *copy = cJSON_IsObject(entry) ? cJSON_CreateObject() : cJSON_CreateArray();
    cJSON_ArrayForEach(child, entry)
    {
        if (cJSON_IsObject(entry))
            cJSON_AddItemToObject(copy, child->string, gls_json_exact(child));
        else
            cJSON_AddItemToArray(copy, gls_json_exact(child));
    }
    return copy;
}

bool gls_json_same(const cJSON *a, const cJSON *b)
{
    if (!a || !b || (a->type & 0xff) != (b->type & 0xff)) return false;
    if (cJSON_IsNumber(a)) return a->valuedouble == b->valuedouble;
    if (cJSON_IsString(a) || cJSON_IsRaw(a)) return strcmp(a->valuestring, b->valuestring) == 0;
    if (!cJSON_IsArray(a) && !cJSON_IsObject(a)) return true;
    if (cJSON_GetArraySize(a) != cJSON_GetArraySize(b)) return false;
    const cJSON *child, *other = b->child;
    cJSON_ArrayForEach(child, a)
    {
        if (cJSON_IsObject(a)) other = gls_json_at(b, child->string);
        if (!gls_json_same(child, other)) return false;
        other = other->next;
    }
    return true;
}

bool gls_json_get_uint(const cJSON *value, uint64_t *n)
{
    if (cJSON_IsString(value)) return gls_parse_uint64(value->valuestring, n);
    if (!cJSON_IsNumber(value) || !(value->valuedouble >= 0) || value->valuedouble > 0x1p53 ||
        value->valuedouble != floor(value->valuedouble))
        return false;
    *n = (uint64_t)value->valuedouble;
    return true;
}

/* Key of the first member of a that b lacks or has with another value; NULL: none. */
static const char *missing_or_other(const cJSON *a, const cJSON *b)
{
    for (const cJSON *item = a ? a->child : NULL; item; item = item->next)
        if (!gls_json_same(item, gls_json_at(b, item->string))) return item->string;
    return NULL;
}

const char *gls_json_difference(const cJSON *a, const cJSON *b)
{
    const char *key = missing_or_other(a, b);
    return key ? key : missing_or_other(b, a);
}

cJSON *gls_json_written(cJSON *object)
{
    char *text = gls_json_print_line(object);
    cJSON_Delete(object);
    cJSON *read = text ? gls_json_parse(text) : NULL;
    cJSON_free(text);
    return read;
}

gls_status gls_json_load(const char *path, size_t max_bytes, cJSON **root)
{
    char *text = NULL;
    size_t n;
    gls_status status = gls_file_read(path, max_bytes, &text, &n);
    *root = status ? NULL : gls_json_parse_whole(text, n, NULL);
    free(text);
    return status || *root ? status : gls_fail(GLS_ERR_INPUT, "%s: is no JSON", path);
}

cJSON *gls_json_read(const char *path, size_t max_bytes)
{
    struct stat info;
    cJSON *root;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return NULL;
    return gls_json_load(path, max_bytes, &root) ? NULL : root;
}

const cJSON *gls_json_members(const cJSON *object)
{
    return cJSON_IsObject(object) ? object->child : NULL;
}
