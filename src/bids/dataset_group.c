/* Tables of a data set: the list of the units to track; group.tsv, a table of the tractograms; and index.html, a page
 * with a row for each tractogram. */
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

/* Head of group.tsv, by which a later run recognises a table of glslines. */
#define MARK "tractogram\tseeds\tstreamlines"
/* Largest sidecar, bytes. */
#define MAX_SIDECAR ((size_t)256 << 20)

/* Columns of numbers: their member in the sidecar of a tractogram, and their heading on the page for narrow screens,
 * where the table has no head; NULL: the column is in group.tsv alone. */
static const struct {
    const char *object, *key, *heading;
    bool is_length;
} columns[] = {
    {"counts", "seeds", "seeds", false},
    {"counts", "streamlines", "streamlines", false},
    {"lengths", "mean_mm", "mean length, mm", true},
    {"lengths", "median_mm", "median length, mm", true},
    {"seconds", "total", NULL, false},
};
enum { N_COLUMNS = sizeof columns / sizeof *columns };

/* group.tsv and the rows of the page while they are made. */
typedef struct group_table {
    /* borrowed; decide which tractograms are listed */
    const gls_dataset_options *options;
    FILE *rows, *page;
    size_t n; /* number of rows */
} group_table;

/* Whether a file below the output can be read. */
static bool is_there(const gls_dataset_options *o, const char *file)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", o->output, file);
    return access(path, R_OK) == 0;
}

/* Writes the number of a tractogram for column i: whole numbers without a point, others with at most six decimals, n/a
 * where the sidecar lacks the number. */
static void number_text(const cJSON *root, size_t i, char text[64])
{
    const cJSON *value = gls_json_at(gls_json_at(root, columns[i].object), columns[i].key);
    const bool is_number = cJSON_IsNumber(value) && isfinite(value->valuedouble);
    const double v = is_number ? value->valuedouble : 0;
    if (is_number && v == floor(v) && fabs(v) < 1e15)
        gls_snprintf(text, 64, "%.0f", v);
    else if (is_number)
        gls_format_double(round(v * 1e6) / 1e6, text, 64);
    else
        snprintf(text, 64, "n/a");
}

/* Prints a row of the page, lengths to a tenth of a mm. Names of BIDS need no escapes: they have only letters, digits
 * and the characters + - _. */
static void print_row(const group_table *t, char *stem, char text[N_COLUMNS][64])
{
    char subject[256], file[2048];
    const size_t n = strlen(stem), end = strlen("_tractogram");
    double mm;
    if (n > end && strcmp(stem + n - end, "_tractogram") == 0) stem[n - end] = '\0';
    snprintf(file, sizeof file, "%s.html", stem);
    if (is_there(t->options, file))
        fprintf(t->page, "<tr><th scope=\"row\"><a href=\"%s\">%s</a></th>", file, stem);
    else
        fprintf(t->page, "<tr><th scope=\"row\">%s</th>", stem);
    for (size_t i = 0; i < N_COLUMNS && columns[i].heading; i++) {
        if (columns[i].is_length && gls_parse_double(text[i], &mm)) gls_snprintf(text[i], sizeof text[i], "%.1f", mm);
        fprintf(t->page, "<td class=\"number\" data-label=\"%s\">%s</td>", columns[i].heading, text[i]);
    }
    snprintf(file, sizeof file, "sub-%s/figures/%s_views.png", gls_bids_value(stem, "sub", subject, sizeof subject),
             stem);
    if (is_there(t->options, file))
        fprintf(t->page,
                "<td><img src=\"%s\" alt=\"%s from above, from behind and from the left\" loading=\"lazy\"></td>", file,
                stem);
    else
        fputs("<td>none</td>", t->page);
    fputs("</tr>\n", t->page);
}

/* Prints the rows of one tractogram from its sidecar. */
static gls_status add_row(group_table *t, const char *folder, const char *name)
{
    char path[GLS_DATASET_MAX_PATH], text[N_COLUMNS][64];
    cJSON *root;
    gls_status status = gls_json_load(gls_bids_join(folder, name, path, sizeof path), MAX_SIDECAR, &root);
    if (status) return status;
    char *stem = gls_bids_stem(name);
    fprintf(t->rows, "%s", stem ? stem : "");
    for (size_t i = 0; i < N_COLUMNS; i++) {
        number_text(root, i, text[i]);
        fprintf(t->rows, "\t%s", text[i]);
    }
    fputc('\n', t->rows);
    if (stem) print_row(t, stem, text);
    t->n++;
    status = stem ? GLS_OK : gls_no_memory();
    free(stem);
    cJSON_Delete(root);
    return status;
}

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
        status = add_row(t, folder, names[i]);
    }
    gls_bids_names_free(names);
    return status;
}

gls_status gls_dataset_group(const gls_dataset_options *o, size_t *n)
{
    char *text = NULL, *page = NULL, path[GLS_DATASET_MAX_PATH];
    size_t bytes = 0, page_bytes = 0;
    gls_output_group group = {0};
    group_table table = {
        .options = o, .rows = open_memstream(&text, &bytes), .page = open_memstream(&page, &page_bytes)};
    gls_status status = table.rows && table.page ? GLS_OK : gls_no_memory();
    if (!status) fputs(MARK "\tmean_length_mm\tmedian_length_mm\tseconds\n", table.rows);
    if (!status) fputs(head, table.page);
    if (!status) status = gls_dataset_walk(o, add_folder, &table);
    if (table.page) fputs("</tbody>\n</table>\n</main>\n</body>\n</html>\n", table.page);
    const bool whole = table.rows && fclose(table.rows) == 0, page_whole = table.page && fclose(table.page) == 0;
    if (!status && !(whole && page_whole)) status = gls_no_memory();
    *n = table.n;
    /* write table and page in one group, so that both get their names together */
    snprintf(path, sizeof path, "%s/group.tsv", o->output);
    if (!status && *n > 0) status = gls_dataset_rewrite(path, MARK, text, bytes, &group);
    snprintf(path, sizeof path, "%s/index.html", o->output);
    if (!status && *n > 0) status = gls_dataset_rewrite(path, PAGE_MARK, page, page_bytes, &group);
    if (!status) status = gls_output_group_commit(&group);
    gls_output_group_discard(&group);
    free(text);
    free(page);
    return status;
}
