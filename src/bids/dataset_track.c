/* Tracks a series of a data set into a data set of derivatives, with masks, fits and connectomes: names the files,
 * writes the sidecars, and finds out what an earlier run has done already. */
#include "bids/dataset_track.h"
#include "bids/dataset_anatomy.h"
#include "bids/dataset_bundles.h"
#include "bids/dataset_connectome.h"
#include "bids/dataset_describe.h"
#include "bids/dataset_identity.h"
#include "bids/dataset_images.h"
#include "bids/dataset_names.h"
#include "bids/dataset_parts.h"
#include "bids/dataset_select.h"
#include "bids/dataset_stage.h"
#include "dwi/model_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/series_run.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/status.h"
#include "weights/weight_files.h"

/* largest sidecar of a tractogram, bytes */
#define MAX_SIDECAR ((size_t)256 << 20)
#define RUN "run.json" /* name of the sidecar that the tracking writes, in the folder of staging */
#define DONE "done"    /* member of a sidecar for later runs: identity, outputs, fits */

/* Names of the files of a unit, in the folder of staging and in the folder of the unit. */
typedef struct places {
    /* names of files without folder */
    char tractogram[512], mask[512], seeds[512];
    char lock[GLS_DATASET_MAX_PATH]; /* file that a run keeps locked while it tracks the unit */
    gls_dataset_stage stage;
    gls_dataset_anatomy anatomy; /* of the T1 image; empty: none */
} places;

/* Writes the name of the direction getter, and the name of the model unless the model is auto or opdt. */
static void name_track(const gls_job_options *job, char name[64])
{
    const bool is_default = job->model.model == GLS_MODEL_OPDT || job->model.model == GLS_MODEL_AUTO;
    snprintf(name, 64, "%s%s", gls_getter_name(job->track.dg), is_default ? "" : gls_model_name(job->model.model));
}

/* Sets all names. Tractogram: UNIT_tract-wholebrain_track-TRACK_tractogram.trx; --legacy-names: _tractography.trk. */
static void name_places(const gls_dataset_options *o, const gls_dataset_unit *u, const gls_job_options *job, places *p)
{
    char track[64];
    gls_dataset_stage *s = &p->stage;
    const char *suffix = o->legacy_names ? "tractography" : "tractogram", *format = o->legacy_names ? "trk" : "trx";
    name_track(job, track);
    p->anatomy = (gls_dataset_anatomy){.table = NULL};
    *s = (gls_dataset_stage){.options = o, .unit = u, .job = job};
    snprintf(s->folder, sizeof s->folder, "%s/%s", o->output, u->folder);
    snprintf(s->path, sizeof s->path, "%s/%s/.%s_%s_%s.stage", o->output, u->folder, u->name, track, suffix);
    snprintf(s->own, sizeof s->own, "%s_tract-wholebrain_track-%s_%s", u->name, track, suffix);
    snprintf(s->sidecar, sizeof s->sidecar, "%s_tract-wholebrain_track-%s_%s.json", u->name, track, suffix);
    snprintf(s->lock, sizeof s->lock, "%s/logs/%s.lock", o->output, u->name);
    snprintf(p->tractogram, sizeof p->tractogram, "%s_tract-wholebrain_track-%s_%s.%s", u->name, track, suffix, format);
    snprintf(p->seeds, sizeof p->seeds, "%s_desc-seed_mask.nii.gz", u->name);
    snprintf(p->mask, sizeof p->mask, "%s_desc-stop_mask.nii.gz", u->name);
    /* One lock for runs with and without --legacy-names, because both write reports and matrices of the same names. */
    snprintf(p->lock, sizeof p->lock, "%s/logs/%s_%s.lock", o->output, u->name, track);
}

/* Path of a file in the final folder. */
static void in_folder(const places *p, const char *name, char path[GLS_DATASET_MAX_PATH])
{
    gls_bids_join(p->stage.folder, name, path, GLS_DATASET_MAX_PATH);
}

/* Path of a file in the folder of staging. */
static void in_stage(const places *p, const char *name, char path[GLS_DATASET_MAX_PATH])
{
    gls_bids_join(p->stage.path, name, path, GLS_DATASET_MAX_PATH);
}

void gls_dataset_name(const gls_dataset_options *o, const gls_dataset_unit *u, const gls_job_options *job,
                      gls_dataset_files *files)
{
    places p;
    name_places(o, u, job, &p);
    const char *name = p.tractogram;
    int stem = (int)(strrchr(name, '_') - name);
    in_folder(&p, p.tractogram, files->tractogram);
    in_folder(&p, p.stage.sidecar, files->sidecar);
    snprintf(files->report, sizeof files->report, "%s/%.*s.html", o->output, stem, name);
    snprintf(files->picture, sizeof files->picture, "%s/sub-%s/figures/%.*s_views.png", o->output, u->subject, stem,
             name);
    snprintf(files->logs, sizeof files->logs, "%s/logs", o->output);
}

/* Removes `folder`, the name of the folder of staging with a slash before it, from paths in a text, because the files
 * get names outside it. Returns whether the text had it. */
static bool leave_stage(char *text, const char *folder)
{
    const size_t n = strlen(folder);
    bool any = false;
    for (char *found = text; (found = strstr(found, folder)) != NULL; found++) {
        if (found[n] != '/') continue;
        memmove(found, found + n, strlen(found + n) + 1);
        any = true;
    }
    return any;
}

/* Calls leave_stage() for all texts in a JSON value and in its following siblings. */
static void rename_stage(cJSON *item, const char *folder)
{
    for (; item; item = item->next) {
        if (cJSON_IsString(item)) leave_stage(item->valuestring, folder);
        rename_stage(item->child, folder);
    }
}

/* Removes the folder of staging from the message of the last error. Returns status. */
static gls_status leave_stage_in_error(gls_status status, const places *p)
{
    char *text = status ? strdup(gls_last_error()) : NULL;
    if (text && leave_stage(text, strrchr(p->stage.path, '/'))) gls_error_set("%s", text);
    free(text);
    return status;
}

/* Writes an image with its sidecar to the folder of staging. */
static gls_status write_mask(const places *p, const char *name, const gls_image *image, const char *description,
                             const char *source)
{
    char file[520], path[GLS_DATASET_MAX_PATH];
    in_stage(p, name, path);
    gls_status status = gls_image_write(path, image, GLS_IMAGE_UINT8);
    if (status) return status;
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "Type", "ROI");
    cJSON_AddStringToObject(root, "Description", description);
    gls_dataset_add_sources(p->stage.options, p->stage.unit, false, &source, 1, root);
    snprintf(file, sizeof file, "%.*s.json", (int)(strlen(name) - strlen(".nii.gz")), name);
    in_stage(p, file, path);
    status = gls_json_write(root, path, true, NULL, "\n");
    cJSON_Delete(root);
    return status;
}

/* Writes the mask in which streamlines may be, and the seed region if there is one, whose description has the warnings
 * on both. */
static gls_status write_masks(const places *p, const gls_job_options *job)
{
    const gls_dataset_unit *u = p->stage.unit;
    gls_image *mask = NULL, *seeds = NULL;
    gls_warnings warnings;
    gls_text about = {0};
    gls_warnings_begin(&warnings);
    gls_status status = gls_dataset_images(p->stage.options, u, &job->model, &mask, &seeds);
    gls_text_puts(&about, "Seeds of streamlines lie in it");
    for (size_t i = 0; i < warnings.n; i++) gls_text_printf(&about, "; warning: %s", warnings.line[i]);
    gls_warnings_end(&warnings);
    if (!status && about.failed) status = gls_no_memory();
    if (!status) status = write_mask(p, p->mask, mask, "Streamlines end outside of it", u->mask);
    if (!status && seeds) status = write_mask(p, p->seeds, seeds, about.data, u->region ? u->region : u->dwi);
    gls_text_finish(&about);
    gls_image_destroy(mask);
    gls_image_destroy(seeds);
    return status;
}

/* --- Fits beside the tractogram (--fit-outputs), with the names that BIDS proposes for maps of diffusion models. */

/* Outputs of gls_fit_files() that the data set keeps. */
static const struct {
    /* parameter: value of param- in the name, and key of the output in the sidecar of the fit */
    const char *parameter, *description;
    /* true: made by the tensor fit; false: by the orientation model */
    bool is_tensor;
} kept_fits[] = {
    {"fa", "Fractional anisotropy of a tensor fit", true},
    {"sh", "Spherical harmonics of orientation distribution functions", false},
    {"wm", "Spherical harmonics of the fibre orientation distributions of white matter", false},
    {"gm", "Density of grey matter", false},
    {"csf", "Density of cerebrospinal fluid", false},
};
enum { N_KEPT_FITS = sizeof kept_fits / sizeof *kept_fits };

/* Writes the sidecar of a fit. Model and harmonics come from the sidecar of gls_fit_files(). */
static gls_status write_fit_sidecar(const gls_dataset_options *o, const gls_dataset_unit *u, const char *path,
                                    const cJSON *fit, const char *description, bool is_tensor)
{
    cJSON *root = cJSON_CreateObject();
    /* members of the fit's sidecar, with their names here: a member `model` would collide with pybids's entity model */
    static const char *const parts[][2] = {{"model", "OrientationModel"}, {"sh", "SphericalHarmonics"}};
    cJSON_AddStringToObject(root, "Description", description);
    gls_dataset_add_sources(o, u, true, NULL, 0, root);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !is_tensor; i++) {
        const cJSON *part = gls_json_at(fit, parts[i][0]);
        if (part) cJSON_AddItemToObject(root, parts[i][1], cJSON_Duplicate(part, true));
    }
    gls_status status = gls_json_write(root, path, true, NULL, "");
    cJSON_Delete(root);
    return status;
}

/* Gives an output of the fit its name in the data set, with a sidecar; removes an output that kept_fits[] lacks. */
static gls_status name_fit(const gls_dataset_options *o, const gls_dataset_unit *u, const cJSON *output,
                           const char *stem, const cJSON *fit)
{
    char to[GLS_DATASET_MAX_PATH + 64];
    const char *from = output->valuestring;
    size_t i = 0;
    while (i < N_KEPT_FITS && strcmp(kept_fits[i].parameter, output->string) != 0) i++;
    if (i == N_KEPT_FITS) {
        unlink(from);
        return GLS_OK;
    }
    /* if the sidecar of the fit names no model, take csd for the name */
    const cJSON *name = gls_json_at(gls_json_at(fit, "model"), "name");
    const char *model = kept_fits[i].is_tensor ? "tensor" : cJSON_IsString(name) ? name->valuestring : "csd";
    snprintf(to, sizeof to, "%s_model-%s_param-%s_dwimap.nii.gz", stem, model, kept_fits[i].parameter);
    if (rename(from, to) != 0)
        return gls_fail(GLS_ERR_OUTPUT, "%s: the finished file cannot get this name: %s", to, strerror(errno));
    snprintf(to, sizeof to, "%s_model-%s_param-%s_dwimap.json", stem, model, kept_fits[i].parameter);
    return write_fit_sidecar(o, u, to, fit, kept_fits[i].description, kept_fits[i].is_tensor);
}

/* Writes the fits to the folder of staging: UNIT_model-tensor_param-fa_dwimap and UNIT_model-MODEL_param-sh_dwimap
 * (param-wm, param-gm and param-csf for several tissues), each an image with its sidecar. Replaces existing files. */
static gls_status write_fits(const places *p, const gls_job_options *job, const char *mask, const gls_monitor *monitor)
{
    const gls_dataset_unit *u = p->stage.unit;
    char stem[GLS_DATASET_MAX_PATH], prefix[GLS_DATASET_MAX_PATH + 8], path[GLS_DATASET_MAX_PATH + 64];
    cJSON *fit = NULL;
    const cJSON *output;
    /* a hidden prefix in the folder of the outputs, so that a rename within one file system places each file */
    snprintf(prefix, sizeof prefix, "%s/.%s_fit", p->stage.path, u->name);
    in_stage(p, u->name, stem);
    const gls_fit_options options = {.size = sizeof options,
                                     .dwi = u->dwi,
                                     .bval = u->bval,
                                     .bvec = u->bvec,
                                     .mask = mask,
                                     .prefix = prefix,
                                     .force = true,
                                     .model = job->model};
    gls_status status = gls_fit_files(&options, monitor);
    if (status) return status;
    snprintf(path, sizeof path, "%s.json", prefix);
    status = gls_json_load(path, (size_t)64 << 20, &fit);
    cJSON_ArrayForEach(output, gls_json_at(fit, "outputs")) if (!status) status =
        name_fit(p->stage.options, u, output, stem, fit);
    unlink(path);
    cJSON_Delete(fit);
    return status;
}

/* Records the staged files in the sidecar: the fits, and all other files unless fits_alone is set. Of sidecars of
 * shared images, which other units may write with other values, only the names of members are recorded. */
static gls_status note_outputs(const places *p, cJSON *done, bool fits_alone)
{
    char **names = NULL;
    cJSON *fits = cJSON_CreateArray(), *rest = cJSON_CreateArray();
    gls_status status = gls_bids_names(p->stage.path, &names);
    for (size_t i = 0; !status && names[i]; i++) {
        const bool is_own = strncmp(names[i], p->stage.own, strlen(p->stage.own)) == 0,
                   is_fit = strstr(names[i], "_dwimap.");
        /* the sidecar does not list itself, and journals are not outputs */
        if (strcmp(names[i], RUN) == 0 || strcmp(names[i], GLS_STAGE_READY) == 0 || gls_dataset_is_journal(names[i]))
            continue;
        status = gls_dataset_note(is_fit ? fits : rest, p->stage.path, names[i], !is_own && strstr(names[i], ".json"));
    }
    gls_bids_names_free(names);
    cJSON_DeleteItemFromObjectCaseSensitive(done, "fits");
    cJSON_AddItemToObject(done, "fits", fits);
    if (fits_alone) /* fits_alone: the other files were noted by the run that tracked */
        cJSON_Delete(rest);
    else
        cJSON_AddItemToObject(done, "outputs", rest);
    return status;
}

/* Gives the sidecar all warnings of the unit, each once: gls_track_files() records those of the tracking alone. */
static void record_warnings(cJSON *root, const gls_warnings *warnings)
{
    cJSON *all = cJSON_CreateArray();
    for (size_t i = 0; i < warnings->n; i++) {
        size_t k = 0;
        while (strcmp(warnings->line[k], warnings->line[i]) != 0) k++;
        if (k == i) cJSON_AddItemToArray(all, cJSON_CreateString(warnings->line[i]));
    }
    cJSON_DeleteItemFromObjectCaseSensitive(root, "warnings");
    cJSON_AddItemToObject(root, "warnings", all);
}

/* Records which parameters bids has set, in place of the user, and the final name of the sidecar. */
static void record_own_values(const places *p, cJSON *root)
{
    const gls_dataset_unit *u = p->stage.unit;
    const struct {
        const char *key;
        bool set;
    } own[] = {{"output", true},
               {"sidecar", true},
               {"force", true},
               {"mask", true},
               {"roi", !u->interface},
               {"pve_wm", p->stage.options->tissue},
               {"pve_gm", p->stage.options->tissue},
               {"pve_csf", p->stage.options->tissue},
               {"act", u->t1},
               {"seed_gmwmi", u->interface}};
    cJSON *defaults = gls_json_at(root, "defaults"), *changed = gls_json_at(defaults, "changed"),
          *parameters = gls_json_at(root, "parameters"), *set = cJSON_AddArrayToObject(defaults, "set_by_bids");
    char path[GLS_DATASET_MAX_PATH];
    in_stage(p, p->stage.sidecar, path);
    cJSON_ReplaceItemInObjectCaseSensitive(parameters, "sidecar", cJSON_CreateString(path));
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (!own[i].set) continue;
        cJSON_AddItemToArray(set, cJSON_CreateString(own[i].key));
        for (int k = cJSON_GetArraySize(changed); k-- > 0;)
            if (strcmp(cJSON_GetArrayItem(changed, k)->valuestring, own[i].key) == 0)
                cJSON_DeleteItemFromArray(changed, k);
    }
}

/* Adds the members of BIDS and the members for later runs to the sidecar. Then the folder of staging is complete. */
static gls_status finish_sidecar(const places *p, cJSON *identity, const gls_warnings *warnings)
{
    char run[GLS_DATASET_MAX_PATH], path[GLS_DATASET_MAX_PATH];
    cJSON *root = NULL;
    in_stage(p, RUN, run);
    in_stage(p, GLS_STAGE_READY, path);
    gls_status status = gls_json_load(run, MAX_SIDECAR, &root);
    if (status) return status;
    const gls_dataset_texts *files = &p->stage.unit->files;
    gls_dataset_add_sources(p->stage.options, p->stage.unit, true, (const char *const *)files->text, files->n, root);
    record_warnings(root, warnings);
    record_own_values(p, root);
    rename_stage(root->child, strrchr(p->stage.path, '/'));
    cJSON *done = cJSON_Duplicate(identity, true);
    cJSON_AddItemToObject(root, DONE, done);
    status = note_outputs(p, done, false);
    if (!status && unlink(run) != 0)
        status = gls_fail(GLS_ERR_OUTPUT, "%s: cannot be removed: %s", run, strerror(errno));
    if (!status) status = gls_json_write(root, path, true, NULL, "\n");
    cJSON_Delete(root);
    return status;
}

/* Makes masks, fits and the tractogram in the folder of staging. All names are checked before tracking begins. */
static gls_status track(const places *p, const gls_job_options *given, const gls_monitor *monitor,
                        gls_dataset_replace replace, cJSON *identity)
{
    const gls_dataset_options *o = p->stage.options;
    const gls_dataset_unit *u = p->stage.unit;
    gls_job_options job = *given;
    char mask[GLS_DATASET_MAX_PATH], seeds[GLS_DATASET_MAX_PATH], output[GLS_DATASET_MAX_PATH],
        run[GLS_DATASET_MAX_PATH];
    in_stage(p, p->mask, mask);
    in_stage(p, p->seeds, seeds);
    in_stage(p, p->tractogram, output);
    in_stage(p, RUN, run);
    job.mask = mask;
    job.roi = u->interface ? NULL : seeds;
    job.output = output;
    job.sidecar = run;
    job.force = o->force; /* replaces a staged journal of other options */
    /* off here: existing files were compared before, and an empty result is reported once all files are complete */
    job.skip_existing = job.fail_if_empty = false;
    gls_warnings warnings;
    gls_warnings_begin(&warnings);
    gls_dataset_anatomy_warn(&p->anatomy);
    gls_status status = write_masks(p, given);
    if (!status && o->fit_outputs) status = write_fits(p, given, mask, monitor);
    if (!status) status = gls_dataset_stage_check(&p->stage, replace); /* before tracking, the longest part */
    if (!status) status = gls_track_files(&job, monitor, NULL);
    if (!status) status = finish_sidecar(p, identity, &warnings);
    gls_warnings_end(&warnings);
    return status;
}

/* Adds fits to an earlier tractogram, and to its sidecar. */
static gls_status add_fits(const places *p, const gls_job_options *job, const gls_monitor *monitor, cJSON *root)
{
    char path[GLS_DATASET_MAX_PATH];
    in_folder(p, p->mask, path);
    gls_status status = write_fits(p, job, path, monitor);
    if (!status) status = note_outputs(p, gls_json_at(root, DONE), true);
    in_stage(p, GLS_STAGE_READY, path);
    if (!status) status = gls_json_write(root, path, true, NULL, "\n");
    return status;
}

/* An earlier run, as its sidecar and its files show it. */
typedef struct before {
    cJSON *root;                 /* the sidecar; NULL: none */
    bool done, fits_done;        /* an equal run made the tractogram (done) and the fits (fits_done; true also if none
                                    are wanted), and they exist unchanged */
    gls_dataset_replace replace; /* which files the run may replace */
} before;

/* Compares this run with the run that made the tractogram. GLS_ERR_OUTPUT names the first difference. */
static gls_status compare_identity(const cJSON *wanted, const cJSON *found, const char *tractogram)
{
    static const char *const parts[] = {"inputs", "options"};
    if (!cJSON_IsObject(gls_json_at(found, "inputs")) || !cJSON_IsObject(gls_json_at(found, "options")))
        return gls_fail(GLS_ERR_OUTPUT, "%s: exists, and its sidecar is damaged; --force tracks anew", tractogram);
    for (size_t i = 0; i < 2; i++) {
        const char *key = gls_json_difference(gls_json_at(wanted, parts[i]), gls_json_at(found, parts[i]));
        if (key)
            return gls_fail(GLS_ERR_OUTPUT, "%s: exists, but was tracked with another %s; --force tracks anew",
                            tractogram, key);
    }
    return GLS_OK;
}

/* Finds out what an earlier run left. GLS_ERR_OUTPUT: files exist that no equal run wrote, and force is not set. */
static gls_status look_before(const places *p, const cJSON *identity, before *b)
{
    const gls_dataset_options *o = p->stage.options;
    struct stat info;
    char tractogram[GLS_DATASET_MAX_PATH], sidecar[GLS_DATASET_MAX_PATH];
    bool missing = false, no_fits = false;
    *b = (before){.replace = o->force ? GLS_REPLACE_ALL : GLS_REPLACE_NONE};
    in_folder(p, p->tractogram, tractogram);
    in_folder(p, p->stage.sidecar, sidecar);
    /* with --force an earlier run is not looked at */
    if (o->force) return GLS_OK;
    if (lstat(sidecar, &info) != 0) {
        if (lstat(tractogram, &info) != 0) return GLS_OK;
        return gls_fail(GLS_ERR_OUTPUT, "%s: exists without its sidecar; --force tracks anew", tractogram);
    }
    b->root = gls_json_read(sidecar, MAX_SIDECAR);
    const cJSON *done = gls_json_at(b->root, DONE);
    if (!cJSON_IsObject(done))
        return gls_fail(GLS_ERR_OUTPUT, "%s: exists, but records no run of glslines bids; --force tracks anew",
                        sidecar);
    gls_status status = compare_identity(identity, done, tractogram);
    if (!status) status = gls_dataset_noted(gls_json_at(done, "outputs"), NULL, p->stage.folder, &missing);
    if (!status && o->fit_outputs)
        status = gls_dataset_noted(gls_json_at(done, "fits"), NULL, p->stage.folder, &no_fits);
    b->done = !missing;
    b->fits_done = !no_fits;
    if (missing || no_fits) b->replace = GLS_REPLACE_OWN;
    return status;
}

/* Makes the connectomes and bundles of the tractogram, which may be of an earlier run. */
static gls_status connect_regions(const places *p, const gls_job_options *job)
{
    const gls_dataset_options *o = p->stage.options;
    char track[64], name[512], stem[GLS_DATASET_MAX_PATH], tractogram[GLS_DATASET_MAX_PATH], fa[GLS_DATASET_MAX_PATH],
        weights[GLS_DATASET_MAX_PATH + 16];
    name_track(job, track);
    in_folder(p, p->tractogram, tractogram);
    snprintf(name, sizeof name, "%s_track-%s", p->stage.unit->name, track);
    in_folder(p, name, stem);
    /* --legacy-names writes TRK, whose weights lie in a text file; TRX has the weights as a column */
    if (o->legacy_names)
        snprintf(weights, sizeof weights, "%.*s_weights.txt", (int)strlen(tractogram) - 4, tractogram);
    else
        snprintf(weights, sizeof weights, "dps:%s",
                 job->weights == GLS_RUN_WEIGHTS_COMMIT ? GLS_DPS_COMMIT : GLS_DPS_WEIGHTS);
    gls_status status =
        gls_dataset_connect(o, p->stage.unit, &p->anatomy, tractogram, stem, job->weights ? weights : NULL);
    snprintf(name, sizeof name, "%s_model-tensor_param-fa_dwimap.nii.gz", p->stage.unit->name);
    in_folder(p, name, fa);
    return status ? status : gls_dataset_recognize(o, p->stage.unit, tractogram, o->fit_outputs ? fa : NULL, stem);
}

/* Fails if the tractogram, which may be of an earlier run, has no streamline: for --fail-if-empty. */
static gls_status check_empty(const places *p)
{
    char path[GLS_DATASET_MAX_PATH];
    cJSON *root = NULL;
    in_folder(p, p->stage.sidecar, path);
    gls_status status = gls_json_load(path, MAX_SIDECAR, &root);
    const cJSON *counts = gls_json_at(root, "counts"), *streamlines = gls_json_at(counts, "streamlines");
    if (!status && cJSON_IsNumber(streamlines) && !(streamlines->valuedouble > 0))
        status = gls_fail(GLS_ERR_EMPTY, "%s: records no streamline, and --fail-if-empty was given", path);
    cJSON_Delete(root);
    return status;
}

/* Makes the missing files in the folder of staging and gives them their final names. */
static gls_status make(const places *p, const gls_job_options *job, const gls_monitor *monitor, before *b,
                       cJSON *identity)
{
    gls_status status = GLS_OK;
    if (!b->done)
        status = track(p, job, monitor, b->replace, identity);
    else if (!b->fits_done)
        status = add_fits(p, job, monitor, b->root);
    const bool nothing = b->done && b->fits_done;
    /* status: after a failure keep the journals, for --resume */
    if (!status && !nothing) return gls_dataset_stage_publish(&p->stage, b->replace);
    gls_dataset_stage_remove(&p->stage, status);
    return leave_stage_in_error(status, p);
}

/* Makes the anatomy of the T1 image, and sets its tissue in place of the image. */
static gls_status take_anatomy(places *p, gls_job_options *job, const gls_monitor *monitor)
{
    const gls_dataset_unit *u = p->stage.unit;
    if (!u->t1) return GLS_OK;
    gls_status status = gls_dataset_anatomy_make(p->stage.options, u, job, monitor, &p->anatomy);
    job->act = p->anatomy.names.path[GLS_ANAT_FIVE];
    job->t1 = job->atlas = NULL;
    job->boundary = false;
    if (u->interface) job->seed_gmwmi = "auto";
    return status;
}

/* Tracks the unit. The caller holds the lock of the unit. */
static gls_status track_locked(places *p, gls_job_options *job, const gls_monitor *monitor, gls_dataset_state *state)
{
    cJSON *identity = NULL;
    before b = {.root = NULL};
    gls_status status = gls_dataset_stage_open(&p->stage);
    if (status) return status;
    status = take_anatomy(p, job, monitor);
    if (!status) status = gls_dataset_identity(p->stage.options, p->stage.unit, job, &identity);
    if (!status) status = look_before(p, identity, &b);
    if (status)
        gls_dataset_stage_remove(&p->stage, true);
    else
        status = make(p, job, monitor, &b, identity);
    if (!status) status = connect_regions(p, job);
    if (!status && job->fail_if_empty) status = check_empty(p);
    if (!status) *state = b.done ? GLS_UNIT_UP_TO_DATE : GLS_UNIT_TRACKED;
    cJSON_Delete(identity);
    cJSON_Delete(b.root);
    return status;
}

gls_status gls_dataset_job(const gls_dataset_options *o, const gls_dataset_unit *u, gls_job_options *job)
{
    gls_dataset_take_values(u, job);
    /* tissue and series decide on defaults */
    if (o->tissue) {
        job->pve_wm = u->tissue[0];
        job->pve_gm = u->tissue[1];
        job->pve_csf = u->tissue[2];
    }
    if (o->t1) job->t1 = u->t1;
    job->dwi = u->dwi;
    job->bval = u->bval;
    job->bvec = u->bvec;
    char reason[GLS_MESSAGE_BYTES];
    gls_status status = gls_job_options_complete(job, job->given);
    if (!status) return GLS_OK;
    snprintf(reason, sizeof reason, "%s", gls_last_error());
    return gls_fail(status, "%s: %s", u->name, reason);
}

gls_status gls_dataset_track(const gls_dataset_options *o, const gls_dataset_unit *u, const gls_job_options *given,
                             const gls_monitor *monitor, gls_dataset_state *state)
{
    places p;
    gls_job_options own = *given;
    gls_job_options *job = &own;
    int lock = -1;
    char figures[GLS_DATASET_MAX_PATH];
    *state = GLS_UNIT_FAILED;
    if (u->problem) return gls_fail(GLS_ERR_INPUT, "%s: %s", u->dwi, u->problem);
    /* drop mask and seed region as given: track() sets images of 0 and 1 on the grid of the series in their place */
    own.mask = own.roi = NULL;
    name_places(o, u, job, &p);
    snprintf(figures, sizeof figures, "%s/sub-%s/figures", o->output, u->subject);
    gls_status status = gls_folders_make(p.stage.folder, NULL);
    if (!status) status = gls_folders_make(figures, NULL);
    if (!status) status = gls_dataset_lock(p.lock, false, &lock);
    if (status) return status;
    /* another process tracks this unit: no failure, since that process will complete it */
    if (lock < 0) {
        *state = GLS_UNIT_BUSY;
        return GLS_OK;
    }
    status = track_locked(&p, job, monitor, state);
    gls_dataset_anatomy_finish(&p.anatomy);
    gls_dataset_unlock(p.lock, lock);
    return status;
}
