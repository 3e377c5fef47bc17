/* The table of bundle profiles: .csv or .tsv, wide or one value a row. */
#include "tracts/profile_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/file.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"
#include "util/text_tables.h"

char *gls_profile_column(const char *path)
{
    const char *name = gls_file_name(path);
    return strndup(name, strcspn(name, "."));
}

/* Appends a cell with a number, or "nan". */
static void append_number(gls_text *text, char separator, double value)
{
    char number[40];
    gls_text_printf(text, "%c%s", separator, isfinite(value) ? gls_format_double(value, number, sizeof number) : "nan");
}

/* Appends the name of the column of a volume, with `end` after it. */
static void append_column(const gls_profile_table *t, size_t image, size_t volume, const char *end, char separator,
                          gls_text *text)
{
    gls_text name = {0};
    gls_text_puts(&name, t->name[image]);
    if (volume > 0) gls_text_printf(&name, "_%zu", volume);
    gls_text_puts(&name, end);
    char *whole = gls_text_take(&name);
    gls_text_append(text, &separator, 1);
    if (whole) gls_field_append(text, whole, separator);
    text->failed |= !whole;
    free(whole);
}

/* Appends the first cells of a row: name of the bundle, and index of the node, from 0 as in pyAFQ. */
static void append_node(const char *bundle, uint32_t node, char separator, gls_text *text)
{
    gls_field_append(text, bundle, separator);
    gls_text_printf(text, "%c%u", separator, node);
}

/* Writes the header line of a wide table, or with --long of a table of one value a row. */
static void write_header(const gls_profile_table *t, char separator, gls_text *text)
{
    gls_text_printf(text, "tractID%cnodeID", separator);
    if (t->tidy) gls_text_printf(text, "%cscalar%cvalue", separator, separator);
    for (size_t i = 0; i < t->n_images && !t->tidy; i++)
        for (size_t v = 0; v < t->image[i]->n_volumes; v++) {
            append_column(t, i, v, "", separator, text);
            if (t->stats) append_column(t, i, v, "_sd", separator, text);
            if (t->stats) append_column(t, i, v, "_n", separator, text);
        }
    if (t->stats) gls_text_printf(text, "%cx%cy%cz", separator, separator, separator);
    gls_text_puts(text, "\n");
}

/* Writes the rows of one bundle. node: `nodes` values for each volume of each image, volume by volume. */
static void write_bundle(const gls_profile_table *t, const char *bundle, uint32_t nodes, const gls_profile_node *node,
                         const double (*core)[3], char separator, gls_text *text)
{
    for (uint32_t k = 0; k < nodes; k++) {
        size_t column = 0;
        if (!t->tidy) append_node(bundle, k, separator, text);
        for (size_t i = 0; i < t->n_images; i++)
            for (size_t v = 0; v < t->image[i]->n_volumes; v++, column++) {
                const gls_profile_node *n = &node[column * nodes + k];
                if (t->tidy) append_node(bundle, k, separator, text);
                if (t->tidy) append_column(t, i, v, "", separator, text);
                append_number(text, separator, n->value);
                if (t->tidy) gls_text_puts(text, "\n");
                if (!t->stats) continue;
                append_number(text, separator, n->sd);
                gls_text_printf(text, "%c%" PRIu64, separator, n->n);
            }
        if (t->tidy) continue;
        for (int r = 0; r < 3 && t->stats; r++) append_number(text, separator, core[k][r]);
        gls_text_puts(text, "\n");
    }
}

gls_status gls_profile_table_write(const gls_profile_table *t, const gls_bundles *bundles, uint32_t nodes,
                                   const char *path, bool overwrite, gls_output_group *group)
{
    const char *dot = strrchr(path, '.');
    const char separator = dot && strcmp(dot, ".tsv") == 0 ? '\t' : ',';
    size_t columns = 0;
    gls_text text = {0};
    for (size_t i = 0; i < t->n_images; i++) columns += t->image[i]->n_volumes;
    gls_profile_node *node = malloc(columns * nodes * sizeof *node);
    double(*core)[3] = malloc(nodes * sizeof *core);
    gls_status status = node && core ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    /* found: for each volume, number of nodes with a value, over all bundles */
    size_t *found = calloc(columns, sizeof *found), n_used = 0;
    if (!status && !found) status = gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    write_header(t, separator, &text);
    for (size_t b = 0; b < gls_bundles_count(bundles) && !status; b++) {
        size_t column = 0;
        for (size_t i = 0; i < t->n_images && !status; i++)
            for (size_t v = 0; v < t->image[i]->n_volumes && !status; v++, column++)
                if (!t->given)
                    status = gls_bundles_profile(bundles, b, t->image[i], v, &t->sampling, t->weights,
                                                 node + column * nodes);
        if (status) break;
        if (t->given) memcpy(node, t->given + b * columns * nodes, columns * nodes * sizeof *node);
        /* count the nodes that have a value: an image without any is probably in another space */
        for (size_t c = 0; c < columns; c++)
            for (uint32_t k = 0; k < nodes; k++) found[c] += isfinite(node[c * nodes + k].value) != 0;
        n_used += gls_bundles_get(bundles, b).count > 0;
        if (t->core)
            memcpy(core, t->core + b * nodes, nodes * sizeof *core);
        else
            gls_bundles_core(bundles, b, core);
        write_bundle(t, gls_bundles_get(bundles, b).name, nodes, node, (const double(*)[3])core, separator, &text);
    }
    free(node);
    free(core);
    size_t column = 0;
    for (size_t i = 0; i < t->n_images && !status; column += t->image[i++]->n_volumes) {
        const bool nowhere = n_used > 0 && found[column] == 0;
        if (t->nowhere) t->nowhere[i] = nowhere;
        if (nowhere && !t->nowhere)
            gls_log(GLS_LOG_WARNING, "%s: the image has no number anywhere along the bundles", t->name[i]);
    }
    free(found);
    return gls_text_write(&text, path, overwrite, group, status);
}
