/* Tracks a series of a data set into a data set of derivatives: names, sidecars, and whether it was done before. */
#include "util/json.h"
#include "workflow/dataset.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/file.h"
#include "util/log.h"
#include "util/output.h"
#include "util/status.h"
#include "workflow/dataset_fit.h"
#include "workflow/dataset_names.h"
#include "workflow/params.h"
#include "workflow/series.h"
#include "workflow/weight_files.h"

#define MAX_SIDECAR ((size_t)256 << 20)

/* The files of a unit in the output. */
typedef struct places {
    char folder[1024], tractogram[1536], sidecar[1536], raw[1536], seeds[1536], mask[1536], lock[1536];
} places;

static void name_places(const gls_dataset_options *o, const gls_dataset_unit *u, const gls_job_options *job, places *p)
{
    const char *model = job->model.model == GLS_MODEL_OPDT ? "" : gls_model_name(job->model.model);
    snprintf(p->folder, sizeof p->folder, "%s/%s", o->output, u->folder);
    char stem[1400];
    snprintf(stem, sizeof stem, "%s/%s", p->folder, u->name);
    const char *dg = gls_getter_name(job->track.dg);
    const char *suffix = o->legacy_names ? "tractography" : "tractogram", *format = o->legacy_names ? "trk" : "trx";
    snprintf(p->tractogram, sizeof p->tractogram, "%s_tract-wholebrain_track-%s%s_%s.%s", stem, dg, model, suffix,
             format);
    snprintf(p->sidecar, sizeof p->sidecar, "%s_tract-wholebrain_track-%s%s_%s.json", stem, dg, model, suffix);
    snprintf(p->raw, sizeof p->raw, "%s/.%s_%s%s.json", p->folder, u->name, dg, model);
    snprintf(p->seeds, sizeof p->seeds, "%s_desc-seed_mask", stem);
    snprintf(p->mask, sizeof p->mask, "%s_desc-stop_mask", stem);
    snprintf(p->lock, sizeof p->lock, "%s/logs/%s_%s%s.lock", o->output, u->name, dg, model);
}

void gls_dataset_name(const gls_dataset_options *o, const gls_dataset_unit *u, const gls_job_options *job,
                      gls_dataset_files *files)
{
    places p;
    name_places(o, u, job, &p);
    const char *name = strrchr(p.tractogram, '/') + 1;
    int stem = (int)(strrchr(name, '_') - name);
    snprintf(files->tractogram, sizeof files->tractogram, "%s", p.tractogram);
    snprintf(files->sidecar, sizeof files->sidecar, "%s", p.sidecar);
    snprintf(files->report, sizeof files->report, "%s/%.*s.html", o->output, stem, name);
    snprintf(files->picture, sizeof files->picture, "%s/sub-%s/figures/%.*s_views.png", o->output, u->subject, stem,
             name);
    snprintf(files->logs, sizeof files->logs, "%s/logs", o->output);
}

static gls_status read_json(const char *path, cJSON **root)
{
    char *text = NULL;
    size_t n;
    gls_status status = gls_file_read(path, MAX_SIDECAR, &text, &n);
    if (status) return status;
    *root = gls_json_parse(text);
    free(text);
    return *root ? GLS_OK : gls_fail(GLS_ERR_INPUT, "%s: is no JSON", path);
}

static gls_status write_json(const char *path, bool overwrite, const cJSON *root)
{
    char *text = gls_json_print(root), *line = NULL;
    if (!text || asprintf(&line, "%s\n", text) < 0) {
        cJSON_free(text);
        return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    }
    gls_status status = gls_file_write(path, overwrite, NULL, line, strlen(line));
    cJSON_free(text);
    free(line);
    return status;
}

/* What was chosen; lengths in mm follow from it and the series. */
static void keep_choice(cJSON *parameters)
{
    static const char *const derived[] = {"step_size_mm", "probe_length_mm", "probe_radius_mm", "ptt_substep_mm",
                                          "min_radius_of_curvature_mm"};
    gls_params_keep_identity(parameters);
    for (size_t i = 0; i < sizeof derived / sizeof *derived; i++)
        cJSON_DeleteItemFromObjectCaseSensitive(parameters, derived[i]);
}

/* Whether an input is the file that the sidecar tells of. */
static bool same_file(const cJSON *inputs, const char *role, const char *path, const struct stat *sidecar)
{
    struct stat info;
    if (!path) return true;
    const cJSON *bytes = cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(inputs, role), "bytes");
    return stat(path, &info) == 0 && cJSON_IsNumber(bytes) && (double)info.st_size == bytes->valuedouble &&
           info.st_mtime <= sidecar->st_mtime;
}

/* The parameters as they come back from a sidecar. */
static cJSON *written_parameters(const gls_dataset_unit *u, const gls_job_options *job)
{
    gls_job_options options = *job;
    cJSON *object = cJSON_CreateObject();
    if (!gls_table_path(u->bvec)) options.model.bvec_frame = GLS_BVEC_WORLD; /* as the run has it */
    options.track.fod_cutoff = gls_track_cutoff(&options.track);
    options.track.seed_cutoff = gls_track_seed_cutoff(&options.track);
    gls_params_add(object, &options, &options.track);
    /* what the run chose for itself */
    if (options.model.sh_order == 0) cJSON_DeleteItemFromObjectCaseSensitive(object, "sh_order");
    if (options.model.model == GLS_MODEL_AUTO) cJSON_DeleteItemFromObjectCaseSensitive(object, "model");
    /* defaults that count voxels are written in mm */
    if (options.track.step_size < 0) cJSON_DeleteItemFromObjectCaseSensitive(object, "step_size");
    if (options.track.min_length < 0) cJSON_DeleteItemFromObjectCaseSensitive(object, "min_length_mm");
    if (options.track.max_length < 0) cJSON_DeleteItemFromObjectCaseSensitive(object, "max_length_mm");
    if (options.track.fod_power == 0) cJSON_DeleteItemFromObjectCaseSensitive(object, "power");
    char *text = gls_json_print_line(object);
    cJSON_Delete(object);
    cJSON *written = text ? gls_json_parse(text) : NULL;
    cJSON_free(text);
    return written;
}

/* Compares with what the sidecar tells: GLS_ERR_OUTPUT with the first difference. */
static gls_status compare_done(const gls_dataset_unit *u, const gls_job_options *job, const places *p,
                               const cJSON *root)
{
    struct stat sidecar;
    const cJSON *inputs = cJSON_GetObjectItemCaseSensitive(root, "inputs");
    if (stat(p->sidecar, &sidecar) != 0 || !same_file(inputs, "dwi", u->dwi, &sidecar) ||
        !same_file(inputs, "bval", u->bval, &sidecar) || !same_file(inputs, "bvec", gls_table_path(u->bvec), &sidecar))
        return gls_fail(GLS_ERR_OUTPUT, "%s: exists, of another series; --force tracks anew", p->tractogram);
    cJSON *wanted = written_parameters(u, job),
          *found = cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(root, "parameters"), true);
    gls_status status = wanted && found ? GLS_OK : gls_fail(GLS_ERR_INPUT, "%s: has no parameters", p->sidecar);
    if (!status) {
        keep_choice(wanted);
        keep_choice(found);
        const cJSON *item;
        cJSON_ArrayForEach(item, wanted)
        {
            const cJSON *other = cJSON_GetObjectItemCaseSensitive(found, item->string);
            if (other && cJSON_Compare(item, other, true)) continue;
            status = gls_fail(GLS_ERR_OUTPUT, "%s: exists, tracked with another %s; --force tracks anew", p->tractogram,
                              item->string);
            break;
        }
    }
    cJSON_Delete(wanted);
    cJSON_Delete(found);
    return status;
}

void gls_dataset_uri(const gls_dataset_options *o, const char *path, char *uri, size_t size)
{
    const char *const roots[] = {o->input, o->output}, *const schemes[] = {"bids:source:", "bids::"};
    for (int i = 0; i < 2; i++) {
        size_t n = strlen(roots[i]);
        if (strncmp(path, roots[i], n) != 0 || path[n] != '/') continue;
        snprintf(uri, size, "%s%s", schemes[i], path + n + 1);
        return;
    }
    snprintf(uri, size, "file://%s", path);
}

static void add_sources(const gls_dataset_options *o, const gls_dataset_unit *u, const char *const *paths, cJSON *root)
{
    char uri[2048];
    cJSON *sources = cJSON_CreateArray();
    for (; *paths; paths++) {
        gls_dataset_uri(o, *paths, uri, sizeof uri);
        cJSON_AddItemToArray(sources, cJSON_CreateString(uri));
    }
    cJSON_DeleteItemFromObjectCaseSensitive(root, "Sources");
    cJSON_AddItemToObject(root, "Sources", sources);
    gls_dataset_uri(o, u->dwi, uri, sizeof uri);
    cJSON_AddStringToObject(root, "SpatialReference", uri);
}

static gls_status write_mask(const gls_dataset_options *o, const gls_dataset_unit *u, const char *stem,
                             const gls_image *image, const char *description, const char *source)
{
    char path[1600];
    snprintf(path, sizeof path, "%s.nii.gz", stem);
    gls_status status = gls_image_write(path, image, GLS_IMAGE_UINT8);
    if (status) return status;
    cJSON *root = cJSON_CreateObject();
    const char *sources[] = {source, NULL};
    cJSON_AddStringToObject(root, "Type", "ROI");
    cJSON_AddStringToObject(root, "Description", description);
    add_sources(o, u, sources, root);
    snprintf(path, sizeof path, "%s.json", stem);
    status = write_json(path, true, root);
    cJSON_Delete(root);
    return status;
}

static gls_status write_masks(const gls_dataset_options *o, const gls_dataset_unit *u, const gls_job_options *job,
                              const places *p)
{
    gls_image *mask = NULL, *seeds = NULL;
    gls_status status = gls_dataset_images(o, u, &job->model, &mask, &seeds);
    if (!status) status = write_mask(o, u, p->mask, mask, "Streamlines end outside of it", u->mask);
    if (!status)
        status = write_mask(o, u, p->seeds, seeds, "Seeds of streamlines lie in it", u->region ? u->region : u->dwi);
    gls_image_destroy(mask);
    gls_image_destroy(seeds);
    return status;
}

/* The sidecar of the run with what BIDS asks for. */
static gls_status finish_sidecar(const gls_dataset_options *o, const gls_dataset_unit *u, const places *p)
{
    cJSON *root = NULL;
    gls_status status = read_json(p->raw, &root);
    if (status) return status;
    const char *sources[] = {u->dwi, u->bval, gls_table_path(u->bvec), NULL};
    add_sources(o, u, sources, root);
    status = write_json(p->sidecar, true, root);
    cJSON_Delete(root);
    unlink(p->raw);
    return status;
}

static void add_fit_sources(const gls_dataset_sources *s, cJSON *root)
{
    const char *sources[] = {s->unit->dwi, s->unit->bval, gls_table_path(s->unit->bvec), NULL};
    add_sources(s->options, s->unit, sources, root);
}

static gls_status write_fits(const gls_dataset_options *o, const gls_dataset_unit *u, const gls_job_options *job,
                             const places *p, const char *mask, const gls_monitor *monitor)
{
    char stem[1536];
    const gls_dataset_sources sources = {add_fit_sources, o, u};
    snprintf(stem, sizeof stem, "%s/%s", p->folder, u->name);
    return gls_dataset_fit(u, &job->model, mask, stem, &sources, monitor);
}

static gls_status track(const gls_dataset_options *o, const gls_dataset_unit *u, const gls_job_options *given,
                        const gls_monitor *monitor, const places *p)
{
    gls_job_options job = *given;
    char mask[1600], seeds[1600];
    snprintf(mask, sizeof mask, "%s.nii.gz", p->mask);
    snprintf(seeds, sizeof seeds, "%s.nii.gz", p->seeds);
    job.dwi = u->dwi;
    job.bval = u->bval;
    job.bvec = u->bvec;
    job.mask = mask;
    job.roi = seeds;
    job.output = p->tractogram;
    job.sidecar = p->raw;
    job.force = true;
    gls_status status = write_masks(o, u, given, p);
    if (!status && o->fit_outputs) status = write_fits(o, u, given, p, mask, monitor);
    /* a tractogram without its sidecar counts as not made */
    if (!status && unlink(p->sidecar) != 0 && errno != ENOENT)
        status = gls_fail(GLS_ERR_OUTPUT, "%s: cannot be replaced: %s", p->sidecar, strerror(errno));
    if (!status) status = gls_track_files(&job, monitor, NULL);
    return status ? status : finish_sidecar(o, u, p);
}

/* Another process at the same unit holds its lock. -1: it is held; a file system without locks gives a descriptor. */
static int take_lock(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fd >= 0 && fcntl(fd, F_OFD_SETLK, &whole) != 0 && (errno == EAGAIN || errno == EACCES)) {
        close(fd);
        return -1;
    }
    return fd >= 0 ? fd : -2;
}

/* The connectomes, also of what was tracked before. */
static gls_status connect_regions(const gls_dataset_options *o, const gls_dataset_unit *u, const gls_job_options *job,
                                  const places *p)
{
    char stem[1536], weights[1600];
    const char *model = job->model.model == GLS_MODEL_OPDT ? "" : gls_model_name(job->model.model);
    snprintf(stem, sizeof stem, "%s/%s_track-%s%s", p->folder, u->name, gls_getter_name(job->track.dg), model);
    if (o->legacy_names)
        snprintf(weights, sizeof weights, "%.*s_weights.txt", (int)strlen(p->tractogram) - 4, p->tractogram);
    else
        snprintf(weights, sizeof weights, "dps:" GLS_DPS_WEIGHTS);
    return gls_dataset_connect(o, u, p->tractogram, stem, job->weights ? weights : NULL);
}

static gls_status track_locked(const gls_dataset_options *o, const gls_dataset_unit *u, const gls_job_options *job,
                               const gls_monitor *monitor, const places *p, gls_dataset_state *state)
{
    cJSON *root = NULL;
    char fa[1600], mask[1600];
    snprintf(fa, sizeof fa, "%s/%s_model-tensor_param-fa_dwimap.json", p->folder, u->name);
    snprintf(mask, sizeof mask, "%s.nii.gz", p->mask);
    bool done = access(p->tractogram, F_OK) == 0 && access(p->sidecar, F_OK) == 0 && !o->force;
    gls_status status = done ? read_json(p->sidecar, &root) : GLS_OK;
    if (!status) status = done ? compare_done(u, job, p, root) : track(o, u, job, monitor, p);
    if (!status && done && o->fit_outputs && access(fa, F_OK) != 0) status = write_fits(o, u, job, p, mask, monitor);
    if (!status) status = connect_regions(o, u, job, p);
    cJSON_Delete(root);
    if (!status) *state = done ? GLS_UNIT_UP_TO_DATE : GLS_UNIT_TRACKED;
    return status;
}

gls_status gls_dataset_track(const gls_dataset_options *o, const gls_dataset_unit *u, const gls_job_options *job,
                             const gls_monitor *monitor, gls_dataset_state *state)
{
    places p;
    *state = GLS_UNIT_FAILED;
    if (u->problem) return gls_fail(GLS_ERR_INPUT, "%s: %s", u->dwi, u->problem);
    name_places(o, u, job, &p);
    char figures[1024];
    snprintf(figures, sizeof figures, "%s/sub-%s/figures", o->output, u->subject);
    gls_status status = gls_bids_make_folders(p.folder);
    if (!status) status = gls_bids_make_folders(figures);
    if (status) return status;
    int lock = take_lock(p.lock);
    if (lock == -1) {
        *state = GLS_UNIT_BUSY;
        return GLS_OK;
    }
    status = track_locked(o, u, job, monitor, &p, state);
    if (lock >= 0) {
        unlink(p.lock);
        close(lock);
    }
    return status;
}
