/* Which participants, sessions, series and units the options ask for, and which files of each unit: values of options
 * with entities in braces, such as sub-{subject}/[ses-{session}/]peaks.nii.gz. Also reads filter files of BIDS apps. */
#include "bids/dataset_names.h"
#include "bids/dataset_select.h"
#include "run/shard_seeds.h"
#include "bids/dataset_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/run_params.h"
#include "transform/transform.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"

/* --- Files of each unit. */

bool gls_dataset_names_files(const gls_param *p)
{
    return (p->kind == GLS_KIND_STRING || p->kind == GLS_KIND_STRINGS) &&
           (p->role == GLS_ROLE_PATH || p->role == GLS_ROLE_SHARED ||
            (p->role == GLS_ROLE_COLUMNS && strstr(p->metavar, "[:")));
}

/* Pointer to the next value in `job` that may name a file; NULL: no more. Begin with *row = gls_params, *next = 0. */
static const char **next_value(gls_job_options *job, const gls_param **row, int *next)
{
    for (; (*row)->name; ++*row, *next = 0) {
        if (!gls_dataset_names_files(*row)) continue;
        void *field = (char *)job + (*row)->offset;
        gls_strings *list = (*row)->kind == GLS_KIND_STRINGS ? field : NULL;
        const char **one = field;
        if (list && *next < list->n) return &list->value[(*next)++];
        if (!list && *next == 0 && *one) return ++*next, one;
    }
    return NULL;
}

const char **gls_dataset_next_braces(gls_job_options *job, const gls_param **row, int *next)
{
    const char **value;
    do value = next_value(job, row, next);
    while (value && !strchr(*value, '{'));
    return value;
}

/* Key of an entity by its name in pybids or by the key itself, such as "ses" of session; NULL: unknown. */
static const char *entity_key(const char *name)
{
    const gls_bids_entity *e = gls_bids_entity_find(name);
    return e ? e->key : NULL;
}

/* Appends to *out the n characters at path, with each {entity} replaced by its value in a name of BIDS, and without
 * [...] if the name lacks the entity in it. Stops at an entity outside of brackets that the name lacks, and returns a
 * pointer to it in path. NULL: the name lacks none. */
static const char *fill(const char *path, size_t n, const char *name, gls_text *out)
{
    char key[32], value[256];
    for (const char *c = path, *end = path + n; c < end;) {
        const size_t left = (size_t)(end - c), part = strcspn(c, "]"), brace = strcspn(c, "}");
        if (*c == '[' && part < left && memchr(c, '{', part)) {
            const size_t before = out->length;
            if (fill(c + 1, part - 1, name, out)) out->length = before;
            c += part + 1;
        } else if (*c == '{') {
            snprintf(key, sizeof key, "%.*s", (int)brace - 1, c + 1);
            if (!*gls_bids_value(name, entity_key(key), value, sizeof value)) return c;
            gls_text_puts(out, value);
            c += brace + 1;
        } else {
            gls_text_append(out, c++, 1);
        }
    }
    return NULL;
}

/* Adds a text from malloc to a list, which owns it. GLS_ERR_MEMORY: the text is NULL, or memory ran out. */
static gls_status add(gls_dataset_texts *list, char *text)
{
    char **grown = text ? realloc(list->text, (list->n + 1) * sizeof *grown) : NULL;
    if (!grown) {
        free(text);
        return gls_no_memory();
    }
    list->text = grown;
    list->text[list->n++] = text;
    return GLS_OK;
}

/* Adds the files that a value names, up to the first one that does not exist, to a list. *all: whether each exists. */
static gls_status add_files(const gls_param *p, const char *value, gls_dataset_texts *files, bool *all)
{
    /* an option for columns names a table, or images with commas between them; \, and \: are characters of a name. Any
     * other option names one file, perhaps with labels behind it */
    const bool is_result = p->role == GLS_ROLE_COLUMNS;
    const char separator = is_result && strchr(p->metavar, ',') ? ',' : '\0';
    char *copy = is_result ? NULL : gls_file_named(value);
    if (!copy) copy = strdup(value);
    char *rest = is_result ? copy : NULL, *one = is_result ? gls_names_next(&rest, separator) : copy;
    gls_status status = copy ? GLS_OK : gls_no_memory();
    *all = copy;
    for (; !status && one && *all; one = gls_names_next(&rest, separator)) {
        *all = access(one, F_OK) == 0;
        if (*all) status = add(files, strdup(one));
    }
    free(copy);
    return status;
}

void gls_dataset_texts_finish(gls_dataset_texts *list)
{
    for (size_t i = 0; i < list->n; i++) free(list->text[i]);
    free(list->text);
    *list = (gls_dataset_texts){.n = 0};
}

/* Sets the problem of a unit that lacks a file. lacks: entity in the value that its name has not; NULL: none. */
static gls_status set_problem(gls_dataset_unit *u, const char *option, const char *value, const char *lacks,
                              const char *filled)
{
    if (lacks)
        gls_asprintf(&u->problem, "--%s %s: its name has no entity %.*s", option, value, (int)strcspn(lacks, "}") + 1,
                     lacks);
    else
        gls_asprintf(&u->problem, "--%s %s: no such file", option, filled);
    return u->problem ? GLS_OK : gls_no_memory();
}

gls_status gls_dataset_find_values(const gls_job_options *given, gls_dataset_unit *u)
{
    gls_job_options job = *given;
    const gls_param *row = gls_params;
    gls_status status = GLS_OK;
    int next = 0;
    for (const char **value; !status && (value = gls_dataset_next_braces(&job, &row, &next));) {
        gls_text text = {0};
        bool all = false;
        const char *lacks = fill(*value, strlen(*value), u->name, &text);
        gls_text_append(&text, "", 0);
        status = add(&u->value, gls_text_take(&text));
        const char *filled = status ? "" : u->value.text[u->value.n - 1];
        if (!status && !lacks) status = add_files(row, filled, &u->files, &all);
        if (!status && !all && !u->problem) status = set_problem(u, row->name, *value, lacks, filled);
    }
    return status;
}

/* Sets *path to the value of an option with braces for a unit, from malloc. A missing file becomes the unit's
 * `problem`. */
static gls_status find_value(const char *option, const char *value, gls_dataset_unit *u, char **path)
{
    gls_text text = {0};
    const char *lacks = fill(value, strlen(value), u->name, &text);
    gls_text_append(&text, "", 0);
    *path = gls_text_take(&text);
    if (!*path) return gls_no_memory();
    if (u->problem || (!lacks && access(*path, F_OK) == 0)) return GLS_OK;
    return set_problem(u, option, value, lacks, *path);
}

/* Sets the member `bundle_chain` of a unit. */
static gls_status find_chain(const gls_dataset_options *o, gls_dataset_unit *u)
{
    gls_status status = GLS_OK;
    for (int i = 0; i < o->bundle_chain.n && !status; i++) {
        const char *value = o->bundle_chain.value[i];
        char *file[3];
        gls_text text = {0};
        const char *lacks = fill(value, strlen(value), u->name, &text);
        gls_text_append(&text, "", 0);
        status = add(&u->bundle_chain, gls_text_take(&text));
        if (status) return status;
        const size_t n = gls_transform_files(u->bundle_chain.text[i], file);
        for (size_t k = 0; k < n; k++) {
            if (!status && !u->problem && (lacks || access(file[k], F_OK) != 0))
                status = set_problem(u, "bundle-chain", value, lacks, file[k]);
            free(file[k]);
        }
    }
    return status;
}

gls_status gls_dataset_find_for_bundles(const gls_dataset_options *o, gls_dataset_unit *u)
{
    gls_status status = GLS_OK;
    if (o->bundle_transform) status = find_value("bundle-transform", o->bundle_transform, u, &u->bundle_transform);
    if (!status) status = find_chain(o, u);
    for (int i = 0; i < o->bundle_images.n && !status; i++) {
        char *path = NULL;
        status = find_value("bundle-profile", o->bundle_images.value[i], u, &path);
        if (!status) status = add(&u->bundle_image, path);
    }
    return status;
}

void gls_dataset_take_values(const gls_dataset_unit *u, gls_job_options *job)
{
    const gls_param *row = gls_params;
    int next = 0;
    size_t k = 0;
    for (const char **value; k < u->value.n && (value = gls_dataset_next_braces(job, &row, &next));)
        *value = u->value.text[k++];
}

/* Appends a label to a list for a message if there is room. */
static void list_label(char *list, size_t size, const char *label)
{
    const size_t n = strlen(list);
    if (n + strlen(label) + 3 < size) snprintf(list + n, size - n, "%s%s", n ? ", " : "", label);
}

/* Fails with a file that all series would share. */
static gls_status fail_shared(const char *option, const char *value)
{
    return gls_fail(GLS_ERR_ARGUMENT,
                    "--%s %s: is one file for all series, but each needs its own: put entities in braces, as in "
                    "'sub-{subject}/[ses-{session}/]%s'",
                    option, value, gls_file_name(value));
}

/* Checks that all braces of a value enclose entities that a unit's name can have: known ones, but not desc. */
static gls_status check_braces(const char *option, const char *value)
{
    char key[32];
    for (const char *brace = value; (brace = strchr(brace, '{')); brace++) {
        const size_t n = strcspn(brace, "}");
        snprintf(key, sizeof key, "%.*s", (int)n - 1, brace + 1);
        const char *entity = brace[n] ? entity_key(key) : NULL;
        if (entity && strcmp(entity, "desc") != 0) continue;
        char names[256] = "";
        for (const gls_bids_entity *e = gls_bids_entities; e->key; e++)
            if (strcmp(e->key, "desc") != 0) list_label(names, sizeof names, e->name);
        return gls_fail(GLS_ERR_ARGUMENT, "--%s %s: '{%s': braces enclose one of %s", option, value, key, names);
    }
    return GLS_OK;
}

/* Checks a value of an option that names a file of each series. */
static gls_status check_own(const char *option, const char *value, bool several)
{
    gls_status status = check_braces(option, value);
    return status || !several || strchr(value, '{') ? status : fail_shared(option, value);
}

/* Checks --bundle-chain: one of its transforms is that of the series. */
static gls_status check_chain(const gls_dataset_options *o, bool several)
{
    gls_status status = GLS_OK;
    bool braces = false;
    if (o->bundle_transform)
        return gls_fail(GLS_ERR_ARGUMENT, "--bundle-chain and --bundle-transform exclude each other: leave out one");
    for (int i = 0; i < o->bundle_chain.n && !status; i++) {
        status = check_braces("bundle-chain", o->bundle_chain.value[i]);
        braces = braces || strchr(o->bundle_chain.value[i], '{');
    }
    return status || braces || !several ? status : fail_shared("bundle-chain", o->bundle_chain.value[0]);
}

gls_status gls_dataset_check_atlas(const gls_dataset_options *o)
{
    const char *option = o->bundle_transform      ? "--bundle-transform"
                         : o->bundle_chain.n > 0  ? "--bundle-chain"
                         : o->bundle_images.n > 0 ? "--bundle-profile"
                                                  : NULL;
    if (!option || o->bundle_atlas) return GLS_OK;
    return gls_fail(GLS_ERR_ARGUMENT, "%s: needs --bundle-atlas", option);
}

/* Appends the name of the column of an image, which all series share: the parts of its name without braces. */
static void append_column(gls_text *names, const char *image)
{
    const size_t begin = names->length;
    char bare[GLS_DATASET_MAX_PATH], *part;
    size_t n = 0;
    bool in = false; /* in brackets, which some series leave out */
    for (const char *c = image; *c && n + 1 < sizeof bare; c++) {
        if (*c == '[' || *c == ']')
            in = *c == '[';
        else if (!in)
            bare[n++] = *c == ',' ? '-' : *c;
    }
    bare[n] = '\0';
    char *rest = strrchr(bare, '/') ? strrchr(bare, '/') + 1 : bare;
    rest[strcspn(rest, ".")] = '\0';
    while ((part = strsep(&rest, "_")))
        if (*part && !strchr(part, '{')) gls_text_printf(names, "%s%s", names->length > begin ? "_" : "", part);
    if (names->length == begin) gls_text_puts(names, "image");
}

void gls_dataset_columns(const gls_dataset_options *o, bool fa, gls_text *names)
{
    if (fa) gls_text_puts(names, "fa");
    for (int i = 0; i < o->bundle_images.n; i++) {
        if (names->length > 0) gls_text_puts(names, ",");
        append_column(names, o->bundle_images.value[i]);
    }
}

/* Checks that the images of profiles have columns of their own. */
static gls_status check_columns(const gls_dataset_options *o)
{
    gls_text names = {0};
    const char *name[GLS_MAX_STRINGS + 1];
    size_t n = 0;
    gls_status status = GLS_OK;
    gls_dataset_columns(o, o->fit_outputs, &names);
    if (names.failed) status = gls_no_memory();
    for (char *rest = names.data, *one; !status && (one = strsep(&rest, ","));) {
        for (size_t k = 0; k < n && !status; k++)
            if (strcmp(name[k], one) == 0)
                status =
                    gls_fail(GLS_ERR_ARGUMENT,
                             "--bundle-profile: two images would have the column %s%s: give a link of another name",
                             one, o->fit_outputs && k == 0 ? ", which is that of --fit-outputs" : "");
        if (!status && (strcmp(one, "nodeID") == 0 || strcmp(one, "tractID") == 0))
            status = gls_fail(GLS_ERR_ARGUMENT,
                              "--bundle-profile: an image would have the column %s, which the table has: give a link "
                              "of another name",
                              one);
        name[n++] = one;
    }
    gls_text_finish(&names);
    return status;
}

/* Checks the options of bundles. */
static gls_status check_for_bundles(const gls_dataset_options *o, bool several)
{
    gls_status status = gls_dataset_check_atlas(o);
    if (!status && o->bundle_atlas) status = check_columns(o);
    if (!status && o->bundle_transform) status = check_own("bundle-transform", o->bundle_transform, several);
    if (!status && o->bundle_chain.n > 0) status = check_chain(o, several);
    for (int i = 0; i < o->bundle_images.n && !status; i++)
        status = check_own("bundle-profile", o->bundle_images.value[i], several);
    return status;
}

gls_status gls_dataset_check_values(const gls_dataset_options *o, bool several)
{
    gls_job_options job = *o->job;
    const gls_param *row = gls_params;
    gls_status status = GLS_OK;
    int next = 0;
    if (job.roi && o->region != GLS_DATASET_AUTO)
        return gls_fail(GLS_ERR_ARGUMENT, "--roi and --seed-region exclude each other: leave out one of them");
    status = check_for_bundles(o, several);
    for (const char **value; !status && (value = next_value(&job, &row, &next));) {
        gls_dataset_texts files = {.n = 0};
        bool all = false;
        if (strchr(*value, '{'))
            status = check_braces(row->name, *value);
        else if (several && row->role != GLS_ROLE_SHARED)
            status = add_files(row, *value, &files, &all);
        if (all) status = fail_shared(row->name, *value);
        gls_dataset_texts_finish(&files);
    }
    return status;
}

/* --- Participants, sessions, series. */

/* Room for a label, bytes. */
#define MAX_LABEL 256

/* Takes the next label of a list with commas, without its prefix. Returns false at the end. */
static bool next_label(const char **list, const char *prefix, char *label, size_t size)
{
    while (**list == ',') ++*list;
    if (!**list) return false;
    if (strncmp(*list, prefix, strlen(prefix)) == 0) *list += strlen(prefix);
    size_t n = strcspn(*list, ",");
    snprintf(label, size, "%.*s", (int)n, *list);
    *list += n;
    return true;
}

/* Whether the options ask for a label. An empty list asks for all. */
static bool is_wanted(const gls_strings *labels, const char *prefix, const char *label)
{
    char asked[MAX_LABEL];
    for (int i = 0; i < labels->n; i++)
        for (const char *list = labels->value[i]; next_label(&list, prefix, asked, sizeof asked);)
            if (strcmp(asked, label) == 0) return true;
    return labels->n == 0;
}

/* The label of a folder such as sub-01; NULL: another folder, or no label of BIDS. */
static const char *label_of(const char *folder, const char *prefix)
{
    const size_t n = strlen(prefix);
    return strncmp(folder, prefix, n) == 0 && gls_is_label(folder + n) ? folder + n : NULL;
}

bool gls_dataset_takes(const gls_strings *labels, const char *prefix, const char *folder)
{
    const char *label = label_of(folder, prefix);
    return label && is_wanted(labels, prefix, label);
}

const char *gls_dataset_bad_label(const gls_strings *labels, const char *prefix, const char *folder)
{
    const size_t n = strlen(prefix);
    const char *label = strncmp(folder, prefix, n) == 0 ? folder + n : NULL;
    return label && !gls_is_label(label) && is_wanted(labels, prefix, label) ? label : NULL;
}

/* If values of the key are numbers and *value, of *n characters, is one, skips its leading zeros. */
static void without_zeros(const char *key, const char **value, size_t *n)
{
    if (!gls_bids_is_index(key) || strspn(*value, "0123456789") < *n) return;
    while (*n > 1 && **value == '0') ++*value, --*n;
}

/* Whether a value of `key` is among `values`, which | separates. Numbers are compared without leading zeros. */
static bool is_among(const char *key, const char *values, const char *value)
{
    size_t bytes = strlen(value);
    without_zeros(key, &value, &bytes);
    for (;;) {
        const size_t whole = strcspn(values, "|");
        const char *one = values;
        size_t n = whole;
        without_zeros(key, &one, &n);
        if (bytes == n && strncmp(one, value, n) == 0) return true;
        if (!values[whole]) return false;
        values += whole + 1;
    }
}

bool gls_dataset_passes(const gls_dataset_options *o, const char *name, const char *except)
{
    char key[64], value[MAX_LABEL];
    for (int i = 0; i < o->filters.n; i++) {
        const char *text = o->filters.value[i], *equals = strchr(text, '=');
        if (!equals || equals - text >= (ptrdiff_t)sizeof key) return false;
        snprintf(key, sizeof key, "%.*s", (int)(equals - text), text);
        if (except && strcmp(key, except) == 0) continue;
        /* a name without the entity has the value "" */
        if (!is_among(key, equals + 1, gls_bids_value(name, key, value, sizeof value))) return false;
    }
    return true;
}

bool gls_dataset_belongs(const char *name, const char *subject, const char *session)
{
    char value[MAX_LABEL];
    return strcmp(gls_bids_value(name, "sub", value, sizeof value), subject) == 0 &&
           strcmp(gls_bids_value(name, "ses", value, sizeof value), session) == 0;
}

bool gls_dataset_takes_file(const gls_dataset_options *o, const char *folder, const char *name, const char *subject,
                            const char *session)
{
    if (!gls_bids_is_valid(name))
        gls_log(GLS_LOG_WARNING, "%s/%s: is no name of BIDS, and is left out", folder, name);
    else if (!gls_dataset_belongs(name, subject, session))
        gls_log(GLS_LOG_WARNING, "%s/%s: is of another participant or session by its name, and is left out", folder,
                name);
    else
        return gls_dataset_passes(o, name, "desc");
    return false;
}

/* Visits the folder of one participant, then the folders of those of its sessions that the options ask for. */
static gls_status walk_participant(const gls_dataset_options *o, const char *name, gls_dataset_visit visit, void *user)
{
    char path[GLS_DATASET_MAX_PATH], session[GLS_DATASET_MAX_PATH], **names = NULL;
    gls_bids_join(o->output, name, path, sizeof path);
    gls_status status = visit(user, name + 4, "", path);
    if (!status) status = gls_bids_names(path, &names);
    for (size_t i = 0; !status && names[i]; i++)
        if (gls_dataset_takes(&o->sessions, "ses-", names[i]))
            status = visit(user, name + 4, names[i] + 4, gls_bids_join(path, names[i], session, sizeof session));
    gls_bids_names_free(names);
    return status;
}

gls_status gls_dataset_walk(const gls_dataset_options *o, gls_dataset_visit visit, void *user)
{
    char **names = NULL;
    gls_status status = gls_bids_names(o->output, &names);
    for (size_t i = 0; !status && names[i]; i++)
        if (gls_dataset_takes(&o->participants, "sub-", names[i])) status = walk_participant(o, names[i], visit, user);
    gls_bids_names_free(names);
    return status;
}

/* A walk through the files of all folders dwi. */
typedef struct files_walk {
    const gls_dataset_options *options;
    gls_dataset_want want;
    gls_dataset_take take;
    void *user;
} files_walk;

/* Takes the files in the folder dwi of a participant, or of a session. */
static gls_status take_files(void *user, const char *subject, const char *session, const char *parent)
{
    const files_walk *w = user;
    char **names, folder[GLS_DATASET_MAX_PATH], path[GLS_DATASET_MAX_PATH];
    /* files without a session are left out if sessions were asked for */
    if (!*session && w->options->sessions.n > 0) return GLS_OK;
    gls_status status = gls_bids_names(gls_bids_join(parent, "dwi", folder, sizeof folder), &names);
    if (status) return status;
    for (size_t i = 0; names[i] && !status; i++)
        if (w->want(w->user, names[i]) && gls_dataset_takes_file(w->options, folder, names[i], subject, session))
            status = w->take(w->user, gls_bids_join(folder, names[i], path, sizeof path), names);
    gls_bids_names_free(names);
    return status;
}

gls_status gls_dataset_walk_files(const gls_dataset_options *o, gls_dataset_want want, gls_dataset_take take,
                                  void *user)
{
    files_walk w = {o, want, take, user};
    return gls_dataset_walk(o, take_files, &w);
}

/* --- Labels that the options ask for but that do not exist. */

/* GLS_ERR_INPUT unless names[] has the folder of participant `asked`. The message lists the participants that exist. */
static gls_status check_participant(const gls_dataset_options *o, char *const *names, const char *asked)
{
    char there[MAX_LABEL] = "";
    for (size_t i = 0; names[i]; i++) {
        const char *label = label_of(names[i], "sub-");
        if (label && strcmp(label, asked) == 0) return GLS_OK;
        if (label) list_label(there, sizeof there, label);
        if (!label && strncmp(names[i], "sub-", 4) == 0 && strcmp(names[i] + 4, asked) == 0)
            return gls_fail(GLS_ERR_INPUT, "%s: participant '%s': " GLS_BIDS_BAD_LABEL, o->input, asked);
    }
    return gls_fail(GLS_ERR_INPUT, "%s: no participant '%s'; there are: %s", o->input, asked, *there ? there : "none");
}

/* Returns GLS_ERR_INPUT unless a participant that the options ask for has the session. */
static gls_status check_session(const gls_dataset_options *o, char *const *names, const char *asked)
{
    gls_status status = GLS_OK;
    bool found = false, is_bad = false;
    for (size_t i = 0; names[i] && !found && !status; i++) {
        char folder[1024], **sessions;
        if (!gls_dataset_takes(&o->participants, "sub-", names[i])) continue;
        snprintf(folder, sizeof folder, "%s/%s", o->input, names[i]);
        status = gls_bids_names(folder, &sessions);
        for (size_t k = 0; !status && sessions[k]; k++) {
            const char *label = label_of(sessions[k], "ses-");
            found = found || (label && strcmp(label, asked) == 0);
            is_bad |= !label && strncmp(sessions[k], "ses-", 4) == 0 && strcmp(sessions[k] + 4, asked) == 0;
        }
        if (!status) gls_bids_names_free(sessions);
    }
    if (status || found) return status;
    if (is_bad) return gls_fail(GLS_ERR_INPUT, "%s: session '%s': " GLS_BIDS_BAD_LABEL, o->input, asked);
    return gls_fail(GLS_ERR_INPUT, "%s: no participant that the options ask for has a session '%s'", o->input, asked);
}

gls_status gls_dataset_check_labels(const gls_dataset_options *o, char *const *names)
{
    char asked[MAX_LABEL];
    gls_status status = GLS_OK;
    for (int k = 0; k < o->participants.n && !status; k++)
        for (const char *list = o->participants.value[k]; !status && next_label(&list, "sub-", asked, sizeof asked);)
            status = check_participant(o, names, asked);
    for (int k = 0; k < o->sessions.n && !status; k++)
        for (const char *list = o->sessions.value[k]; !status && next_label(&list, "ses-", asked, sizeof asked);)
            status = check_session(o, names, asked);
    return status;
}

/* --- Filter files of BIDS apps: JSON that selects series by the names that pybids has for entities. */

#define MAX_FILTERS ((size_t)1 << 20)

/* entities of a filter that are skipped, because they are the same for every series that can be tracked */
#define IMPLIED "datatype|suffix|extension"

/* "key=a|b" from a value or a list; null, a series without the entity, is an empty text. NULL: out of memory, or a
 * value that is neither null, a text without a | nor a whole number from 0 to 1e15. */
static char *filter_text(const char *key, const cJSON *values)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) return NULL;
    fprintf(out, "%s=", key);
    bool good = true, list = cJSON_IsArray(values);
    const char *between = "";
    for (const cJSON *v = list ? values->child : values; v; v = list ? v->next : NULL, between = "|") {
        if (cJSON_IsString(v) && !strchr(v->valuestring, '|'))
            fprintf(out, "%s%s", between, v->valuestring);
        else if (cJSON_IsNull(v))
            fprintf(out, "%s", between);
        else if (cJSON_IsNumber(v) && v->valuedouble >= 0 && v->valuedouble <= 1e15 &&
                 v->valuedouble == floor(v->valuedouble))
            gls_fprintf(out, "%s%.0f", between, v->valuedouble);
        else
            good = false;
    }
    if (fclose(out) == 0 && good) return text;
    free(text);
    return NULL;
}

/* Adds one entity of the filter; skips those of IMPLIED. GLS_ERR_INPUT: unknown entity, or a value of another type. */
static gls_status add_filter(const char *path, const cJSON *item, gls_strings *filters)
{
    const char *key = entity_key(item->string);
    if (!key && gls_choice_find(IMPLIED, item->string, strlen(item->string)) >= 0) return GLS_OK;
    if (!key)
        return gls_fail(GLS_ERR_INPUT, "%s: '%s' is no entity that glslines knows: remove it", path, item->string);
    if ((size_t)filters->n == sizeof filters->value / sizeof *filters->value)
        return gls_fail(GLS_ERR_INPUT, "%s: too many entities", path);
    char *text = filter_text(key, item);
    if (!text)
        return gls_fail(GLS_ERR_INPUT, "%s: the value of '%s' must be a text, a whole number, null, or a list of these",
                        path, item->string);
    filters->value[filters->n++] = text;
    return GLS_OK;
}

gls_status gls_dataset_filters_read(const char *path, gls_strings *filters)
{
    cJSON *root;
    gls_status status = gls_json_load(path, MAX_FILTERS, &root);
    if (status) return status;
    const cJSON *dwi = gls_json_at(root, "dwi"), *item;
    if (!cJSON_IsObject(root))
        status = gls_fail(GLS_ERR_INPUT, "%s: a filter file must hold one JSON object, {...}", path);
    else if (!cJSON_IsObject(dwi))
        status = gls_fail(GLS_ERR_INPUT, "%s: has no object \"dwi\" with the entities of the series", path);
    for (item = status ? NULL : dwi->child; item && !status; item = item->next)
        status = add_filter(path, item, filters);
    cJSON_Delete(root);
    return status;
}

/* --- Units. */

gls_status gls_dataset_choose(gls_dataset_choice *choice, const char *unit, const char *shard)
{
    gls_shard part = {.index = 1, .count = 1};
    gls_status status = shard ? gls_shard_choose(shard, &part) : GLS_OK;
    *choice = (gls_dataset_choice){.unit = unit, .index = part.index, .count = part.count};
    return status;
}

gls_status gls_dataset_check(const gls_dataset_options *o, const gls_dataset *dataset, const gls_dataset_choice *choice)
{
    bool found = !choice->unit;
    for (size_t i = 0; i < dataset->n && !found; i++) found = strcmp(dataset->unit[i].name, choice->unit) == 0;
    return found ? gls_dataset_check_values(o, dataset->n > 1 && !choice->unit)
                 : gls_fail(GLS_ERR_INPUT, "--unit %s: there is no such unit; --list prints all", choice->unit);
}

bool gls_dataset_chosen(const gls_dataset *dataset, const gls_dataset_choice *choice, size_t place)
{
    /* units go to shards by their indices among all units, so that --unit does not change the shard of a unit; a unit
     * is chosen if it is in this shard and, with --unit, has that name */
    return place % choice->count + 1 == choice->index &&
           (!choice->unit || strcmp(choice->unit, dataset->unit[place].name) == 0);
}
