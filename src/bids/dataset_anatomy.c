/* Finds the T1 image of a series in a data set, and makes of it what track makes with --t1 and --atlas: brain mask,
 * tissue, labels and transforms, which lie beside the tractogram and are known again by the contents of their inputs.
 */
#include "bids/dataset_anatomy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bids/dataset_derived.h"
#include "bids/dataset_describe.h"
#include "bids/dataset_names.h"
#include "run/job_anatomy.h"
#include "run/series_run.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/status.h"

/* --- The T1 image. */

/* The best images so far. Both paths from malloc. */
typedef struct choice {
    char *path, *other; /* other: one that is as good; NULL: none */
    int points;
} choice;

/* Rates a T1 image by its name; -1: it is of another space, or no image of the whole head. */
static int rate(const char *name, const gls_dataset_unit *u)
{
    char value[256], run[256], own[256];
    gls_bids_value(name, "space", value, sizeof value);
    const bool same_space = strcmp(value, u->space) == 0;
    if (*value && !same_space) return -1;
    gls_bids_value(name, "desc", value, sizeof value);
    const bool preprocessed = strcmp(value, "preproc") == 0;
    if (*value && !preprocessed) return -1;
    gls_bids_value(name, "run", own, sizeof own);
    gls_bids_value(u->name, "run", run, sizeof run);
    const bool same_run = *own && strcmp(own + strspn(own, "0"), run + strspn(run, "0")) == 0;
    return 4 * same_run + 2 * preprocessed + same_space;
}

/* Looks for T1 images in a folder. */
static gls_status scan(const char *folder, const gls_dataset_unit *u, choice *c)
{
    char **names = NULL;
    gls_status status = gls_bids_names(folder, &names);
    for (size_t i = 0; !status && names[i]; i++) {
        char *path = NULL;
        if (!gls_bids_has_suffix(names[i], "T1w", ".nii.gz") && !gls_bids_has_suffix(names[i], "T1w", ".nii")) continue;
        const int points = gls_bids_is_valid(names[i]) ? rate(names[i], u) : -1;
        if (points < 0 || (c->path && points < c->points)) continue;
        if (gls_asprintf(&path, "%s/%s", folder, names[i]) < 0) status = gls_no_memory();
        free(c->other);
        c->other = c->path && points == c->points ? c->path : NULL;
        if (!c->other) free(c->path);
        c->path = path;
        c->points = points;
    }
    gls_bids_names_free(names);
    return status;
}

/* Looks in the folders of other sessions, for participants whose T1 image was made in one of them alone. */
static gls_status scan_sessions(const char *root, const gls_dataset_unit *u, choice *c)
{
    char path[GLS_DATASET_MAX_PATH], **names = NULL;
    snprintf(path, sizeof path, "%s/sub-%s", root, u->subject);
    gls_status status = gls_bids_names(path, &names);
    for (size_t i = 0; !status && names[i]; i++) {
        if (strncmp(names[i], "ses-", 4) != 0) continue;
        snprintf(path, sizeof path, "%s/sub-%s/%s/anat", root, u->subject, names[i]);
        status = scan(path, u, c);
    }
    gls_bids_names_free(names);
    return status;
}

gls_status gls_dataset_anatomy_find(const gls_dataset_options *o, gls_dataset_unit *u)
{
    choice c = {.points = -1};
    gls_status status = GLS_OK;
    /* place 0: the session; 1: the participant; 2: other sessions */
    for (int place = *u->session ? 0 : 1; place < 3 && !c.path && !status; place++)
        for (int d = -1; d < o->derivatives.n && !c.path && !status; d++) {
            const char *root = d < 0 ? o->input : o->derivatives.value[d];
            char folder[GLS_DATASET_MAX_PATH];
            snprintf(folder, sizeof folder, "%s/sub-%s%s%s/anat", root, u->subject, place == 0 ? "/ses-" : "",
                     place == 0 ? u->session : "");
            status = place < 2 ? scan(folder, u, &c) : scan_sessions(root, u, &c);
        }
    if (!status && (!c.path || c.other)) {
        if (c.other)
            gls_asprintf(&u->problem, "several T1 images, such as %s and %s: --t1 behind -- names one", c.other,
                         c.path);
        else
            u->problem = strdup("no T1w image of the participant; without --t1 it is tracked without tissue");
        if (!u->problem) status = gls_no_memory();
        free(c.path);
        c.path = NULL;
    }
    free(c.other);
    u->t1 = c.path;
    return status;
}

/* --- The anatomy. */

/* State while the anatomy of one unit is made. */
typedef struct making {
    const gls_dataset_options *options;
    const gls_dataset_unit *unit;
    const gls_job_options *job;
    const gls_monitor *monitor;
    const gls_anat_sources *sources;
    const gls_anat_names *names;
} making;

static bool go_on(void *user)
{
    return !gls_monitor_cancelled(user, GLS_PHASE_FIT);
}

/* Name of the sidecar of an image NAME.nii.gz. From malloc. */
static char *json_name(const char *image)
{
    char *name = NULL;
    return gls_asprintf(&name, "%.*s.json", (int)(strlen(image) - strlen(".nii.gz")), image) < 0 ? NULL : name;
}

/* Writes a sidecar for each image but the five tissues, whose sidecar is that of all. */
static gls_status write_sidecars(const making *m, const char *const *source, size_t n, gls_output_group *group)
{
    static const struct {
        gls_anat_file file;
        const char *type, *description;
    } images[] = {
        {GLS_ANAT_MASK, "Brain", "Brain"},
        {GLS_ANAT_B0, NULL, "Mean of the volumes without diffusion weighting"},
        {GLS_ANAT_T1, NULL, "T1 image without its bias field"},
        {GLS_ANAT_GM, NULL, "Fraction of grey matter"},
        {GLS_ANAT_WM, NULL, "Fraction of white matter"},
        {GLS_ANAT_CSF, NULL, "Fraction of cerebrospinal fluid"},
        {GLS_ANAT_LABELS, NULL, "Labels of an atlas"},
    };
    gls_status status = GLS_OK;
    for (size_t i = 0; i < sizeof images / sizeof *images && !status; i++) {
        char *path = NULL;
        if (!m->names->path[images[i].file]) continue;
        cJSON *root = cJSON_CreateObject();
        cJSON_AddStringToObject(root, "Description", images[i].description);
        if (images[i].type) cJSON_AddStringToObject(root, "Type", images[i].type);
        if (images[i].file == GLS_ANAT_T1 || images[i].file == GLS_ANAT_B0)
            cJSON_AddBoolToObject(root, "SkullStripped", false);
        gls_dataset_add_sources(m->options, m->unit, false, source, n, root);
        path = json_name(m->names->path[images[i].file]);
        status = path ? gls_json_write(root, path, true, group, "\n") : gls_no_memory();
        free(path);
        cJSON_Delete(root);
    }
    return status;
}

/* Makes all files of the anatomy. */
static gls_status make(gls_tract_run *run, const gls_dataset_derived *d, const void *user)
{
    const making *m = user;
    gls_anat_inputs in = {.device = gls_job_anatomy_device(m->job),
                          .graphics = m->job->api,
                          .go_on = {go_on, (void *)(uintptr_t)m->monitor}};
    gls_anat anat = {.cut = false};
    char *path[GLS_ANAT_MAX_FILES];
    size_t n = 0;
    gls_status status = gls_anat_sources_list(m->sources, path, &n);
    if (!status) status = gls_run_reads_all(&run->files, (const char *const *)path, n);
    for (size_t i = 0; i < d->n && !status; i++) status = gls_run_writes(&run->files, d->output[i]);
    if (!status) status = gls_run_writes_sidecar(&run->files, m->names->sidecar, "");
    if (!status) status = gls_anat_inputs_read(m->sources, &in);
    if (!status) status = gls_anat_make(&in, &anat);
    if (!status) status = gls_anat_write(&anat, m->sources, m->names, true, &run->files.group);
    if (!status) status = write_sidecars(m, (const char *const *)path, n, &run->files.group);
    if (!status) {
        gls_dataset_add_sources(m->options, m->unit, false, (const char *const *)path, n, run->root);
        gls_anat_describe(&anat, run->root);
    }
    for (size_t i = 0; i < n; i++) free(path[i]);
    gls_anat_finish(&anat);
    gls_anat_inputs_finish(&in);
    return status;
}

/* Adds hashes of all sources to the inputs. */
static gls_status identify(const gls_anat_sources *s, gls_dataset_derived *d)
{
    const char *const role[] = {"t1", "dwi", "bval", "bvec", "mask", "template", "template_mask"},
                      *const path[] = {s->t1,       s->dwi,   s->bval,      gls_table_path(s->bvec),
                                       s->dwi_mask, s->fixed, s->fixed_mask};
    char *all[GLS_ANAT_MAX_FILES];
    size_t n = 0, singles = 0;
    gls_status status = gls_anat_sources_list(s, all, &n);
    for (size_t i = 0; i < sizeof role / sizeof *role && !status; i++) {
        status = gls_dataset_derived_add(d, role[i], path[i]);
        singles += path[i] != NULL;
    }
    /* the labels and their names follow the others */
    if (!status) status = gls_dataset_derived_add(d, "labels", singles < n ? all[singles] : NULL);
    if (!status) status = gls_dataset_derived_add(d, "names", singles + 1 < n ? all[singles + 1] : NULL);
    for (size_t i = 0; i < n; i++) free(all[i]);
    return status;
}

/* Names the files, and adds them to what is derived. */
static gls_status name_files(const gls_dataset_options *o, const gls_dataset_unit *u, const gls_anat_sources *s,
                             gls_anat_names *names, gls_dataset_derived *d)
{
    char folder[GLS_DATASET_MAX_PATH], *subject = NULL, *plain = gls_bids_without(u->name, "space");
    snprintf(folder, sizeof folder, "%s/%s", o->output, u->folder);
    gls_status status = plain && gls_asprintf(&subject, "%s_", plain) >= 0 ? GLS_OK : gls_no_memory();
    if (!status) status = gls_anat_names_init(names, s, folder, subject, *u->space ? u->space : "dwi", NULL);
    for (int k = 0; k < GLS_ANAT_N_FILES && !status; k++) {
        if (!names->path[k]) continue;
        snprintf(d->output[d->n++], sizeof *d->output, "%s", names->path[k]);
        char *json = gls_case_ends(names->path[k], ".nii.gz") && k != GLS_ANAT_FIVE && k != GLS_ANAT_TO_TEMPLATE &&
                             k != GLS_ANAT_FROM_TEMPLATE
                         ? json_name(names->path[k])
                         : NULL;
        if (json) snprintf(d->output[d->n++], sizeof *d->output, "%s", json);
        free(json);
    }
    if (!status) snprintf(d->sidecar, sizeof d->sidecar, "%s", names->sidecar);
    free(subject);
    free(plain);
    return status;
}

gls_status gls_dataset_anatomy_make(const gls_dataset_options *o, const gls_dataset_unit *u, const gls_job_options *job,
                                    const gls_monitor *monitor, gls_dataset_anatomy *a)
{
    gls_job_options own = *job;
    gls_job_anatomy from;
    gls_dataset_derived d;
    char lock[GLS_DATASET_MAX_PATH];
    int fd = -1;
    own.t1 = u->t1;
    own.atlas = o->t1_atlas ? o->t1_atlas : job->atlas;
    own.dwi = u->dwi;
    own.bval = u->bval;
    own.bvec = u->bvec;
    own.mask = u->mask;
    *a = (gls_dataset_anatomy){.table = NULL};
    gls_dataset_derived_init(&d);
    d.description = "Five tissues, made of a T1 image in the space of the series";
    gls_status status = gls_job_anatomy_init(&own, &from);
    const making m = {o, u, job, monitor, &from.sources, &a->names};
    d.make = make;
    d.user = &m;
    if (!status) status = name_files(o, u, &from.sources, &a->names, &d);
    const char *names = from.sources.labels ? strchr(from.sources.labels, ',') : NULL;
    if (names && !status && !(a->table = strdup(names + 1))) status = gls_no_memory();
    if (!status) status = identify(&from.sources, &d);
    if (!status && from.sources.boundary) cJSON_AddStringToObject(d.inputs, "boundary", "refined");
    /* a run with another getter may make the same files at this time: wait for it */
    snprintf(lock, sizeof lock, "%s/logs/%s_anat.lock", o->output, u->name);
    if (!status) status = gls_dataset_lock(lock, true, &fd);
    if (!status) {
        status = gls_dataset_derive(o, &d);
        gls_dataset_unlock(lock, fd);
    }
    gls_dataset_derived_finish(&d);
    gls_job_anatomy_finish(&from);
    return status;
}

void gls_dataset_anatomy_warn(const gls_dataset_anatomy *a)
{
    cJSON *root = a->names.sidecar ? gls_json_read(a->names.sidecar, (size_t)64 << 20) : NULL;
    const char *verdict = gls_json_text_at(root, "verdict");
    if (verdict && strcmp(verdict, GLS_ALIGNED) != 0)
        gls_log(GLS_LOG_WARNING, "%s: there were warnings when it was made: look at the images before you use them",
                a->names.sidecar);
    cJSON_Delete(root);
}

void gls_dataset_anatomy_finish(gls_dataset_anatomy *a)
{
    gls_anat_names_finish(&a->names);
    free(a->table);
    *a = (gls_dataset_anatomy){.table = NULL};
}
