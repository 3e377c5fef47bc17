/* Values in JSON: numbers that readers get back exactly, comparison of values, JSON from files. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/file.h"
#include "util/json_text.h"
#include "util/status.h"
#include "util/numbers.h"
#include "util/text.h"

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
    *root = status ? NULL : gls_json_parse_bytes(text, n);
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
