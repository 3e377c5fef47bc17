/* Criteria of streamlines beside regions. Numbers of streamlines are read from the tractograms when a page first asks
 * for them, so that windows without criteria need no memory for them. */
#include "view/measures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/streamlines.h>

#include "streamlines/builder.h"
#include "util/numbers.h"
#include "util/status.h"
#include "view/lines.h"

/* Tolerance of lengths, mm: that of gls_selection. */
#define LENGTH_SLACK 1e-4

/* --- Reading. */

/* A measure that is read. */
typedef struct reading {
    const gls_view_measures *m;
    const char *path, *key;
    gls_view_measure *to;
    uint64_t n; /* streamlines so far */
} reading;

static bool is_of_group(const char *key)
{
    return strncmp(key, "group:", 6) == 0;
}

/* The column or group of a key; NULL: there is none that has one number for each streamline. */
static const gls_column *find_column(const gls_streamlines *in, const char *key)
{
    const char *name = strchr(key, ':') + 1;
    if (is_of_group(key)) return gls_column_find(in->group, in->n_groups, name);
    const gls_column *column = gls_column_find(in->dps, in->n_dps, name);
    return column && column->components == 1 ? column : NULL;
}

/* Says that a file has not the column or group of the key. */
static gls_status fail_missing(const reading *r)
{
    const char *name = strchr(r->key, ':') + 1;
    if (is_of_group(r->key))
        return gls_fail(GLS_ERR_INPUT, "%s: has no group \"%s\"; 'glslines info' lists its groups", r->path, name);
    return gls_fail(GLS_ERR_INPUT,
                    "%s: has no column \"%s\" with one value for each streamline; 'glslines info' lists its columns",
                    r->path, name);
}

static gls_status append(void *user, const gls_streamlines *in)
{
    reading *r = user;
    const bool is_length = !strchr(r->key, ':'), is_group = is_of_group(r->key);
    const gls_column *column = is_length ? NULL : find_column(in, r->key);
    if (!r->m->go_on()) return gls_fail(GLS_ERR_CANCELLED, "%s: interrupted", r->path);
    if (!is_length && !column) return fail_missing(r);
    if (in->n > r->m->n - r->n) return gls_view_lines_refuse(r->path);
    for (size_t i = 0; i < in->n; i++, r->n++) {
        const double value = is_length ? gls_builder_length(in, i) : gls_column_value(column, i);
        if (!is_group)
            r->to->value[r->n] = value;
        else if (value > 0.5)
            r->to->bits[r->n / 64] |= UINT64_C(1) << r->n % 64;
    }
    return GLS_OK;
}

static gls_status read_files(reading *r)
{
    gls_tractogram_read_options read = *r->m->read;
    const gls_sink sink = {.append = append, .user = r};
    gls_status status = GLS_OK;
    read.allow_invalid = read.quiet = true;
    for (size_t i = 0; i < r->m->n_paths && !status; i++) {
        gls_tractogram_reader *reader = NULL;
        r->path = r->m->path[i];
        status = gls_tractogram_reader_open(r->path, &read, &reader);
        if (!status) status = gls_tractogram_pump(reader, &sink, NULL, NULL);
        gls_tractogram_reader_close(reader);
    }
    return !status && r->n != r->m->n ? gls_view_lines_refuse(r->path) : status;
}

/* Makes room for a measure in place of another one of its kind. */
static gls_status make_room(const gls_view_measures *m, bool is_group, gls_view_measure *measure)
{
    const size_t words = GLS_VIEW_WORDS(m->n) + 1;
    free(measure->key);
    measure->key = NULL;
    if (is_group && !measure->bits) measure->bits = malloc(words * sizeof *measure->bits);
    if (!is_group && !measure->value) measure->value = malloc((size_t)(m->n + 1) * sizeof *measure->value);
    if (is_group ? !measure->bits : !measure->value) return gls_no_memory();
    if (is_group) memset(measure->bits, 0, words * sizeof *measure->bits);
    return GLS_OK;
}

/* Finds a measure, or reads it in place of the one of its kind that was not used for longest. */
static gls_status find_measure(gls_view_measures *m, const char *key, const gls_view_measure **found)
{
    const bool is_group = is_of_group(key);
    const size_t from = is_group ? 0 : GLS_VIEW_GROUPS, until = is_group ? GLS_VIEW_GROUPS : GLS_VIEW_MEASURES;
    gls_view_measure *oldest = &m->measure[from];
    for (size_t i = from; i < until; i++) {
        gls_view_measure *measure = &m->measure[i];
        if (measure->key && strcmp(measure->key, key) == 0) {
            measure->used = m->n_requests;
            *found = measure;
            return GLS_OK;
        }
        if (measure->used < oldest->used) oldest = measure;
    }
    reading r = {.m = m, .key = key, .to = oldest};
    gls_status status = make_room(m, is_group, oldest);
    if (!status) status = read_files(&r);
    if (!status && !(oldest->key = gls_text_copy(key))) status = gls_no_memory();
    oldest->used = status ? 0 : m->n_requests;
    *found = oldest;
    return status;
}

/* Clears the bits of streamlines whose number is not from low to high. */
static gls_status keep(gls_view_measures *m, const char *key, double low, double high, uint64_t *bits)
{
    const gls_view_measure *measure;
    gls_status status = find_measure(m, key, &measure);
    for (uint64_t i = 0; i < m->n && !status; i++)
        if (!(measure->value[i] >= low && measure->value[i] <= high)) bits[i / 64] &= ~(UINT64_C(1) << i % 64);
    return status;
}

/* Clears the bits of streamlines that are not in a group, or of those that are. */
static gls_status keep_group(gls_view_measures *m, const char *key, bool is, uint64_t *bits)
{
    const gls_view_measure *measure;
    gls_status status = find_measure(m, key, &measure);
    for (size_t w = 0; w < GLS_VIEW_WORDS(m->n) && !status; w++) bits[w] &= is ? measure->bits[w] : ~measure->bits[w];
    return status;
}

/* Whether values of the column are limited. */
static bool has_values(const gls_view_criteria *c)
{
    return *c->column && (isfinite(c->min_value) || isfinite(c->max_value));
}

gls_status gls_view_measures_apply(gls_view_measures *m, const gls_view_criteria *c, uint64_t *bits)
{
    char key[GLS_VIEW_NAME + 8];
    gls_status status = GLS_OK;
    m->n_requests++;
    for (size_t k = 0; k < c->n_groups + c->n_not_groups && !status; k++) {
        gls_snprintf(key, sizeof key, "group:%s", c->group[k]);
        status = keep_group(m, key, k < c->n_groups, bits);
    }
    gls_snprintf(key, sizeof key, "dps:%s", c->column);
    if (!status && has_values(c)) status = keep(m, key, c->min_value, c->max_value, bits);
    if (!status && (c->min_length > 0 || isfinite(c->max_length)))
        status = keep(m, "length", c->min_length - LENGTH_SLACK, c->max_length + LENGTH_SLACK, bits);
    return status;
}

void gls_view_measures_finish(gls_view_measures *m)
{
    for (size_t i = 0; i < GLS_VIEW_MEASURES; i++) {
        free(m->measure[i].key);
        free(m->measure[i].value);
        free(m->measure[i].bits);
    }
    *m = (gls_view_measures){.path = NULL};
}

/* --- Words. */

/* Adds an option with a number, unless it is not finite. */
static void add_number(char **word, size_t *n, const char *option, double v)
{
    char text[160];
    if (!isfinite(v)) return;
    gls_view_numbers(&v, 1, text);
    if (gls_asprintf(&word[*n], "--%s=%s", option, text) < 0) word[*n] = NULL;
    ++*n;
}

size_t gls_view_criteria_words(const gls_view_criteria *c, char *word[GLS_VIEW_CRITERIA_WORDS])
{
    size_t n = 0;
    for (size_t k = 0; k < c->n_groups + c->n_not_groups; k++, n++)
        if (gls_asprintf(&word[n], "--%s=%s", k < c->n_groups ? "group" : "not-group", c->group[k]) < 0) word[n] = NULL;
    if (has_values(c)) {
        if (gls_asprintf(&word[n], "--weights=dps:%s", c->column) < 0) word[n] = NULL;
        n++;
        add_number(word, &n, "min-weight", c->min_value);
        add_number(word, &n, "max-weight", c->max_value);
    }
    if (c->min_length > 0) add_number(word, &n, "min-length", c->min_length);
    add_number(word, &n, "max-length", c->max_length);
    return n;
}

bool gls_view_has_criteria(const gls_view_criteria *c)
{
    char *word[GLS_VIEW_CRITERIA_WORDS];
    const size_t n = gls_view_criteria_words(c, word);
    for (size_t i = 0; i < n; i++) free(word[i]);
    return n > 0;
}
