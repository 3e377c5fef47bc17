/* scilpy's JSON of bundles: an object of objects, whose keys become the cells of rows. */
#include <cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracts/bundle_row.h"
#include "util/json.h"
#include "util/plain.h"
#include "util/status.h"
#include "util/text.h"

/* What a value is: the name of a file, degrees, or a list of two numbers. */
typedef enum value_kind { IMAGE, DEGREES, LIMITS, LIMIT_CELLS } value_kind;

static const struct {
    const char *key;
    value_kind kind;
    gls_bundle_cell cell; /* LIMIT_CELLS: that of the lower one, the upper one's is next */
} keys[] = {{"endpoints", IMAGE, GLS_CELL_ENDS},
            {"head", IMAGE, GLS_CELL_START},
            {"tail", IMAGE, GLS_CELL_END},
            {"gt_mask", IMAGE, GLS_CELL_TRUTH},
            {"all_mask", IMAGE, GLS_CELL_ALL},
            {"any_mask", IMAGE, GLS_CELL_INCLUDE},
            {"angle", DEGREES, GLS_CELL_ANGLE},
            {"length", LIMIT_CELLS, GLS_CELL_MIN_LENGTH},
            {"length_x", LIMITS, GLS_CELL_LENGTH_X},
            {"length_y", LIMITS, GLS_CELL_LENGTH_Y},
            {"length_z", LIMITS, GLS_CELL_LENGTH_Z},
            {"length_x_abs", LIMITS, GLS_CELL_LENGTH_X_ABS},
            {"length_y_abs", LIMITS, GLS_CELL_LENGTH_Y_ABS},
            {"length_z_abs", LIMITS, GLS_CELL_LENGTH_Z_ABS}};
enum { N_KEYS = sizeof keys / sizeof *keys };

static gls_status wrong(const gls_bundle_row *row, const char *key, const char *what)
{
    return gls_fail(GLS_ERR_INPUT, "%s: %s: %s must be %s", row->path, row->where, key, what);
}

/* Names that fit on the line of a message. */
static bool is_plain(const char *text)
{
    while (*text && (unsigned char)*text >= ' ' && *text != 127) text++;
    return !*text;
}

static gls_status set_cell(gls_bundle_row *row, gls_bundle_cell cell, const char *text)
{
    if (!is_plain(text))
        return gls_fail(GLS_ERR_INPUT, "%s: %s: a name has a control character", row->path, row->where);
    free(row->cell[cell]);
    row->cell[cell] = gls_text_copy(text);
    return row->cell[cell] ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for rules");
}

static gls_status set_number(gls_bundle_row *row, gls_bundle_cell cell, double value)
{
    char text[40];
    gls_snprintf(text, sizeof text, "%.17g", value);
    return set_cell(row, cell, text);
}

static gls_status add_key(gls_bundle_row *row, const cJSON *item)
{
    int k = 0;
    while (k < N_KEYS && strcmp(keys[k].key, item->string) != 0) k++;
    if (k == N_KEYS && !is_plain(item->string)) return set_cell(row, GLS_CELL_BUNDLE, item->string);
    if (k == N_KEYS)
        return gls_fail(GLS_ERR_INPUT, "%s: %s: has \"%s\", which is none of scilpy's keys", row->path, row->where,
                        item->string);
    const cJSON *low = cJSON_GetArrayItem(item, 0), *high = cJSON_GetArrayItem(item, 1);
    const gls_bundle_cell cell = keys[k].cell;
    char text[80];
    gls_status status;
    if (cJSON_IsNull(item)) return GLS_OK;
    switch (keys[k].kind) {
    case IMAGE:
        if (!cJSON_IsString(item) || !*item->valuestring) return wrong(row, item->string, "the name of a file");
        return set_cell(row, cell, item->valuestring);
    case DEGREES:
        if (!cJSON_IsNumber(item)) return wrong(row, item->string, "a number");
        return set_number(row, cell, item->valuedouble);
    default:
        if (!cJSON_IsArray(item) || cJSON_GetArraySize(item) != 2 || !cJSON_IsNumber(low) || !cJSON_IsNumber(high))
            return wrong(row, item->string, "a list of two numbers");
        if (keys[k].kind == LIMITS) {
            gls_snprintf(text, sizeof text, "%.17g,%.17g", low->valuedouble, high->valuedouble);
            return set_cell(row, cell, text);
        }
        status = set_number(row, cell, low->valuedouble);
        return status ? status : set_number(row, (gls_bundle_cell)(cell + 1), high->valuedouble);
    }
}

static gls_status add_bundle(gls_bundle_rules *rules, const gls_bundle_row *from, const cJSON *bundle)
{
    gls_bundle_row row = *from;
    char where[160];
    const cJSON *item;
    snprintf(where, sizeof where, "bundle %.140s", is_plain(bundle->string) ? bundle->string : "?");
    row.where = where;
    gls_status status = set_cell(&row, GLS_CELL_BUNDLE, bundle->string);
    if (!status && !cJSON_IsObject(bundle) && !cJSON_IsString(bundle))
        status = gls_fail(GLS_ERR_INPUT, "%s: %s: is no object of scilpy's keys", row.path, where);
    /* the short form of scil_bundle_score_many_bundles_one_tractogram */
    if (!status && cJSON_IsString(bundle)) status = set_cell(&row, GLS_CELL_TRUTH, bundle->valuestring);
    cJSON_ArrayForEach(item, bundle)
    {
        if (!status) status = add_key(&row, item);
    }
    if (!status && !row.cell[GLS_CELL_START] != !row.cell[GLS_CELL_END])
        status = gls_fail(GLS_ERR_INPUT, "%s: %s: has one of head and tail", row.path, where);
    if (!status) status = gls_bundle_rules_add(rules, &row);
    for (int c = 0; c < GLS_CELLS; c++) free(row.cell[c]);
    return status;
}

gls_status gls_bundle_rules_add_json(gls_bundle_rules *rules, const gls_bundle_row *from, const char *text, size_t n)
{
    const char *stopped = NULL;
    const cJSON *bundle;
    gls_status status = GLS_OK;
    cJSON *root = gls_json_parse_whole(text, n, &stopped);
    if (!cJSON_IsObject(root)) {
        size_t line = 1;
        for (const char *c = text; stopped && c < stopped && c < text + n; c++) line += *c == '\n';
        cJSON_Delete(root);
        return gls_fail(GLS_ERR_INPUT, "%s: line %zu: is no JSON from here on", from->path, line);
    }
    cJSON_ArrayForEach(bundle, root)
    {
        if (!status) status = add_bundle(rules, from, bundle);
    }
    cJSON_Delete(root);
    return status;
}
