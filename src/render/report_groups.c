/* Mean length and volume of the groups of a tractogram; of bundles that `glslines recognize` found also their mean
 * distance from the model and margin, by which a reader sees how sure they are, and the table of that command. */
#include "render/report_groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/recognition.h>

#include "render/backdrop.h"
#include "render/page.h"
#include "tracts/shape.h"
#include "util/file.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text_tables.h"

/* Most groups that are measured, and most bytes for their voxels. */
#define MAX_GROUPS 256
#define MAX_BYTES ((uint64_t)256 << 20)

/* Columns of `glslines recognize`, with their heads in the table. */
static const struct {
    const char *name, *head;
} column[] = {{GLS_DPS_BUNDLE_DISTANCE, "mean distance from the model, mm"}, {GLS_DPS_BUNDLE_MARGIN, "mean margin"}};
enum { COLUMNS = sizeof column / sizeof *column };

/* The numbers of one group. */
typedef struct group {
    char *name;
    gls_bundle_stats *stats;
    double length, volume; /* mm, mm3 */
    double sum[COLUMNS];   /* of the finite values of each column */
    uint64_t n[COLUMNS];   /* their numbers */
} group;

struct gls_report_groups {
    bool has_volume, has[COLUMNS];
    size_t n;
    group group[];
};

gls_status gls_report_groups_create(const gls_tractogram_info *info, const gls_grid *grid, gls_report_groups **out)
{
    const size_t n = info->n_groups;
    *out = NULL;
    if (n == 0 || n > MAX_GROUPS) return GLS_OK;
    gls_report_groups *g = calloc(1, sizeof *g + n * sizeof *g->group);
    if (!g) return gls_no_memory();
    g->n = n;
    /* gls_bundle_stats takes 3 bits for a voxel */
    g->has_volume = grid && gls_grid_voxels(grid) * n / 8 * 3 <= MAX_BYTES;
    for (size_t c = 0; c < COLUMNS; c++) g->has[c] = gls_column_find(info->dps, info->n_dps, column[c].name) != NULL;
    gls_status status = GLS_OK;
    for (size_t k = 0; k < n && !status; k++) {
        g->group[k].name = gls_text_copy(info->group[k].name);
        if (!g->group[k].name) status = gls_no_memory();
        if (!status) status = gls_bundle_stats_create(g->has_volume ? grid : NULL, 0, &g->group[k].stats);
    }
    if (status)
        gls_report_groups_destroy(g);
    else
        *out = g;
    return status;
}

/* Function `append` of the sink. */
static gls_status append(void *user, const gls_streamlines *in)
{
    gls_report_groups *g = user;
    gls_status status = GLS_OK;
    for (size_t k = 0; k < g->n && !status; k++) {
        group *one = &g->group[k];
        const gls_column *member = gls_column_find(in->group, in->n_groups, one->name);
        for (size_t i = 0; member && i < in->n && !status; i++) {
            if (!gls_column_value(member, i)) continue;
            status = gls_bundle_stats_add(one->stats, in->point + in->offset[i],
                                          (size_t)(in->offset[i + 1] - in->offset[i]), 1);
            for (size_t c = 0; c < COLUMNS; c++) {
                const gls_column *values = g->has[c] ? gls_column_find(in->dps, in->n_dps, column[c].name) : NULL;
                const double value = values ? gls_column_value(values, i) : NAN;
                if (!isfinite(value)) continue;
                one->sum[c] += value;
                one->n[c]++;
            }
        }
    }
    return status;
}

gls_sink gls_report_groups_sink(gls_report_groups *groups)
{
    return (gls_sink){.append = append, .user = groups};
}

gls_status gls_report_groups_complete(gls_report_groups *g)
{
    gls_status status = GLS_OK;
    bool again;
    for (size_t k = 0; g && k < g->n && !status; k++) {
        group *one = &g->group[k];
        status = gls_bundle_stats_end_pass(one->stats, &again);
        if (status) break;
        const gls_lengths lengths = gls_bundle_stats_lengths(one->stats);
        one->length = lengths.n > 0 ? lengths.mean : NAN;
        if (g->has_volume) one->volume = gls_bundle_stats_shape(one->stats).volume;
    }
    return status;
}

/* Appends a cell with a number, or without one. */
static void append_number(gls_text *out, int decimals, double value)
{
    gls_text_puts(out, "<td class=\"number\">");
    if (isfinite(value)) gls_text_printf(out, "%.*f", decimals, value);
    gls_text_puts(out, "</td>");
}

void gls_report_groups_append_head(const gls_report_groups *g, gls_text *out)
{
    if (!g) return;
    gls_text_puts(out, "<th scope=\"col\">mean length, mm</th>");
    if (g->has_volume) gls_text_puts(out, "<th scope=\"col\">volume, mm\xc2\xb3</th>");
    for (size_t c = 0; c < COLUMNS; c++)
        if (g->has[c]) gls_text_printf(out, "<th scope=\"col\">%s</th>", column[c].head);
}

void gls_report_groups_append_cells(const gls_report_groups *g, const char *name, gls_text *out)
{
    for (size_t k = 0; g && k < g->n; k++) {
        const group *one = &g->group[k];
        if (strcmp(one->name, name) != 0) continue;
        append_number(out, 1, one->length);
        if (g->has_volume) append_number(out, 0, one->volume);
        for (size_t c = 0; c < COLUMNS; c++)
            if (g->has[c]) append_number(out, 2, one->n[c] > 0 ? one->sum[c] / (double)one->n[c] : NAN);
        return;
    }
}

/* --- The table of `glslines recognize`. */

/* Begin of such a table; its largest size, bytes; and most columns. */
#define RECOGNIZED "bundle\tatlas\t"
#define MAX_TABLE ((size_t)16 << 20)
#define MAX_CELLS 32

/* Appends a cell: a number, of four digits if it is not whole, or text. */
static void append_cell(gls_text *out, const char *cell, bool head)
{
    double value;
    char text[40];
    const bool number = !head && gls_parse_double(cell, &value) && fabs(value) < 1e15;
    if (number) gls_snprintf(text, sizeof text, value == floor(value) ? "%.0f" : "%.4g", value);
    gls_text_puts(out, head ? "<th scope=\"col\">" : number ? "<td class=\"number\">" : "<td>");
    gls_html_puts(out, number ? text : cell);
    gls_text_puts(out, head ? "</th>" : "</td>");
}

/* Appends a table, which is cut into cells. */
static void append_table(char *table, gls_text *out)
{
    gls_records records = gls_records_begin(table, '\t');
    char *cell[MAX_CELLS];
    bool head = true;
    gls_text_puts(out, "<table class=\"values\"><caption>What <code>glslines recognize</code> found: "
                       "<code>glslines help recognition</code> explains the columns</caption><thead>");
    for (size_t n; (n = gls_record_next(&records, cell, MAX_CELLS)) > 0; head = false) {
        gls_text_puts(out, "<tr>");
        for (size_t i = 0; i < n && i < MAX_CELLS; i++) append_cell(out, cell[i], head);
        gls_text_puts(out, head ? "</tr></thead>\n<tbody>" : "</tr>\n");
    }
    gls_text_puts(out, "</tbody></table>\n");
}

void gls_report_groups_append_recognized(const char *sidecar_path, const cJSON *outputs, gls_text *out)
{
    const cJSON *output;
    bool done = false;
    cJSON_ArrayForEach(output, outputs)
    {
        const char *name = cJSON_GetStringValue(output);
        char *path = name && !done && gls_case_ends(name, ".tsv") ? gls_file_beside(sidecar_path, name) : NULL;
        char *table = NULL;
        size_t bytes;
        /* a table that cannot be read is left out: the page has the groups */
        if (path && gls_file_read_text(path, MAX_TABLE, &table, &bytes) == GLS_OK)
            done = strncmp(table, RECOGNIZED, strlen(RECOGNIZED)) == 0;
        if (done && table) append_table(table, out);
        free(table);
        free(path);
    }
}

void gls_report_groups_destroy(gls_report_groups *g)
{
    for (size_t k = 0; g && k < g->n; k++) {
        gls_bundle_stats_destroy(g->group[k].stats);
        free(g->group[k].name);
    }
    free(g);
}
