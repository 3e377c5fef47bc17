/* Saving what was done in the window: the bundles as a table of rules, from which the program itself makes a tractogram
 * and a picture, so that both are those of the command line; and what is tracked live, which it tracks again. All files
 * are made in a hidden folder, and get their names together at the end, so that the files that they replace stay until
 * then, even if the program is killed. */
#include "view/save.h"

#include <arpa/inet.h>
#include <cJSON.h>
#include <errno.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/image_write.h"
#include "record/inputs.h"
#include "util/file.h"
#include "util/numbers.h"
#include "util/output_file.h"
#include "util/status.h"
#include "util/threads.h"
#include "view/command.h"

/* Longest time of a command, seconds. */
#define PATIENCE 3600
/* Largest sidecar, and largest picture, bytes. */
#define NAMED_BYTES ((size_t)64 << 20)
/* Most words of a command about bundles, with a chain of transforms. */
#define MAX_WORDS (24 + 2 * GLS_MAX_STRINGS + GLS_VIEW_CRITERIA_WORDS + GLS_VIEW_REGIONS)
/* Exit codes of a command whose outputs cannot be written, and of a fault of the program. */
enum { NO_OUTPUT = 4, FAULT = 1 };

/* The files of a save, in the order in which they are written. Commands write a sidecar beside their file. The first
 * two are there if a table of bundles cannot say all: the streamlines that are left for it. What is tracked has none of
 * these, no table and no picture. */
enum { CHOSEN, CHOSEN_SIDECAR, TABLE, TRACTOGRAM, SIDECAR, PICTURE, RECIPE, N_FILES };
static const char *const suffix[N_FILES] = {"_chosen.trx", "_chosen.json", ".tsv", ".trx", ".json", ".png", ".sh"};

/* Most painted regions: one for each region, and that of the seeds. */
#define MAX_PAINTED (GLS_VIEW_ALL_REGIONS + 1)
/* Begin of a recipe, begin of its line that lists the other files of the save, and its largest size in bytes. */
#define HEAD "#!/bin/sh\n# Made in the window of glslines: "
#define LIST "# Files beside this script:"
#define RECIPE_BYTES ((size_t)1 << 20)

/* A painted region of a save. */
typedef struct painted {
    gls_view_mask mask; /* a copy, whose runs are owned */
    char *file, *made;  /* as of the files */
} painted;

/* State of a save. Of the dissection its thread reads nothing that a selection changes. */
struct gls_view_saving {
    const gls_view_dissection *d;
    gls_view_request request;
    const char *image;
    char n_threads[16];
    char *file[N_FILES]; /* NULL: the save has no such file */
    char *folder;        /* folder in which the files are made */
    char *made[N_FILES]; /* paths of the files in that folder; there is no recipe */
    painted *painted;    /* regions, each once */
    size_t n_painted;
    bool chooses;                       /* the files CHOSEN and CHOSEN_SIDECAR are there */
    char *stale[N_FILES + MAX_PAINTED]; /* files of a save of before, to be removed at the end; owned */
    size_t n_stale;
    char *inside;         /* the folder with a slash, as --folder takes it; NULL: nothing is painted */
    char *atlas;          /* image of labels as the table names it; NULL: none */
    gls_view_words track; /* words of 'track'; none: bundles are saved */
    char *sphere;         /* words of its seeds and regions, owned */
    char *stop[GLS_VIEW_REGIONS];
    char nseeds[24], seed[24];
    gls_text script; /* the recipe */
    char *said;      /* last line of the command that runs */
    bool stopped;    /* it ended by a signal, or could not write */
    char *note;      /* why there is no picture; NULL: there is one */
    gls_beside work;
    int ended; /* set by its thread */
};
typedef struct gls_view_saving saving;

/* --- The table. */

/* The painted region of a region. */
static painted *find_painted(const saving *s, uint32_t number)
{
    size_t i = 0;
    while (i < s->n_painted && s->painted[i].mask.number != number) i++;
    return i < s->n_painted ? &s->painted[i] : NULL;
}

/* Appends the regions of bundle k that have a role, with ; between them: the first `most` of them behind the first
 * `from`. */
static gls_status append_regions(const saving *s, size_t k, gls_region_role role, size_t from, size_t most,
                                 gls_text *out)
{
    const gls_view_request *r = &s->request;
    bool first = true;
    size_t seen = 0;
    for (size_t i = k > 0 ? r->end[k - 1] : 0; i < r->end[k]; i++) {
        gls_text region = {0};
        if (r->region[i].role != role || seen++ < from || seen > from + most) continue;
        gls_status status = GLS_OK;
        if (r->region[i].mask > 0)
            gls_text_puts(&region, gls_file_name(find_painted(s, r->region[i].mask)->file));
        else
            status = gls_view_region_text(&r->region[i], s->atlas, &region);
        char *text = gls_text_take(&region);
        if (!status && !text) status = gls_no_memory();
        if (!status && text[strcspn(text, "\t\r\n\"")])
            status = gls_fail(GLS_ERR_ARGUMENT, "%s: a table cannot hold this name", s->atlas);
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
    bool any = false, ends = false;
    for (size_t i = 0; i < s->request.n_regions; i++) {
        any |= s->request.region[i].role == GLS_REGION_INCLUDE_ANY;
        ends |= s->request.region[i].role == GLS_REGION_INCLUDE_END;
    }
    gls_text_printf(&table, "bundle\tinclude\texclude%s%s\n", any ? "\tinclude_any" : "", ends ? "\tstart\tend" : "");
    for (size_t k = 0; k < s->request.n_bundles && !status; k++) {
        gls_text_printf(&table, "%s\t", s->request.bundle[k]);
        status = append_regions(s, k, GLS_REGION_INCLUDE, 0, GLS_VIEW_REGIONS, &table);
        gls_text_puts(&table, "\t");
        if (!status) status = append_regions(s, k, GLS_REGION_EXCLUDE, 0, GLS_VIEW_REGIONS, &table);
        if (any) gls_text_puts(&table, "\t");
        if (any && !status) status = append_regions(s, k, GLS_REGION_INCLUDE_ANY, 0, GLS_VIEW_REGIONS, &table);
        /* streamlines run from either of two regions to the other one */
        for (size_t e = 0; e < 2 && ends && !status; e++) {
            gls_text_puts(&table, "\t");
            status = append_regions(s, k, GLS_REGION_INCLUDE_END, e, 1, &table);
        }
        gls_text_puts(&table, "\n");
    }
    return gls_text_write(&table, s->made[TABLE], false, NULL, status);
}

/* Returns a path from a folder to a file, both without links and from the root. NULL: no memory. */
static char *path_between(const char *folder, const char *file)
{
    size_t same = 0; /* letters up to the last folder that both have */
    for (size_t i = 0; i == 0 || (folder[i - 1] && folder[i - 1] == file[i - 1]); i++)
        if (file[i] == '/' && (folder[i] == '/' || !folder[i])) same = i;
    gls_text path = {0};
    gls_text_puts(&path, folder[same] && folder[same + 1] ? "" : "./");
    for (const char *at = folder + same; *at; at++)
        if (*at == '/' && at[1]) gls_text_puts(&path, "../");
    gls_text_puts(&path, file + same + 1);
    return gls_text_take(&path);
}

/* Where the atlas was given from the current folder and the table is read from another one, writes the table again with
 * the path from its own folder: all can be moved to another place together. */
static gls_status write_movable_table(saving *s)
{
    if (!s->inside || !s->atlas || s->d->atlas[0] == '/') return GLS_OK;
    const char *table = s->file[TABLE];
    const int length = (int)(gls_file_name(table) - table);
    char *folder = NULL, *real = NULL, *atlas = NULL;
    if (gls_asprintf(&folder, "%.*s", length > 0 ? length : 1, length > 0 ? table : ".") >= 0)
        real = realpath(folder, NULL);
    if (real) atlas = path_between(real, s->atlas);
    free(folder);
    free(real);
    if (!atlas) return gls_fail(GLS_ERR_OUTPUT, "%s: %s", table, strerror(errno));
    free(s->atlas);
    s->atlas = atlas;
    unlink(s->made[TABLE]);
    return write_table(s);
}

/* Writes the painted regions. */
static gls_status write_painted(const saving *s)
{
    const gls_grid *grid = &s->d->paint->grid;
    gls_status status = GLS_OK;
    for (size_t i = 0; i < s->n_painted && !status; i++) {
        uint8_t *inside = calloc(gls_grid_voxels(grid), 1);
        if (!inside) return gls_no_memory();
        gls_view_mask_fill(&s->painted[i].mask, inside);
        status = gls_image_write_values(s->painted[i].made, false, NULL, grid, "view", 1, GLS_TYPE_UINT8, inside);
        free(inside);
    }
    return status;
}

/* --- The folder in which the files are made. */

static gls_status make_folder(saving *s)
{
    const char *first = s->file[s->request.tracks ? TRACTOGRAM : TABLE];
    s->folder = gls_output_folder_make(first);
    if (!s->folder) return gls_fail(GLS_ERR_OUTPUT, "%s: cannot create: %s", first, strerror(errno));
    for (int i = 0; i < N_FILES; i++)
        if (s->file[i] && gls_asprintf(&s->made[i], "%s/%s", s->folder, gls_file_name(s->file[i])) < 0)
            return gls_no_memory();
    for (size_t i = 0; i < s->n_painted; i++)
        if (gls_asprintf(&s->painted[i].made, "%s/%s", s->folder, gls_file_name(s->painted[i].file)) < 0)
            return gls_no_memory();
    /* the table names painted regions without their folder, so that all can be moved together */
    if (s->n_painted > 0 && gls_asprintf(&s->inside, "%s%s/", strchr(s->folder, '/') ? "" : "./", s->folder) < 0)
        return gls_no_memory();
    return GLS_OK;
}

/* Replaces the paths of files in the folder by those that the files get at the end: takes "FOLDER/" out of n bytes.
 * Returns the number of bytes that are left. */
static size_t name_as_finished(const saving *s, char *data, size_t n)
{
    const size_t before = (size_t)(gls_file_name(s->folder) - s->folder);
    const size_t length = strlen(s->folder) + 1 - before;
    /* this path has the slash */
    const char *name = s->made[TRACTOGRAM] + before;
    for (char *at = data; (at = memmem(at, n - (size_t)(at - data), name, length)); n -= length)
        memmove(at, at + length, n - length - (size_t)(at - data));
    return n;
}

/* --- Commands. */

/* Keeps the last line that a command says: its error, if it fails. */
static bool keep_line(void *user, const char *line)
{
    saving *s = user;
    char *copy = gls_text_copy(line);
    if (copy && *copy) {
        name_as_finished(s, copy, strlen(copy) + 1);
        free(s->said);
        s->said = copy;
    } else {
        free(copy);
    }
    return true;
}

/* Runs 'glslines WORD...', and notes it in the recipe, with the names that the files get. words: ends with NULL. */
static gls_status run(saving *s, const char *const *words)
{
    const char *const own[] = {"--quiet", "--nthreads", s->n_threads};
    size_t n = 0;
    while (words[n]) n++;
    char **arguments = calloc(n + sizeof own / sizeof *own + 2, sizeof *arguments);
    if (!arguments) return gls_no_memory();
    gls_child child;
    gls_text line = {0};
    gls_text_puts(&line, "glslines");
    arguments[0] = (char *)(uintptr_t) "glslines";
    for (size_t i = 0; i < n; i++) {
        char *word = gls_text_copy(words[i]);
        arguments[i + 1] = (char *)(uintptr_t)words[i];
        line.failed |= !word;
        if (word) name_as_finished(s, word, strlen(word) + 1);
        gls_text_puts(&line, " ");
        if (word) gls_view_word(&line, word);
        free(word);
    }
    gls_text_puts(&line, " \"$@\"\n");
    char *text = gls_text_take(&line);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) arguments[n + 1 + i] = (char *)(uintptr_t)own[i];
    gls_status status = text ? GLS_OK : gls_no_memory();
    if (!status && !gls_child_spawn(&child, arguments, environ))
        status = gls_fail(GLS_ERR_UNSUPPORTED, "save: %s cannot be started", words[0]);
    if (!status) {
        child.go_on = s->d->go_on;
        const gls_child_end end = gls_child_attend(&child, PATIENCE, keep_line, s);
        const size_t own_name = s->said && strncmp(s->said, "glslines: ", 10) == 0 ? 10 : 0;
        s->stopped = end.late || end.signal || end.code > 128 || end.code == NO_OUTPUT || end.code == FAULT;
        if (s->stopped || end.code != 0)
            status = s->said
                         ? gls_fail(GLS_ERR_OUTPUT, "%s", s->said + own_name)
                         : gls_fail(GLS_ERR_OUTPUT, "save: 'glslines %s' ended without a reason: save again", words[0]);
    }
    if (!status) gls_text_puts(&s->script, text);
    free(text);
    free(arguments);
    return status;
}

/* Adds --transform, which brings images to the space of the streamlines. Returns the number of words. */
static size_t add_transform(const saving *s, const char **words)
{
    const gls_strings *chain = s->d->transform;
    for (int i = 0; i < chain->n; i++) {
        words[2 * i] = "--transform";
        words[2 * i + 1] = chain->value[i];
    }
    return 2 * (size_t)chain->n;
}

/* Whether a region is of a role for which tables of bundles have no column. */
static bool is_beyond_table(const gls_view_region *region)
{
    return region->role == GLS_REGION_INCLUDE_BOTH_ENDS || region->role == GLS_REGION_EXCLUDE_END;
}

/* The option of 'glslines edit' for a region. NULL: no memory. */
static char *region_word(const saving *s, const gls_view_region *region)
{
    gls_text out = {0};
    gls_text_printf(&out, "--%s=", gls_region_role_name(region->role));
    if (region->mask > 0)
        gls_text_puts(&out, find_painted(s, region->mask)->made);
    else if (gls_view_region_text(region, s->d->atlas, &out))
        out.failed = true;
    return gls_text_take(&out);
}

/* Adds how the tractogram is read. Returns the number of words. */
static size_t add_reading(const saving *s, const char **words)
{
    /* without a transform the image behind the streamlines is in their space */
    const char *behind = s->d->space.n > 0 ? NULL : s->image;
    const char *given = s->d->input->reference;
    return gls_view_read_words(s->d->input, given ? given : s->d->lines.has_grid ? NULL : behind, words);
}

/* Selects by what tables of bundles cannot say. */
static gls_status run_edit(saving *s)
{
    const gls_view_request *r = &s->request;
    const char *words[MAX_WORDS] = {"edit", s->d->path[0], s->made[CHOSEN]};
    char *own[GLS_VIEW_CRITERIA_WORDS + GLS_VIEW_REGIONS];
    size_t n = 3, n_own = gls_view_criteria_words(&r->criteria, own);
    gls_status status = GLS_OK;
    for (size_t i = 0; i < r->n_regions && r->n_bundles == 1; i++)
        if (is_beyond_table(&r->region[i])) own[n_own++] = region_word(s, &r->region[i]);
    for (size_t i = 0; i < n_own; i++) {
        if (!own[i]) status = gls_no_memory();
        words[n++] = own[i];
    }
    n += add_reading(s, words + n);
    if (s->d->lines.n_unusable > 0) words[n++] = "--invalid";
    if (s->d->lines.n_unusable > 0) words[n++] = "keep";
    for (int i = 0; i < s->d->transform->n && gls_view_request_has_label(r); i++) {
        words[n++] = "--space-transform";
        words[n++] = s->d->transform->value[i];
    }
    if (!status) status = run(s, words);
    for (size_t i = 0; i < n_own; i++) free(own[i]);
    return status;
}

static gls_status run_segment(saving *s)
{
    const bool chosen = s->chooses;
    const char *words[MAX_WORDS] = {"segment", chosen ? s->made[CHOSEN] : s->d->path[0], s->made[TABLE], "--output",
                                    s->made[TRACTOGRAM]};
    size_t n = 5;
    if (!chosen) n += add_reading(s, words + n);
    if (s->inside) words[n++] = "--folder";
    if (s->inside) words[n++] = s->inside;
    if (s->d->lines.n_unusable > 0) words[n++] = "--invalid";
    if (s->d->lines.n_unusable > 0) words[n++] = "drop";
    if (gls_view_request_has_label(&s->request)) add_transform(s, words + n);
    return run(s, words);
}

static gls_status run_render(saving *s)
{
    const char *words[MAX_WORDS] = {"render", s->made[TRACTOGRAM], "--output", s->made[PICTURE], "--color", "groups"};
    size_t n = 6;
    if (s->image) words[n++] = "--image";
    if (s->image) words[n++] = s->image;
    if (s->image) add_transform(s, words + n);
    return run(s, words);
}

/* --- What is tracked. */

/* Copies the words of seeds and regions. */
static gls_status take_track(saving *s)
{
    const gls_view_request *r = &s->request;
    double sphere[4];
    char text[160];
    if (!s->d->live->job)
        return gls_fail(GLS_ERR_ARGUMENT, "save: nothing is tracked: give 'glslines view' options of 'track' behind "
                                          "--");
    gls_status status = gls_view_live_words(s->d->live, r, &s->track);
    memcpy(sphere, r->sphere, sizeof sphere);
    gls_view_numbers(sphere, 4, text);
    if (!status && gls_asprintf(&s->sphere, "--seed-sphere=%s", text) < 0) status = gls_no_memory();
    for (size_t i = 0; i < r->n_regions && !status; i++) {
        gls_text word = {0};
        gls_text_puts(&word, "--stop-at=");
        status = gls_view_region_text(&r->region[i], s->d->live->track.atlas, &word);
        s->stop[i] = gls_text_take(&word);
        if (!status && !s->stop[i]) status = gls_no_memory();
    }
    gls_snprintf(s->nseeds, sizeof s->nseeds, "%llu", (unsigned long long)r->nseeds);
    gls_snprintf(s->seed, sizeof s->seed, "%llu", (unsigned long long)r->seed);
    return status;
}

static gls_status run_track(saving *s)
{
    const gls_view_request *r = &s->request;
    const char **words = calloc(s->track.n + 2 * r->n_regions + 12, sizeof *words);
    size_t n = 0;
    if (!words) return gls_no_memory();
    words[n++] = "track";
    for (size_t i = 0; i < s->track.n; i++) words[n++] = s->track.word[i];
    if (r->mask > 0) words[n++] = "--seed-rejection";
    words[n++] = r->mask > 0 ? find_painted(s, r->mask)->made : s->sphere;
    words[n++] = "--nseeds";
    words[n++] = s->nseeds;
    words[n++] = "--seed-seed";
    words[n++] = s->seed;
    for (size_t i = 0; i < r->n_regions; i++) {
        if (r->region[i].mask > 0) words[n++] = "--stop-at";
        words[n++] = r->region[i].mask > 0 ? find_painted(s, r->region[i].mask)->made : s->stop[i];
    }
    words[n++] = "--output";
    words[n++] = s->made[TRACTOGRAM];
    gls_status status = run(s, words);
    free(words);
    return status;
}

/* --- All of it. */

/* Makes the path of a file of the save. */
static gls_status make_path(const saving *s, const char *end, char **file)
{
    const gls_view_dissection *d = s->d;
    const char *first = d->n_paths > 0 ? d->path[0] : "";
    const int folder = d->folder ? (int)strlen(d->folder) : (int)(gls_file_name(first) - first);
    return gls_asprintf(file, "%.*s%s%s%s", folder, d->folder ? d->folder : first, d->folder ? "/" : "",
                        s->request.name, end) < 0
               ? gls_no_memory()
               : GLS_OK;
}

/* Makes the path of painted region k, from 0. */
static gls_status make_painted_path(const saving *s, size_t k, char **file)
{
    char end[40];
    gls_snprintf(end, sizeof end, "_mask-%zu.nii.gz", k + 1);
    return make_path(s, end, file);
}

/* Checks that a file is none of the inputs, nor of what is tracked. */
static gls_status check_inputs(const saving *s, const gls_inputs *inputs, const char *file)
{
    gls_status status = gls_inputs_check(inputs, file);
    return status ? status : gls_view_live_spares(s->d->live, file);
}

/* Checks that a file may be written. inputs: files that it must not replace. */
static gls_status check_file(const saving *s, const gls_inputs *inputs, const char *file, bool *exists)
{
    const bool force = s->request.force;
    gls_status status = check_inputs(s, inputs, file);
    if (status) return status;
    status = gls_output_check(file, force, NULL, 0);
    /* what cannot be replaced is no question */
    *exists = status && !force && access(file, F_OK) == 0 && !gls_output_check(file, true, NULL, 0);
    if (status && !*exists) status = gls_output_check(file, true, NULL, 0);
    return status;
}

/* The names that the recipe in a file lists, with a blank around each. NULL: it is no recipe, or memory ran out. From
 * malloc. */
static char *read_listed(const char *recipe)
{
    char *text = NULL, *names = NULL;
    size_t n;
    if (access(recipe, F_OK) != 0 || gls_file_read_text(recipe, RECIPE_BYTES, &text, &n)) return NULL;
    char *line = strncmp(text, HEAD, strlen(HEAD)) == 0 ? strstr(text, "\n" LIST) : NULL;
    if (line) {
        line += strlen("\n" LIST);
        line[strcspn(line, "\n")] = 0;
        if (gls_asprintf(&names, "%s ", line) < 0) names = NULL;
    }
    free(text);
    return names;
}

/* Takes a path, and notes it as a file to remove if a recipe lists it and it is no input. */
static gls_status note_stale(saving *s, const gls_inputs *inputs, const char *listed, char *file)
{
    gls_text word = {0};
    gls_text_printf(&word, " %s ", gls_file_name(file));
    char *text = gls_text_take(&word);
    if (text && strstr(listed, text) && access(file, F_OK) == 0 && check_inputs(s, inputs, file) == GLS_OK) {
        s->stale[s->n_stale++] = file;
        file = NULL;
    }
    free(file);
    if (!text) return gls_no_memory();
    free(text);
    return GLS_OK;
}

/* Finds the files that a save of this name has made, by its recipe, and that this save does not replace: they belong to
 * bundles or streamlines that are there no more. */
static gls_status find_stale(saving *s, const gls_inputs *inputs)
{
    char *listed = s->request.force ? read_listed(s->file[RECIPE]) : NULL, *file;
    gls_status status = GLS_OK;
    for (int i = 0; listed && i < N_FILES && !status; i++) {
        if (s->file[i]) continue;
        status = make_path(s, suffix[i], &file);
        if (!status) status = note_stale(s, inputs, listed, file);
    }
    for (size_t k = s->n_painted; listed && k < MAX_PAINTED && !status; k++) {
        status = make_painted_path(s, k, &file);
        if (!status) status = note_stale(s, inputs, listed, file);
    }
    free(listed);
    return status;
}

/* Names the files, and checks that they may be written. */
static gls_status name_files(saving *s, bool *exists)
{
    const gls_view_dissection *d = s->d;
    const char *const given[] = {
        d->n_paths > 0 ? d->path[0] : NULL, d->atlas, d->lut, d->input->reference, d->live->act, d->gallery->odf};
    gls_inputs inputs = {0};
    gls_status status = gls_inputs_add_all(&inputs, given, sizeof given / sizeof *given);
    for (size_t i = 0; i < d->gallery->n && !status; i++) status = gls_inputs_add(&inputs, d->gallery->image[i].path);
    if (!status) status = gls_inputs_add_chain(&inputs, d->transform);
    for (int i = 0; i < N_FILES && !status; i++) {
        if ((i < TABLE && !s->chooses) || (s->request.tracks && (i == TABLE || i == PICTURE))) continue;
        status = make_path(s, suffix[i], &s->file[i]);
        if (!status) status = check_file(s, &inputs, s->file[i], exists);
    }
    for (size_t i = 0; i < s->n_painted && !status; i++) {
        status = make_painted_path(s, i, &s->painted[i].file);
        if (!status) status = check_file(s, &inputs, s->painted[i].file, exists);
    }
    if (!status) status = find_stale(s, &inputs);
    gls_inputs_finish(&inputs);
    return status;
}

/* Copies the painted regions of the bundles and of the seeds, each once, and finds the name of the atlas: with a folder
 * in front of names it has to begin at the root. */
static gls_status take_painted(saving *s)
{
    const gls_view_request *r = &s->request;
    gls_status status = (s->painted = calloc(r->n_regions + 1, sizeof *s->painted)) ? GLS_OK : gls_no_memory();
    for (size_t i = 0; i <= r->n_regions && !status; i++) {
        const gls_view_mask *mask;
        const uint32_t number = i < r->n_regions ? r->region[i].mask : r->mask;
        if (number == 0 || find_painted(s, number)) continue;
        status = gls_view_paint_find(s->d->paint, number, &mask);
        if (!status) status = gls_view_mask_copy(mask, &s->painted[s->n_painted].mask);
        s->n_painted += !status;
    }
    if (status || !s->d->atlas) return status;
    s->atlas = s->n_painted > 0 ? realpath(s->d->atlas, NULL) : gls_text_copy(s->d->atlas);
    return s->atlas ? GLS_OK : gls_fail(GLS_ERR_INPUT, "%s: %s", s->d->atlas, strerror(errno));
}

/* Adds a copy of a file that was made to the files that get their names together. A copy, because a name may be a link
 * to a file in another file system. */
static gls_status add_copy(const saving *s, const char *made, const char *file, gls_output_group *group)
{
    char piece[1 << 16];
    size_t got = 0;
    gls_input input;
    gls_output output = GLS_OUTPUT_NONE;
    gls_status status = gls_input_open(made, &input);
    if (!status) status = gls_output_create(file, s->request.force, &output);
    output.group = group;
    do {
        if (!status) status = gls_input_read(&input, piece, sizeof piece, &got);
        if (!status) status = gls_output_write(&output, piece, got);
    } while (!status && got == sizeof piece);
    gls_input_close(&input);
    if (!status) return gls_output_commit(&output);
    gls_output_discard(&output);
    return status;
}

/* Replaces paths in the chunks of a PNG file. Returns the number of bytes that are left; 0: the file is damaged. */
static size_t name_in_picture(const saving *s, char *data, size_t n)
{
    size_t from = 8, to = 8;
    while (n >= 20 && n - from >= 12) {
        uint32_t length, sum;
        memcpy(&length, data + from, 4);
        length = ntohl(length);
        if (length > n - from - 12) return 0;
        /* a chunk: length of the data, type, data, checksum of both */
        const size_t left = name_as_finished(s, data + from + 4, length + 4);
        memmove(data + to + 4, data + from + 4, left);
        from += length + 12;
        length = htonl((uint32_t)left - 4);
        sum = htonl(gls_crc32(0, data + to + 4, left));
        memcpy(data + to, &length, 4);
        memcpy(data + to + 4 + left, &sum, 4);
        to += left + 8;
    }
    return n >= 20 && from == n ? to : 0;
}

/* Adds a file that names others: the sidecar, with its command line, or the picture, with its tractogram. */
static gls_status add_named(const saving *s, int i, gls_output_group *group)
{
    char *data = NULL;
    size_t n = 0;
    gls_status status = gls_file_read(s->made[i], NAMED_BYTES, &data, &n);
    if (!status) n = i == PICTURE ? name_in_picture(s, data, n) : name_as_finished(s, data, n);
    if (!status && n == 0) status = gls_fail(GLS_ERR_OUTPUT, "%s: was not written as a whole", s->file[i]);
    if (!status) status = gls_file_write(s->file[i], s->request.force, group, data, n);
    free(data);
    return status;
}

/* Lists the files in the recipe, so that a later save of this name removes those that it does not replace. */
static void list_files(saving *s)
{
    gls_text_puts(&s->script, LIST);
    for (int i = 0; i < RECIPE; i++)
        if (s->file[i] && !(i == PICTURE && s->note)) gls_text_printf(&s->script, " %s", gls_file_name(s->file[i]));
    for (size_t i = 0; i < s->n_painted; i++) gls_text_printf(&s->script, " %s", gls_file_name(s->painted[i].file));
    gls_text_puts(&s->script, "\n");
}

/* Gives all files their names, or none. */
static gls_status conclude(saving *s, gls_status status)
{
    gls_output_group group = {0};
    if (!status && s->chooses) status = add_copy(s, s->made[CHOSEN], s->file[CHOSEN], &group);
    if (!status && s->chooses) status = add_named(s, CHOSEN_SIDECAR, &group);
    for (int i = TABLE; i <= TRACTOGRAM && !status; i++)
        if (s->file[i]) status = add_copy(s, s->made[i], s->file[i], &group);
    for (size_t i = 0; i < s->n_painted && !status; i++)
        status = add_copy(s, s->painted[i].made, s->painted[i].file, &group);
    if (!status) status = add_named(s, SIDECAR, &group);
    if (!status && !s->note && s->file[PICTURE]) status = add_named(s, PICTURE, &group);
    list_files(s);
    status = gls_text_write(&s->script, s->file[RECIPE], s->request.force, &group, status);
    status = gls_output_group_end(&group, status);
    /* a picture of before shows other bundles */
    if (!status && s->note && s->request.force) unlink(s->file[PICTURE]);
    for (size_t i = 0; i < s->n_stale && !status; i++) unlink(s->stale[i]);
    return status;
}

/* Makes the files in their folder. */
static gls_status make_files(saving *s)
{
    gls_status status = make_folder(s);
    if (!status && !s->request.tracks) status = write_table(s);
    if (!status) status = write_painted(s);
    gls_text_printf(&s->script,
                    HEAD "%s. Run this script in the folder in which 'glslines view' ran; --force replaces files.\n"
                         "set -e\n",
                    s->request.tracks ? "streamlines" : "bundles");
    if (s->request.tracks) return status ? status : run_track(s);
    if (!status && s->chooses) status = run_edit(s);
    if (!status) status = run_segment(s);
    if (!status) status = write_movable_table(s);
    /* where there is no device, or nothing to draw, there is no picture, and the bundles are kept */
    if (!status && run_render(s)) {
        s->note = gls_text_copy(gls_last_error());
        if (s->stopped || !s->note) status = GLS_ERR_OUTPUT;
    }
    return status;
}

/* gls_beside.work: the whole save. */
static gls_status work(void *user)
{
    saving *s = user;
    gls_status status = conclude(s, make_files(s));
    if (s->folder) gls_output_folder_remove(s->folder);
    __atomic_store_n(&s->ended, 1, __ATOMIC_RELEASE);
    return status;
}

/* Appends the answer. */
static gls_status answer(const saving *s, gls_text *json)
{
    cJSON *root = gls_view_answer_begin(s->request.id, "save");
    cJSON *files = cJSON_AddArrayToObject(root, "files");
    for (int i = 0; i < N_FILES; i++)
        if (s->file[i] && (i != PICTURE || !s->note)) cJSON_AddItemToArray(files, cJSON_CreateString(s->file[i]));
    for (size_t i = 0; i < s->n_painted; i++) cJSON_AddItemToArray(files, cJSON_CreateString(s->painted[i].file));
    if (s->note) cJSON_AddStringToObject(root, "note", s->note);
    return gls_view_answer_end(root, json);
}

static void destroy(saving *s)
{
    for (int i = 0; i < N_FILES; i++) {
        free(s->file[i]);
        free(s->made[i]);
    }
    for (size_t i = 0; i < s->n_painted; i++) {
        free(s->painted[i].mask.run);
        free(s->painted[i].file);
        free(s->painted[i].made);
    }
    for (size_t i = 0; i < s->n_stale; i++) free(s->stale[i]);
    free(s->painted);
    gls_view_words_finish(&s->track);
    free(s->sphere);
    for (int i = 0; i < GLS_VIEW_REGIONS; i++) free(s->stop[i]);
    free(s->inside);
    free(s->atlas);
    gls_text_finish(&s->script);
    free(s->folder);
    free(s->said);
    free(s->note);
    free(s);
}

/* Checks that bundles can be made of the tractogram. *chooses: whether a table of bundles cannot say all. */
static gls_status check_tractogram(gls_view_dissection *d, const char *image, const gls_view_request *request,
                                   bool *chooses)
{
    if (d->n_paths != 1)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "save: bundles are made of one tractogram, and view has %zu: start 'glslines view' with one",
                        d->n_paths);
    gls_status status = gls_beside_end(&d->reading, GLS_OK);
    if (!status) status = gls_view_lines_check(&d->lines);
    if (!status && !d->lines.has_grid && !d->input->reference && (!image || d->space.n > 0))
        status = gls_fail(GLS_ERR_ARGUMENT, "%s: has no grid, and bundles need one: give 'glslines view' %s",
                          d->path[0], d->space.n > 0 ? "--reference" : "an image");
    bool beyond = false;
    for (size_t i = 0; i < request->n_regions; i++) beyond |= is_beyond_table(&request->region[i]);
    if (!status && beyond && request->n_bundles > 1)
        status =
            gls_fail(GLS_ERR_ARGUMENT, "save: a bundle of streamlines with both ends, or no end, in regions is saved "
                                       "alone: save the others under another name");
    *chooses = beyond || gls_view_has_criteria(&request->criteria);
    return status;
}

gls_status gls_view_save_begin(gls_view_dissection *d, const char *image, const gls_view_request *request,
                               gls_view_saving **begun, bool *exists)
{
    *exists = false;
    *begun = NULL;
    bool chooses = false;
    gls_status status = request->tracks ? GLS_OK : check_tractogram(d, image, request, &chooses);
    if (status) return status;
    saving *s = malloc(sizeof *s);
    if (!s) return gls_no_memory();
    *s = (saving){.d = d, .request = *request, .image = image, .chooses = chooses};
    gls_snprintf(s->n_threads, sizeof s->n_threads, "%d", omp_get_max_threads());
    s->work = (gls_beside){.name = "saving", .work = work, .user = s};
    status = take_painted(s);
    if (!status && request->tracks) status = take_track(s);
    if (!status) status = name_files(s, exists);
    if (!status) {
        *begun = s;
        /* gls_view_save_end() answers the failure, if the work was done at once, for want of a thread */
        (void)gls_beside_begin(&s->work);
    } else {
        destroy(s);
    }
    return status;
}

bool gls_view_save_ended(const gls_view_saving *s)
{
    return __atomic_load_n(&s->ended, __ATOMIC_ACQUIRE);
}

gls_status gls_view_save_end(gls_view_saving *s, gls_text *json)
{
    if (!s) return GLS_OK;
    gls_status status = gls_beside_end(&s->work, GLS_OK);
    if (!status) status = answer(s, json);
    destroy(s);
    return status;
}
