/* Any bytes as the JSON that runs find again: the key of a kept fit, the fastest mappings of devices, the sidecar of a
 * run that may have been done: what was kept or nothing, never a crash. */
#include "dwi/fit_cache.h"
#include "run/job_parts.h"
#include "run/run_identity.h"
#include "folder.h"
#include "grid.h"
#include "track/check/checked.h"

static void read_fit(const fuzz_folder *folder, const uint8_t *data, size_t bytes)
{
    const gls_grid grid = fuzz_grid();
    gls_image *written = NULL, *read = NULL;
    cJSON *key = cJSON_CreateObject();
    if (!key || gls_image_create(&grid, 1, &written)) abort();
    cJSON_AddStringToObject(key, "image", "fa");
    gls_fit_cache_key_number(key, "order", 8);
    gls_fit_cache_write(folder->path, "fa", key, written);
    char *path = gls_fit_cache_path(folder->path, "fa", key, "json");
    if (!path) abort();
    fuzz_folder_put(folder, strrchr(path, '/') + 1, data, bytes);
    free(path);
    if (gls_fit_cache_read(folder->path, "fa", key, &grid, 1, &read) && read->n_volumes != 1) abort();
    gls_image_destroy(written);
    gls_image_destroy(read);
    cJSON_Delete(key);
}

static void read_mappings(const char *path)
{
    gls_device_info device = {.subgroup_size = 32, .subgroup_features = 0xff, .max_work_group_size = 1024};
    gls_checked memory;
    snprintf(device.renderer, sizeof device.renderer, "one");
    snprintf(device.version, sizeof device.version, "1");
    setenv("GLSLINES_CHECKED", path, 1);
    for (gls_direction_getter dg = GLS_DG_BOOT; dg <= GLS_DG_PTT; dg++)
        if (gls_checked_mapping(&device, dg, 8) >= GLS_MAPPING_COUNT) abort();
    gls_checked_begin(&memory, &device);
    gls_checked_add(&memory, "det8", GLS_MAPPING_GROUP);
    gls_checked_finish(&memory);
    if (gls_checked_mapping(&device, GLS_DG_DET, 8) != GLS_MAPPING_GROUP) abort();
}

/* The output exists and has 3 bytes, which "output" may say. */
static void find_done(const fuzz_folder *folder, const char *sidecar)
{
    gls_job job = {.options = gls_job_options_default(), .run.begun = 0};
    char output[64];
    snprintf(output, sizeof output, "%s", fuzz_folder_put(folder, "a.trx", "abc", 3));
    job.output = output;
    job.run.sidecar = (char *)sidecar;
    job.params = job.options.track;
    job.inputs.phantom =
        (gls_phantom *)folder; /* any pointer: a phantom exists, and the test needs nothing else of it */
    if (fuzz_ok(gls_job_find_done(&job)) && !job.result.skipped) abort();
    cJSON_Delete(job.written);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    fuzz_folder folder = fuzz_folder_make();
    char path[64];
    snprintf(path, sizeof path, "%s", fuzz_folder_put(&folder, "a.json", data, bytes));
    find_done(&folder, path);
    read_fit(&folder, data, bytes);
    read_mappings(path);
    fuzz_folder_remove(&folder);
    return 0;
}
