/* Staging: the files of a series are made in a hidden folder and get their final names together. */
#include "bids/dataset_stage.h"
#include "bids/dataset_describe.h"
#include "bids/dataset_names.h"
#include "bids/dataset_parts.h"
#include "dwi/series.h"
#include "record/inputs.h"
#include "run/job_create.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/file.h"
#include "util/output_file.h"
#include "util/status.h"

#define IMAGE ".nii.gz"

/* Whether the name ends in `end` and is longer. */
static bool ends_in(const char *name, const char *end)
{
    const size_t n = strlen(name), e = strlen(end);
    return n > e && strcmp(name + n - e, end) == 0;
}

bool gls_dataset_is_journal(const char *name)
{
    return ends_in(name, ".resume");
}

/* Whether a file of any kind has this name; true also for a link to a file that does not exist. */
static bool exists(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

void gls_dataset_stage_remove(const gls_dataset_stage *s, bool keep_journals)
{
    char path[GLS_DATASET_MAX_PATH];
    DIR *folder = opendir(s->path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (keep_journals && gls_dataset_is_journal(entry->d_name)) continue;
        gls_bids_join(s->path, entry->d_name, path, sizeof path);
        unlink(path);
    }
    if (folder) closedir(folder);
    const bool gone = rmdir(s->path) == 0 || errno == ENOENT;
    if (!gone && !keep_journals) /* a folder with journals is meant to stay */
        gls_log(GLS_LOG_WARNING, "%s: cannot be removed: %s", s->path, strerror(errno));
}

/* Whether the file belongs to this tractogram only; tractograms of a series share other files (masks, fits). */
static bool is_own(const gls_dataset_stage *s, const char *name)
{
    return strncmp(name, s->own, strlen(s->own)) == 0;
}

/* Whether two files have the same contents. False if one cannot be read. */
static bool dataset_same_bytes(const char *a, const char *b)
{
    struct stat of_a, of_b;
    uint64_t hash_a, hash_b;
    return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && S_ISREG(of_a.st_mode) && S_ISREG(of_b.st_mode) &&
           of_a.st_size == of_b.st_size && !gls_hash_file(a, &hash_a) && !gls_hash_file(b, &hash_b) && hash_a == hash_b;
}

/* Whether a shared file need not move: under its final name is a file of the same bytes, or the sidecar of such an
 * image. */
static bool is_there(const gls_dataset_stage *s, const char *name)
{
    char staged[GLS_DATASET_MAX_PATH], final[GLS_DATASET_MAX_PATH], image[512];
    if (is_own(s, name)) return false;
    snprintf(image, sizeof image, "%s", name);
    if (ends_in(name, ".json")) snprintf(image, sizeof image, "%.*s" IMAGE, (int)(strlen(name) - 5), name);
    gls_bids_join(s->path, name, staged, sizeof staged);
    gls_bids_join(s->folder, name, final, sizeof final);
    /* a file is there if it has the same bytes; a sidecar also if the image that it belongs to has the same bytes */
    if (!exists(final) || dataset_same_bytes(staged, final)) return exists(final);
    gls_bids_join(s->path, image, staged, sizeof staged);
    gls_bids_join(s->folder, image, final, sizeof final);
    return dataset_same_bytes(staged, final);
}

/* Checks that one staged file may get its final name: it may replace what `replace` allows, but never an input. */
static gls_status check_file(const gls_dataset_stage *s, const char *name, const gls_inputs *inputs,
                             gls_dataset_replace replace)
{
    struct stat info;
    char path[GLS_DATASET_MAX_PATH];
    /* check the staged sidecar under its final name */
    if (strcmp(name, GLS_STAGE_READY) == 0) name = s->sidecar;
    gls_bids_join(s->folder, name, path, sizeof path);
    if (lstat(path, &info) != 0 || is_there(s, name)) return GLS_OK;
    if (replace == GLS_REPLACE_NONE || (replace == GLS_REPLACE_OWN && !is_own(s, name)))
        return gls_fail(GLS_ERR_OUTPUT, "%s: exists, and is not the file that this run makes; --force replaces it",
                        path);
    if (!S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode))
        return gls_fail(GLS_ERR_OUTPUT, "%s: cannot be replaced, because it is no regular file: remove it", path);
    if (stat(path, &info) != 0) return GLS_OK; /* a dangling link */
    gls_status status = gls_inputs_check(inputs, path);
    return status ? status : gls_output_check(path, true, NULL, 0);
}

gls_status gls_dataset_stage_check(const gls_dataset_stage *s, gls_dataset_replace replace)
{
    char **names = NULL;
    const gls_dataset_unit *u = s->unit;
    const char *const own[] = {u->dwi, u->bval, gls_table_path(u->bvec), u->table, u->mask, u->region};
    gls_inputs inputs = {0};
    gls_status status = gls_inputs_add_all(&inputs, own, sizeof own / sizeof *own);
    if (!status) status = gls_job_options_inputs(s->job, &inputs);
    if (!status) status = gls_bids_names(s->path, &names);
    for (size_t i = 0; !status && names[i]; i++) status = check_file(s, names[i], &inputs, replace);
    gls_bids_names_free(names);
    gls_inputs_finish(&inputs);
    return status;
}

/* Checks the staged files. Renames the sidecar so that a later run sees that the check succeeded. */
static gls_status accept(const gls_dataset_stage *s, gls_dataset_replace replace)
{
    char ready[GLS_DATASET_MAX_PATH], sidecar[GLS_DATASET_MAX_PATH];
    gls_bids_join(s->path, GLS_STAGE_READY, ready, sizeof ready);
    gls_bids_join(s->path, s->sidecar, sidecar, sizeof sidecar);
    gls_status status = gls_dataset_stage_check(s, replace);
    if (status || rename(ready, sidecar) == 0) return status;
    return gls_fail(GLS_ERR_OUTPUT, "%s: cannot be written: %s", sidecar, strerror(errno));
}

/* Gives one staged file its final name, which replaces a file of this name. */
static gls_status move(const gls_dataset_stage *s, const char *name)
{
    char from[GLS_DATASET_MAX_PATH], to[GLS_DATASET_MAX_PATH];
    gls_bids_join(s->path, name, from, sizeof from);
    gls_bids_join(s->folder, name, to, sizeof to);
    if (rename(from, to) == 0) return GLS_OK;
    return gls_fail(GLS_ERR_OUTPUT, "%s: cannot be written: %s", to, strerror(errno));
}

/* Gives the staged files their final names. Removes the old sidecar first and moves the new sidecar last. While there
 * is no sidecar, the tractogram counts as not made. Images move after the other files, because is_there() needs the
 * staged image to see that an existing sidecar is of the same image. */
static gls_status name_files(const gls_dataset_stage *s)
{
    char path[GLS_DATASET_MAX_PATH], **names;
    gls_status status = gls_bids_names(s->path, &names);
    if (status) return status;
    gls_bids_join(s->folder, s->sidecar, path, sizeof path);
    if (unlink(path) != 0 && errno != ENOENT)
        status = gls_fail(GLS_ERR_OUTPUT, "%s: cannot be replaced: %s", path, strerror(errno));
    for (size_t i = 0; !status && names[i]; i++) {
        if (strcmp(names[i], s->sidecar) == 0 || gls_dataset_is_journal(names[i]) || is_there(s, names[i])) continue;
        if (ends_in(names[i], IMAGE)) continue; /* images move after their sidecars */
        status = move(s, names[i]);
    }
    for (size_t i = 0; !status && names[i]; i++)
        if (ends_in(names[i], IMAGE) && !is_there(s, names[i])) status = move(s, names[i]);
    if (!status)
        status = gls_output_sync_names(path); /* after a crash of the machine no sidecar is without its files */
    if (!status) status = move(s, s->sidecar);
    if (!status) status = gls_output_sync_names(path);
    gls_bids_names_free(names);
    if (!status) gls_dataset_stage_remove(s, false);
    return status;
}

/* Gives the files their final names under the lock. A failed check removes the folder of staging. */
static gls_status publish(const gls_dataset_stage *s, bool check, gls_dataset_replace replace)
{
    int lock = -1;
    gls_status status = gls_dataset_lock(s->lock, true, &lock);
    if (status) return status;
    if (check) status = accept(s, replace);
    if (status)
        gls_dataset_stage_remove(s, false);
    else
        status = name_files(s);
    gls_dataset_unlock(s->lock, lock);
    return status;
}

gls_status gls_dataset_stage_publish(const gls_dataset_stage *s, gls_dataset_replace replace)
{
    return publish(s, true, replace);
}

gls_status gls_dataset_stage_open(const gls_dataset_stage *s)
{
    /* a sidecar under its final name in the folder of staging shows that a killed run had complete and checked files */
    char sidecar[GLS_DATASET_MAX_PATH];
    gls_bids_join(s->path, s->sidecar, sidecar, sizeof sidecar);
    gls_status status = exists(sidecar) ? publish(s, false, GLS_REPLACE_ALL) : GLS_OK;
    if (status && !s->options->force) {
        char *reason = strdup(gls_last_error());
        gls_error_set("%s; the complete files are in %s; --force removes them and tracks anew",
                      reason ? reason : "out of memory", s->path);
        free(reason);
        return status;
    }
    gls_dataset_stage_remove(s, true);
    if (mkdir(s->path, 0777) == 0 || errno == EEXIST) return GLS_OK;
    return gls_fail(GLS_ERR_OUTPUT, "%s: cannot be made: %s", s->path, strerror(errno));
}
