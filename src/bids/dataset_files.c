/* Files of each unit among the options of track: values with entities in braces, such as
 * sub-{subject}/[ses-{session}/]peaks.nii.gz. */
#include "bids/dataset_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/run_params.h"
#include "util/file.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"

bool gls_dataset_names_files(const gls_param *p)
{
    return (p->kind == GLS_KIND_STRING || p->kind == GLS_KIND_STRINGS) &&
           (p->role == GLS_ROLE_PATH || p->role == GLS_ROLE_SHARED || strstr(p->metavar, "[:FILE]"));
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

/* Appends to *out the n characters at path, with each {entity} replaced by its value in a name of BIDS, and without
 * [...] if the name lacks the entity in it. Stops at an entity outside of brackets that the name lacks, and returns its
 * brace; NULL: none. */
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
            if (!*gls_bids_value(name, gls_bids_key(key), value, sizeof value)) return c;
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
    /* an option for a result names a table, or images with commas between them; \, and \: are characters of a name. Any
     * other option names one file, perhaps with labels behind it */
    const bool is_result = p->role == GLS_ROLE_OUTPUT;
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
        if (status || all || u->problem) continue;
        if (lacks)
            gls_asprintf(&u->problem, "--%s %s: its name has no entity %.*s", row->name, *value,
                         (int)strcspn(lacks, "}") + 1, lacks);
        else
            gls_asprintf(&u->problem, "--%s %s: no such file", row->name, filled);
        if (!u->problem) status = gls_no_memory();
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

/* Checks that all braces of a value enclose entities that a unit's name can have: known ones, but not desc. */
static gls_status check_braces(const gls_param *p, const char *value)
{
    char key[32];
    for (const char *brace = value; (brace = strchr(brace, '{')); brace++) {
        const size_t n = strcspn(brace, "}");
        snprintf(key, sizeof key, "%.*s", (int)n - 1, brace + 1);
        const char *entity = brace[n] ? gls_bids_key(key) : NULL;
        if (!entity || strcmp(entity, "desc") == 0)
            return gls_fail(GLS_ERR_ARGUMENT,
                            "--%s %s: '{%s' is not one of subject, session, acquisition, direction, run, space, "
                            "resolution and reconstruction, ended by '}'",
                            p->name, value, key);
    }
    return GLS_OK;
}

gls_status gls_dataset_check_values(const gls_dataset_options *o, bool several)
{
    gls_job_options job = *o->job;
    const gls_param *row = gls_params;
    gls_status status = GLS_OK;
    int next = 0;
    if (job.roi && o->region != GLS_DATASET_AUTO)
        return gls_fail(GLS_ERR_ARGUMENT, "--roi and --seed-region exclude each other: leave out one of them");
    for (const char **value; !status && (value = next_value(&job, &row, &next));) {
        gls_dataset_texts files = {.n = 0};
        bool all = false;
        if (strchr(*value, '{'))
            status = check_braces(row, *value);
        else if (several && row->role != GLS_ROLE_SHARED)
            status = add_files(row, *value, &files, &all);
        if (all)
            status = gls_fail(GLS_ERR_ARGUMENT,
                              "--%s %s: is one file for all series, but each needs its own: put entities in braces, as "
                              "in 'sub-{subject}/[ses-{session}/]%s'",
                              row->name, *value, gls_file_name(*value));
        gls_dataset_texts_finish(&files);
    }
    return status;
}
