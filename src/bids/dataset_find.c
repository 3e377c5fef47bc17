/* Finds the series of a BIDS data set with their gradient tables, masks, seed regions, images of tissue and labels of
 * atlases. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bids/dataset_anatomy.h"
#include "bids/dataset_find.h"
#include "bids/dataset_names.h"
#include "bids/dataset_select.h"
#include "bids/dataset_parts.h"
#include "image/label_table.h"
#include "run/anatomy.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/status.h"
#include "util/text.h"

/* --- Labels of white matter in a segmentation, from its table, because programs number tissues differently. */

/* Whether a name or abbreviation in a table means white matter. */
static bool is_white_matter(const char *name)
{
    static const char *const names[] = {"WM",
                                        "white matter",
                                        "white_matter",
                                        "whitematter",
                                        "cerebral white matter",
                                        "left-cerebral-white-matter",
                                        "left_wm",
                                        "right_wm",
                                        "right-cerebral-white-matter",
                                        "white matter left",
                                        "white matter right"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (gls_case_compare(names[i], name) == 0) return true;
    return false;
}

/* Adds the labels of white matter in a table. */
static gls_status add_white_matter(const char *path, const gls_label_table *table, gls_bids_labels *labels)
{
    for (size_t i = 0; i < table->n; i++) {
        const gls_label_entry *e = &table->entry[i];
        if (!is_white_matter(e->name) && !is_white_matter(e->abbreviation)) continue;
        if (labels->n == GLS_BIDS_MAX_LABELS)
            return gls_fail(GLS_ERR_INPUT, "%s: has more than %d labels of white matter", path, GLS_BIDS_MAX_LABELS);
        labels->value[labels->n++] = e->label;
    }
    return GLS_OK;
}

gls_status gls_bids_white_matter(const char *root, const char *folder, const char *image, gls_bids_labels *labels)
{
    const char *slash = strrchr(image, '/');
    char *stem = gls_bids_stem(slash ? slash + 1 : image);
    gls_label_table names;
    *labels = (gls_bids_labels){.n = 0};
    if (!stem) return gls_no_memory();
    char *table = gls_bids_inherited(root, folder, stem, "dseg", ".tsv");
    gls_status status = gls_label_table_read(&names, table);
    if (!status) status = add_white_matter(table, &names, labels);
    gls_label_table_finish(&names);
    free(table);
    free(stem);
    return status;
}

#define MAX_DESCRIPTION ((size_t)16 << 20)

void gls_dataset_finish(gls_dataset *dataset)
{
    for (size_t i = 0; i < dataset->n; i++) {
        gls_dataset_unit *u = &dataset->unit[i];
        char *texts[] = {u->name,      u->subject,   u->session,   u->space,  u->folder,          u->dwi,
                         u->bval,      u->bvec,      u->mask,      u->region, u->problem,         u->table,
                         u->tissue[0], u->tissue[1], u->tissue[2], u->t1,     u->bundle_transform};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) free(texts[k]);
        gls_dataset_texts_finish(&u->value);
        gls_dataset_texts_finish(&u->files);
        gls_dataset_texts_finish(&u->bundle_chain);
        gls_dataset_texts_finish(&u->bundle_image);
    }
    free(dataset->unit);
    free(dataset->ignored);
    *dataset = (gls_dataset){.n = 0};
}

/* Finds a file of the gradient table of a series: beside the series, or by BIDS inheritance. */
static char *find_table(const char *root, const gls_dataset_unit *u, const char *stem, const char *extension)
{
    char *path = NULL;
    if (gls_asprintf(&path, "%s/%s/%s_dwi%s", root, u->folder, stem, extension) < 0) return NULL;
    if (access(path, F_OK) == 0) return path;
    free(path);
    return gls_bids_inherited(root, u->folder, stem, "dwi", extension);
}

/* Finds the gradient table of a series. A missing table becomes the problem of the unit. */
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
        return u->bvec ? GLS_OK : gls_no_memory();
    }
    const char *missing = u->bval ? ".bvec" : ".bval";
    gls_asprintf(&u->problem, "no %s%s beside the series or in the folders above it, and no .b",
                 u->bval ? "" : ".bvec and ", missing);
    return u->problem ? GLS_OK : gls_no_memory();
}

/* Path of an image with this suffix and this value of `key` in the space of the unit. Looks in the data set first, then
 * in the derivatives. NULL: none. *where: the data set that has the image. */
static char *find_image_of(const gls_dataset_options *o, const gls_dataset_unit *u, const char *key, const char *value,
                           const char *suffix, const char **where)
{
    /* folder of the participant or session: without /dwi */
    char base[GLS_DATASET_MAX_BELOW];
    snprintf(base, sizeof base, "%.*s", (int)(strlen(u->folder) - strlen("/dwi")), u->folder);
    for (int d = -1; d < o->derivatives.n; d++) {
        const char *root = d < 0 ? o->input : o->derivatives.value[d];
        char folders[3][GLS_DATASET_MAX_FOLDER + GLS_DATASET_MAX_BELOW + 2];
        int n = 0;
        snprintf(folders[n++], sizeof folders[0], "%s/%s", root, u->folder);
        snprintf(folders[n++], sizeof folders[0], "%s/%s/anat", root, base);
        if (*u->session) snprintf(folders[n++], sizeof folders[0], "%s/sub-%s/anat", root, u->subject);
        for (int f = 0; f < n; f++) {
            char *found = gls_bids_find(folders[f], key, value, u->space, suffix, f == 0 ? u->name : NULL);
            if (!found) continue;
            if (where) *where = root;
            return found;
        }
    }
    return NULL;
}

char *gls_dataset_find_atlas(const gls_dataset_options *o, const gls_dataset_unit *u, const char *atlas,
                             const char **root)
{
    static const char *const keys[] = {"seg", "atlas", "desc"};
    char *found = NULL;
    for (size_t i = 0; i < sizeof keys / sizeof *keys && !found; i++)
        found = find_image_of(o, u, keys[i], atlas, "dseg", root);
    return found;
}

char *gls_dataset_find_names(const char *labels, const char *root)
{
    const char *slash = strrchr(labels, '/');
    char folder[GLS_DATASET_MAX_PATH], *stem = gls_bids_stem(slash + 1), *found = NULL;
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - labels - (ptrdiff_t)strlen(root) - 1),
             labels + strlen(root) + 1);
    if (stem) found = gls_bids_inherited(root, folder, stem, "dseg", ".tsv");
    free(stem);
    return found;
}

/* Checks that the labels of each atlas exist for a unit, and that their names can be read, before the unit is tracked.
 * A missing image or a faulty table becomes the problem of the unit. */
static gls_status check_atlases(const gls_dataset_options *o, gls_dataset_unit *u)
{
    for (int i = 0; i < o->atlases.n && !u->problem; i++) {
        const char *root = NULL;
        gls_label_table table = {.n = 0};
        char *found = gls_dataset_find_atlas(o, u, o->atlases.value[i], &root);
        char *names = found ? gls_dataset_find_names(found, root) : NULL;
        gls_status status = gls_label_table_read(&table, names);
        if (!found) gls_asprintf(&u->problem, "no seg-, atlas- or desc-%s_dseg in its space", o->atlases.value[i]);
        if (status) u->problem = gls_text_copy(gls_last_error());
        gls_label_table_finish(&table);
        free(names);
        if ((!found || status) && !u->problem) return gls_no_memory();
        free(found);
    }
    return GLS_OK;
}

/* Finds a segmentation of tissue whose table names labels of white matter. u->region stays NULL if there is none. */
static gls_status find_labels(const gls_dataset_options *o, gls_dataset_unit *u)
{
    const char *root = NULL;
    char folder[GLS_DATASET_MAX_BELOW];
    char *found = find_image_of(o, u, NULL, "", "dseg", &root);
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

/* Finds the image of --seed-region KEY-VALUE_SUFFIX. A missing image becomes the problem of the unit. */
static gls_status find_file(const gls_dataset_options *o, gls_dataset_unit *u)
{
    const gls_bids_ending *e = &o->region_file;
    u->region = find_image_of(o, u, e->key, e->value, e->suffix, NULL);
    u->kind = strcmp(e->suffix, "probseg") == 0 ? GLS_DATASET_WM : GLS_DATASET_AUTO;
    if (u->region) return GLS_OK;
    gls_asprintf(&u->problem, "no %s-%s_%s in its space", e->key, e->value, e->suffix);
    return u->problem ? GLS_OK : gls_no_memory();
}

/* Finds the fractions of tissue of --tissue. A missing image becomes the problem of the unit. */
static gls_status find_tissue(const gls_dataset_options *o, gls_dataset_unit *u)
{
    static const char *const label[] = {"WM", "GM", "CSF"};
    for (int i = 0; i < 3 && o->tissue && !u->problem; i++) {
        u->tissue[i] = find_image_of(o, u, "label", label[i], "probseg", NULL);
        if (!u->tissue[i] && gls_asprintf(&u->problem, "no label-%s_probseg in its space", label[i]) < 0)
            return gls_no_memory();
    }
    return GLS_OK;
}

/* Finds the mask and the seed region. A missing image becomes the problem of the unit. */
static gls_status find_images(const gls_dataset_options *o, gls_dataset_unit *u)
{
    /* for a unit that cannot be tracked no images are looked for; its problem is reported later */
    if (u->problem) return GLS_OK;
    gls_job_options job = *o->job;
    gls_dataset_take_values(u, &job);
    u->mask = job.mask ? strdup(job.mask) : find_image_of(o, u, "desc", "brain", "mask", NULL);
    if (!u->mask && job.mask) return gls_no_memory();
    if (!u->mask) {
        u->problem = strdup("no desc-brain_mask in its space; --mask behind -- names another");
        return u->problem ? GLS_OK : gls_no_memory();
    }
    if (job.t1 && !(u->t1 = strdup(job.t1))) return gls_no_memory();
    if (o->t1 && !u->t1) {
        const gls_status status = gls_dataset_anatomy_find(o, u);
        if (status || u->problem) return status;
    }
    if (job.roi) {
        u->region = strdup(job.roi);
        return u->region ? GLS_OK : gls_no_memory();
    }
    /* as with --t1 of track */
    u->interface = u->t1 && o->region == GLS_DATASET_AUTO && !gls_seeds_place(&job) &&
                   gls_method_of(&job).seeds == GLS_SEEDS_COUNTED;
    if (u->interface) return GLS_OK;
    u->kind = o->region;
    if (o->region == GLS_DATASET_FILE) return find_file(o, u);
    /* with AUTO the first of WM, aseg, dseg and FA that exists; else the kind that the user asked for */
    if (o->region == GLS_DATASET_AUTO || o->region == GLS_DATASET_WM) {
        u->region = find_image_of(o, u, "label", "WM", "probseg", NULL);
        if (u->region) u->kind = GLS_DATASET_WM;
    }
    if (!u->region && (o->region == GLS_DATASET_AUTO || o->region == GLS_DATASET_ASEG)) {
        u->region = find_image_of(o, u, "desc", "aseg", "dseg", NULL);
        if (u->region) u->kind = GLS_DATASET_ASEG;
    }
    gls_status status = GLS_OK;
    if (!u->region && (o->region == GLS_DATASET_AUTO || o->region == GLS_DATASET_DSEG)) status = find_labels(o, u);
    if (status || u->region || o->region == GLS_DATASET_FA) return status;
    if (o->region == GLS_DATASET_AUTO) {
        u->kind = GLS_DATASET_FA;
        return GLS_OK;
    }
    /* the data set has no image of the kind that the user asked for */
    u->problem = strdup(o->region == GLS_DATASET_WM     ? "no label-WM_probseg in its space"
                        : o->region == GLS_DATASET_ASEG ? "no desc-aseg_dseg in its space"
                                                        : "no dseg in its space with a table that names white matter");
    return u->problem ? GLS_OK : gls_no_memory();
}

/* Sets the problem of a unit whose series or T1 image cannot be read; a dangling link of git-annex: it was not fetched.
 */
static gls_status check_fetched(const char *path, gls_dataset_unit *u)
{
    if (u->problem || !path || access(path, R_OK) == 0) return GLS_OK;
    struct stat link;
    const char *reason = strerror(errno);
    bool dangling = lstat(path, &link) == 0 && S_ISLNK(link.st_mode);
    if (dangling)
        gls_asprintf(&u->problem, "not fetched: datalad get %s", path);
    else
        gls_asprintf(&u->problem, "%s%scannot be read: %s", path == u->dwi ? "" : path, path == u->dwi ? "" : ": ",
                     reason);
    return u->problem ? GLS_OK : gls_no_memory();
}

/* Adds a series with its files to the data set. */
static gls_status add_unit(const gls_dataset_options *o, const char *subject, const char *session, const char *folder,
                           const char *file, gls_dataset *dataset)
{
    gls_dataset_unit *grown = realloc(dataset->unit, (dataset->n + 1) * sizeof *grown), *u;
    if (!grown) return gls_no_memory();
    dataset->unit = grown;
    u = &dataset->unit[dataset->n++];
    *u = (gls_dataset_unit){.name = gls_bids_without(file, "desc")};
    char space[256], *stem = gls_bids_stem(file);
    u->subject = strdup(subject);
    u->session = strdup(session);
    u->space = strdup(gls_bids_value(file, "space", space, sizeof space));
    u->folder = strdup(folder);
    bool enough = gls_asprintf(&u->dwi, "%s/%s/%s", o->input, folder, file) >= 0 && stem && u->name && u->subject &&
                  u->session && u->space && u->folder;
    gls_status status = enough ? find_tables(o->input, stem, u) : gls_no_memory();
    if (!status) status = gls_dataset_find_values(o->job, u);
    if (!status) status = gls_dataset_find_for_bundles(o, u);
    if (!status) status = find_images(o, u);
    if (!status) status = find_tissue(o, u);
    if (!status) status = check_atlases(o, u);
    if (!status) status = check_fetched(u->dwi, u);
    if (!status) status = check_fetched(u->t1, u);
    free(stem);
    return status;
}

/* Logs a name that is skipped, counts it, and keeps the path of the first one. */
static gls_status ignore(gls_dataset *dataset, gls_log_level level, const char *folder, const char *name,
                         const char *reason)
{
    char *path = NULL;
    if (gls_asprintf(&path, "%s%s%s", folder, *folder ? "/" : "", name) < 0) return gls_no_memory();
    gls_log(level, "%s: is left out: %s", path, reason);
    if (dataset->n_ignored++ > 0)
        free(path);
    else
        dataset->ignored = path;
    return GLS_OK;
}

/* Like ignore(), for a participant or session whose label is invalid. Does nothing if label is NULL, or if the name is
 * of no folder. */
static gls_status ignore_label(const gls_dataset_options *o, gls_dataset *dataset, const char *folder, const char *name,
                               const char *label)
{
    struct stat info;
    char path[GLS_DATASET_MAX_FOLDER + GLS_DATASET_MAX_BELOW + 2];
    if (!label) return GLS_OK;
    snprintf(path, sizeof path, "%s/%s/%s", o->input, folder, name);
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) return GLS_OK;
    return ignore(dataset, GLS_LOG_WARNING, folder, name, GLS_BIDS_BAD_LABEL);
}

/* Why an image of a diffusion series, by the entity part of its name, holds no magnitudes; NULL: it holds them. Real
 * parts are magnitudes once their phase is removed, so a filter of part may choose them. */
static const char *not_magnitude(const gls_dataset_options *o, const char *name)
{
    char part[256];
    gls_bids_value(name, "part", part, sizeof part);
    if (strcmp(part, "phase") == 0) return "part-phase holds angles, no signal that could be fitted";
    if (strcmp(part, "imag") == 0) return "part-imag is no signal that could be fitted; part-mag is";
    if (strcmp(part, "real") != 0) return NULL;
    for (int i = 0; i < o->filters.n; i++)
        if (strncmp(o->filters.value[i], "part=", 5) == 0) return NULL;
    return "real parts can be fitted only after a correction of their phase; --filter part=real takes them";
}

/* Adds the series in a folder dwi that the options ask for. Skips, with a warning, names that are invalid or of another
 * participant or session. */
static gls_status scan_folder(const gls_dataset_options *o, const char *subject, const char *session,
                              const char *folder, gls_dataset *dataset)
{
    char path[GLS_DATASET_MAX_FOLDER + GLS_DATASET_MAX_BELOW + 2], desc[256], **names = NULL;
    snprintf(path, sizeof path, "%s/%s", o->input, folder);
    gls_status status = gls_bids_names(path, &names);
    for (size_t i = 0; !status && names[i]; i++) {
        if (!gls_bids_has_suffix(names[i], "dwi", ".nii.gz") && !gls_bids_has_suffix(names[i], "dwi", ".nii")) continue;
        if (!gls_bids_is_valid(names[i])) {
            status = ignore(dataset, GLS_LOG_WARNING, folder, names[i], "its name is none of BIDS");
            continue;
        }
        if (!gls_dataset_belongs(names[i], subject, session)) {
            status =
                ignore(dataset, GLS_LOG_WARNING, folder, names[i], "is of another participant or session by its name");
            continue;
        }
        gls_bids_value(names[i], "desc", desc, sizeof desc);
        bool preprocessed = strcmp(desc, "preproc") == 0;
        if ((!preprocessed && !(o->raw && !*desc)) || !gls_dataset_passes(o, names[i], NULL)) continue;
        const char *fault = not_magnitude(o, names[i]);
        if (fault)
            status = ignore(dataset, GLS_LOG_INFO, folder, names[i], fault);
        else
            status = add_unit(o, subject, session, folder, names[i], dataset);
    }
    gls_bids_names_free(names);
    return status;
}

/* Adds the series of a participant: of each session asked for; if none is asked for, also series without a session. */
static gls_status scan_subject(const gls_dataset_options *o, const char *subject, gls_dataset *dataset)
{
    char path[1024], folder[GLS_DATASET_MAX_BELOW], **names;
    snprintf(path, sizeof path, "%s/sub-%s", o->input, subject);
    gls_status status = gls_bids_names(path, &names);
    if (status) return status;
    for (size_t i = 0; !status && names[i]; i++) {
        snprintf(folder, sizeof folder, "sub-%s", subject);
        status = ignore_label(o, dataset, folder, names[i], gls_dataset_bad_label(&o->sessions, "ses-", names[i]));
        if (status || !gls_dataset_takes(&o->sessions, "ses-", names[i])) continue;
        snprintf(folder, sizeof folder, "sub-%s/%s/dwi", subject, names[i]);
        status = scan_folder(o, subject, names[i] + 4, folder, dataset);
    }
    gls_bids_names_free(names);
    if (status || o->sessions.n > 0) return status;
    snprintf(folder, sizeof folder, "sub-%s/dwi", subject);
    return scan_folder(o, subject, "", folder, dataset);
}

/* Checks that the folder is a data set of derivatives, or a raw one if the options accept that. */
static gls_status check_description(const gls_dataset_options *o)
{
    char path[1024];
    cJSON *root;
    snprintf(path, sizeof path, "%s/dataset_description.json", o->input);
    /* old data sets have no description; they are read with a warning */
    if (access(path, F_OK) != 0) {
        gls_log(GLS_LOG_WARNING, "%s: no dataset_description.json", o->input);
        return GLS_OK;
    }
    gls_status status = gls_json_load(path, MAX_DESCRIPTION, &root);
    if (status) return status;
    /* without DatasetType a data set is raw, as BIDS says */
    const cJSON *type = gls_json_at(root, "DatasetType");
    bool raw = !cJSON_IsString(type) || strcmp(type->valuestring, "derivative") != 0;
    cJSON_Delete(root);
    if (raw && !o->raw)
        return gls_fail(GLS_ERR_INPUT,
                        "%s: is a raw data set (DatasetType in dataset_description.json is not \"derivative\"): "
                        "preprocess it first, for instance by QSIPrep, or take it as it is with --raw",
                        o->input);
    return GLS_OK;
}

/* Comparison for qsort(): units by name, so that runs and shards have one order on any file system. */
static int by_name(const void *a, const void *b)
{
    return strcmp(((const gls_dataset_unit *)a)->name, ((const gls_dataset_unit *)b)->name);
}

/* The name without entities that are forms of one scan, from malloc. NULL: out of memory. */
static char *name_of_scan(const char *name)
{
    char *scan = strdup(name);
    for (const gls_bids_entity *e = gls_bids_entities; e->key && scan; e++) {
        if (!e->is_form) continue;
        char *rest = gls_bids_without(scan, e->key);
        free(scan);
        scan = rest;
    }
    return scan;
}

/* Sets the problem of a series that is a form of the same scan as another, and says how to choose one of them. */
static gls_status fail_form(gls_dataset_unit *u, const gls_dataset_unit *other)
{
    char own[256] = "", its[256] = "";
    const gls_bids_entity *e = gls_bids_entities;
    for (; e->key; e++)
        if (e->is_form && strcmp(gls_bids_value(u->name, e->key, own, sizeof own),
                                 gls_bids_value(other->name, e->key, its, sizeof its)) != 0)
            break;
    free(u->problem);
    if (e->key)
        gls_asprintf(&u->problem, "one scan in two forms, as %s: choose with --filter %s=%s or %s=%s", other->name,
                     e->key, own, e->key, its);
    else
        gls_asprintf(&u->problem, "%s is a file of the same series: remove one of the two", other->dwi);
    return u->problem ? GLS_OK : gls_no_memory();
}

/* Sets `problem` of both series if they are one scan: their names are equal but for entities that are forms, or for
 * .nii and .nii.gz. */
static gls_status check_twins(gls_dataset_unit *a, gls_dataset_unit *b)
{
    char *x = name_of_scan(a->name), *y = name_of_scan(b->name);
    gls_status status = x && y ? GLS_OK : gls_no_memory();
    const bool same = x && y && strcmp(x, y) == 0;
    free(x);
    free(y);
    if (same) status = fail_form(a, b);
    if (same && !status) status = fail_form(b, a);
    return status;
}

/* Compares all series of each participant in pairs. Units are sorted: units of one participant are neighbours. */
static gls_status check_forms(gls_dataset *dataset)
{
    gls_status status = GLS_OK;
    for (size_t i = 1; i < dataset->n && !status; i++)
        for (size_t k = i; k-- > 0 && !status && strcmp(dataset->unit[k].subject, dataset->unit[i].subject) == 0;)
            status = check_twins(&dataset->unit[k], &dataset->unit[i]);
    return status;
}

/* Returns the error that no series was found. The message names what narrowed the search. */
static gls_status fail_empty(const gls_dataset_options *o, const gls_dataset *dataset)
{
    char left_out[GLS_DATASET_MAX_BELOW + 128] = "";
    const bool asked = o->participants.n || o->sessions.n || o->filters.n;
    if (dataset->n_ignored > 0)
        snprintf(left_out, sizeof left_out, "; left out because of %s: %s%s",
                 dataset->n_ignored > 1 ? "their names" : "its name", dataset->ignored,
                 dataset->n_ignored > 1 ? " and others" : "");
    return gls_fail(GLS_ERR_INPUT, "%s: has no %s_dwi.nii.gz in sub-*/[ses-*/]dwi%s%s%s", o->input,
                    o->raw ? "" : "desc-preproc", asked ? " that the options ask for" : "", left_out,
                    o->raw ? "" : "; --raw takes series that are not preprocessed");
}

gls_status gls_dataset_open(const gls_dataset_options *o, gls_dataset *out)
{
    gls_dataset dataset = {.n = 0};
    char **names = NULL;
    struct stat info;
    if (stat(o->input, &info) != 0) return gls_fail(GLS_ERR_INPUT, "%s: cannot be read: %s", o->input, strerror(errno));
    if (!S_ISDIR(info.st_mode)) return gls_fail(GLS_ERR_INPUT, "%s: is no folder", o->input);
    gls_status status = gls_dataset_check_values(o, false);
    if (!status) status = check_description(o);
    if (!status) status = gls_bids_names(o->input, &names);
    if (!status) status = gls_dataset_check_labels(o, names);
    /* folders of participants; others are ignored */
    for (size_t i = 0; !status && names[i]; i++) {
        status = ignore_label(o, &dataset, "", names[i], gls_dataset_bad_label(&o->participants, "sub-", names[i]));
        if (!status && gls_dataset_takes(&o->participants, "sub-", names[i]))
            status = scan_subject(o, names[i] + 4, &dataset);
    }
    /* nothing found: the message says what was looked for */
    if (!status && dataset.n == 0) status = fail_empty(o, &dataset);
    if (!status) {
        qsort(dataset.unit, dataset.n, sizeof *dataset.unit, by_name);
        status = check_forms(&dataset);
    }
    if (names) gls_bids_names_free(names);
    if (status)
        gls_dataset_finish(&dataset);
    else
        *out = dataset;
    return status;
}
