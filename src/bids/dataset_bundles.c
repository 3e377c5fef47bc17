/* Bundles of a data set: those of an atlas are recognised in each tractogram, images are averaged along them at the
 * nodes of the atlas, and the tables of all tractograms become one. */
#include "bids/dataset_bundles.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bids/dataset_derived.h"
#include "bids/dataset_describe.h"
#include "bids/dataset_names.h"
#include "bids/dataset_select.h"
#include "tools/tract_results.h"
#include "transform/transform.h"
#include "util/allocation.h"
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

/* Takes the transforms of a chain. */
static void take_chain(const gls_dataset_texts *chain, gls_strings *option)
{
    for (size_t i = 0; i < chain->n; i++) option->value[option->n++] = chain->text[i];
}

/* Runs `glslines recognize` with the defaults of the command. */
static gls_status recognize(gls_tract_run *run, const gls_dataset_derived *d, const void *user)
{
    gls_recognize_cli options = gls_recognize_cli_default();
    const recognizing *r = user;
    const char *const file[] = {r->tractogram, r->atlas, NULL};
    options.output = d->output[0];
    options.table = d->output[1];
    options.atlas_transform = r->transform;
    options.recognized_only = true;
    take_chain(r->chain, &options.transform);
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

/* Adds the atlas and how it comes to the series to the parameters and the inputs. */
static gls_status add_atlas(gls_dataset_derived *d, const recognizing *r)
{
    cJSON_AddStringToObject(d->parameters, "atlas", r->atlas);
    if (r->transform) cJSON_AddStringToObject(d->parameters, "atlas_transform", r->transform);
    gls_status status = gls_dataset_derived_add(d, "tractogram", r->tractogram);
    if (!status) status = gls_dataset_derived_add(d, "atlas", r->atlas);
    if (!status && r->transform) status = gls_dataset_derived_add(d, "atlas_transform", r->transform);
    return status ? status : add_chain(d, r->chain);
}

/* Recognises the bundles of a tractogram. */
static gls_status recognize_bundles(const gls_dataset_options *o, const recognizing *r, const char *stem)
{
    gls_dataset_derived d;
    gls_dataset_derived_init(&d);
    d.description = "Bundles of an atlas, recognised in a tractogram";
    d.make = recognize;
    d.user = r;
    d.source[0] = r->tractogram;
    d.source[1] = r->transform;
    d.n = 2;
    snprintf(d.output[0], sizeof d.output[0], "%s_desc-bundles_tractogram.trx", stem);
    snprintf(d.output[1], sizeof d.output[1], "%s_desc-bundles_tracts.tsv", stem);
    snprintf(d.sidecar, sizeof d.sidecar, "%s_desc-bundles_tractogram.json", stem);
    cJSON_AddStringToObject(d.parameters, "method", "search");
    cJSON_AddNumberToObject(d.parameters, "threshold_mm", 8);
    gls_status status = add_atlas(&d, r);
    if (!status) status = gls_dataset_derive(o, &d);
    gls_dataset_derived_finish(&d);
    return status;
}

/* --- Profiles along the bundles of one tractogram. */

#define PROFILES_HEAD "tractID\tnodeID\tscalar\tvalue\n"

/* The images that are averaged, and the files with the bundles. */
typedef struct profiling {
    const recognizing *r; /* tractogram: the bundles */
    const char **file;    /* the bundles and n images */
    size_t n;
    gls_text names; /* of the columns of the images, with commas between them */
} profiling;

/* Whether any bundle was found, as a group of the tractogram. */
static gls_status has_bundles(const gls_tract_run *run, const char *path, bool *found)
{
    gls_tractogram_reader *reader = NULL;
    gls_status status = gls_tract_open_again(run, path, &reader);
    *found = !status && gls_tractogram_reader_info(reader)->n_groups > 0;
    gls_tractogram_reader_close(reader);
    return status;
}

/* Runs `glslines profile --assign` with the defaults of the command; without bundles writes a table without rows. */
static gls_status profile(gls_tract_run *run, const gls_dataset_derived *d, const void *user)
{
    gls_profile_cli options = gls_profile_cli_default();
    const profiling *p = user;
    bool found;
    gls_status status = has_bundles(run, p->file[0], &found);
    options.output = d->output[0];
    options.tidy = true;
    options.names = p->names.data;
    options.assign = p->r->atlas;
    options.atlas_transform = p->r->transform;
    take_chain(p->r->chain, &options.assign_transform);
    if (!status && found) return gls_tract_profile(run, &options, p->file, p->n + 1);
    if (!status) status = gls_tract_run_writes(run, options.output);
    return status ? status
                  : gls_file_write(options.output, true, &run->files.group, PROFILES_HEAD, strlen(PROFILES_HEAD));
}

/* Adds an image that is averaged. */
static gls_status add_image(gls_dataset_derived *d, profiling *p, const char *path)
{
    char role[32];
    snprintf(role, sizeof role, "image_%zu", p->n);
    p->file[++p->n] = path;
    cJSON_AddStringToObject(d->parameters, role, path);
    return gls_dataset_derived_add(d, role, path);
}

/* Names the files of the profiles. */
static void name_profiles(gls_dataset_derived *d, const char *stem)
{
    d->n = 1;
    snprintf(d->output[0], sizeof d->output[0], "%s_desc-profiles_tracts.tsv", stem);
    snprintf(d->sidecar, sizeof d->sidecar, "%s_desc-profiles_tracts.json", stem);
}

/* Removes profiles along other bundles than those that there are now, so that no table joins them. */
static gls_status remove_old_profiles(const gls_dataset_options *o, const recognizing *r, const char *stem)
{
    gls_dataset_derived d;
    struct stat info;
    gls_dataset_derived_init(&d);
    name_profiles(&d, stem);
    gls_status status = GLS_OK;
    if (lstat(d.sidecar, &info) == 0) {
        status = add_atlas(&d, r);
        if (!status) status = gls_dataset_derived_remove_others(o, &d);
    }
    gls_dataset_derived_finish(&d);
    return status;
}

/* Writes the profiles of the images of a unit, if there are any. */
static gls_status profile_bundles(const gls_dataset_options *o, const gls_dataset_unit *u, const recognizing *r,
                                  const char *fa, const char *stem)
{
    gls_dataset_derived d;
    const char *file[GLS_MAX_STRINGS + 2] = {r->tractogram};
    profiling p = {.r = r, .file = file};
    if (!fa && u->bundle_image.n == 0) return GLS_OK;
    gls_dataset_derived_init(&d);
    d.description = "Profiles along bundles, by the nodes of the models of an atlas";
    d.make = profile;
    d.user = &p;
    d.source[0] = r->tractogram;
    d.source[1] = r->transform;
    name_profiles(&d, stem);
    gls_status status = add_atlas(&d, r);
    gls_dataset_columns(o, fa, &p.names);
    if (!status && fa) status = add_image(&d, &p, fa);
    for (size_t i = 0; i < u->bundle_image.n && !status; i++) status = add_image(&d, &p, u->bundle_image.text[i]);
    if (!status && p.names.failed) status = gls_no_memory();
    if (!status) cJSON_AddStringToObject(d.inputs, "names", p.names.data);
    if (!status) cJSON_AddStringToObject(d.parameters, "names", p.names.data);
    cJSON_AddStringToObject(d.parameters, "weights", "buan");
    cJSON_AddNumberToObject(d.parameters, "nodes", 100);
    if (!status) status = gls_dataset_derive(o, &d);
    gls_dataset_derived_finish(&d);
    gls_text_finish(&p.names);
    return status;
}

gls_status gls_dataset_recognize(const gls_dataset_options *o, const gls_dataset_unit *u, const char *tractogram,
                                 const char *fa, const char *stem)
{
    char bundles[GLS_DATASET_MAX_PATH];
    recognizing r = {tractogram, o->bundle_atlas, u->bundle_transform, &u->bundle_chain};
    if (!o->bundle_atlas) return GLS_OK;
    gls_status status = recognize_bundles(o, &r, stem);
    snprintf(bundles, sizeof bundles, "%s_desc-bundles_tractogram.trx", stem);
    r.tractogram = bundles;
    if (!status) status = remove_old_profiles(o, &r, stem);
    return status ? status : profile_bundles(o, u, &r, fa, stem);
}

/* --- The tables of all tractograms. */

/* The columns in front of those of the tables that are joined. */
#define FIRST "participant_id\tsession_id\ttractogram\t"
#define WIDE_NAME "bundle_profiles_wide.tsv"
/* Largest table, bytes. */
#define MAX_TABLE ((size_t)1 << 28)

/* The tables of one kind, which become one. */
typedef struct joined {
    const char *desc;   /* value of desc in their names */
    const char *column; /* their first column, with the tab behind it */
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
    if (!status && strncmp(head, j->column, strlen(j->column)) != 0)
        status = gls_fail(GLS_ERR_INPUT, "%s: is no table of %s: make it anew with 'glslines bids'", path, j->desc);
    if (!status && j->head && strcmp(head, j->head) != 0)
        status = gls_fail(GLS_ERR_INPUT,
                          "%s: has other columns than the tables before: make it anew with 'glslines bids'", path);
    if (!status && !j->head) {
        j->head = gls_text_copy(head);
        if (!j->head) status = gls_no_memory();
        gls_text_printf(&j->text, FIRST "%s\n", head);
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

/* Whether a file is a table of the kind that is joined. */
static bool wants(void *user, const char *name)
{
    const joined *j = user;
    char desc[256];
    return gls_bids_has_suffix(name, "tracts", ".tsv") &&
           strcmp(gls_bids_value(name, "desc", desc, sizeof desc), j->desc) == 0;
}

/* Removes a joined table of an earlier run, which has these columns first. */
static gls_status remove_joined(const char *path, const char *head)
{
    if (access(path, F_OK) != 0 || !gls_dataset_owns(path, head) || unlink(path) == 0) return GLS_OK;
    return gls_fail(GLS_ERR_OUTPUT, "%s: cannot be removed, and has no table of this data set any more: %s", path,
                    strerror(errno));
}

/* Joins the tables of one kind in a file of this name. If there are none, removes the file of an earlier run. */
static gls_status join(const gls_dataset_options *o, joined *j, const char *name)
{
    char path[GLS_DATASET_MAX_PATH], head[256];
    gls_status status = gls_dataset_walk_files(o, wants, append_table, j);
    if (!status && j->text.failed) status = gls_no_memory();
    snprintf(head, sizeof head, FIRST "%s", j->column);
    gls_bids_join(o->output, name, path, sizeof path);
    if (!status && j->n > 0) status = gls_dataset_rewrite(path, head, j->text.data, j->text.length, NULL);
    if (!status && j->n == 0) status = remove_joined(path, head);
    free(j->head);
    return status;
}

/* --- Profiles with a line for each tractogram. */

/* Cells of a line of the joined table. */
enum { PARTICIPANT, SESSION, TRACTOGRAM, TRACT, NODE, SCALAR, VALUE, CELLS };

/* The wide table: its columns, and the values of a tractogram. */
typedef struct wide {
    gls_dataset_texts column; /* names, in the order in which they were found */
    size_t capacity, next;    /* next: the column after the one that was found last */
    char **value;             /* of each column; NULL: none */
} wide;

/* Finds a column, or adds it at the end. Returns its index; SIZE_MAX: memory ran out. */
static size_t find_column(wide *w, const char *name)
{
    const size_t n = w->column.n;
    for (size_t i = 0; i < n; i++) {
        const size_t k = (w->next + i) % n; /* tables have mostly one order */
        if (strcmp(w->column.text[k], name) != 0) continue;
        w->next = k + 1;
        return k;
    }
    if (!gls_list_reserve(&w->column.text, n, &w->capacity, 1024, sizeof *w->column.text)) return SIZE_MAX;
    w->column.text[n] = strdup(name);
    if (!w->column.text[n]) return SIZE_MAX;
    w->next = w->column.n = n + 1;
    return n;
}

/* Finds the column of a line. */
static size_t column_of(wide *w, char *const *cell, gls_text *name)
{
    name->length = 0;
    gls_text_printf(name, "%s--%s--%s", cell[TRACT], cell[NODE], cell[SCALAR]);
    return name->failed ? SIZE_MAX : find_column(w, name->data);
}

/* Appends the line of a tractogram, if there is one, and forgets its values. */
static void append_line(wide *w, char *const *first, gls_text *out)
{
    if (!first[0]) return;
    gls_text_printf(out, "%s\t%s\t%s", first[PARTICIPANT], first[SESSION], first[TRACTOGRAM]);
    for (size_t k = 0; k < w->column.n; k++) {
        gls_text_printf(out, "\t%s", w->value[k] ? w->value[k] : "n/a");
        w->value[k] = NULL;
    }
    gls_text_puts(out, "\n");
}

/* Finds the columns of a table, which is cut into cells; with `out` appends its lines. */
static gls_status spread(wide *w, char *text, gls_text *out)
{
    gls_records records = gls_records_begin(text, '\t');
    char *cell[CELLS], *first[TRACT] = {NULL};
    gls_text name = {0};
    gls_status status = GLS_OK;
    size_t n = gls_record_next(&records, cell, CELLS); /* the head */
    while (!status && (n = gls_record_next(&records, cell, CELLS)) > 0) {
        if (n != CELLS) continue;
        const size_t k = column_of(w, cell, &name);
        if (k == SIZE_MAX) status = gls_no_memory();
        if (status || !out) continue;
        if (!first[0] || strcmp(first[TRACTOGRAM], cell[TRACTOGRAM]) != 0) {
            append_line(w, first, out);
            memcpy(first, cell, sizeof first);
        }
        w->value[k] = cell[VALUE];
    }
    if (!status && out) append_line(w, first, out);
    gls_text_finish(&name);
    return status;
}

/* Writes a line for each tractogram of the joined table of profiles. */
static gls_status widen(const gls_text *table, const char *path)
{
    char *text = gls_text_copy(table->data), *again = gls_text_copy(table->data);
    wide w = {.next = 0};
    gls_text out = {0};
    gls_status status = text && again ? spread(&w, text, NULL) : gls_no_memory();
    w.value = calloc(w.column.n + 1, sizeof *w.value);
    if (!status && !w.value) status = gls_no_memory();
    gls_text_append(&out, FIRST, strlen(FIRST) - 1);
    for (size_t k = 0; k < w.column.n; k++) {
        gls_text_puts(&out, "\t");
        gls_field_append(&out, w.column.text[k], '\t');
    }
    gls_text_puts(&out, "\n");
    if (!status) status = spread(&w, again, &out);
    if (!status && out.failed) status = gls_no_memory();
    if (!status) status = gls_dataset_rewrite(path, FIRST, out.data, out.length, NULL);
    gls_text_finish(&out);
    gls_dataset_texts_finish(&w.column);
    free(w.value);
    free(text);
    free(again);
    return status;
}

gls_status gls_dataset_bundles(const gls_dataset_options *o, size_t *bundles, size_t *profiles)
{
    joined tables = {.desc = "bundles", .column = "bundle\t"}, along = {.desc = "profiles", .column = "tractID\t"};
    char wide[GLS_DATASET_MAX_PATH];
    gls_status status = join(o, &tables, "bundles.tsv");
    if (!status) status = join(o, &along, "bundle_profiles.tsv");
    gls_bids_join(o->output, WIDE_NAME, wide, sizeof wide);
    if (!status && along.n > 0 && o->wide) status = widen(&along.text, wide);
    if (!status && along.n == 0) status = remove_joined(wide, FIRST);
    *bundles = tables.n;
    *profiles = along.n;
    gls_text_finish(&tables.text);
    gls_text_finish(&along.text);
    return status;
}
