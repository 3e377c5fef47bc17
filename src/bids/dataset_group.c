/* Tables of a data set: the list of the units to track; group.tsv, a table of the tractograms and of the series that
 * lack one; and index.html, a page with a row for each of them. */
#include <glslines/workflow.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bids/dataset.h"
#include "bids/dataset_describe.h"
#include "bids/dataset_group.h"
#include "bids/dataset_names.h"
#include "bids/dataset_select.h"
#include "bids/dataset_track.h"
#include "record/run_params.h"
#include "util/allocation.h"
#include "util/file.h"
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
    const bool finds_t1 = options->t1 && !options->job->t1;
    gls_text_puts(&text, "unit\tsubject\tsession\tdwi\tmask\tregion");
    if (finds_t1) gls_text_puts(&text, "\tt1");
    while (gls_dataset_next_braces(&job, &row, &next)) gls_text_printf(&text, "\t--%s", row->name);
    gls_text_puts(&text, "\tstate\n");
    for (size_t i = 0; i < dataset->n; i++) {
        const gls_dataset_unit *u = &dataset->unit[i];
        const char *region = u->region      ? u->region
                             : u->problem   ? ""
                             : u->interface ? "interface of grey and white matter"
                                            : "FA";
        if (!gls_dataset_chosen(dataset, choice, i)) continue;
        gls_job_options own = *options->job;
        const bool refused = !u->problem && gls_dataset_job(options, u, &own) != GLS_OK;
        /* a series that refuses the options has the name of its tractogram without them */
        gls_dataset_name(options, u, &own, &files);
        /* tracked: both files exist; their contents are not checked, because the list must be quick */
        bool tracked = access(files.tractogram, F_OK) == 0 && access(files.sidecar, F_OK) == 0;
        const char *const field[] = {u->name, u->subject,        u->session, u->dwi, u->mask ? u->mask : "",
                                     region,  u->t1 ? u->t1 : ""};
        const size_t n = sizeof field / sizeof *field - !finds_t1;
        for (size_t k = 0; k < n + u->value.n; k++) {
            gls_field_show(&text, k < n ? field[k] : u->value.text[k - n], '\t');
            gls_text_puts(&text, "\t");
        }
        const char *state = u->problem ? u->problem : refused ? gls_last_error() : tracked ? "tracked" : "ready";
        gls_field_show(&text, state, '\t');
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
    "scope=\"col\">tractogram</th><th scope=\"col\">participant</th><th scope=\"col\">session</th>";

/* Part of the head of group.tsv, by which a later run recognises a table of glslines. */
#define MARK "tractogram\tseeds\tstreamlines"
#define HEAD \
    "participant_id\tsession_id\t" MARK "\tkept\tmean_length_mm\tmedian_length_mm\tseconds\twarnings\tmissing\n"
/* Largest sidecar, and largest table of outcomes, bytes. */
#define MAX_SIDECAR ((size_t)256 << 20)
#define MAX_LOG ((size_t)64 << 20)

/* Columns of numbers: their member in the sidecar of a tractogram, and their heading on the page; NULL: the column is
 * in group.tsv alone. */
static const struct {
    const char *object, *key, *per, *heading; /* per: another member of `object`, by which `key` is divided; or NULL */
    bool is_length;
} columns[] = {
    {"counts", "seeds", NULL, "seeds", false},
    {"counts", "streamlines", NULL, "streamlines", false},
    {"counts", "streamlines", "directions", "kept", false},
    {"lengths", "mean_mm", NULL, "mean length, mm", true},
    {"lengths", "median_mm", NULL, "median length, mm", true},
    {"seconds", "total", NULL, NULL, false},
};
enum { N_COLUMNS = sizeof columns / sizeof *columns };

/* A tractogram, or a series that lacks one. */
typedef struct row {
    char *name;  /* stem of the tractogram; of a series without one: its unit */
    char *lacks; /* why there is no tractogram; NULL: there is one */
    char number[N_COLUMNS][64];
    size_t n_warnings;
    gls_dataset_texts has; /* files beside the tractogram: report, picture, and each connectome by its atlas */
} row;

/* All rows. */
typedef struct group_table {
    const gls_dataset_options *options; /* borrowed; decide which tractograms are listed */
    row *row;
    size_t n, capacity;
    size_t n_tractograms;
    gls_dataset_texts kinds; /* files that some tractogram has; each that lacks one misses it */
} group_table;

/* Whether a list has a text. */
static bool has(const gls_dataset_texts *list, const char *text)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->text[i], text) == 0) return true;
    return false;
}

/* Adds a copy of a text to a list that lacks it. */
static gls_status add_text(gls_dataset_texts *list, const char *text)
{
    if (has(list, text)) return GLS_OK;
    char **grown = realloc(list->text, (list->n + 1) * sizeof *grown);
    if (grown) list->text = grown;
    if (!grown || !(grown[list->n] = strdup(text))) return gls_no_memory();
    list->n++;
    return GLS_OK;
}

/* Whether a file below the output can be read. */
static bool is_there(const gls_dataset_options *o, const char *file)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", o->output, file);
    return access(path, R_OK) == 0;
}

/* Stores the number of a tractogram for column i: whole numbers without a point, others with at most six decimals, n/a
 * where the sidecar lacks the number. */
static void number_text(const cJSON *root, size_t i, char text[64])
{
    const cJSON *object = gls_json_at(root, columns[i].object), *value = gls_json_at(object, columns[i].key),
                *per = columns[i].per ? gls_json_at(object, columns[i].per) : NULL;
    bool is_number = cJSON_IsNumber(value) && isfinite(value->valuedouble);
    double v = is_number ? value->valuedouble : 0;
    if (columns[i].per) {
        is_number = is_number && cJSON_IsNumber(per) && per->valuedouble > 0;
        v = is_number ? v / per->valuedouble : 0;
    }
    if (is_number && v == floor(v) && fabs(v) < 1e15)
        gls_snprintf(text, 64, "%.0f", v);
    else if (is_number)
        gls_format_double(round(v * 1e6) / 1e6, text, 64);
    else
        snprintf(text, 64, "n/a");
}

/* --- Rows. */

/* Adds a row with this name, which it owns. NULL: out of memory. */
static row *add_row(group_table *t, char *name)
{
    if (!name || !gls_list_reserve(&t->row, t->n, &t->capacity, 64, sizeof *t->row)) {
        free(name);
        return NULL;
    }
    row *r = &t->row[t->n++];
    *r = (row){.name = name};
    for (size_t i = 0; i < N_COLUMNS; i++) snprintf(r->number[i], sizeof r->number[i], "n/a");
    return r;
}

/* Paths of the report and the picture of a tractogram, below the output. */
static void name_page(const row *r, char report[1024], char picture[1024])
{
    char subject[256];
    const char *end = strrchr(r->name, '_');
    const int n = end && strncmp(end, "_tracto", 7) == 0 ? (int)(end - r->name) : (int)strlen(r->name);
    snprintf(report, 1024, "%.*s.html", n, r->name);
    snprintf(picture, 1024, "sub-%s/figures/%.*s_views.png", gls_bids_value(r->name, "sub", subject, sizeof subject), n,
             r->name);
}

/* Notes that a tractogram has a file of a kind. */
static gls_status note(group_table *t, row *r, const char *kind)
{
    gls_status status = add_text(&t->kinds, kind);
    return status ? status : add_text(&r->has, kind);
}

/* Notes report, picture, connectomes, bundles and their profiles of a tractogram. names: all files of its folder. */
static gls_status note_files(group_table *t, row *r, char *const *names)
{
    char report[1024], picture[1024], atlas[300] = "seg-", table[300] = "desc-";
    gls_status status = GLS_OK;
    name_page(r, report, picture);
    if (is_there(t->options, report)) status = note(t, r, "report");
    if (!status && is_there(t->options, picture)) status = note(t, r, "picture");
    char *stem = gls_bids_stem(r->name), *tract = stem ? gls_bids_without(stem, "tract") : NULL;
    for (size_t i = 0; tract && names[i] && !status; i++) {
        const bool is_bundles = gls_bids_has_suffix(names[i], "tracts", ".tsv");
        if (!is_bundles && !gls_bids_has_suffix(names[i], "relmat", ".tsv")) continue;
        char *own = gls_bids_without(names[i], is_bundles ? "desc" : "seg");
        gls_bids_value(names[i], "seg", atlas + 4, sizeof atlas - 4);
        gls_bids_value(names[i], "desc", table + 5, sizeof table - 5);
        if (own && strcmp(own, tract) == 0) status = note(t, r, is_bundles ? table : atlas);
        free(own);
    }
    if (!tract) status = gls_no_memory();
    free(stem);
    free(tract);
    return status;
}

/* Adds the row of one tractogram from its sidecar. */
static gls_status add_tractogram(void *user, const char *path, char *const *names)
{
    group_table *t = user;
    const char *name = gls_file_name(path);
    cJSON *root;
    gls_status status = gls_json_load(path, MAX_SIDECAR, &root);
    if (status) return status;
    row *r = add_row(t, strndup(name, strlen(name) - strlen(".json")));
    for (size_t i = 0; r && i < N_COLUMNS; i++) number_text(root, i, r->number[i]);
    if (r) r->n_warnings = (size_t)cJSON_GetArraySize(gls_json_at(root, "warnings"));
    cJSON_Delete(root);
    t->n_tractograms++;
    return r ? note_files(t, r, names) : gls_no_memory();
}

/* Whether a file is the sidecar of a tractogram. Bundles are a part of one, and have a table of their own. */
static bool wants(void *user, const char *name)
{
    char desc[256];
    (void)user;
    return (gls_bids_has_suffix(name, "tractogram", ".json") || gls_bids_has_suffix(name, "tractography", ".json")) &&
           strcmp(gls_bids_value(name, "desc", desc, sizeof desc), "bundles") != 0;
}

/* Whether the options ask for a unit, and no row has a tractogram of it. */
static bool lacks_tractogram(const group_table *t, const char *unit)
{
    char subject[260] = "sub-", session[260] = "ses-";
    gls_bids_value(unit, "sub", subject + 4, sizeof subject - 4);
    gls_bids_value(unit, "ses", session + 4, sizeof session - 4);
    if (!gls_dataset_takes(&t->options->participants, "sub-", subject) || !gls_dataset_passes(t->options, unit, "desc"))
        return false;
    if (session[4] ? !gls_dataset_takes(&t->options->sessions, "ses-", session) : t->options->sessions.n > 0)
        return false;
    for (size_t i = 0; i < t->n; i++)
        if (strncmp(t->row[i].name, unit, strlen(unit)) == 0 &&
            strncmp(t->row[i].name + strlen(unit), "_tract", 6) == 0)
            return false;
    return true;
}

/* Adds a row for each series of logs/units.tsv that was not tracked. */
static gls_status add_untracked(group_table *t)
{
    char path[GLS_DATASET_MAX_PATH], *text = NULL, *cell[3];
    size_t bytes;
    snprintf(path, sizeof path, "%s/logs/units.tsv", t->options->output);
    if (access(path, F_OK) != 0) return GLS_OK;
    gls_status status = gls_file_read_text(path, MAX_LOG, &text, &bytes);
    if (status) return status;
    gls_records records = gls_records_begin(text, '\t');
    for (size_t found; !status && (found = gls_record_next(&records, cell, 3)) > 0;) {
        if (found < 2 || strncmp(cell[0], "sub-", 4) != 0 || !gls_bids_is_valid(cell[0])) continue;
        if (!lacks_tractogram(t, cell[0])) continue;
        row *r = add_row(t, strdup(cell[0]));
        if (r)
            gls_asprintf(&r->lacks, "tractogram (%s%s%s)", cell[1], found > 2 && *cell[2] ? ": " : "",
                         found > 2 ? cell[2] : "");
        if (!r || !r->lacks) status = gls_no_memory();
    }
    free(text);
    return status;
}

/* Comparison for qsort(): rows by name. */
static int by_name(const void *a, const void *b)
{
    return strcmp(((const row *)a)->name, ((const row *)b)->name);
}

/* --- Output. */

/* Appends the kinds of files that a row lacks, with commas between them; "n/a": it lacks none. */
static void append_missing(const group_table *t, const row *r, const char *lacks, gls_text *out)
{
    const char *between = "";
    gls_text missing = {0};
    if (lacks) gls_text_puts(&missing, lacks);
    for (size_t i = 0; i < t->kinds.n && !lacks; i++) {
        if (has(&r->has, t->kinds.text[i])) continue;
        gls_text_printf(&missing, "%s%s", between, t->kinds.text[i]);
        between = ", ";
    }
    gls_text_append(&missing, "", 0);
    gls_field_append(out, missing.length > 0 ? missing.data : "n/a", '\t');
    out->failed |= missing.failed;
    gls_text_finish(&missing);
}

/* Appends the row of group.tsv. */
static void append_row(const group_table *t, const row *r, gls_text *out)
{
    char subject[256], session[256];
    gls_bids_value(r->name, "sub", subject, sizeof subject);
    gls_bids_value(r->name, "ses", session, sizeof session);
    char *stem = gls_bids_stem(r->name);
    gls_text_printf(out, "sub-%s\t%s%s\t%s", subject, *session ? "ses-" : "", *session ? session : "n/a",
                    r->lacks ? "n/a"
                    : stem   ? stem
                             : "");
    out->failed |= !stem;
    free(stem);
    for (size_t i = 0; i < N_COLUMNS; i++) gls_text_printf(out, "\t%s", r->number[i]);
    if (r->lacks)
        gls_text_puts(out, "\tn/a\t");
    else
        gls_text_printf(out, "\t%zu\t", r->n_warnings);
    append_missing(t, r, r->lacks, out);
    gls_text_puts(out, "\n");
}

/* Appends a cell of numbers, with its heading for narrow screens. */
static void append_number(gls_text *out, const char *heading, const char *number)
{
    gls_text_printf(out, "<td class=\"number\" data-label=\"%s\">%s</td>", heading, number);
}

/* Appends a row of the page, lengths to a tenth of a mm. Names of BIDS need no escapes: they have only letters, digits
 * and the characters + - _. */
static void append_page_row(const group_table *t, const row *r, gls_text *out)
{
    char report[1024], picture[1024], subject[256], session[256], text[64];
    double x;
    name_page(r, report, picture);
    const int n = (int)(strlen(report) - strlen(".html"));
    if (has(&r->has, "report"))
        gls_text_printf(out, "<tr><th scope=\"row\"><a href=\"%s\">%.*s</a></th>", report, n, report);
    else
        gls_text_printf(out, "<tr><th scope=\"row\">%.*s</th>", n, report);
    gls_bids_value(r->name, "ses", session, sizeof session);
    gls_text_printf(out, "<td>%s</td><td>%s</td>", gls_bids_value(r->name, "sub", subject, sizeof subject), session);
    for (size_t i = 0; i < N_COLUMNS && columns[i].heading; i++) {
        snprintf(text, sizeof text, "%s", r->number[i]);
        if (columns[i].is_length && gls_parse_double(text, &x)) gls_snprintf(text, sizeof text, "%.1f", x);
        if (columns[i].per && gls_parse_double(text, &x)) gls_snprintf(text, sizeof text, "%.3f", x);
        append_number(out, columns[i].heading, text);
    }
    snprintf(text, sizeof text, "%zu", r->n_warnings);
    append_number(out, "warnings", r->lacks ? "n/a" : text);
    gls_text_puts(out, "<td>");
    append_missing(t, r, r->lacks ? "tractogram" : NULL, out);
    gls_text_puts(out, "</td>");
    if (has(&r->has, "picture"))
        gls_text_printf(out,
                        "<td><img src=\"%s\" alt=\"%.*s from above, from behind and from the left\" "
                        "loading=\"lazy\"></td>",
                        picture, n, report);
    else
        gls_text_puts(out, "<td>none</td>");
    gls_text_puts(out, "</tr>\n");
}

/* Makes the texts of group.tsv and of the page. */
static gls_status make_texts(const group_table *t, gls_text *rows, gls_text *page)
{
    gls_text_puts(rows, HEAD);
    gls_text_puts(page, head);
    for (size_t i = 0; i < N_COLUMNS && columns[i].heading; i++)
        gls_text_printf(page, "<th scope=\"col\">%s</th>", columns[i].heading);
    gls_text_puts(page, "<th scope=\"col\">warnings</th><th scope=\"col\">missing</th><th scope=\"col\">picture</th>"
                        "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < t->n; i++) {
        append_row(t, &t->row[i], rows);
        append_page_row(t, &t->row[i], page);
    }
    gls_text_puts(page, "</tbody>\n</table>\n</main>\n</body>\n</html>\n");
    return rows->failed || page->failed ? gls_no_memory() : GLS_OK;
}

/* Frees the rows. */
static void finish_rows(group_table *t)
{
    for (size_t i = 0; i < t->n; i++) {
        free(t->row[i].name);
        free(t->row[i].lacks);
        gls_dataset_texts_finish(&t->row[i].has);
    }
    free(t->row);
    gls_dataset_texts_finish(&t->kinds);
}

gls_status gls_dataset_group(const gls_dataset_options *o, size_t *n)
{
    char path[GLS_DATASET_MAX_PATH];
    gls_output_group group = {0};
    gls_text rows = {0}, page = {0};
    group_table table = {.options = o};
    gls_status status = gls_dataset_check_atlas(o);
    if (!status) status = gls_dataset_walk_files(o, wants, add_tractogram, &table);
    *n = table.n_tractograms;
    if (!status && *n > 0) status = add_untracked(&table);
    if (table.n > 0) qsort(table.row, table.n, sizeof *table.row, by_name);
    if (!status) status = make_texts(&table, &rows, &page);
    /* write table and page in one group, so that both get their names together */
    snprintf(path, sizeof path, "%s/group.tsv", o->output);
    if (!status && *n > 0) status = gls_dataset_rewrite(path, MARK, rows.data, rows.length, &group);
    snprintf(path, sizeof path, "%s/index.html", o->output);
    if (!status && *n > 0) status = gls_dataset_rewrite(path, PAGE_MARK, page.data, page.length, &group);
    status = gls_output_group_end(&group, status);
    gls_text_finish(&rows);
    gls_text_finish(&page);
    finish_rows(&table);
    return status;
}
