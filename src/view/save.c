/* Saving what was done in the window: the bundles as a table of rules, from which the program itself makes a tractogram
 * and a picture, so that both are those of the command line. */
#include "view/save.h"

#include <cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/file.h"
#include "util/json_text.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/threads.h"
#include "view/command.h"

/* Longest time of a command, seconds. */
#define PATIENCE 3600

/* The files of a save, in the order in which they are written. Commands write a sidecar beside their file. */
enum { TABLE, TRACTOGRAM, SIDECAR, PICTURE, RECIPE, N_FILES };
static const char *const suffix[N_FILES] = {".tsv", ".trx", ".json", ".png", ".sh"};

/* State of a save. */
typedef struct saving {
    const gls_view_dissection *d;
    const gls_view_request *request;
    const char *image;
    char *file[N_FILES];
    gls_text script; /* the recipe */
    char *said;      /* last line of the command that runs */
    int n_made;      /* files that exist now, in their order */
} saving;

/* --- The table. */

/* Appends the regions of bundle k that have a role, with ; between them. */
static gls_status append_regions(const saving *s, size_t k, gls_region_role role, gls_text *out)
{
    const gls_view_request *r = s->request;
    bool first = true;
    for (size_t i = k > 0 ? r->end[k - 1] : 0; i < r->end[k]; i++) {
        gls_text region = {0};
        if (r->region[i].role != role) continue;
        gls_status status = gls_view_region_text(&r->region[i], s->d->atlas, &region);
        char *text = gls_text_take(&region);
        if (!status && !text) status = gls_no_memory();
        if (!status && text[strcspn(text, "\t\r\n\"")])
            status = gls_fail(GLS_ERR_ARGUMENT, "%s: a table cannot hold this name", s->d->atlas);
        if (!first) gls_text_puts(out, ";");
        first = false;
        /* in tables a backslash makes the next character part of a name */
        for (const char *c = text; c && *c && !status; c++) {
            if (strchr(";\\", *c)) gls_text_puts(out, "\\");
            gls_text_append(out, c, 1);
        }
        free(text);
        if (status) return status;
    }
    return GLS_OK;
}

static gls_status write_table(const saving *s)
{
    gls_text table = {0};
    gls_status status = GLS_OK;
    gls_text_puts(&table, "bundle\tinclude\texclude\n");
    for (size_t k = 0; k < s->request->n_bundles && !status; k++) {
        gls_text_printf(&table, "%s\t", s->request->bundle[k]);
        status = append_regions(s, k, GLS_REGION_INCLUDE, &table);
        gls_text_puts(&table, "\t");
        if (!status) status = append_regions(s, k, GLS_REGION_EXCLUDE, &table);
        gls_text_puts(&table, "\n");
    }
    return gls_text_write(&table, s->file[TABLE], s->request->force, NULL, status);
}

/* --- Commands. */

/* Keeps the last line that a command says: its error, if it fails. */
static bool keep_line(void *user, const char *line)
{
    saving *s = user;
    char *copy = gls_text_copy(line);
    if (copy && *copy) {
        free(s->said);
        s->said = copy;
    } else {
        free(copy);
    }
    return true;
}

/* Runs 'glslines WORD...', and notes it in the recipe. words: ends with NULL. */
static gls_status run(saving *s, const char *const *words)
{
    char *arguments[24] = {(char *)(uintptr_t) "glslines"};
    size_t n = 1;
    gls_child child;
    gls_text line = {0};
    gls_text_puts(&line, "glslines");
    for (; words[n - 1] && n < 20; n++) {
        arguments[n] = (char *)(uintptr_t)words[n - 1];
        gls_text_puts(&line, " ");
        gls_view_word(&line, words[n - 1]);
    }
    gls_text_puts(&line, " \"$@\"\n");
    char *text = gls_text_take(&line);
    if (s->request->force) arguments[n++] = (char *)(uintptr_t) "--force";
    arguments[n++] = (char *)(uintptr_t) "--quiet";
    gls_status status = text ? GLS_OK : gls_no_memory();
    if (!status && !gls_child_spawn(&child, arguments, environ))
        status = gls_fail(GLS_ERR_UNSUPPORTED, "save: %s cannot be started", words[0]);
    if (!status) {
        const gls_child_end end = gls_child_attend(&child, PATIENCE, keep_line, s);
        if (end.late || end.signal || end.code != 0)
            status = gls_fail(GLS_ERR_OUTPUT, "%s", s->said ? s->said : "save: the command did not end well");
    }
    if (!status) gls_text_puts(&s->script, text);
    free(text);
    return status;
}

static gls_status run_segment(saving *s)
{
    static const char *const axes[] = {"stated", "ras", "lps"};
    const gls_tract_common *input = s->d->input;
    const char *words[16] = {"segment", s->d->path[0], s->file[TABLE], "--output", s->file[TRACTOGRAM]};
    size_t n = 5;
    /* the image behind the streamlines is in their space */
    const char *reference = input->reference ? input->reference : s->d->lines.has_grid ? NULL : s->image;
    if (reference) words[n++] = "--reference";
    if (reference) words[n++] = reference;
    if (input->vtk_space) words[n++] = "--vtk-space";
    if (input->vtk_space) words[n++] = axes[input->vtk_space];
    if (input->recover) words[n++] = "--recover";
    if (s->d->lines.n_unusable > 0) words[n++] = "--invalid";
    if (s->d->lines.n_unusable > 0) words[n++] = "drop";
    return run(s, words);
}

static gls_status run_render(saving *s)
{
    const char *words[16] = {"render", s->file[TRACTOGRAM], "--output", s->file[PICTURE], "--color", "groups"};
    size_t n = 6;
    if (s->image) words[n++] = "--image";
    if (s->image) words[n++] = s->image;
    return run(s, words);
}

/* --- All of it. */

/* Names the files, and checks that they may be written. */
static gls_status name_files(saving *s, bool *exists)
{
    const gls_view_dissection *d = s->d;
    const char *name = gls_file_name(d->path[0]);
    const int folder = d->folder ? (int)strlen(d->folder) : (int)(name - d->path[0]);
    const char *const inputs[] = {d->path[0], d->atlas, d->input->reference, s->image};
    gls_status status = GLS_OK;
    for (int i = 0; i < N_FILES && !status; i++) {
        if (gls_asprintf(&s->file[i], "%.*s%s%s%s", folder, d->folder ? d->folder : d->path[0], d->folder ? "/" : "",
                         s->request->name, suffix[i]) < 0)
            return gls_no_memory();
        status = gls_output_check(s->file[i], s->request->force, inputs, sizeof inputs / sizeof *inputs);
        *exists = status && !s->request->force && access(s->file[i], F_OK) == 0;
    }
    return status;
}

/* Appends the answer. note: why there is no picture; NULL: there is one. */
static gls_status answer(const saving *s, const char *note, gls_text *json)
{
    cJSON *root = cJSON_CreateObject();
    gls_json_uint(root, "id", s->request->id);
    cJSON_AddStringToObject(root, "kind", "save");
    cJSON *files = cJSON_AddArrayToObject(root, "files");
    for (int i = 0; i < N_FILES; i++)
        if (i != PICTURE || !note) cJSON_AddItemToArray(files, cJSON_CreateString(s->file[i]));
    if (note) cJSON_AddStringToObject(root, "note", note);
    char *text = gls_json_print_line(root);
    if (text) gls_text_puts(json, text);
    cJSON_free(text);
    cJSON_Delete(root);
    return json->failed ? gls_no_memory() : GLS_OK;
}

gls_status gls_view_save(gls_view_dissection *d, const char *image, const gls_view_request *request, gls_text *json,
                         bool *exists)
{
    saving s = {.d = d, .request = request, .image = image};
    char *note = NULL;
    *exists = false;
    if (d->n_paths != 1)
        return gls_fail(GLS_ERR_ARGUMENT, "save: bundles are made of one tractogram, and view has %zu", d->n_paths);
    gls_status status = gls_beside_end(&d->reading, GLS_OK);
    if (!status && !d->lines.has_grid && !d->input->reference && !image)
        status = gls_fail(GLS_ERR_ARGUMENT, "%s: has no grid, and bundles need one: give 'glslines view' an image",
                          d->path[0]);
    if (!status) status = name_files(&s, exists);
    if (!status) status = write_table(&s);
    if (!status) s.n_made = TABLE + 1;
    gls_text_puts(&s.script,
                  "#!/bin/sh\n# Bundles made in the window of glslines. Run this script in the folder in which "
                  "'glslines view' ran; --force replaces files.\nset -e\n");
    if (!status) status = run_segment(&s);
    if (!status) s.n_made = SIDECAR + 1;
    /* without a device there is no picture, and the bundles are kept */
    if (!status && run_render(&s)) note = gls_text_copy(gls_last_error());
    if (!status && !note) s.n_made = PICTURE + 1;
    status = gls_text_write(&s.script, s.file[RECIPE], request->force, NULL, status);
    if (!status) status = answer(&s, note, json);
    for (int i = 0; i < N_FILES; i++) {
        if (status && i < s.n_made && !request->force) unlink(s.file[i]);
        free(s.file[i]);
    }
    free(note);
    free(s.said);
    return status;
}
