/* Reads the rules of bundles from tables and from scilpy's JSON. */
#include <cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracts/bundle_table.h"
#include "tracts/bundle_parts.h"
#include "tracts/roi_tracks.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"
#include "util/text_tables.h"

/* --- scilpy's JSON: for each bundle an object, whose keys become the cells of a row, or only the name of the true
 * mask. */

/* Type of a key's value: a file name, degrees, or a list of two numbers, which goes into one cell (LIMITS) or into
 * two. */
typedef enum value_kind { IMAGE, DEGREES, LIMITS, LIMIT_CELLS } value_kind;

static const struct {
    const char *key;
    value_kind kind;
    gls_bundle_cell cell; /* LIMIT_CELLS: cell of the lower limit; the cell of the upper limit follows it */
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

/* Error for a key whose value is of the wrong type. what: what it must be. */
static gls_status wrong(const gls_bundle_row *row, const char *key, const char *what)
{
    return gls_fail(GLS_ERR_INPUT, "%s: %s: %s must be %s", row->path, row->where, key, what);
}

/* Whether a name has no control characters, so that it fits into a message. */
static bool is_plain(const char *text)
{
    while (*text && (unsigned char)*text >= ' ' && *text != 127) text++;
    return !*text;
}

/* Stores a copy of the text in a cell of the row, which owns it. GLS_ERR_INPUT: the text has control characters. */
static gls_status set_cell(gls_bundle_row *row, gls_bundle_cell cell, const char *text)
{
    if (!is_plain(text))
        return gls_fail(GLS_ERR_INPUT, "%s: %s: a text has a control character", row->path, row->where);
    free(row->cell[cell]);
    row->cell[cell] = gls_text_copy(text);
    return row->cell[cell] ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for rules");
}

/* Stores a number as text that reads back as the same double. */
static gls_status set_number(gls_bundle_row *row, gls_bundle_cell cell, double value)
{
    char text[40];
    gls_snprintf(text, sizeof text, "%.17g", value);
    return set_cell(row, cell, text);
}

/* Turns one key of a bundle into a cell of its row, or into two (LIMIT_CELLS). A value of null adds no cell. */
static gls_status add_key(gls_bundle_row *row, const cJSON *item)
{
    int k = 0;
    while (k < N_KEYS && strcmp(keys[k].key, item->string) != 0) k++;
    if (k == N_KEYS && !is_plain(item->string)) return set_cell(row, GLS_CELL_BUNDLE, item->string);
    if (k == N_KEYS)
        return gls_fail(GLS_ERR_INPUT, "%s: %s: has \"%s\", which is none of scilpy's keys", row->path, row->where,
                        item->string);
    /* low and high are NULL unless the value is a list */
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

/* Adds one bundle of the JSON file. */
static gls_status add_bundle(gls_bundle_rules *rules, const gls_bundle_row *from, const cJSON *bundle)
{
    gls_bundle_row row = *from;
    char where[160];
    const cJSON *item;
    snprintf(where, sizeof where, "bundle %.140s", is_plain(bundle->string) ? bundle->string : "?");
    row.where = where;
    gls_status status = set_cell(&row, GLS_CELL_BUNDLE, bundle->string);
    if (!status && !cJSON_IsObject(bundle) && !cJSON_IsString(bundle))
        status = gls_fail(GLS_ERR_INPUT, "%s: %s: must be an object of scilpy's keys, or the name of a mask", row.path,
                          where);
    /* short form, the name of the true mask alone, as in scil_bundle_score_many_bundles_one_tractogram */
    if (!status && cJSON_IsString(bundle)) status = set_cell(&row, GLS_CELL_TRUTH, bundle->valuestring);
    cJSON_ArrayForEach(item, bundle)
    {
        if (!status) status = add_key(&row, item);
    }
    if (!status && !row.cell[GLS_CELL_START] != !row.cell[GLS_CELL_END])
        status = gls_fail(GLS_ERR_INPUT, "%s: %s: has head or tail alone; give both", row.path, where);
    if (!status) status = gls_bundle_rules_add(rules, &row);
    for (int c = 0; c < GLS_CELLS; c++) free(row.cell[c]);
    return status;
}

/* Adds the bundles of scilpy's JSON, the configuration of scil_tractogram_segment_with_ROI_and_score. text: contents of
 * the file `from->path`; `from` also gives folder and grid. */
static gls_status bundle_rules_add_json(gls_bundle_rules *rules, const gls_bundle_row *from, const char *text, size_t n)
{
    const char *stopped = NULL;
    const cJSON *bundle;
    gls_status status = GLS_OK;
    cJSON *root = gls_json_parse_whole(text, n, &stopped);
    if (!cJSON_IsObject(root)) {
        size_t line = 1;
        for (const char *c = text; stopped && c < stopped && c < text + n; c++) line += *c == '\n';
        cJSON_Delete(root);
        return gls_fail(GLS_ERR_INPUT, "%s: line %zu: the text is no JSON from here on", from->path, line);
    }
    cJSON_ArrayForEach(bundle, root)
    {
        if (!status) status = add_bundle(rules, from, bundle);
    }
    cJSON_Delete(root);
    return status;
}

/* MAX_COLUMNS: largest number of columns of a table; MAX_BYTES: largest size of a file of rules */
enum { MAX_COLUMNS = 40, MAX_BYTES = 16 << 20 };

typedef gls_bundle_row row;
typedef gls_bundle_cell column;

#define CELL_NAME(cell, name) name,
static const char *const column_names[GLS_CELLS] = {GLS_BUNDLE_CELLS(CELL_NAME)};

/* Reads a number of at least `low` into *value; an empty cell leaves *value as it is. */
static gls_status number(const row *r, column c, double low, double *value)
{
    if (!r->cell[c]) return GLS_OK;
    if (gls_parse_double(r->cell[c], value) && *value >= low) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT, "%s: %s: %s: \"%s\" is no number%s", r->path, r->where, column_names[c], r->cell[c],
                    low == 0 ? " from 0 on" : "");
}

/* Reads yes or no as 1 or -1 into *value; an empty cell leaves *value as it is. */
static gls_status answer(const row *r, column c, int *value)
{
    if (!r->cell[c]) return GLS_OK;
    *value = strcmp(r->cell[c], "yes") == 0 ? 1 : strcmp(r->cell[c], "no") == 0 ? -1 : 0;
    return *value ? GLS_OK
                  : gls_fail(GLS_ERR_INPUT, "%s: %s: %s: \"%s\" must be yes or no", r->path, r->where, column_names[c],
                             r->cell[c]);
}

/* Reads LOW,HIGH with LOW <= HIGH; an empty cell leaves value as it is. The text of the cell is unchanged after
 * return. */
static gls_status range(const row *r, column c, double value[2])
{
    char *text = r->cell[c], *comma = text ? strchr(text, ',') : NULL;
    if (!text) return GLS_OK;
    if (comma) *comma = '\0';
    bool is_range =
        comma && gls_parse_double(text, &value[0]) && gls_parse_double(comma + 1, &value[1]) && value[0] <= value[1];
    if (comma) *comma = ',';
    return is_range ? GLS_OK
                    : gls_fail(GLS_ERR_INPUT, "%s: %s: %s: \"%s\" must be two numbers LOW,HIGH with LOW not above HIGH",
                               r->path, r->where, column_names[c], text);
}

/* Adds the text of a region or mask, FILE or FILE:LABELS, to the list of files. */
static gls_status note_file(gls_bundle_rules *rules, const char *text)
{
    char **more = realloc(rules->file, (rules->n_files + 1) * sizeof *more);
    if (more) rules->file = more;
    char *copy = more ? gls_text_copy(text) : NULL;
    if (!copy) return gls_fail(GLS_ERR_MEMORY, "out of memory for rules");
    rules->file[rules->n_files++] = copy;
    return GLS_OK;
}

/* Fills in *path: the text of a region with the folder in front of its file; the caller frees it. A text of
 * numbers and commas alone is a sphere or a box, and names no file; every other text joins rules->file.
 * Backslashes escape in tables, and belong to the name in JSON. */
static gls_status path_of(gls_bundle_rules *rules, const row *r, const char *text, char **path)
{
    char *name = rules->is_json ? gls_text_copy(text) : gls_names_copy(text, strlen(text));
    if (!name) return gls_fail(GLS_ERR_MEMORY, "out of memory for rules");
    const bool is_solid = strspn(text, "0123456789+-.eE,") == strlen(text);
    const size_t n = r->folder ? strlen(r->folder) : 0;
    gls_text joined = {0};
    if (r->folder && *text != '/' && !is_solid)
        gls_text_printf(&joined, "%s%s", r->folder, n > 0 && r->folder[n - 1] == '/' ? "" : "/");
    gls_text_puts(&joined, name);
    free(name);
    *path = gls_text_take(&joined);
    if (!*path) return gls_fail(GLS_ERR_MEMORY, "out of memory for rules");
    return is_solid ? GLS_OK : note_file(rules, *path);
}

/* Puts the file of rules, and the line or bundle in it, in front of the last message, which is about a region. */
static gls_status fail_at(const row *r, gls_status status)
{
    char *reason = gls_text_copy(gls_last_error());
    status = gls_fail(status == GLS_ERR_ARGUMENT ? GLS_ERR_INPUT : status, "%s: %s: %s", r->path, r->where,
                      reason ? reason : "a region");
    free(reason);
    return status;
}

/* Adds the region of a cell, widened by mm, to rules->rois. *index: its index there. Messages name the cell's
 * column. */
static gls_status add_region(gls_bundle_rules *rules, const row *r, column c, const char *text, double mm,
                             size_t *index)
{
    char *path = NULL;
    gls_status status = path_of(rules, r, text, &path);
    if (!status) status = gls_rois_add_any(rules->rois, column_names[c], path, r->grid, mm, index);
    free(path);
    return status ? fail_at(r, status) : GLS_OK;
}

/* Adds the regions of a cell, separated by semicolons; the text of a JSON is one region. */
static gls_status add_list(gls_bundle_rules *rules, const row *r, column c, double mm, size_t **list, size_t *n)
{
    gls_status status = GLS_OK;
    for (char *text = r->cell[c], *rest; !status && text; text = rest) {
        char *end = rules->is_json ? NULL : (char *)gls_names_first(text, ';');
        rest = end ? end + 1 : NULL;
        if (end) *end = '\0';
        while (*text == ' ') text++;
        size_t length = strlen(text);
        while (length > 0 && text[length - 1] == ' ') text[--length] = '\0';
        if (!*text) continue;
        size_t *more = realloc(*list, (*n + 1) * sizeof *more);
        if (!more) return gls_fail(GLS_ERR_MEMORY, "out of memory for rules");
        *list = more;
        status = add_region(rules, r, c, text, mm, &more[*n]);
        if (!status) ++*n;
    }
    return status;
}

/* Reads the axis along which streamlines must run, as AFQ's primary_axis or as x, y, z. */
static gls_status parse_axis(const row *r, gls_bundle_rule *rule)
{
    static const char *const words[3][3] = {{"L/R", "R/L", "x"}, {"P/A", "A/P", "y"}, {"I/S", "S/I", "z"}};
    if (!r->cell[GLS_CELL_PRIMARY_AXIS]) return GLS_OK;
    for (int a = 0; a < 3; a++)
        for (int k = 0; k < 3; k++)
            if (strcmp(r->cell[GLS_CELL_PRIMARY_AXIS], words[a][k]) == 0) rule->axis = a + 1;
    return rule->axis ? GLS_OK
                      : gls_fail(GLS_ERR_INPUT, "%s: %s: primary_axis: \"%s\" must be L/R, P/A, I/S, x, y or z",
                                 r->path, r->where, r->cell[GLS_CELL_PRIMARY_AXIS]);
}

/* Takes the regions of both ends: one image whose two largest parts are the ends, or an image for each. */
static gls_status add_ends(gls_bundle_rules *rules, const row *r, double mm, gls_bundle_rule *rule)
{
    gls_status status = GLS_OK;
    if (r->cell[GLS_CELL_ENDS] && (r->cell[GLS_CELL_START] || r->cell[GLS_CELL_END]))
        return gls_fail(GLS_ERR_INPUT,
                        rules->is_json ? "%s: %s: has endpoints together with head and tail: leave out one or the other"
                                       : "%s: %s: has ends together with start or end: leave out one or the other",
                        r->path, r->where);
    if (r->cell[GLS_CELL_ENDS]) {
        char *path = NULL;
        status = path_of(rules, r, r->cell[GLS_CELL_ENDS], &path);
        if (!status) status = gls_rois_add_ends(rules->rois, path, mm, rule->end);
        free(path);
        if (status) return fail_at(r, status);
    }
    if (r->cell[GLS_CELL_START])
        status = add_region(rules, r, GLS_CELL_START, r->cell[GLS_CELL_START], mm, &rule->end[0]);
    if (r->cell[GLS_CELL_END] && !status)
        status = add_region(rules, r, GLS_CELL_END, r->cell[GLS_CELL_END], mm, &rule->end[1]);
    return status;
}

/* Whether a text can name a bundle, and so a file and a group. */
static bool is_name(const char *text)
{
    return *text && strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == strlen(text);
}

/* Fills a rule from the cells of a row, and checks each cell. */
static gls_status fill(gls_bundle_rules *rules, const row *r, gls_bundle_rule *rule)
{
    double tolerance[3] = {0, 0, 0};
    int ordered = 0, clean = 0;
    if (!r->cell[GLS_CELL_BUNDLE] || !is_name(r->cell[GLS_CELL_BUNDLE]))
        return gls_fail(GLS_ERR_INPUT, "%s: %s: a bundle needs a name of letters, digits, _ and -", r->path, r->where);
    for (size_t i = 0; i + 1 < rules->n; i++)
        if (strcmp(rules->rule[i].name, r->cell[GLS_CELL_BUNDLE]) == 0)
            return gls_fail(GLS_ERR_INPUT, "%s: %s: is a second bundle of the name %s", r->path, r->where,
                            r->cell[GLS_CELL_BUNDLE]);
    rule->name = gls_text_copy(r->cell[GLS_CELL_BUNDLE]);
    if (!rule->name) return gls_fail(GLS_ERR_MEMORY, "out of memory for rules");
    /* cells of one number, the smallest allowed value, and where the number goes */
    const struct {
        column c;
        double low, *value;
    } numbers[] = {{GLS_CELL_ALL_FRACTION, 0, &rule->all_fraction}, {GLS_CELL_MIN_LENGTH, 0, &rule->min_length},
                   {GLS_CELL_MAX_LENGTH, 0, &rule->max_length},     {GLS_CELL_MIN_SPAN, 0, &rule->min_span},
                   {GLS_CELL_MAX_SPAN, 0, &rule->max_span},         {GLS_CELL_MAX_WINDING, 0, &rule->max_winding},
                   {GLS_CELL_ANGLE, 0, &rule->max_sweep},           {GLS_CELL_MIDLINE, -INFINITY, &rule->midline},
                   {GLS_CELL_INCLUDE_TOLERANCE, 0, &tolerance[0]},  {GLS_CELL_EXCLUDE_TOLERANCE, 0, &tolerance[1]},
                   {GLS_CELL_END_TOLERANCE, 0, &tolerance[2]}};
    gls_status status = GLS_OK;
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers && !status; k++)
        status = number(r, numbers[k].c, numbers[k].low, numbers[k].value);
    for (int a = 0; a < 3 && !status; a++) {
        status = range(r, (column)(GLS_CELL_LENGTH_X + a), rule->extent[a]);
        if (!status) status = range(r, (column)(GLS_CELL_LENGTH_X_ABS + a), rule->travel[a]);
    }
    if (!status) status = answer(r, GLS_CELL_CROSS_MIDLINE, &rule->crosses);
    if (!status) status = answer(r, GLS_CELL_ORDERED, &ordered);
    if (!status) status = answer(r, GLS_CELL_CLEAN, &clean);
    /* an empty cell means no */
    rule->ordered = ordered > 0;
    rule->clean = clean > 0;
    if (!status) status = parse_axis(r, rule);
    if (!status) status = add_list(rules, r, GLS_CELL_INCLUDE, tolerance[0], &rule->include, &rule->n_include);
    if (!status)
        status = add_list(rules, r, GLS_CELL_INCLUDE_ANY, tolerance[0], &rule->include_any, &rule->n_include_any);
    if (!status) status = add_list(rules, r, GLS_CELL_EXCLUDE, tolerance[1], &rule->exclude, &rule->n_exclude);
    if (!status) status = add_ends(rules, r, tolerance[2], rule);
    if (!status && r->cell[GLS_CELL_TRUTH]) status = path_of(rules, r, r->cell[GLS_CELL_TRUTH], &rule->truth);
    if (!status && r->cell[GLS_CELL_ALL])
        status = add_region(rules, r, GLS_CELL_ALL, r->cell[GLS_CELL_ALL], 0, &rule->all);
    return status;
}

gls_status gls_bundle_rules_add(gls_bundle_rules *rules, const row *r)
{
    gls_bundle_rule *list = realloc(rules->rule, (rules->n + 1) * sizeof *list);
    if (!list) return gls_fail(GLS_ERR_MEMORY, "out of memory for rules");
    rules->rule = list;
    gls_bundle_rule *rule = &list[rules->n++];
    *rule = (gls_bundle_rule){.end = {GLS_RULE_NONE, GLS_RULE_NONE},
                              .all = GLS_RULE_NONE,
                              .all_fraction = 1,
                              .max_length = INFINITY,
                              .max_span = INFINITY,
                              .max_winding = INFINITY,
                              .max_sweep = INFINITY};
    /* extent and travel have no limits until cells give some */
    for (int a = 0; a < 3; a++) rule->extent[a][1] = rule->travel[a][1] = INFINITY;
    if (r) return fill(rules, r, rule);
    return GLS_OK;
}

/* Finds the column of each cell of the header. */
static gls_status read_header(const char *path, char *const *cell, size_t n, column at[MAX_COLUMNS])
{
    if (n > MAX_COLUMNS) return gls_fail(GLS_ERR_INPUT, "%s: has more than %d columns", path, MAX_COLUMNS);
    for (size_t i = 0; i < n; i++) {
        int c = 0;
        while (c < GLS_CELLS && strcmp(column_names[c], cell[i]) != 0) c++;
        if (c == GLS_CELLS)
            return gls_fail(GLS_ERR_INPUT, "%s: the header has a column \"%s\", which is no column of a table of rules",
                            path, cell[i]);
        for (size_t k = 0; k < i; k++)
            if ((int)at[k] == c)
                return gls_fail(GLS_ERR_INPUT, "%s: the header has the column %s twice", path, cell[i]);
        at[i] = (column)c;
    }
    for (size_t k = 0; k < n; k++)
        if (at[k] == GLS_CELL_BUNDLE) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT,
                    "%s: needs a header line: names of columns with tabs between them, \"bundle\" among them", path);
}

/* Reads a table with tabs: a header with names of columns, then a row for each bundle. Empty lines and lines that begin
 * with # do not count. */
static gls_status read_rows(gls_bundle_rules *rules, const row *from, char *text)
{
    column at[MAX_COLUMNS];
    char where[32], *cell[MAX_COLUMNS];
    size_t n = 0, found;
    gls_records records = gls_records_begin(text, '\t');
    gls_status status = GLS_OK;
    while (!status && (found = gls_record_next(&records, cell, MAX_COLUMNS)) > 0) {
        /* skip empty lines and remarks; the first other line is the header */
        if ((found == 1 && !*cell[0]) || *cell[0] == '#') continue;
        if (n == 0) {
            status = read_header(from->path, cell, found, at);
            n = found;
            continue;
        }
        row r = *from;
        r.where = where;
        snprintf(where, sizeof where, "line %zu", records.line);
        for (size_t k = 0; k < found && k < n; k++)
            if (*cell[k]) r.cell[at[k]] = cell[k];
        if (found > n)
            status = gls_fail(GLS_ERR_INPUT, "%s: line %zu has %zu cells, but the header has %zu", from->path,
                              records.line, found, n);
        else
            status = gls_bundle_rules_add(rules, &r);
    }
    return status;
}

gls_status gls_bundle_rules_read(const char *path, const char *folder, const gls_grid *grid, bool chooses,
                                 const gls_transform *space, gls_bundle_rules *rules)
{
    char *text = NULL;
    size_t n = 0;
    const row from = {.path = path, .folder = folder, .grid = grid};
    *rules = (gls_bundle_rules){.n = 0};
    gls_status status = gls_rois_create(GLS_ROI_TEST_SEGMENT, space, &rules->rois);
    if (!status && chooses) gls_rois_keep_distances(rules->rois);
    if (!status) status = gls_file_read(path, MAX_BYTES, &text, &n);
    if (!status && memchr(text, '\0', n)) status = gls_fail(GLS_ERR_INPUT, "%s: is no text", path);
    const char *first = text;
    while (!status && gls_is_space((unsigned char)*first)) first++;
    rules->is_json = !status && *first == '{';
    if (!status) status = rules->is_json ? bundle_rules_add_json(rules, &from, text, n) : read_rows(rules, &from, text);
    if (!status && rules->n == 0)
        status =
            gls_fail(GLS_ERR_INPUT, "%s: defines no bundle: a table needs a row for each bundle, JSON an object", path);
    free(text);
    if (status) gls_bundle_rules_finish(rules);
    return status;
}

void gls_bundle_rules_finish(gls_bundle_rules *rules)
{
    for (size_t i = 0; i < rules->n; i++) {
        gls_bundle_rule *r = &rules->rule[i];
        free(r->name);
        free(r->include);
        free(r->include_any);
        free(r->exclude);
        free(r->truth);
    }
    for (size_t i = 0; i < rules->n_files; i++) free(rules->file[i]);
    free(rules->file);
    free(rules->rule);
    gls_rois_destroy(rules->rois);
    *rules = (gls_bundle_rules){.n = 0};
}
