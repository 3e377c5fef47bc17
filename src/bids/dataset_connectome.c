/* Connectomes of a data set: one for each tractogram and atlas, with the names that BIDS proposes for matrices. */
#include "bids/dataset_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "record/sidecar.h"
#include "tools/tract_files.h"
#include "tools/tract_results.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/output_file.h"
#include "util/status.h"

#define DONE "done" /* member of a matrix's sidecar, for later runs: inputs, outputs, and replaced files */

/* Finds the table with names of labels, beside the image or in a folder above. NULL: none. */
static char *find_names(const char *labels, const char *root)
{
    const char *slash = strrchr(labels, '/');
    char folder[GLS_DATASET_MAX_PATH], *stem = gls_bids_stem(slash + 1), *found = NULL;
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - labels - (ptrdiff_t)strlen(root) - 1),
             labels + strlen(root) + 1);
    if (stem) found = gls_bids_inherited(root, folder, stem, "dseg", ".tsv");
    free(stem);
    return found;
}

/* The files of a connectome and its inputs. */
typedef struct matrix {
    const char *tractogram, *labels, *names, *weights; /* names, weights: NULL: none */
    char folder[GLS_DATASET_MAX_PATH], matrix[GLS_DATASET_MAX_PATH], nodes[GLS_DATASET_MAX_PATH],
        sidecar[GLS_DATASET_MAX_PATH];
} matrix;

/* Adds to `inputs`, under the key `role`, a hash of the file's contents, or the word "none" if path is NULL. */
static gls_status add_input(cJSON *inputs, const char *role, const char *path)
{
    uint64_t hash = 0;
    char text[17];
    gls_status status = path ? gls_input_hash(path, &hash) : GLS_OK;
    if (!status) cJSON_AddStringToObject(inputs, role, path ? gls_hash_text(hash, text) : "none");
    return status;
}

/* Fills in *inputs: hashes of all files that the matrix depends on, and the rule that chooses its rows. Weights that
 * are a column of the tractogram are named, not hashed. */
static gls_status identify(const matrix *m, cJSON **inputs)
{
    *inputs = cJSON_CreateObject();
    const char *file = gls_tract_weights_file(m->weights);
    gls_status status = add_input(*inputs, "tractogram", m->tractogram);
    if (!status) status = add_input(*inputs, "labels", m->labels);
    if (!status) status = add_input(*inputs, "names", m->names);
    if (!status && file) status = add_input(*inputs, "weights", file);
    if (!file) cJSON_AddStringToObject(*inputs, "weights", m->weights ? m->weights : "none");
    cJSON_AddStringToObject(*inputs, "rows", m->names ? "lut" : "compact");
    return status;
}

/* Returns the error that no run has recorded the existing file at path, which this run would replace. */
static gls_status fail_exists(const char *path)
{
    return gls_fail(GLS_ERR_OUTPUT, "%s: exists, and no run of glslines bids has recorded it; --force replaces it",
                    path);
}

/* Fills in *done: whether a connectome of the same inputs exists. GLS_ERR_OUTPUT: the existing file is by another
 * program, or was changed. */
static gls_status look_before(const matrix *m, const cJSON *inputs, bool *done)
{
    bool missing = false;
    struct stat info;
    const char *const path[] = {m->matrix, m->nodes};
    /* if there is no sidecar, then root, found, outputs and before are NULL, and no output may exist */
    cJSON *root = gls_json_read(m->sidecar, (size_t)64 << 20);
    const cJSON *found = gls_json_at(root, DONE), *outputs = gls_json_at(found, "outputs"),
                *before = gls_json_at(found, "before");
    gls_status status = found || lstat(m->sidecar, &info) != 0 ? GLS_OK : fail_exists(m->sidecar);
    for (size_t i = 0; i < 2 && !status; i++) {
        const char *name = gls_file_name(path[i]);
        /* `before` records files that an interrupted run was about to replace */
        if (lstat(path[i], &info) == 0 && !gls_dataset_note_find(outputs, name) && !gls_dataset_note_find(before, name))
            status = fail_exists(path[i]);
    }
    if (!status) status = gls_dataset_noted(outputs, before, m->folder, &missing);
    *done = !status && !missing && gls_json_same(inputs, gls_json_at(found, "inputs"));
    cJSON_Delete(root);
    return status;
}

/* Adds to the sidecar the outputs, by which later runs recognise this run. The sidecar gets its final name before the
 * outputs. If the process is killed in between, some files of the earlier run still have their names; therefore the
 * sidecar also describes these old files. */
static gls_status note(const matrix *m, const gls_tract_run *run, cJSON *done)
{
    const char *const path[] = {m->matrix, m->nodes};
    struct stat info;
    cJSON *outputs = cJSON_AddArrayToObject(done, "outputs"), *before = cJSON_AddArrayToObject(done, "before");
    gls_status status = GLS_OK;
    /* record the old file of this name (in `before`), then the new file that replaces it */
    for (size_t i = 0; i < 2 && !status; i++) {
        const char *name = gls_file_name(path[i]);
        if (stat(path[i], &info) == 0) status = gls_dataset_note(before, m->folder, name, false);
        for (size_t k = 0; k < run->files.group.n && !status; k++)
            if (gls_output_is(&run->files.group.output[k], path[i]))
                status = gls_dataset_note_output(outputs, name, &run->files.group.output[k]);
    }
    return status;
}

/* Runs `glslines connectome` for one atlas with the defaults of the command. */
static gls_status connect(const gls_dataset_options *o, const matrix *m, const cJSON *inputs)
{
#define ROW GLS_ROW_DEFAULT
    gls_connectome_cli options = {
#include "tools/connectome.def"
    };
#undef ROW
    const char *const file[] = {m->tractogram, m->labels, m->matrix};
    const gls_tract_common common = {.force = true};
    cJSON *root = cJSON_CreateObject(), *parameters, *done;
    gls_tract_run run;
    options.bids = true;
    options.lut = m->names;
    options.labels = m->names ? GLS_LABELS_LUT : GLS_LABELS_COMPACT; /* all subjects get the same rows */
    options.weights = m->weights;
    cJSON_AddStringToObject(root, "Description", "Connectome: streamlines between the regions of an atlas");
    gls_sidecar_add_software(root, 0, NULL); /* shows later runs of glslines that they may replace the sidecar */
    /* drop the command line, because `glslines bids` has other options; the parameters below describe the matrix */
    cJSON_DeleteItemFromObjectCaseSensitive(root, "command_line");
    gls_dataset_add_sources(o, NULL, false, GLS_PATHS(m->tractogram, m->labels, m->names), root);
    parameters = cJSON_AddObjectToObject(root, "parameters");
    cJSON_AddStringToObject(parameters, "assign", "radial");
    cJSON_AddNumberToObject(parameters, "radius_mm", 4);
    cJSON_AddStringToObject(parameters, "labels", m->names ? "lut" : "compact");
    if (m->weights) cJSON_AddStringToObject(parameters, "weights", m->weights);
    done = cJSON_AddObjectToObject(root, DONE);
    cJSON_AddItemToObject(done, "inputs", cJSON_Duplicate(inputs, true));
    gls_tract_run_init(&run, &common, root);
    /* the sidecar gets its name first, see note() */
    run.files.leads = true;
    gls_status status = gls_tract_connectome(&run, &options, file, 3);
    if (!status) status = note(m, &run, done);
    if (!status) status = gls_tract_run_commit(&run);
    gls_tract_run_finish(&run);
    return status;
}

/* Makes one matrix, unless force is false and an earlier run has made it from the same inputs. */
static gls_status connect_atlas(const gls_dataset_options *o, const matrix *m)
{
    bool done = false;
    cJSON *inputs = NULL;
    gls_status status = identify(m, &inputs);
    if (!status && !o->force) status = look_before(m, inputs, &done);
    if (!status && !done) status = connect(o, m, inputs);
    cJSON_Delete(inputs);
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
        names = find_names(labels, root);
        matrix m = {.tractogram = tractogram, .labels = labels, .names = names, .weights = weights};
        snprintf(m.folder, sizeof m.folder, "%.*s", (int)(strrchr(stem, '/') - stem), stem);
        snprintf(m.matrix, sizeof m.matrix, "%s_seg-%s_relmat.tsv", stem, atlas);
        snprintf(m.nodes, sizeof m.nodes, "%s_seg-%s_nodes.tsv", stem, atlas);
        snprintf(m.sidecar, sizeof m.sidecar, "%s_seg-%s_relmat.json", stem, atlas);
        status = connect_atlas(o, &m);
        free(labels);
        free(names);
    }
    return status;
}
