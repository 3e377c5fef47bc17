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
#include "view/command.h"

/* Tolerance of lengths, mm: that of gls_selection. */
#define LENGTH_SLACK 1e-4

/* --- Reading. */

/* A measure that is read. */
typedef struct reading {
    const gls_view_measures *m;
    const char *path, *key;
    double *value;
    uint64_t n; /* streamlines so far */
} reading;

/* The column or group of a key; NULL: there is none that has one number for each streamline. */
static const gls_column *find_column(const gls_streamlines *in, const char *key)
{
    const char *name = strchr(key, ':') + 1;
    const gls_column *column =
        *key == 'g' ? gls_column_find(in->group, in->n_groups, name) : gls_column_find(in->dps, in->n_dps, name);
    return column && (*key == 'g' || column->components == 1) ? column : NULL;
}

static gls_status append(void *user, const gls_streamlines *in)
{
    reading *r = user;
    const bool is_length = !strchr(r->key, ':');
    const gls_column *column = is_length ? NULL : find_column(in, r->key);
    if (!r->m->go_on()) return gls_fail(GLS_ERR_CANCELLED, "%s: interrupted", r->path);
    if (!is_length && !column) return gls_fail(GLS_ERR_INPUT, "%s: has no %s", r->path, r->key);
    if (in->n > r->m->n - r->n) return gls_fail(GLS_ERR_INPUT, "%s: has changed: start 'glslines view' again", r->path);
    for (size_t i = 0; i < in->n; i++)
        r->value[r->n + i] = is_length ? gls_builder_length(in, i) : gls_column_value(column, i);
    r->n += in->n;
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
    if (!status && r->n != r->m->n)
        status = gls_fail(GLS_ERR_INPUT, "%s: has changed: start 'glslines view' again", r->path);
    return status;
}

/* Finds a measure, or reads it in place of the one that was not used for longest. */
static gls_status find_measure(gls_view_measures *m, const char *key, const double **value)
{
    gls_view_measure *oldest = &m->measure[0];
    for (size_t i = 0; i < GLS_VIEW_MEASURES; i++) {
        gls_view_measure *measure = &m->measure[i];
        if (measure->key && strcmp(measure->key, key) == 0) {
            measure->used = m->n_requests;
            *value = measure->value;
            return GLS_OK;
        }
        if (measure->used < oldest->used) oldest = measure;
    }
    free(oldest->key);
    *oldest = (gls_view_measure){.value = oldest->value, .used = m->n_requests};
    if (!oldest->value && !(oldest->value = malloc((size_t)(m->n + 1) * sizeof *oldest->value))) return gls_no_memory();
    reading r = {.m = m, .key = key, .value = oldest->value};
    gls_status status = read_files(&r);
    if (!status && !(oldest->key = gls_text_copy(key))) status = gls_no_memory();
    if (status) oldest->used = 0;
    *value = oldest->value;
    return status;
}

/* Clears the bits of streamlines whose number is not from low to high. */
static gls_status keep(gls_view_measures *m, const char *key, double low, double high, uint64_t *bits)
{
    const double *value;
    gls_status status = find_measure(m, key, &value);
    for (uint64_t i = 0; i < m->n && !status; i++)
        if (!(value[i] >= low && value[i] <= high)) bits[i / 64] &= ~(UINT64_C(1) << i % 64);
    return status;
}

gls_status gls_view_measures_apply(gls_view_measures *m, const gls_view_criteria *c, uint64_t *bits)
{
    char key[GLS_VIEW_NAME + 8];
    gls_status status = GLS_OK;
    m->n_requests++;
    for (size_t k = 0; k < c->n_groups + c->n_not_groups && !status; k++) {
        const bool is = k < c->n_groups;
        gls_snprintf(key, sizeof key, "group:%s", c->group[k]);
        status = keep(m, key, is ? 0.5 : -INFINITY, is ? INFINITY : 0.5, bits);
    }
    gls_snprintf(key, sizeof key, "dps:%s", c->column);
    if (!status && *c->column) status = keep(m, key, c->min_value, c->max_value, bits);
    if (!status && (c->min_length > 0 || isfinite(c->max_length)))
        status = keep(m, "length", c->min_length - LENGTH_SLACK, c->max_length + LENGTH_SLACK, bits);
    return status;
}

void gls_view_measures_finish(gls_view_measures *m)
{
    for (size_t i = 0; i < GLS_VIEW_MEASURES; i++) {
        free(m->measure[i].key);
        free(m->measure[i].value);
    }
    *m = (gls_view_measures){.path = NULL};
}

/* --- Words. */

/* Whether values of the column are limited. */
static bool has_values(const gls_view_criteria *c)
{
    return *c->column && (isfinite(c->min_value) || isfinite(c->max_value));
}

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

size_t gls_view_criteria_count(const gls_view_criteria *c)
{
    return c->n_groups + c->n_not_groups +
           (has_values(c) ? 1u + (isfinite(c->min_value) != 0) + (isfinite(c->max_value) != 0) : 0u) +
           (c->min_length > 0) + (isfinite(c->max_length) != 0);
}
