/* Tables of a data set: of the units to track, and group.tsv, of its tractograms; and index.html, a page of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bids/dataset_parts.h"
#include "util/json_text.h"
#include "util/numbers.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text.h"
#include "util/text_tables.h"

/* --- Units. */

char *gls_dataset_list(const gls_dataset_options *options, const gls_dataset *dataset, const gls_dataset_choice *choice)
{
    gls_text text = {0};
    gls_dataset_files files;
    gls_job_options job = *options->job;
    const gls_param *row = gls_params;
    int next = 0;
    gls_text_puts(&text, "unit\tsubject\tsession\tdwi\tmask\tregion");
    while (gls_dataset_next_braces(&job, &row, &next)) gls_text_printf(&text, "\t--%s", row->name);
    gls_text_puts(&text, "\tstate\n");
    for (size_t i = 0; i < dataset->n; i++) {
        const gls_dataset_unit *u = &dataset->unit[i];
        const char *region = u->region ? u->region : u->problem ? "" : "FA";
        if (!gls_dataset_chosen(dataset, choice, i)) continue;
        gls_dataset_name(options, u, options->job, &files);
        /* tracked: both files exist; their contents are not checked, because the list must be quick */
        bool tracked = access(files.tractogram, F_OK) == 0 && access(files.sidecar, F_OK) == 0;
        const char *const field[] = {u->name, u->subject, u->session, u->dwi, u->mask ? u->mask : "", region};
        const size_t n = sizeof field / sizeof *field;
        for (size_t k = 0; k < n + u->value.n; k++) {
            gls_field_show(&text, k < n ? field[k] : u->value.text[k - n], '\t');
            gls_text_puts(&text, "\t");
        }
        gls_field_show(&text, u->problem ? u->problem : tracked ? "tracked" : "ready", '\t');
        gls_text_puts(&text, "\n");
    }
    return gls_text_take(&text);
}

/* --- The page of a data set, index.html: a row with a picture and a link to the report for each tractogram. */

/* Text by which a later run recognises a page of glslines, which it may replace. */
#define PAGE_MARK "<caption>Tractograms by glslines"

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>Tractograms</title>\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<style>\n:root { color-scheme: light dark; }\n"
    "body { font: 1rem/1.5 system-ui, sans-serif; margin: 1.5rem; }\n"
    "table { border-collapse: collapse; }\ncaption { text-align: left; padding-bottom: .5rem; }\n"
    "th, td { padding: .4rem .8rem; border-bottom: 1px solid #888; text-align: left; vertical-align: top; }\n"
    "td.number { text-align: right; font-variant-numeric: tabular-nums; }\nimg { width: min(32rem, 30vw); height: "
    "auto; }\n"
    "@media (max-width: 50rem) { thead { display: none; } tr, th, td { display: block; border: 0; padding: .1rem 0; }\n"
    "tr { border-bottom: 1px solid #888; padding: .6rem 0; } td.number { text-align: left; }\n"
    "td.number::before { content: attr(data-label) \": \"; } img { width: 100%; } }\n"
    "</style>\n</head>\n<body>\n<main>\n<h1>Tractograms</h1>\n<table>\n" PAGE_MARK
    "; the same numbers are in <a href=\"group.tsv\">group.tsv</a></caption>\n<thead><tr><th "
    "scope=\"col\">tractogram</th><th "
    "scope=\"col\">seeds</th><th scope=\"col\">streamlines</th><th scope=\"col\">mean length, mm</th><th "
    "scope=\"col\">median length, mm</th><th scope=\"col\">picture</th></tr></thead>\n<tbody>\n";

/* Whether a file below the output can be read. */
static bool is_there(const gls_dataset_options *o, const char *file)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", o->output, file);
    return access(path, R_OK) == 0;
}

/* Headings in print_cell(), for narrow screens, where the table has no head. */
static const char *const columns[] = {"seeds", "streamlines", "mean length, mm", "median length, mm"};

/* Prints a cell with a number, lengths to a tenth of a mm. */
static void print_cell(FILE *page, const char *column, const char *text, bool is_length)
{
    double mm;
    fprintf(page, "<td class=\"number\" data-label=\"%s\">", column);
    if (is_length && gls_parse_double(text, &mm))
        gls_fprintf(page, "%.1f", mm);
    else
        fputs(text, page);
    fputs("</td>", page);
}

/* Prints a row of group.tsv as HTML. Names of BIDS need no escapes: they have only letters, digits and the characters +
 * - _. */
static void print_row(const gls_dataset_options *o, FILE *page, char *row)
{
    /* five cells: name, seeds, streamlines, mean and median length; further cells are not on the page */
    char *cell[5] = {row, "", "", "", ""}, subject[256], file[2048];
    for (int i = 1; i < 5 && (row = strchr(row, '\t')) != NULL; i++) {
        *row++ = '\0';
        cell[i] = row;
    }
    cell[4][strcspn(cell[4], "\t\n")] = '\0';
    size_t n = strlen(cell[0]), end = strlen("_tractogram");
    char *stem = cell[0];
    if (n > end && strcmp(stem + n - end, "_tractogram") == 0) stem[n - end] = '\0';
    snprintf(file, sizeof file, "%s.html", stem);
    if (is_there(o, file))
        fprintf(page, "<tr><th scope=\"row\"><a href=\"%s\">%s</a></th>", file, stem);
    else
        fprintf(page, "<tr><th scope=\"row\">%s</th>", stem);
    /* cells 3 and 4 are lengths */
    for (int i = 1; i < 5; i++) print_cell(page, columns[i - 1], cell[i], i >= 3);
    snprintf(file, sizeof file, "sub-%s/figures/%s_views.png", gls_bids_value(stem, "sub", subject, sizeof subject),
             stem);
    if (is_there(o, file))
        fprintf(page, "<td><img src=\"%s\" alt=\"%s from above, from behind and from the left\" loading=\"lazy\"></td>",
                file, stem);
    else
        fputs("<td>none</td>", page);
    fputs("</tr>\n", page);
}

/* Writes index.html, made from the text of group.tsv, in the output group `group`. */
static gls_status dataset_page(const gls_dataset_options *o, const char *table, gls_output_group *group)
{
    char *text = NULL, path[GLS_DATASET_MAX_PATH], *rows = strdup(table), *rest = NULL;
    size_t bytes = 0;
    FILE *page = rows ? open_memstream(&text, &bytes) : NULL;
    if (!page) {
        free(rows);
        return gls_no_memory();
    }
    fputs(head, page);
    strtok_r(rows, "\n", &rest); /* skips the names of columns */
    for (char *row; (row = strtok_r(NULL, "\n", &rest)) != NULL;) print_row(o, page, row);
    fputs("</tbody>\n</table>\n</main>\n</body>\n</html>\n", page);
    free(rows);
    gls_status status = fclose(page) == 0 ? GLS_OK : gls_no_memory();
    snprintf(path, sizeof path, "%s/index.html", o->output);
    if (!status) status = gls_dataset_rewrite(path, PAGE_MARK, text, bytes, group);
    free(text);
    return status;
}

/* Head of group.tsv, by which a later run recognises a table of glslines. */
#define MARK "tractogram\tseeds\tstreamlines"
/* Largest sidecar, bytes. */
#define MAX_SIDECAR ((size_t)256 << 20)

/* Prints a cell with a number of the sidecar: whole numbers without a point, others with at most six decimals, n/a
 * where the number is missing. */
static void print_number(FILE *table, const cJSON *root, const char *object, const char *key)
{
    char text[64];
    const cJSON *value = gls_json_at(gls_json_at(root, object), key);
    const bool is_number = cJSON_IsNumber(value) && isfinite(value->valuedouble);
    const double v = is_number ? value->valuedouble : 0;
    if (is_number && v == floor(v) && fabs(v) < 1e15)
        gls_fprintf(table, "\t%.0f", v);
    else
        fprintf(table, "\t%s", is_number ? gls_format_double(round(v * 1e6) / 1e6, text, sizeof text) : "n/a");
}

/* Prints the row of one tractogram from its sidecar. */
static gls_status add_row(FILE *table, const char *folder, const char *name)
{
    char path[GLS_DATASET_MAX_PATH];
    cJSON *root;
    gls_status status = gls_json_load(gls_bids_join(folder, name, path, sizeof path), MAX_SIDECAR, &root);
    if (status) return status;
    char *stem = gls_bids_stem(name);
    if (!stem) status = gls_no_memory();
    fprintf(table, "%s", stem ? stem : "");
    print_number(table, root, "counts", "seeds");
    print_number(table, root, "counts", "streamlines");
    print_number(table, root, "lengths", "mean_mm");
    print_number(table, root, "lengths", "median_mm");
    /* the last cell, the time, is in the table only, not on the page */
    print_number(table, root, "seconds", "total");
    fputc('\n', table);
    free(stem);
    cJSON_Delete(root);
    return status;
}

/* The table group.tsv while it is made. */
typedef struct group_table {
    /* borrowed; decide which tractograms are listed */
    const gls_dataset_options *options;
    FILE *rows;
    size_t n; /* number of rows */
} group_table;

/* Adds the tractograms of a participant, or of a session, and counts them. */
static gls_status add_folder(void *user, const char *subject, const char *session, const char *parent)
{
    group_table *t = user;
    char **names, folder[GLS_DATASET_MAX_PATH];
    /* tractograms without a session are left out if sessions were asked for */
    if (!*session && t->options->sessions.n > 0) return GLS_OK;
    gls_status status = gls_bids_names(gls_bids_join(parent, "dwi", folder, sizeof folder), &names);
    if (status) return status;
    /* take sidecars of tractograms; names that are invalid or of another participant or session get a warning */
    for (size_t i = 0; names[i] && !status; i++) {
        if (!gls_bids_has_suffix(names[i], "tractogram", ".json") &&
            !gls_bids_has_suffix(names[i], "tractography", ".json"))
            continue;
        if (!gls_dataset_takes_file(t->options, folder, names[i], subject, session)) continue;
        status = add_row(t->rows, folder, names[i]);
        t->n++;
    }
    gls_bids_names_free(names);
    return status;
}

gls_status gls_dataset_group(const gls_dataset_options *o, size_t *n)
{
    char *text = NULL, path[GLS_DATASET_MAX_PATH];
    size_t bytes = 0;
    gls_output_group group = {0};
    group_table table = {.options = o, .rows = open_memstream(&text, &bytes)};
    *n = 0;
    if (!table.rows) return gls_no_memory();
    fputs(MARK "\tmean_length_mm\tmedian_length_mm\tseconds\n", table.rows);
    gls_status status = gls_dataset_walk(o, add_folder, &table);
    *n = table.n;
    bool whole = fclose(table.rows) == 0;
    if (!status && !whole) status = gls_no_memory();
    snprintf(path, sizeof path, "%s/group.tsv", o->output);
    /* write table and page in one group, so that both get their names together */
    if (!status && *n > 0) status = gls_dataset_rewrite(path, MARK, text, bytes, &group);
    if (!status && *n > 0) status = dataset_page(o, text, &group);
    if (!status) status = gls_output_group_commit(&group);
    gls_output_group_discard(&group);
    free(text);
    return status;
}
