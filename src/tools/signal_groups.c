/* The groups of --groups: which streamlines belong together, by a file, a column, groups of a TRX file, or the regions
 * that streamlines connect. */
#include "tools/signal_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/allocation.h"
#include "util/status.h"
#include "util/text_tables.h"

#define COLUMN "dps:"
#define EDGES "edges:"
#define GROUPS "trx" /* groups of the tractogram */

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

const char *gls_signal_names_file(const char *text)
{
    if (!text || begins(text, COLUMN) || strcmp(text, GROUPS) == 0) return NULL;
    return begins(text, EDGES) ? text + strlen(EDGES) : text;
}

/* Adds the group of the next streamline. */
static void add(gls_signal_names *n, uint64_t name)
{
    if (!gls_list_reserve(&n->of, n->n, &n->capacity, 4096, sizeof *n->of))
        n->failed = true;
    else
        n->of[n->n++] = name;
}

/* Receives the regions of a streamline's ends: a group is a pair in any order, in which 0 is no region. */
static void assigned(void *user, const int32_t *label, size_t n)
{
    const uint32_t a = n > 0 ? (uint32_t)label[0] : 0, b = n > 1 ? (uint32_t)label[1] : 0;
    add(user, a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a);
}

gls_status gls_signal_names_open(gls_signal_names *n, const char *text)
{
    *n = (gls_signal_names){.text = text};
    const char *file = gls_signal_names_file(text);
    if (!file) return GLS_OK;
    if (begins(text, EDGES)) {
        gls_connectome_options options = gls_connectome_options_default();
        options.assigned = assigned;
        options.user = n;
        gls_status status = gls_labels_read(file, &n->labels);
        return status ? status : gls_connectome_create(n->labels, file, &options, &n->connectome);
    }
    size_t rows, columns;
    gls_status status = gls_table_read(file, &n->value, &rows, &columns);
    n->n_values = status ? 0 : rows * columns;
    for (size_t i = 0; i < n->n_values && !status; i++)
        if (!(n->value[i] >= 0 && n->value[i] < 0x1p53 && n->value[i] == floor(n->value[i])))
            status =
                gls_fail(GLS_ERR_INPUT,
                         "%s: the group of streamline %zu (counted from 0) is not a whole number from 0 on", file, i);
    return status;
}

/* Adds the groups of a block from a column. */
static gls_status add_column(gls_signal_names *n, const gls_streamlines *s)
{
    const char *name = n->text + strlen(COLUMN);
    const gls_column *column = gls_column_find(s->dps, s->n_dps, name);
    if (!column || column->components != 1)
        return gls_fail(GLS_ERR_INPUT,
                        "--groups: there is no column \"%s\" with one value for each streamline; 'glslines info' lists "
                        "the columns",
                        name);
    for (size_t i = 0; i < s->n; i++) {
        const double value = gls_column_value(column, i);
        if (!(value >= 0 && value < 0x1p53 && value == floor(value)))
            return gls_fail(GLS_ERR_INPUT,
                            "--groups: the column \"%s\" has a value that is not a whole number from 0 on: streamline "
                            "%zu (counted from 0)",
                            name, n->n);
        add(n, (uint64_t)value);
    }
    return GLS_OK;
}

/* Adds the groups of a block from its TRX groups. Streamlines of no group make up one. */
static gls_status add_groups(gls_signal_names *n, const gls_streamlines *s)
{
    if (s->n_groups == 0 && s->n > 0)
        return gls_fail(GLS_ERR_INPUT, "--groups trx: the tractogram has no groups; only TRX files have them");
    for (size_t i = 0; i < s->n; i++) {
        uint64_t name = 0;
        for (size_t k = 0; k < s->n_groups; k++) {
            if (!((const uint8_t *)s->group[k].data)[i]) continue;
            if (name > 0)
                return gls_fail(GLS_ERR_INPUT,
                                "--groups trx: streamline %zu (counted from 0) is in two groups, \"%s\" and \"%s\": "
                                "groups must not overlap",
                                n->n, s->group[name - 1].name, s->group[k].name);
            name = k + 1;
        }
        add(n, name);
    }
    return GLS_OK;
}

/* append() of the sink. */
static gls_status append(void *user, const gls_streamlines *s)
{
    gls_signal_names *n = user;
    gls_status status = GLS_OK;
    if (n->value) {
        for (size_t i = 0; i < s->n; i++) add(n, n->n < n->n_values ? (uint64_t)n->value[n->n] : 0);
    } else if (n->connectome) {
        /* streamlines without points are not reported; they have no entries, so that their group does not matter */
        const gls_sink sink = gls_connectome_sink(n->connectome);
        const size_t before = n->n;
        status = gls_sink_append(&sink, s);
        if (!status && n->n - before != s->n && !n->failed)
            status =
                gls_fail(GLS_ERR_INPUT, "--groups edges: the tractogram has streamlines without points: remove them "
                                        "by 'glslines edit'");
    } else if (strcmp(n->text, GROUPS) == 0) {
        status = add_groups(n, s);
    } else {
        status = add_column(n, s);
    }
    return !status && n->failed ? gls_no_memory() : status;
}

gls_sink gls_signal_names_sink(gls_signal_names *names)
{
    return (gls_sink){.append = append, .user = names};
}

gls_status gls_signal_names_check(const gls_signal_names *n, const char *tracks)
{
    if (!n->value || n->n == n->n_values) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT, "%s: has %zu values, but %s has %zu streamlines", n->text, n->n_values, tracks,
                    n->n);
}

void gls_signal_names_finish(gls_signal_names *n)
{
    free(n->of);
    free(n->value);
    gls_connectome_destroy(n->connectome);
    gls_labels_destroy(n->labels);
    *n = (gls_signal_names){.of = NULL};
}
