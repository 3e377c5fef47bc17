/* Connectomes of a data set: one for each tractogram and atlas, with the names that BIDS proposes for matrices; and the
 * tables of all of them. */

#include <glslines/connectome.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bids/dataset.h"
#include "bids/dataset_connectome.h"
#include "bids/dataset_derived.h"
#include "bids/dataset_describe.h"
#include "bids/dataset_find.h"
#include "bids/dataset_identity.h"
#include "bids/dataset_names.h"
#include "bids/dataset_select.h"
#include "tools/streamline_weights.h"
#include "record/sidecar.h"
#include "tools/tract_results.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text_tables.h"

/* The files from which a connectome is made. */
typedef struct matrix {
    const char *tractogram, *labels, *names, *weights; /* names, weights: NULL: none */
} matrix;

/* Adds hashes of all files that the matrix depends on, and the rule that chooses its rows. Weights that are a column of
 * the tractogram are named, not hashed. */
static gls_status identify(const matrix *m, gls_dataset_derived *d)
{
    const char *file = gls_tract_weights_file(m->weights);
    gls_status status = gls_dataset_derived_add(d, "tractogram", m->tractogram);
    if (!status) status = gls_dataset_derived_add(d, "labels", m->labels);
    if (!status) status = gls_dataset_derived_add(d, "names", m->names);
    if (!status && file) status = gls_dataset_derived_add(d, "weights", file);
    if (!file) cJSON_AddStringToObject(d->inputs, "weights", m->weights ? m->weights : "none");
    cJSON_AddStringToObject(d->inputs, "rows", m->names ? "lut" : "compact");
    return status;
}

/* Runs `glslines connectome` for one atlas with the defaults of the command. */
static gls_status connect(gls_tract_run *run, const gls_dataset_derived *d, const void *user)
{
    gls_connectome_cli options = gls_connectome_cli_default();
    const matrix *m = user;
    const char *const file[] = {m->tractogram, m->labels, d->output[0]};
    options.bids = true;
    options.lut = m->names;
    options.labels = m->names ? GLS_LABELS_LUT : GLS_LABELS_COMPACT; /* all subjects get the same rows */
    options.weights = m->weights;
    return gls_tract_connectome(run, &options, file, 3);
}

/* Makes one matrix, unless an earlier run has made it from the same inputs. */
static gls_status connect_atlas(const gls_dataset_options *o, const matrix *m, const char *stem, const char *atlas)
{
    gls_dataset_derived d;
    gls_dataset_derived_init(&d);
    d.description = "Connectome: streamlines between the regions of an atlas";
    d.make = connect;
    d.user = m;
    d.source[0] = m->tractogram;
    d.source[1] = m->labels;
    d.source[2] = m->names;
    d.n = 2;
    snprintf(d.output[0], sizeof d.output[0], "%s_seg-%s_relmat.tsv", stem, atlas);
    snprintf(d.output[1], sizeof d.output[1], "%s_seg-%s_nodes.tsv", stem, atlas);
    snprintf(d.sidecar, sizeof d.sidecar, "%s_seg-%s_relmat.json", stem, atlas);
    cJSON_AddStringToObject(d.parameters, "assign", "radial");
    cJSON_AddNumberToObject(d.parameters, "radius_mm", 4);
    cJSON_AddStringToObject(d.parameters, "labels", m->names ? "lut" : "compact");
    if (m->weights) cJSON_AddStringToObject(d.parameters, "weights", m->weights);
    gls_status status = identify(m, &d);
    if (!status) status = gls_dataset_derive(o, &d);
    gls_dataset_derived_finish(&d);
    return status;
}

gls_status gls_dataset_connect(const gls_dataset_options *o, const gls_dataset_unit *u, const gls_dataset_anatomy *a,
                               const char *tractogram, const char *stem, const char *weights)
{
    gls_status status = GLS_OK;
    const char *made = a->names.path[GLS_ANAT_LABELS];
    if (made) {
        char atlas[256];
        const matrix m = {.tractogram = tractogram, .labels = made, .names = a->table, .weights = weights};
        gls_bids_value(gls_file_name(made), "seg", atlas, sizeof atlas);
        status = connect_atlas(o, &m, stem, atlas);
    }
    for (int i = 0; i < o->atlases.n && !status; i++) {
        const char *root = NULL, *atlas = o->atlases.value[i];
        char *labels = gls_dataset_find_atlas(o, u, atlas, &root), *names = NULL;
        if (!labels) return gls_fail(GLS_ERR_INPUT, "%s: no seg-, atlas- or desc-%s_dseg in its space", u->dwi, atlas);
        names = gls_dataset_find_names(labels, root);
        const matrix m = {.tractogram = tractogram, .labels = labels, .names = names, .weights = weights};
        status = connect_atlas(o, &m, stem, atlas);
        free(labels);
        free(names);
    }
    return status;
}

/* --- Tables of all participants, one for each atlas: connectomes_seg-ATLAS.tsv, and with --wide another and a
 * list of the matrices. */

/* Heads of the tables and of the list, by which a later run recognises them. */
#define HEAD "participant_id\tsession_id\tconnectome\tregion_1\tregion_2\tvalue\n"
#define WIDE_HEAD "participant_id\tsession_id\tconnectome\t"
#define LIST_HEAD "# connectomes in the order of the wide table, for 'glslines permute'\n"
/* Largest file of a matrix, bytes. */
#define MAX_MATRIX ((size_t)1 << 30)

/* The matrices of a data set. */
typedef struct matrices {
    const gls_dataset_options *options;
    /* path and atlas of each matrix, in the order of participants and sessions; of the atlas its entities in names,
     * such as seg-Four or seg-Four_meas-count */
    gls_dataset_texts path, atlas;
    size_t n_tractograms;
} matrices;

/* A matrix with names, as text. */
typedef struct named_matrix {
    const char *path;
    char *text;        /* the file, in which the cells lie */
    char **head;       /* names of columns from 1 on; head[0] is empty */
    size_t n, n_cells; /* n: regions and one; n_cells: (n - 1) x n */
    char **cell;
} named_matrix;

/* Appends a copy of a text. */
static gls_status append(gls_dataset_texts *list, const char *text)
{
    char **grown = realloc(list->text, (list->n + 1) * sizeof *grown);
    if (grown) list->text = grown;
    if (!grown || !(grown[list->n] = strdup(text))) return gls_no_memory();
    list->n++;
    return GLS_OK;
}

/* Whether a file is the matrix of an atlas. */
static bool is_matrix(const char *name)
{
    char seg[256];
    return gls_bids_has_suffix(name, "relmat", ".tsv") && *gls_bids_value(name, "seg", seg, sizeof seg);
}

/* Whether a file is a matrix, or the sidecar of a tractogram. */
static bool wants(void *user, const char *name)
{
    char desc[256];
    (void)user;
    return is_matrix(name) || (gls_bids_has_suffix(name, "tractogram", ".json") &&
                               strcmp(gls_bids_value(name, "desc", desc, sizeof desc), "bundles") != 0);
}

/* Adds a matrix, or counts a tractogram. */
static gls_status add_file(void *user, const char *path, char *const *names)
{
    matrices *m = user;
    char seg[256], other[256], atlas[600];
    const char *name = gls_file_name(path);
    (void)names;
    if (!is_matrix(name)) {
        m->n_tractograms++;
        return GLS_OK;
    }
    gls_bids_value(name, "seg", seg, sizeof seg);
    gls_bids_value(name, "meas", other, sizeof other);
    snprintf(atlas, sizeof atlas, "seg-%s%s%s", seg, *other ? "_meas-" : "", other);
    gls_status status = append(&m->path, path);
    return status ? status : append(&m->atlas, atlas);
}

static void finish_matrix(named_matrix *m)
{
    free(m->text);
    free(m->head);
    free(m->cell);
    *m = (named_matrix){.n = 0};
}

/* Splits the text of a matrix into cells. most: no line has so many cells. */
static gls_status split_matrix(named_matrix *m, size_t most)
{
    gls_records records = gls_records_begin(m->text, '\t');
    char **row = malloc(most * sizeof *row);
    m->head = malloc(most * sizeof *m->head);
    if (!row || !m->head) {
        free(row);
        return gls_no_memory();
    }
    m->n = gls_record_next(&records, m->head, most);
    if (m->n < 2) {
        free(row);
        return gls_fail(GLS_ERR_INPUT, "%s: is no matrix with names of regions: make it anew with 'glslines bids'",
                        m->path);
    }
    m->cell = malloc((m->n + 1) * (m->n + 1) * sizeof *m->cell);
    gls_status status = m->cell ? GLS_OK : gls_no_memory();
    size_t rows = 0;
    for (size_t found; !status && (found = gls_record_next(&records, row, most)) > 0;) {
        if (found == 1 && !*row[0]) continue;
        if (found != m->n || ++rows >= m->n || strcmp(row[0], m->head[rows]) != 0)
            status = gls_fail(GLS_ERR_INPUT,
                              "%s: line %zu is no row of a matrix with %zu regions: make it anew with 'glslines bids'",
                              m->path, records.line, m->n - 1);
        for (size_t k = 0; k < m->n && !status; k++) m->cell[m->n_cells++] = row[k];
    }
    free(row);
    if (!status && rows + 1 != m->n)
        status = gls_fail(GLS_ERR_INPUT, "%s: has %zu rows, but %zu regions: make it anew with 'glslines bids'",
                          m->path, rows, m->n - 1);
    return status;
}

/* Reads a matrix. Call finish_matrix() also after a failure. */
static gls_status read_matrix(const char *path, named_matrix *m)
{
    size_t bytes, most = 2;
    *m = (named_matrix){.path = path};
    gls_status status = gls_file_read_text(path, MAX_MATRIX, &m->text, &bytes);
    if (status) return status;
    /* no line has more cells than the head has tabs, and one; another one shows a line that is longer */
    for (const char *c = m->text; *c && *c != '\n'; c++) most += *c == '\t';
    return split_matrix(m, most);
}

/* Returns an error if the regions of two matrices of an atlas differ. */
static gls_status require_regions(const named_matrix *first, const named_matrix *m)
{
    for (size_t k = 1; k < first->n || k < m->n; k++) {
        const char *one = k < first->n ? first->head[k] : "nothing", *other = k < m->n ? m->head[k] : "nothing";
        if (strcmp(one, other) == 0) continue;
        return gls_fail(GLS_ERR_INPUT,
                        "%s: row %zu is %.80s, but that of %s is %.80s: matrices of --wide need the same regions; "
                        "those of an atlas "
                        "with a table of names (dseg.tsv) have them",
                        m->path, k, other, first->path, one);
    }
    return GLS_OK;
}

/* Appends the cells of a matrix on and above its diagonal: to `out` a line for each that is not 0, to `wide`, unless it
 * is NULL, one line. */
static gls_status append_matrix(const named_matrix *m, gls_text *out, gls_text *wide)
{
    char subject[256], session[256];
    const char *name = gls_file_name(m->path);
    char *stem = gls_bids_without(name, "seg");
    if (!stem) return gls_no_memory();
    gls_bids_value(name, "sub", subject, sizeof subject);
    gls_bids_value(name, "ses", session, sizeof session);
    if (wide)
        gls_text_printf(wide, "sub-%s\t%s%s\t%s", subject, *session ? "ses-" : "", *session ? session : "n/a", stem);
    for (size_t i = 1; i < m->n; i++)
        for (size_t k = i; k < m->n; k++) {
            const char *value = m->cell[(i - 1) * m->n + k];
            if (wide) gls_text_printf(wide, "\t%s", value);
            if (strcmp(value, "0") == 0) continue;
            gls_text_printf(out, "sub-%s\t%s%s\t%s\t", subject, *session ? "ses-" : "", *session ? session : "n/a",
                            stem);
            gls_field_append(out, m->head[i], '\t');
            gls_text_puts(out, "\t");
            gls_field_append(out, m->head[k], '\t');
            gls_text_printf(out, "\t%s\n", value);
        }
    if (wide) gls_text_puts(wide, "\n");
    free(stem);
    return GLS_OK;
}

/* Appends the head of the table that has a line for each matrix: a column for each pair of regions. */
static void append_pairs(const named_matrix *m, gls_text *wide)
{
    gls_text name = {0};
    gls_text_append(wide, WIDE_HEAD, strlen(WIDE_HEAD) - 1);
    for (size_t i = 1; i < m->n; i++)
        for (size_t k = i; k < m->n; k++) {
            name.length = 0;
            gls_text_printf(&name, "%s--%s", m->head[i], m->head[k]);
            gls_text_puts(wide, "\t");
            if (name.data) gls_field_append(wide, name.data, '\t');
        }
    wide->failed |= name.failed;
    gls_text_finish(&name);
    gls_text_puts(wide, "\n");
}

/* Appends the path of a matrix to the list: relative to the folder of the data set, in which the list lies. */
static void append_path(const matrices *m, size_t k, gls_text *list)
{
    const char *path = m->path.text[k], *folder = m->options->output;
    const size_t n = strlen(folder);
    if (strncmp(path, folder, n) == 0) path += n + strspn(path + n, "/");
    gls_text_printf(list, "%s\n", path);
}

/* Writes the tables of the atlas of matrix `begin`, the first of its atlas. */
static gls_status write_tables(const matrices *m, size_t begin, gls_output_group *group)
{
    const char *atlas = m->atlas.text[begin];
    char path[GLS_DATASET_MAX_PATH];
    gls_text out = {0}, wide = {0}, list = {0};
    const bool is_wide = m->options->wide;
    named_matrix first;
    size_t n = 0;
    gls_status status = read_matrix(m->path.text[begin], &first);
    gls_text_puts(&out, HEAD);
    gls_text_puts(&list, LIST_HEAD);
    if (!status && is_wide) append_pairs(&first, &wide);
    for (size_t k = begin; k < m->path.n && !status; k++) {
        named_matrix matrix;
        if (strcmp(m->atlas.text[k], atlas) != 0) continue;
        status = read_matrix(m->path.text[k], &matrix);
        if (!status && is_wide) status = require_regions(&first, &matrix);
        if (!status) status = append_matrix(&matrix, &out, is_wide ? &wide : NULL);
        append_path(m, k, &list);
        finish_matrix(&matrix);
        n++;
    }
    finish_matrix(&first);
    if (!status && (out.failed || wide.failed || list.failed)) status = gls_no_memory();
    if (!status && n < m->n_tractograms)
        gls_log(GLS_LOG_WARNING, "%s: %zu of %zu tractograms have no connectome, see the column missing of group.tsv",
                atlas, m->n_tractograms - n, m->n_tractograms);
    snprintf(path, sizeof path, "%s/connectomes_%s.tsv", m->options->output, atlas);
    if (!status) status = gls_dataset_rewrite(path, HEAD, out.data, out.length, group);
    snprintf(path, sizeof path, "%s/connectomes_%s_wide.tsv", m->options->output, atlas);
    if (!status && is_wide) status = gls_dataset_rewrite(path, WIDE_HEAD, wide.data, wide.length, group);
    snprintf(path, sizeof path, "%s/connectomes_%s_list.txt", m->options->output, atlas);
    if (!status && is_wide) status = gls_dataset_rewrite(path, LIST_HEAD, list.data, list.length, group);
    gls_text_finish(&out);
    gls_text_finish(&wide);
    gls_text_finish(&list);
    return status;
}

gls_status gls_dataset_connectomes(const gls_dataset_options *o, size_t *n)
{
    matrices m = {.options = o};
    gls_output_group group = {0};
    gls_status status = gls_dataset_walk_files(o, wants, add_file, &m);
    *n = 0;
    for (size_t i = 0; i < m.path.n && !status; i++) {
        size_t first = 0;
        while (strcmp(m.atlas.text[first], m.atlas.text[i]) != 0) first++;
        if (first < i) continue;
        status = write_tables(&m, i, &group);
        ++*n;
    }
    status = gls_output_group_end(&group, status);
    gls_dataset_texts_finish(&m.path);
    gls_dataset_texts_finish(&m.atlas);
    return status;
}
