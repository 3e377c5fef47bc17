/* Bundles of a data set: those of an atlas are recognised in each tractogram; the tables of all tractograms become one.
 */
#include "bids/dataset_bundles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bids/dataset_derived.h"
#include "bids/dataset_describe.h"
#include "bids/dataset_names.h"
#include "bids/dataset_select.h"
#include "tools/tract_results.h"
#include "transform/transform.h"
#include "util/file.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/text.h"
#include "util/text_tables.h"

/* --- The bundles of one tractogram. */

/* The files from which bundles are recognised. */
typedef struct recognizing {
    const char *tractogram, *atlas, *transform; /* NULL: none */
    const gls_dataset_texts *chain;
} recognizing;

/* Runs `glslines recognize` with the defaults of the command. */
static gls_status recognize(gls_tract_run *run, const gls_dataset_derived *d, const void *user)
{
#define ROW GLS_ROW_DEFAULT
    gls_recognize_cli options = {
#include "tools/recognize.def"
    };
#undef ROW
    const recognizing *r = user;
    const char *const file[] = {r->tractogram, r->atlas, NULL};
    options.output = d->output[0];
    options.table = d->output[1];
    options.atlas_transform = r->transform;
    options.recognized_only = true;
    for (size_t i = 0; i < r->chain->n; i++) options.transform.value[options.transform.n++] = r->chain->text[i];
    return gls_tract_recognize(run, &options, file, 2);
}

/* Adds the transforms of a chain to the parameters, and their files to the inputs. */
static gls_status add_chain(gls_dataset_derived *d, const gls_dataset_texts *chain)
{
    gls_status status = GLS_OK;
    cJSON *list = chain->n > 0 ? cJSON_AddArrayToObject(d->parameters, "transform") : NULL;
    for (size_t i = 0; i < chain->n; i++) {
        char *file[3];
        const size_t n = gls_transform_files(chain->text[i], file);
        cJSON_AddItemToArray(list, cJSON_CreateString(chain->text[i]));
        for (size_t k = 0; k < n; k++) {
            char role[64];
            snprintf(role, sizeof role, "transform_%zu_%zu", i + 1, k + 1);
            if (!status) status = gls_dataset_derived_add(d, role, file[k]);
            free(file[k]);
        }
    }
    return status;
}

gls_status gls_dataset_recognize(const gls_dataset_options *o, const gls_dataset_unit *u, const char *tractogram,
                                 const char *stem)
{
    gls_dataset_derived d;
    const recognizing r = {tractogram, o->bundle_atlas, u->bundle_transform, &u->bundle_chain};
    if (!o->bundle_atlas) return GLS_OK;
    gls_dataset_derived_init(&d);
    d.description = "Bundles of an atlas, recognised in a tractogram";
    d.make = recognize;
    d.user = &r;
    d.source[0] = tractogram;
    d.source[1] = r.transform;
    d.n = 2;
    snprintf(d.output[0], sizeof d.output[0], "%s_desc-bundles_tractogram.trx", stem);
    snprintf(d.output[1], sizeof d.output[1], "%s_desc-bundles_tracts.tsv", stem);
    snprintf(d.sidecar, sizeof d.sidecar, "%s_desc-bundles_tractogram.json", stem);
    cJSON_AddStringToObject(d.parameters, "atlas", o->bundle_atlas);
    if (r.transform) cJSON_AddStringToObject(d.parameters, "atlas_transform", r.transform);
    cJSON_AddStringToObject(d.parameters, "method", "search");
    cJSON_AddNumberToObject(d.parameters, "threshold_mm", 8);
    gls_status status = gls_dataset_derived_add(&d, "tractogram", tractogram);
    if (!status) status = gls_dataset_derived_add(&d, "atlas", o->bundle_atlas);
    if (!status && r.transform) status = gls_dataset_derived_add(&d, "atlas_transform", r.transform);
    if (!status) status = add_chain(&d, r.chain);
    if (!status) status = gls_dataset_derive(o, &d);
    gls_dataset_derived_finish(&d);
    return status;
}

/* --- The table of all tractograms, bundles.tsv. */

/* Head of the table, by which a later run recognises it; that of a table of one tractogram follows. */
#define HEAD "participant_id\tsession_id\ttractogram\tbundle\t"
/* Largest table, bytes. */
#define MAX_TABLE ((size_t)1 << 28)

/* The table of all. */
typedef struct joined {
    gls_text text;
    char *head; /* head of the tables, which all have */
    size_t n;
} joined;

/* Appends the rows of a table. */
static gls_status append_table(void *user, const char *path, char *const *names)
{
    joined *j = user;
    char *text = NULL, subject[256], session[256];
    const char *name = gls_file_name(path);
    size_t bytes;
    (void)names;
    gls_status status = gls_file_read_text(path, MAX_TABLE, &text, &bytes);
    if (status) return status;
    char *rest = text, *head = strsep(&rest, "\n"), *stem = gls_bids_without(name, "desc");
    if (!stem) status = gls_no_memory();
    if (!status && strncmp(head, "bundle\t", 7) != 0)
        status = gls_fail(GLS_ERR_INPUT, "%s: is no table of bundles: make it anew with 'glslines bids'", path);
    if (!status && j->head && strcmp(head, j->head) != 0)
        status = gls_fail(GLS_ERR_INPUT,
                          "%s: has other columns than the tables before: make it anew with 'glslines bids'", path);
    if (!status && !j->head) {
        j->head = gls_text_copy(head);
        if (!j->head) status = gls_no_memory();
        gls_text_printf(&j->text, "participant_id\tsession_id\ttractogram\t%s\n", head);
    }
    gls_bids_value(name, "sub", subject, sizeof subject);
    gls_bids_value(name, "ses", session, sizeof session);
    for (char *row; !status && (row = strsep(&rest, "\n"));)
        if (*row)
            gls_text_printf(&j->text, "sub-%s\t%s%s\t%s\t%s\n", subject, *session ? "ses-" : "",
                            *session ? session : "n/a", stem, row);
    j->n += !status;
    free(stem);
    free(text);
    return status;
}

/* Whether a file is a table of bundles. */
static bool wants(void *user, const char *name)
{
    char desc[256];
    (void)user;
    return gls_bids_has_suffix(name, "tracts", ".tsv") &&
           strcmp(gls_bids_value(name, "desc", desc, sizeof desc), "bundles") == 0;
}

gls_status gls_dataset_bundles(const gls_dataset_options *o, size_t *n)
{
    joined j = {.n = 0};
    char path[GLS_DATASET_MAX_PATH];
    gls_status status = gls_dataset_walk_files(o, wants, append_table, &j);
    if (!status && j.text.failed) status = gls_no_memory();
    if (!status && j.n > 0)
        status = gls_dataset_rewrite(gls_bids_join(o->output, "bundles.tsv", path, sizeof path), HEAD, j.text.data,
                                     j.text.length, NULL);
    *n = j.n;
    free(j.head);
    gls_text_finish(&j.text);
    return status;
}
