/* Finds the series of a BIDS data set, their tables, masks and regions. */
#include "workflow/dataset.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/file.h"
#include "util/json.h"
#include "util/log.h"
#include "util/status.h"
#include "workflow/dataset_names.h"

#define MAX_DESCRIPTION ((size_t)16 << 20)

static gls_status no_memory(void)
{
    return gls_fail(GLS_ERR_MEMORY, "out of memory");
}

void gls_dataset_finish(gls_dataset *dataset)
{
    for (size_t i = 0; i < dataset->n; i++) {
        gls_dataset_unit *u = &dataset->unit[i];
        char *texts[] = {u->name, u->subject, u->session, u->space,  u->folder,  u->dwi,
                         u->bval, u->bvec,    u->mask,    u->region, u->problem, u->table};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) free(texts[k]);
    }
    free(dataset->unit);
    *dataset = (gls_dataset){.n = 0};
}

/* Takes the next of several labels with commas between them, without its prefix; false: there is none. */
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

/* Whether a label is among those asked for; none asks for all. */
static bool is_wanted(const gls_strings *labels, const char *prefix, const char *label)
{
    char asked[256];
    for (int i = 0; i < labels->n; i++)
        for (const char *list = labels->value[i]; next_label(&list, prefix, asked, sizeof asked);)
            if (strcmp(asked, label) == 0) return true;
    return labels->n == 0;
}

/* Whether a value is one of those with | between them. */
static bool is_among(const char *values, const char *value)
{
    for (;;) {
        size_t n = strcspn(values, "|");
        if (strlen(value) == n && strncmp(values, value, n) == 0) return true;
        if (!values[n]) return false;
        values += n + 1;
    }
}

static bool passes(const gls_strings *filters, const char *name)
{
    char key[64], value[128];
    for (int i = 0; i < filters->n; i++) {
        const char *equals = strchr(filters->value[i], '=');
        if (!equals || equals - filters->value[i] >= (ptrdiff_t)sizeof key) return false;
        snprintf(key, sizeof key, "%.*s", (int)(equals - filters->value[i]), filters->value[i]);
        if (!is_among(equals + 1, gls_bids_value(name, key, value, sizeof value))) return false;
    }
    return true;
}

/* The table of a series: files of its own, or ones of BIDS' inheritance. */
static char *find_table(const char *root, const gls_dataset_unit *u, const char *stem, const char *extension)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s/%s_dwi%s", root, u->folder, stem, extension) < 0) return NULL;
    if (access(path, F_OK) == 0) return path;
    free(path);
    return gls_bids_inherited(root, u->folder, stem, "dwi", extension);
}

static gls_status find_tables(const char *root, const char *stem, gls_dataset_unit *u)
{
    u->bval = find_table(root, u, stem, ".bval");
    u->bvec = find_table(root, u, stem, ".bvec");
    char *table = find_table(root, u, stem, ".b");
    if (u->bval && u->bvec) {
        u->table = table;
        return GLS_OK;
    }
    if (table) {
        free(u->bval);
        free(u->bvec);
        u->bval = table;
        u->bvec = strdup("-");
        return u->bvec ? GLS_OK : no_memory();
    }
    const char *missing = u->bval ? ".bvec" : ".bval";
    return asprintf(&u->problem, "no %s%s for it: neither beside it nor in the folders above, and no .b",
                    u->bval ? "" : ".bvec and ", missing) < 0
               ? no_memory()
               : GLS_OK;
}

char *gls_dataset_find_image(const gls_dataset_options *o, const gls_dataset_unit *u, const char *key,
                             const char *value, const char *suffix, const char **where)
{
    char base[512];
    snprintf(base, sizeof base, "%.*s", (int)(strlen(u->folder) - strlen("/dwi")), u->folder);
    for (int d = -1; d < o->derivatives.n; d++) {
        const char *root = d < 0 ? o->input : o->derivatives.value[d];
        char folders[3][640];
        int n = 0;
        snprintf(folders[n++], sizeof folders[0], "%s/%s", root, u->folder);
        snprintf(folders[n++], sizeof folders[0], "%s/%s/anat", root, base);
        if (*u->session) snprintf(folders[n++], sizeof folders[0], "%s/sub-%s/anat", root, u->subject);
        for (int f = 0; f < n; f++) {
            char *found = gls_bids_find(folders[f], key, value, u->space, suffix);
            if (!found) continue;
            if (where) *where = root;
            return found;
        }
    }
    return NULL;
}

static char *find_image(const gls_dataset_options *o, const gls_dataset_unit *u, const char *key, const char *value,
                        const char *suffix)
{
    return gls_dataset_find_image(o, u, key, value, suffix, NULL);
}

/* Connectomes need their labels. */
static gls_status check_atlases(const gls_dataset_options *o, gls_dataset_unit *u)
{
    for (int i = 0; i < o->atlases.n && !u->problem; i++) {
        char *found = gls_dataset_find_atlas(o, u, o->atlases.value[i], NULL);
        if (!found && asprintf(&u->problem, "no seg-%s_dseg in its space", o->atlases.value[i]) < 0) return no_memory();
        free(found);
    }
    return GLS_OK;
}

/* A segmentation of tissue; its numbers are those of its table, or unknown. */
static gls_status find_labels(const gls_dataset_options *o, gls_dataset_unit *u)
{
    const char *root = NULL;
    char folder[640];
    char *found = gls_dataset_find_image(o, u, NULL, "", "dseg", &root);
    if (!found) return GLS_OK;
    const char *below = found + strlen(root) + 1, *slash = strrchr(below, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - below) : 0, below);
    gls_status status = gls_bids_white_matter(root, folder, found, &u->labels);
    if (status || u->labels.n == 0) {
        free(found);
        return status;
    }
    u->region = found;
    u->kind = GLS_DATASET_DSEG;
    return GLS_OK;
}

static gls_status find_file(const gls_dataset_options *o, gls_dataset_unit *u)
{
    const gls_bids_ending *e = &o->region_file;
    u->region = find_image(o, u, e->key, e->value, e->suffix);
    u->kind = strcmp(e->suffix, "probseg") == 0 ? GLS_DATASET_WM : GLS_DATASET_AUTO;
    if (u->region) return GLS_OK;
    return asprintf(&u->problem, "no %s-%s_%s in its space", e->key, e->value, e->suffix) < 0 ? no_memory() : GLS_OK;
}

static gls_status find_images(const gls_dataset_options *o, gls_dataset_unit *u)
{
    if (u->problem) return GLS_OK;
    u->mask = find_image(o, u, "desc", "brain", "mask");
    if (!u->mask) {
        u->problem = strdup("no desc-brain_mask in its space");
        return u->problem ? GLS_OK : no_memory();
    }
    u->kind = o->region;
    if (o->region == GLS_DATASET_FILE) return find_file(o, u);
    if (o->region == GLS_DATASET_AUTO || o->region == GLS_DATASET_WM) {
        u->region = find_image(o, u, "label", "WM", "probseg");
        if (u->region) u->kind = GLS_DATASET_WM;
    }
    if (!u->region && (o->region == GLS_DATASET_AUTO || o->region == GLS_DATASET_ASEG)) {
        u->region = find_image(o, u, "desc", "aseg", "dseg");
        if (u->region) u->kind = GLS_DATASET_ASEG;
    }
    gls_status status = GLS_OK;
    if (!u->region && (o->region == GLS_DATASET_AUTO || o->region == GLS_DATASET_DSEG)) status = find_labels(o, u);
    if (status || u->region || o->region == GLS_DATASET_FA) return status;
    if (o->region == GLS_DATASET_AUTO) {
        u->kind = GLS_DATASET_FA;
        return GLS_OK;
    }
    u->problem = strdup(o->region == GLS_DATASET_WM     ? "no label-WM_probseg in its space"
                        : o->region == GLS_DATASET_ASEG ? "no desc-aseg_dseg in its space"
                                                        : "no dseg in its space with a table that names white matter");
    return u->problem ? GLS_OK : no_memory();
}

/* A dangling link of git-annex is a file that was not fetched. */
static gls_status check_fetched(gls_dataset_unit *u)
{
    if (u->problem || access(u->dwi, R_OK) == 0) return GLS_OK;
    struct stat link;
    bool dangling = lstat(u->dwi, &link) == 0 && S_ISLNK(link.st_mode);
    int n = dangling ? asprintf(&u->problem, "not fetched: datalad get %s", u->dwi)
                     : asprintf(&u->problem, "cannot be read: %s", strerror(errno));
    return n < 0 ? no_memory() : GLS_OK;
}

static gls_status add_unit(const gls_dataset_options *o, const char *subject, const char *session, const char *folder,
                           const char *file, gls_dataset *dataset)
{
    gls_dataset_unit *grown = realloc(dataset->unit, (dataset->n + 1) * sizeof *grown), *u;
    if (!grown) return no_memory();
    dataset->unit = grown;
    u = &dataset->unit[dataset->n++];
    *u = (gls_dataset_unit){.name = gls_bids_without(file, "desc")};
    char space[128], *stem = gls_bids_stem(file);
    u->subject = strdup(subject);
    u->session = strdup(session);
    u->space = strdup(gls_bids_value(file, "space", space, sizeof space));
    u->folder = strdup(folder);
    bool enough = asprintf(&u->dwi, "%s/%s/%s", o->input, folder, file) >= 0 && stem && u->name && u->subject &&
                  u->session && u->space && u->folder;
    gls_status status = enough ? find_tables(o->input, stem, u) : no_memory();
    if (!status) status = find_images(o, u);
    if (!status) status = check_atlases(o, u);
    if (!status) status = check_fetched(u);
    free(stem);
    return status;
}

static gls_status scan_folder(const gls_dataset_options *o, const char *subject, const char *session,
                              const char *folder, gls_dataset *dataset)
{
    char path[1024], desc[128], **names;
    snprintf(path, sizeof path, "%s/%s", o->input, folder);
    gls_status status = gls_bids_names(path, &names);
    for (size_t i = 0; !status && names[i]; i++) {
        if (!gls_bids_has_suffix(names[i], "dwi", ".nii.gz") && !gls_bids_has_suffix(names[i], "dwi", ".nii")) continue;
        if (!gls_bids_is_valid(names[i])) {
            gls_log(GLS_LOG_DETAIL, "%s/%s: its name is none of BIDS", folder, names[i]);
            dataset->n_ignored++;
            continue;
        }
        gls_bids_value(names[i], "desc", desc, sizeof desc);
        bool preprocessed = strcmp(desc, "preproc") == 0;
        if ((!preprocessed && !(o->raw && !*desc)) || !passes(&o->filters, names[i])) continue;
        status = add_unit(o, subject, session, folder, names[i], dataset);
    }
    if (!status) gls_bids_names_free(names);
    return status;
}

static gls_status scan_subject(const gls_dataset_options *o, const char *subject, gls_dataset *dataset)
{
    char path[1024], folder[512], **names;
    bool any = false;
    snprintf(path, sizeof path, "%s/sub-%s", o->input, subject);
    gls_status status = gls_bids_names(path, &names);
    if (status) return status;
    for (size_t i = 0; !status && names[i]; i++) {
        if (strncmp(names[i], "ses-", 4) != 0) continue;
        any = true;
        if (!is_wanted(&o->sessions, "ses-", names[i] + 4)) continue;
        snprintf(folder, sizeof folder, "sub-%s/%s/dwi", subject, names[i]);
        status = scan_folder(o, subject, names[i] + 4, folder, dataset);
    }
    gls_bids_names_free(names);
    if (any || status) return status;
    snprintf(folder, sizeof folder, "sub-%s/dwi", subject);
    return scan_folder(o, subject, "", folder, dataset);
}

/* A data set of derivatives; a raw one only where that was asked for. */
static gls_status check_description(const gls_dataset_options *o)
{
    char path[1024], *text = NULL;
    size_t n;
    snprintf(path, sizeof path, "%s/dataset_description.json", o->input);
    if (access(path, F_OK) != 0) {
        gls_log(GLS_LOG_WARNING, "%s: no dataset_description.json", o->input);
        return GLS_OK;
    }
    gls_status status = gls_file_read(path, MAX_DESCRIPTION, &text, &n);
    if (status) return status;
    cJSON *root = gls_json_parse(text);
    free(text);
    if (!root) return gls_fail(GLS_ERR_INPUT, "%s: is no JSON", path);
    const cJSON *type = cJSON_GetObjectItemCaseSensitive(root, "DatasetType");
    bool raw = !cJSON_IsString(type) || strcmp(type->valuestring, "derivative") != 0;
    cJSON_Delete(root);
    if (raw && !o->raw)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: is a raw data set: preprocess it first, for instance by QSIPrep, or take it as it is with "
                        "--raw",
                        o->input);
    return GLS_OK;
}

static gls_status check_participant(const gls_dataset_options *o, char **names, const char *asked)
{
    char there[256] = "";
    for (size_t i = 0; names[i]; i++) {
        if (strncmp(names[i], "sub-", 4) != 0) continue;
        if (strcmp(names[i] + 4, asked) == 0) return GLS_OK;
        size_t n = strlen(there);
        if (n + strlen(names[i]) + 4 < sizeof there)
            snprintf(there + n, sizeof there - n, "%s%s", n ? ", " : "", names[i] + 4);
    }
    return gls_fail(GLS_ERR_INPUT, "%s: no participant '%s'; there are: %s", o->input, asked, there);
}

/* Each participant that was asked for has to be there. */
static gls_status check_participants(const gls_dataset_options *o, char **names)
{
    char asked[256];
    gls_status status = GLS_OK;
    for (int k = 0; k < o->participants.n && !status; k++)
        for (const char *list = o->participants.value[k]; !status && next_label(&list, "sub-", asked, sizeof asked);)
            status = check_participant(o, names, asked);
    return status;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const gls_dataset_unit *)a)->name, ((const gls_dataset_unit *)b)->name);
}

/* Two series that differ by their space or resolution alone would be the same scan twice. */
static gls_status check_spaces(const gls_dataset *dataset)
{
    for (size_t i = 1; i < dataset->n; i++) {
        const gls_dataset_unit *a = &dataset->unit[i - 1], *b = &dataset->unit[i];
        char *x = gls_bids_without(a->name, "space"), *y = gls_bids_without(b->name, "space");
        char *p = x ? gls_bids_without(x, "res") : NULL, *q = y ? gls_bids_without(y, "res") : NULL;
        bool same = p && q && strcmp(p, q) == 0, enough = p && q;
        free(x);
        free(y);
        free(p);
        free(q);
        if (!enough) return no_memory();
        if (same)
            return gls_fail(GLS_ERR_INPUT,
                            "%s and %s are one scan in two spaces: choose with --filter space=... or res=...", a->name,
                            b->name);
    }
    return GLS_OK;
}

gls_status gls_dataset_open(const gls_dataset_options *o, gls_dataset *out)
{
    gls_dataset dataset = {.n = 0};
    char **names = NULL;
    struct stat info;
    if (stat(o->input, &info) != 0) return gls_fail(GLS_ERR_INPUT, "%s: cannot be read: %s", o->input, strerror(errno));
    if (!S_ISDIR(info.st_mode)) return gls_fail(GLS_ERR_INPUT, "%s: is no folder", o->input);
    gls_status status = check_description(o);
    if (!status) status = gls_bids_names(o->input, &names);
    if (!status) status = check_participants(o, names);
    for (size_t i = 0; !status && names[i]; i++)
        if (strncmp(names[i], "sub-", 4) == 0 && is_wanted(&o->participants, "sub-", names[i] + 4))
            status = scan_subject(o, names[i] + 4, &dataset);
    if (!status && dataset.n == 0)
        status = gls_fail(GLS_ERR_INPUT, "%s: no %s_dwi.nii.gz in sub-*/[ses-*/]dwi that was asked for", o->input,
                          o->raw ? "" : "desc-preproc");
    if (!status) {
        qsort(dataset.unit, dataset.n, sizeof *dataset.unit, by_name);
        status = check_spaces(&dataset);
    }
    if (names) gls_bids_names_free(names);
    if (status)
        gls_dataset_finish(&dataset);
    else
        *out = dataset;
    return status;
}
