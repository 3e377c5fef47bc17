/* The page of a data set, index.html: a row with a picture and a link to the report for each tractogram. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/numbers.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text.h"
#include "workflow/dataset.h"

#define MARK "<caption>Tractograms by glslines"

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
    "</style>\n</head>\n<body>\n<main>\n<h1>Tractograms</h1>\n<table>\n" MARK
    "; the same numbers are in <a href=\"group.tsv\">group.tsv</a></caption>\n<thead><tr><th "
    "scope=\"col\">tractogram</th><th "
    "scope=\"col\">seeds</th><th scope=\"col\">streamlines</th><th scope=\"col\">mean length, mm</th><th "
    "scope=\"col\">median length, mm</th><th scope=\"col\">picture</th></tr></thead>\n<tbody>\n";

static bool is_there(const gls_dataset_options *o, const char *file)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", o->output, file);
    return access(path, R_OK) == 0;
}

static const char *const columns[] = {"seeds", "streamlines", "mean length, mm", "median length, mm"};

/* Prints lengths to a tenth of a mm. */
static void print_number(FILE *page, const char *column, const char *text, bool is_length)
{
    double mm;
    fprintf(page, "<td class=\"number\" data-label=\"%s\">", column);
    if (is_length && gls_parse_double(text, &mm))
        gls_fprintf(page, "%.1f", mm);
    else
        fputs(text, page);
    fputs("</td>", page);
}

/* Prints a row of group.tsv as HTML. Names of BIDS consist of letters and digits and need no escapes. */
static void print_row(const gls_dataset_options *o, FILE *page, char *row)
{
    char *cell[5] = {row, "", "", "", ""}, subject[256], file[2048];
    for (int i = 1; i < 5 && (row = strchr(row, '\t')) != NULL; i++) {
        *row++ = '\0';
        cell[i] = row;
    }
    cell[4][strcspn(cell[4], "\t\n")] = '\0';
    size_t n = strlen(cell[0]), end = strlen("_tractogram");
    char *stem = strdup(cell[0]);
    if (!stem) return;
    if (n > end && strcmp(stem + n - end, "_tractogram") == 0) stem[n - end] = '\0';
    snprintf(file, sizeof file, "%s.html", stem);
    if (is_there(o, file))
        fprintf(page, "<tr><th scope=\"row\"><a href=\"%s\">%s</a></th>", file, stem);
    else
        fprintf(page, "<tr><th scope=\"row\">%s</th>", stem);
    for (int i = 1; i < 5; i++) print_number(page, columns[i - 1], cell[i], i >= 3);
    snprintf(file, sizeof file, "sub-%s/figures/%s_views.png", gls_bids_value(stem, "sub", subject, sizeof subject),
             stem);
    if (is_there(o, file))
        fprintf(page, "<td><img src=\"%s\" alt=\"%s from above, from behind and from the left\" loading=\"lazy\"></td>",
                file, stem);
    else
        fputs("<td>none</td>", page);
    fputs("</tr>\n", page);
    free(stem);
}

gls_status gls_dataset_page(const gls_dataset_options *o, const char *table, gls_output_group *group)
{
    char *text = NULL, path[GLS_DATASET_MAX_PATH], *rows = strdup(table), *rest = NULL;
    size_t bytes = 0;
    FILE *page = rows ? open_memstream(&text, &bytes) : NULL;
    if (!page) {
        free(rows);
        return gls_fail(GLS_ERR_MEMORY, "out of memory");
    }
    fputs(head, page);
    strtok_r(rows, "\n", &rest); /* skips the names of columns */
    for (char *row; (row = strtok_r(NULL, "\n", &rest)) != NULL;) print_row(o, page, row);
    fputs("</tbody>\n</table>\n</main>\n</body>\n</html>\n", page);
    free(rows);
    gls_status status = fclose(page) == 0 ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory");
    snprintf(path, sizeof path, "%s/index.html", o->output);
    if (!status) status = gls_dataset_rewrite(path, MARK, text, bytes, group);
    free(text);
    return status;
}
