/* Filter files of BIDS apps: JSON that selects series by the names that pybids has for entities. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/file.h"
#include "util/json_text.h"
#include "util/status.h"
#include "util/text.h"
#include "workflow/dataset.h"

/* Largest filter file, bytes. */
#define MAX_FILTERS ((size_t)1 << 20)

/* Names of entities in pybids and their keys in names of files. A filter may have either. */
static const struct {
    const char *name, *key;
} entities[] = {{"acquisition", "acq"}, {"direction", "dir"},      {"run", "run"},
                {"space", "space"},     {"resolution", "res"},     {"session", "ses"},
                {"subject", "sub"},     {"reconstruction", "rec"}, {"description", "desc"}};
/* entities that every tracked series has, whatever the filter says */
static const char *const implied[] = {"datatype", "suffix", "extension"};

/* Key of an entity; NULL: unknown. */
static const char *key_of(const char *name)
{
    for (size_t i = 0; i < sizeof entities / sizeof *entities; i++)
        if (strcmp(name, entities[i].name) == 0 || strcmp(name, entities[i].key) == 0) return entities[i].key;
    return NULL;
}

/* Whether the filter may name this entity although all tracked series have it. */
static bool is_implied(const char *name)
{
    for (size_t i = 0; i < sizeof implied / sizeof *implied; i++)
        if (strcmp(name, implied[i]) == 0) return true;
    return false;
}

/* "key=a|b" from a value or a list of values. NULL: the values are neither texts nor whole numbers, or out of memory.
 */
static char *filter_text(const char *key, const cJSON *values)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) return NULL;
    fprintf(out, "%s=", key);
    /* null is no value; a list means any of its values */
    bool good = !cJSON_IsNull(values), list = cJSON_IsArray(values);
    const char *between = "";
    for (const cJSON *v = list ? values->child : values; v; v = list ? v->next : NULL, between = "|") {
        /* a bar would separate two values */
        if (cJSON_IsString(v) && !strchr(v->valuestring, '|'))
            fprintf(out, "%s%s", between, v->valuestring);
        else if (cJSON_IsNumber(v) && v->valuedouble >= 0 && v->valuedouble <= 1e15 &&
                 v->valuedouble == floor(v->valuedouble))
            gls_fprintf(out, "%s%.0f", between, v->valuedouble);
        else
            good = false;
    }
    if (fclose(out) == 0 && good) return text;
    free(text);
    return NULL;
}

/* Adds one entity of the filter. GLS_ERR_INPUT: unknown entity, or a value of another type. */
static gls_status add_filter(const char *path, const cJSON *item, gls_strings *filters)
{
    const char *key = key_of(item->string);
    if (!key && is_implied(item->string)) return GLS_OK;
    if (!key) return gls_fail(GLS_ERR_INPUT, "%s: '%s' is no entity that glslines knows", path, item->string);
    if ((size_t)filters->n == sizeof filters->value / sizeof *filters->value)
        return gls_fail(GLS_ERR_INPUT, "%s: too many entities", path);
    char *text = filter_text(key, item);
    if (!text)
        return gls_fail(GLS_ERR_INPUT, "%s: %s is neither a text or a whole number nor a list of them", path,
                        item->string);
    filters->value[filters->n++] = text;
    return GLS_OK;
}

gls_status gls_dataset_filters_read(const char *path, gls_strings *filters)
{
    char *text = NULL;
    size_t n;
    gls_status status = gls_file_read(path, MAX_FILTERS, &text, &n);
    if (status) return status;
    cJSON *root = gls_json_parse(text);
    const cJSON *dwi = gls_json_at(root, "dwi"), *item;
    free(text);
    if (!cJSON_IsObject(root))
        status = gls_fail(GLS_ERR_INPUT, "%s: is no object of JSON", path);
    else if (!cJSON_IsObject(dwi))
        status = gls_fail(GLS_ERR_INPUT, "%s: has no object dwi", path);
    for (item = status ? NULL : dwi->child; item && !status; item = item->next)
        status = add_filter(path, item, filters);
    cJSON_Delete(root);
    return status;
}
