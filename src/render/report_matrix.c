/* The connectome of a report: reads it with the names of its regions. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/report_matrix.h"
#include "render/backdrop.h"
#include "render/report_parts.h"
#include "render/report_tables.h"
#include "render/report_weights.h"
#include "util/file.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"
#include "util/text_tables.h"

/* Largest file of a matrix. */
#define MAX_BYTES ((size_t)1 << 28)
/* Largest number of regions. */
#define MAX_NODES 4096

bool gls_report_is_matrix(const char *path)
{
    return gls_case_ends(path, ".csv") || gls_case_ends(path, ".tsv") || gls_case_ends(path, ".txt");
}

/* Separator of the fields of a table, from its first line. */
static char separator_of(const char *text)
{
    const size_t line = strcspn(text, "\n");
    return memchr(text, '\t', line) ? '\t' : memchr(text, ',', line) ? ',' : ' ';
}

/* Reads a cell; n/a and nan give NaN. Returns false for other text that is no number. */
static bool is_number(const char *field, double *value)
{
    const bool missing = strcmp(field, "n/a") == 0 || gls_case_compare(field, "nan") == 0;
    *value = NAN;
    return missing || gls_parse_double(field, value);
}

/* Returns the error for a file that is not a matrix. */
static gls_status no_matrix(const char *path)
{
    return gls_fail(GLS_ERR_INPUT,
                    "%s: is no square matrix of numbers, of two regions or more, as glslines connectome writes it",
                    path);
}

/* Takes the first line as names of the regions. */
static gls_status take_names(gls_report_matrix *m, char *const *field)
{
    if (!(m->name = calloc(m->n, sizeof *m->name))) return gls_fail(GLS_ERR_MEMORY, "out of memory for a connectome");
    for (size_t i = 0; i < m->n; i++) m->name[i] = gls_text_copy(field[i]);
    return GLS_OK;
}

/* Reads rows of numbers, with or without a line of names before them, and a column of names if that line begins with an
 * empty field, as with --header and --bids. */
static gls_status parse_matrix(const char *path, char *text, gls_report_matrix *m)
{
    char *field[MAX_NODES + 1];
    double value;
    gls_records records = gls_records_begin(text, separator_of(text));
    size_t row = 0, n = gls_record_next(&records, field, MAX_NODES + 1);
    const size_t first = n > 0 && !*field[0]; /* the column of the first number */
    m->n = n - first;
    if (m->n > MAX_NODES) return gls_fail(GLS_ERR_UNSUPPORTED, "%s: has more than %d regions", path, MAX_NODES);
    if (m->n < 2) return no_matrix(path);
    /* if a field of the first line is not a number, the line has the names of the regions */
    bool named = false;
    for (size_t i = 0; i < n; i++) named |= !is_number(field[i], &value);
    if (!(m->cell = malloc(m->n * m->n * sizeof *m->cell)))
        return gls_fail(GLS_ERR_MEMORY, "out of memory for a connectome");
    gls_status status = named ? take_names(m, field + first) : GLS_OK;
    if (named) n = gls_record_next(&records, field, MAX_NODES + 1);
    for (; n > 0 && !status; n = gls_record_next(&records, field, MAX_NODES + 1)) {
        if (n == 1 && !*field[0]) continue;
        if (n != m->n + first || row == m->n) return no_matrix(path);
        for (size_t i = 0; i < m->n; i++)
            if (!is_number(field[first + i], &m->cell[row * m->n + i])) return no_matrix(path);
        row++;
    }
    return status || row == m->n ? status : no_matrix(path);
}

/* Names the rows of a matrix by the table of its regions. If the table has one row less, the first row of the matrix is
 * named "unassigned". Any other table whose length does not fit is ignored. */
static gls_status parse_nodes(char *text, gls_report_matrix *m)
{
    char *field[64];
    gls_records records = gls_records_begin(text, '\t');
    size_t columns = gls_record_next(&records, field, 64), at = columns, n = 0, width;
    if (columns == 0 || columns > 64) return GLS_OK;
    /* take the column `name`, or if there is none the column `label` */
    for (size_t i = columns; i-- > 0;)
        if (strcmp(field[i], "name") == 0 || (strcmp(field[i], "label") == 0 && at == columns)) at = i;
    char **name = at < columns ? calloc(m->n + 1, sizeof *name) : NULL;
    while (name && n <= m->n && (width = gls_record_next(&records, field, 64)) > at && width <= 64)
        name[n++] = gls_text_copy(field[at]);
    if (name && n + 1 == m->n) { /* with --keep-unassigned the first row counts ends without a region */
        memmove(name + 1, name, n++ * sizeof *name);
        name[0] = gls_text_copy("unassigned");
    }
    if (name && n == m->n) {
        m->name = name;
        return GLS_OK;
    }
    for (size_t i = 0; name && i < n && i <= m->n; i++) free(name[i]);
    free(name);
    return GLS_OK;
}

/* Names the regions, unless the matrix has names: by the table that the run named, else by NAME_nodes.tsv beside the
 * matrix. */
static gls_status name_rows(gls_report *r, gls_report_matrix *m)
{
    const char *given = gls_report_text(r, "parameters/nodes"), *slash = strrchr(m->path, '/'),
               *dot = strrchr(m->path, '.');
    gls_text beside = {0};
    gls_text_append(&beside, m->path, dot && (!slash || dot > slash) ? (size_t)(dot - m->path) : strlen(m->path));
    gls_text_puts(&beside, "_nodes.tsv");
    char *own = gls_text_take(&beside), *text = NULL;
    char *path = given ? gls_file_beside(r->sidecar_path, given) : own ? gls_file_beside(NULL, own) : NULL;
    size_t bytes;
    gls_status status = path && !m->name ? gls_file_read_text(path, MAX_BYTES, &text, &bytes) : GLS_OK;
    if (!status && text) status = parse_nodes(text, m);
    free(text);
    free(path);
    free(own);
    return status;
}

/* Reads the matrix of the report and the names of its regions. The report takes ownership of path. */
static gls_status read_matrix(gls_report *r, char *path)
{
    gls_report_matrix *m = &r->matrix;
    char *text = NULL;
    size_t bytes;
    m->path = path;
    gls_status status = gls_file_read_text(path, MAX_BYTES, &text, &bytes);
    if (!status) status = parse_matrix(path, text, m);
    free(text);
    if (!status) status = name_rows(r, m);
    return status ? status : gls_run_reads(&r->run, path);
}

/* Path of the connectome that the run of the sidecar wrote. From malloc; NULL: the run wrote no connectome, or its
 * file cannot be read. */
static char *written_matrix(const gls_report *r)
{
    const char *output = cJSON_GetStringValue(cJSON_GetArrayItem(gls_report_get(r, "outputs"), 0));
    const cJSON *given = gls_report_get(r, "parameters/connectome");
    /* of several matrices the report shows the first; sidecars of version 0.1.0 have one text */
    const char *option = cJSON_GetStringValue(cJSON_IsArray(given) ? cJSON_GetArrayItem(given, 0) : given);
    const char *colon = option ? gls_names_last(option, ':') : NULL;
    if (output && gls_report_is_matrix(output) && gls_report_get(r, "parameters/stat_edge"))
        return gls_file_beside(r->sidecar_path, output);
    char *name = colon ? gls_names_copy(colon + 1, strlen(colon + 1)) : NULL;
    char *path = name ? gls_file_beside(r->sidecar_path, name) : NULL;
    free(name);
    return path;
}

gls_status gls_report_find_matrix(gls_report *r, const char *input)
{
    const bool is_row = cJSON_IsTrue(gls_report_get(r, "parameters/vector"));
    /* a text with weights is no matrix */
    const bool own = gls_report_is_matrix(input) && !r->weights && !gls_report_is_fit(r->sidecar);
    char *path = own ? gls_text_copy(input) : written_matrix(r);
    if (!path) return own ? gls_fail(GLS_ERR_MEMORY, "out of memory") : GLS_OK;
    if (is_row && !own) {
        gls_log(GLS_LOG_INFO, "the report has no connectome: %s is a row, as --vector writes it, which is not drawn",
                path);
        free(path);
        return GLS_OK;
    }
    gls_status status = read_matrix(r, path);
    /* fail if the user named the matrix; only warn if the sidecar named it, because its file may be gone */
    if (own && status == GLS_ERR_INPUT && is_row)
        return gls_fail(
            status, "%s: is a row, as --vector writes it: a report draws a matrix, written without --vector", input);
    if (!status || own || status == GLS_ERR_MEMORY) return status;
    gls_log(GLS_LOG_WARNING, "the report has no connectome: %s", gls_last_error());
    gls_report_matrix_finish(&r->matrix);
    return GLS_OK;
}

void gls_report_matrix_finish(gls_report_matrix *m)
{
    for (size_t i = 0; i < m->n && m->name; i++) free(m->name[i]);
    free(m->name);
    free(m->cell);
    free(m->path);
    *m = (gls_report_matrix){.n = 0};
}
