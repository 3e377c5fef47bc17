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
#define ROW GLS_ROW_DEFAULT
    gls_connectome_cli options = {
#include "tools/connectome.def"
    };
#undef ROW
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

gls_status gls_dataset_connect(const gls_dataset_options *o, const gls_dataset_unit *u, const char *tractogram,
                               const char *stem, const char *weights)
{
    gls_status status = GLS_OK;
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

/* --- Tables of all participants, one for each atlas: connectomes_seg-ATLAS.tsv. */

/* Head of a table, by which a later run recognises it. */
#define HEAD "participant_id\tsession_id\tconnectome\tregion_1\tregion_2\tvalue\n"
/* Largest file of a matrix, bytes. */
#define MAX_MATRIX ((size_t)1 << 30)

/* The matrices of a data set. */
typedef struct matrices {
    const gls_dataset_options *options;
    gls_dataset_texts path, atlas; /* path and atlas of each matrix, in the order of participants and sessions */
} matrices;

/* Appends a copy of a text. */
static gls_status append(gls_dataset_texts *list, const char *text)
{
    char **grown = realloc(list->text, (list->n + 1) * sizeof *grown);
    if (grown) list->text = grown;
    if (!grown || !(grown[list->n] = strdup(text))) return gls_no_memory();
    list->n++;
    return GLS_OK;
}

/* Adds the matrices of a participant, or of a session. */
static gls_status add_folder(void *user, const char *subject, const char *session, const char *parent)
{
    matrices *m = user;
    char **names, folder[GLS_DATASET_MAX_PATH], path[GLS_DATASET_MAX_PATH], atlas[256];
    if (!*session && m->options->sessions.n > 0) return GLS_OK;
    gls_status status = gls_bids_names(gls_bids_join(parent, "dwi", folder, sizeof folder), &names);
    if (status) return status;
    for (size_t i = 0; names[i] && !status; i++) {
        if (!gls_bids_has_suffix(names[i], "relmat", ".tsv") || !*gls_bids_value(names[i], "seg", atlas, sizeof atlas))
            continue;
        if (!gls_dataset_takes_file(m->options, folder, names[i], subject, session)) continue;
        status = append(&m->path, gls_bids_join(folder, names[i], path, sizeof path));
        if (!status) status = append(&m->atlas, atlas);
    }
    gls_bids_names_free(names);
    return status;
}

/* Appends the cells of one matrix on and above its diagonal that are not 0, a line each. cell: room for `most` cells.
 */
static gls_status append_cells(const char *path, char *text, char **cell, size_t most, gls_text *out)
{
    char subject[256], session[256];
    const char *name = gls_file_name(path);
    char *stem = gls_bids_without(name, "seg");
    gls_records records = gls_records_begin(text, '\t');
    char **head = cell + most;
    const size_t n = gls_record_next(&records, head, most);
    size_t row = 0;
    gls_status status = stem ? GLS_OK : gls_no_memory();
    gls_bids_value(name, "sub", subject, sizeof subject);
    gls_bids_value(name, "ses", session, sizeof session);
    for (size_t found; !status && (found = gls_record_next(&records, cell, most)) > 0;) {
        if (found == 1 && !*cell[0]) continue;
        if (found != n || ++row >= n || strcmp(cell[0], head[row]) != 0)
            status = gls_fail(GLS_ERR_INPUT,
                              "%s: line %zu is no row of a matrix with %zu regions: make it anew with 'glslines bids'",
                              path, records.line, n - 1);
        for (size_t k = row; k < n && !status; k++) {
            if (strcmp(cell[k], "0") == 0) continue;
            gls_text_printf(out, "sub-%s\t%s%s\t%s\t", subject, *session ? "ses-" : "", *session ? session : "n/a",
                            stem);
            gls_field_append(out, head[row], '\t');
            gls_text_puts(out, "\t");
            gls_field_append(out, head[k], '\t');
            gls_text_printf(out, "\t%s\n", cell[k]);
        }
    }
    if (!status && row + 1 != n)
        status = gls_fail(GLS_ERR_INPUT, "%s: has %zu rows, but %zu regions: make it anew with 'glslines bids'", path,
                          row, n - 1);
    free(stem);
    return status;
}

/* Appends one matrix to a table. */
static gls_status append_matrix(const char *path, gls_text *out)
{
    char *text = NULL;
    size_t bytes, most = 1;
    gls_status status = gls_file_read_text(path, MAX_MATRIX, &text, &bytes);
    if (status) return status;
    /* no line has more cells than the head has tabs, and one; another one shows a line that is longer */
    for (const char *c = text; *c && *c != '\n'; c++) most += *c == '\t';
    most++;
    char **cell = malloc(2 * most * sizeof *cell);
    status = cell ? append_cells(path, text, cell, most, out) : gls_no_memory();
    free(cell);
    free(text);
    return status;
}

gls_status gls_dataset_connectomes(const gls_dataset_options *o, size_t *n)
{
    matrices m = {.options = o};
    gls_output_group group = {0};
    gls_status status = gls_dataset_walk(o, add_folder, &m);
    *n = 0;
    for (size_t i = 0; i < m.path.n && !status; i++) {
        char path[GLS_DATASET_MAX_PATH];
        gls_text out = {0};
        size_t first = 0;
        while (strcmp(m.atlas.text[first], m.atlas.text[i]) != 0) first++;
        /* the table of an atlas is made at its first matrix */
        if (first < i) continue;
        gls_text_puts(&out, HEAD);
        for (size_t k = i; k < m.path.n && !status; k++)
            if (strcmp(m.atlas.text[k], m.atlas.text[i]) == 0) status = append_matrix(m.path.text[k], &out);
        if (!status && out.failed) status = gls_no_memory();
        snprintf(path, sizeof path, "%s/connectomes_seg-%s.tsv", o->output, m.atlas.text[i]);
        if (!status) status = gls_dataset_rewrite(path, HEAD, out.data, out.length, &group);
        gls_text_finish(&out);
        ++*n;
    }
    status = gls_output_group_end(&group, status);
    gls_dataset_texts_finish(&m.path);
    gls_dataset_texts_finish(&m.atlas);
    return status;
}
