#include "tracts/bundle_rules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tracts/lines.h"
#include "util/file.h"
#include "util/parse.h"
#include "util/status.h"
#include "util/text.h"

#define LENGTH_SLACK 1e-4 /* mm */
#define DEGREE (3.14159265358979323846 / 180)

enum { MAX_COLUMNS = 32 };

typedef enum column {
    BUNDLE,
    INCLUDE,
    EXCLUDE,
    START,
    END_,
    ENDS,
    ALL,
    ALL_FRACTION,
    MIN_LENGTH,
    MAX_LENGTH,
    MIN_SPAN,
    MAX_SPAN,
    MAX_WINDING,
    CROSS_MIDLINE,
    MIDLINE,
    PRIMARY_AXIS,
    INCLUDE_TOLERANCE,
    EXCLUDE_TOLERANCE,
    END_TOLERANCE,
    ORDERED,
    CLEAN,
    TRUTH,
    N_COLUMNS
} column;

static const char *const column_names[N_COLUMNS] = {"bundle",
                                                    "include",
                                                    "exclude",
                                                    "start",
                                                    "end",
                                                    "ends",
                                                    "all",
                                                    "all_fraction",
                                                    "min_length",
                                                    "max_length",
                                                    "min_span",
                                                    "max_span",
                                                    "max_winding",
                                                    "cross_midline",
                                                    "midline",
                                                    "primary_axis",
                                                    "include_tolerance",
                                                    "exclude_tolerance",
                                                    "end_tolerance",
                                                    "ordered",
                                                    "clean",
                                                    "truth"};

/* A row on its way into the rules. */
typedef struct row {
    const char *path;
    size_t line;
    char *cell[N_COLUMNS]; /* NULL: empty */
} row;

const char *gls_bundle_test_name(gls_bundle_test test)
{
    static const char *const names[GLS_BUNDLE_TESTS] = {
        "length", "span", "midline", "ends", "include", "exclude", "all", "axis", "winding", "outlier", "other_bundle"};
    return (unsigned)test < GLS_BUNDLE_TESTS ? names[test] : "unknown";
}

static gls_status number(const row *r, column c, double low, double *value)
{
    if (!r->cell[c]) return GLS_OK;
    if (gls_parse_double(r->cell[c], value) && *value >= low) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT, "%s: line %zu: %s: \"%s\" is no number%s", r->path, r->line, column_names[c],
                    r->cell[c], low == 0 ? " from 0 on" : "");
}

/* 1 yes, -1 no, 0 empty. */
static gls_status answer(const row *r, column c, int *value)
{
    if (!r->cell[c]) return GLS_OK;
    *value = strcmp(r->cell[c], "yes") == 0 ? 1 : strcmp(r->cell[c], "no") == 0 ? -1 : 0;
    return *value ? GLS_OK
                  : gls_fail(GLS_ERR_INPUT, "%s: line %zu: %s: \"%s\" must be yes or no", r->path, r->line,
                             column_names[c], r->cell[c]);
}

/* Regions are messages of the table: its line says where. */
static gls_status add_region(gls_bundle_rules *rules, const row *r, column c, const char *text, double mm,
                             size_t *index)
{
    gls_status status = gls_rois_add(rules->rois, column_names[c], text, mm, index);
    if (!status) return GLS_OK;
    char *reason = gls_text_copy(gls_last_error());
    status = gls_fail(status == GLS_ERR_ARGUMENT ? GLS_ERR_INPUT : status, "%s: line %zu: %s", r->path, r->line,
                      reason ? reason : "a region");
    free(reason);
    return status;
}

static gls_status add_list(gls_bundle_rules *rules, const row *r, column c, double mm, size_t **list, size_t *n)
{
    gls_status status = GLS_OK;
    char *rest = r->cell[c];
    for (char *text; !status && rest && (text = strsep(&rest, ";"));) {
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

static gls_status parse_axis(const row *r, gls_bundle_rule *rule)
{
    static const char *const words[3][3] = {{"L/R", "R/L", "x"}, {"P/A", "A/P", "y"}, {"I/S", "S/I", "z"}};
    if (!r->cell[PRIMARY_AXIS]) return GLS_OK;
    for (int a = 0; a < 3; a++)
        for (int k = 0; k < 3; k++)
            if (strcmp(r->cell[PRIMARY_AXIS], words[a][k]) == 0) rule->axis = a + 1;
    return rule->axis ? GLS_OK
                      : gls_fail(GLS_ERR_INPUT, "%s: line %zu: primary_axis: \"%s\" must be L/R, P/A or I/S", r->path,
                                 r->line, r->cell[PRIMARY_AXIS]);
}

static gls_status add_ends(gls_bundle_rules *rules, const row *r, double mm, gls_bundle_rule *rule)
{
    gls_status status = GLS_OK;
    if (r->cell[ENDS] && (r->cell[START] || r->cell[END_]))
        return gls_fail(GLS_ERR_INPUT, "%s: line %zu: ends excludes start and end", r->path, r->line);
    if (r->cell[ENDS]) {
        status = gls_rois_add_ends(rules->rois, r->cell[ENDS], mm, rule->end);
        if (status)
            return gls_fail(status, "%s: line %zu: ends: %s is no image of two blobs", r->path, r->line, r->cell[ENDS]);
    }
    if (r->cell[START]) status = add_region(rules, r, START, r->cell[START], mm, &rule->end[0]);
    if (r->cell[END_] && !status) status = add_region(rules, r, END_, r->cell[END_], mm, &rule->end[1]);
    for (int e = 0; e < 2 && !status; e++) {
        const char *text = r->cell[e ? END_ : START];
        if (text && !(rule->end_text[e] = gls_text_copy(text))) status = gls_fail(GLS_ERR_MEMORY, "out of memory");
    }
    return status;
}

static bool is_name(const char *text)
{
    return *text && strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == strlen(text);
}

static gls_status fill(gls_bundle_rules *rules, const row *r, gls_bundle_rule *rule)
{
    double tolerance[3] = {0, 0, 0};
    int ordered = 0, clean = 0;
    if (!r->cell[BUNDLE] || !is_name(r->cell[BUNDLE]))
        return gls_fail(GLS_ERR_INPUT, "%s: line %zu: a bundle needs a name of letters, digits, _ and -", r->path,
                        r->line);
    for (size_t i = 0; i + 1 < rules->n; i++)
        if (strcmp(rules->rule[i].name, r->cell[BUNDLE]) == 0)
            return gls_fail(GLS_ERR_INPUT, "%s: line %zu: a second bundle of the name %s", r->path, r->line,
                            r->cell[BUNDLE]);
    rule->name = gls_text_copy(r->cell[BUNDLE]);
    if (r->cell[TRUTH]) rule->truth = gls_text_copy(r->cell[TRUTH]);
    if (!rule->name || (r->cell[TRUTH] && !rule->truth)) return gls_fail(GLS_ERR_MEMORY, "out of memory for rules");
    const struct {
        column c;
        double low, *value;
    } numbers[] = {{ALL_FRACTION, 0, &rule->all_fraction}, {MIN_LENGTH, 0, &rule->min_length},
                   {MAX_LENGTH, 0, &rule->max_length},     {MIN_SPAN, 0, &rule->min_span},
                   {MAX_SPAN, 0, &rule->max_span},         {MAX_WINDING, 0, &rule->max_winding},
                   {MIDLINE, -INFINITY, &rule->midline},   {INCLUDE_TOLERANCE, 0, &tolerance[0]},
                   {EXCLUDE_TOLERANCE, 0, &tolerance[1]},  {END_TOLERANCE, 0, &tolerance[2]}};
    gls_status status = GLS_OK;
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers && !status; k++)
        status = number(r, numbers[k].c, numbers[k].low, numbers[k].value);
    if (!status) status = answer(r, CROSS_MIDLINE, &rule->crosses);
    if (!status) status = answer(r, ORDERED, &ordered);
    if (!status) status = answer(r, CLEAN, &clean);
    rule->ordered = ordered > 0;
    rule->clean = clean > 0;
    if (!status) status = parse_axis(r, rule);
    if (!status) status = add_list(rules, r, INCLUDE, tolerance[0], &rule->include, &rule->n_include);
    if (!status) status = add_list(rules, r, EXCLUDE, tolerance[1], &rule->exclude, &rule->n_exclude);
    if (!status) status = add_ends(rules, r, tolerance[2], rule);
    if (!status && r->cell[ALL]) status = add_region(rules, r, ALL, r->cell[ALL], 0, &rule->all);
    return status;
}

static gls_status add_rule(gls_bundle_rules *rules, const row *r)
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
                              .max_winding = INFINITY};
    if (r) return fill(rules, r, rule);
    return GLS_OK;
}

/* Which column each place of the header is. */
static gls_status read_header(const char *path, char *line, column at[MAX_COLUMNS], size_t *n)
{
    *n = 0;
    for (char *cell; (cell = strsep(&line, "\t"));) {
        int c = 0;
        while (c < N_COLUMNS && strcmp(column_names[c], cell) != 0) c++;
        if (c == N_COLUMNS)
            return gls_fail(GLS_ERR_INPUT, "%s: the header has a column \"%s\", which is none of those of a bundle",
                            path, cell);
        for (size_t k = 0; k < *n; k++)
            if ((int)at[k] == c) return gls_fail(GLS_ERR_INPUT, "%s: the column %s is there twice", path, cell);
        if (*n == MAX_COLUMNS) return gls_fail(GLS_ERR_INPUT, "%s: too many columns", path);
        at[(*n)++] = (column)c;
    }
    for (size_t k = 0; k < *n; k++)
        if (at[k] == BUNDLE) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT, "%s: needs a header line with names of columns, \"bundle\" among them, and tabs",
                    path);
}

static gls_status read_rows(gls_bundle_rules *rules, const char *path, FILE *file)
{
    column at[MAX_COLUMNS];
    char *line = NULL;
    size_t size = 0, n = 0, number = 0;
    gls_status status = GLS_OK;
    for (ssize_t length; !status && (length = getline(&line, &size, file)) > 0;) {
        number++;
        while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r')) line[--length] = '\0';
        if (memchr(line, '\0', (size_t)length)) status = gls_fail(GLS_ERR_INPUT, "%s: is no text", path);
        if (status || length == 0 || *line == '#') continue;
        if (n == 0) {
            status = read_header(path, line, at, &n);
            continue;
        }
        row r = {.path = path, .line = number};
        size_t k = 0;
        for (char *rest = line, *cell; (cell = strsep(&rest, "\t")); k++)
            if (k < n && *cell) r.cell[at[k]] = cell;
        if (k > n)
            status = gls_fail(GLS_ERR_INPUT, "%s: line %zu has %zu cells, the header %zu", path, number, k, n);
        else
            status = add_rule(rules, &r);
    }
    free(line);
    if (!status && rules->n == 0) status = gls_fail(GLS_ERR_INPUT, "%s: has no bundle", path);
    return status;
}

gls_status gls_bundle_rules_read(const char *path, gls_bundle_rules *rules)
{
    *rules = (gls_bundle_rules){.n = 0};
    gls_status status = gls_rois_create(GLS_ROI_TEST_SEGMENT, &rules->rois);
    FILE *file = status ? NULL : fopen(path, "r");
    if (!status && !file) status = gls_fail(GLS_ERR_INPUT, "%s: cannot be opened", path);
    if (!status) status = read_rows(rules, path, file);
    if (file) fclose(file);
    if (status) gls_bundle_rules_finish(rules);
    return status;
}

gls_status gls_bundle_rules_whole(const char *const *names, size_t n, gls_bundle_rules *rules)
{
    *rules = (gls_bundle_rules){.n = 0};
    gls_status status = gls_rois_create(GLS_ROI_TEST_SEGMENT, &rules->rois);
    for (size_t i = 0; i < n && !status; i++) {
        status = add_rule(rules, NULL);
        if (!status && !(rules->rule[i].name = gls_text_copy(names[i])))
            status = gls_fail(GLS_ERR_MEMORY, "out of memory for rules");
    }
    if (status) gls_bundle_rules_finish(rules);
    return status;
}

void gls_bundle_rules_finish(gls_bundle_rules *rules)
{
    for (size_t i = 0; i < rules->n; i++) {
        gls_bundle_rule *r = &rules->rule[i];
        free(r->name);
        free(r->include);
        free(r->exclude);
        free(r->truth);
        free(r->end_text[0]);
        free(r->end_text[1]);
    }
    free(rules->rule);
    gls_rois_destroy(rules->rois);
    *rules = (gls_bundle_rules){.n = 0};
}

static double winding(const float (*point)[3], size_t n)
{
    double before[3] = {0}, sum = 0, length = 0;
    for (size_t p = 1; p < n; p++) {
        double d[3], square = 0, dot = 0;
        for (int r = 0; r < 3; r++) {
            d[r] = (double)point[p][r] - point[p - 1][r];
            square += d[r] * d[r];
            dot += d[r] * before[r];
        }
        if (square == 0) continue;
        if (length > 0) sum += acos(fmax(-1, fmin(1, dot / (sqrt(square) * length)))) / DEGREE;
        memcpy(before, d, sizeof d);
        length = sqrt(square);
    }
    return sum;
}

static bool crosses(const float (*point)[3], size_t n, double x)
{
    bool low = false, high = false;
    for (size_t p = 0; p < n; p++) {
        low |= point[p][0] < x;
        high |= point[p][0] > x;
    }
    return low && high;
}

static int largest_axis(const float *a, const float *b)
{
    int axis = 0;
    for (int r = 1; r < 3; r++)
        if (fabs((double)b[r] - a[r]) > fabs((double)b[axis] - a[axis])) axis = r;
    return axis + 1;
}

/* The largest part of the way from end to end, and of more than half of the steps in the middle 60 %. */
static bool runs_along(const float (*point)[3], size_t n, int axis)
{
    size_t first = (size_t)((double)(n - 1) * 0.2), last = (size_t)((double)(n - 1) * 0.8), along = 0;
    if (n < 2 || largest_axis(point[0], point[n - 1]) != axis) return false;
    if (last <= first) last = first + 1;
    for (size_t p = first; p < last; p++) along += largest_axis(point[p], point[p + 1]) == axis;
    return 2 * along > last - first;
}

/* Whether the streamline, read backwards or not, fits start, end and the order of the include regions. */
static bool fits(const gls_bundle_rules *rules, const gls_bundle_rule *r, const gls_roi_hits *hits,
                 const float (*point)[3], size_t n, bool backwards, bool *at_ends)
{
    const float *first = point[backwards ? n - 1 : 0], *last = point[backwards ? 0 : n - 1];
    bool held = (r->end[0] == GLS_RULE_NONE || gls_rois_has(rules->rois, r->end[0], first)) &&
                (r->end[1] == GLS_RULE_NONE || gls_rois_has(rules->rois, r->end[1], last));
    *at_ends |= held;
    return held && (!r->ordered || gls_rois_ordered(rules->rois, hits, r->include, r->n_include, backwards));
}

gls_bundle_test gls_bundle_judge(const gls_bundle_rules *rules, size_t bundle, const gls_roi_hits *hits,
                                 const float (*point)[3], size_t n, double length, gls_bundle_direction *direction)
{
    const gls_bundle_rule *r = &rules->rule[bundle];
    double span = 0;
    for (int a = 0; a < 3; a++) span += pow((double)point[n - 1][a] - point[0][a], 2);
    span = sqrt(span);
    if (!(length >= r->min_length - LENGTH_SLACK && length <= r->max_length + LENGTH_SLACK)) return GLS_BUNDLE_LENGTH;
    if (!(span >= r->min_span - LENGTH_SLACK && span <= r->max_span + LENGTH_SLACK)) return GLS_BUNDLE_SPAN;
    if (r->crosses && crosses(point, n, r->midline) != (r->crosses > 0)) return GLS_BUNDLE_MIDLINE;
    bool at_ends = false, along = fits(rules, r, hits, point, n, false, &at_ends),
         against = fits(rules, r, hits, point, n, true, &at_ends);
    if (!at_ends) return GLS_BUNDLE_ENDS;
    for (size_t k = 0; k < r->n_include; k++)
        if (!hits->met[r->include[k]]) return GLS_BUNDLE_INCLUDE;
    if (!along && !against) return GLS_BUNDLE_INCLUDE; /* met, in another order */
    for (size_t k = 0; k < r->n_exclude; k++)
        if (hits->met[r->exclude[k]]) return GLS_BUNDLE_EXCLUDE;
    if (r->all != GLS_RULE_NONE && gls_rois_share(rules->rois, hits, r->all) < r->all_fraction - 1e-9)
        return GLS_BUNDLE_ALL;
    if (r->axis && !runs_along(point, n, r->axis)) return GLS_BUNDLE_AXIS;
    if (isfinite(r->max_winding) && winding(point, n) > r->max_winding) return GLS_BUNDLE_WINDING;
    *direction = along != against ? (along ? GLS_BUNDLE_ALONG : GLS_BUNDLE_AGAINST) : GLS_BUNDLE_UNKNOWN;
    if (*direction == GLS_BUNDLE_UNKNOWN && r->n_include >= 2) {
        double a = gls_rois_first(rules->rois, hits, r->include[0]),
               b = gls_rois_first(rules->rois, hits, r->include[r->n_include - 1]);
        if (a != b) *direction = a < b ? GLS_BUNDLE_ALONG : GLS_BUNDLE_AGAINST;
    }
    return GLS_BUNDLE_TESTS;
}
