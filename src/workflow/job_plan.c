/* The plan of a run: what it would do, and the memory to request for it. */
#include <cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "util/json_text.h"
#include "workflow/job.h"
#include "workflow/run_params.h"
#include "workflow/sidecar.h"

#define MIB ((uint64_t)1 << 20)
/* requests are multiples of this number, above the estimate */
#define STEP UINT64_C(50) /* MiB */

/* Adds a sixth to the estimate, because schedulers kill a job that takes more than it requested. */
uint64_t gls_job_memory_request(const gls_job *job)
{
    uint64_t mib = (job->memory_bytes + job->memory_bytes / 6) / MIB;
    return (mib / STEP + 1) * STEP;
}

/* Adds the memory to request, and the estimates behind it. Called for the plan as JSON, as the functions below. */
static void add_memory(cJSON *root, const gls_job *job, const gls_track_memory *m)
{
    cJSON *memory = cJSON_AddObjectToObject(root, "memory");
    gls_json_uint(memory, "request_mib", gls_job_memory_request(job));
    gls_json_uint(memory, "host_bytes", job->memory_bytes);
    gls_json_uint(memory, "device_bytes", m->device_bytes);
    cJSON_AddBoolToObject(memory, "device_memory_is_the_hosts", job->shared_memory);
    gls_json_uint(root, "batch_seeds", m->batch_seeds);
    gls_json_uint(root, "lanes", m->lanes);
}

/* Adds the devices of the run, in their order. */
static void add_devices(cJSON *root, const gls_job *job)
{
    cJSON *array = cJSON_AddArrayToObject(root, "devices");
    for (size_t i = 0; i < job->devices.n; i++) {
        const gls_device_info *info = gls_device_get_info(job->devices.device[i]);
        cJSON *device = cJSON_CreateObject();
        cJSON_AddStringToObject(device, "renderer", info->renderer);
        cJSON_AddStringToObject(device, "version", info->version);
        cJSON_AddStringToObject(device, "node", info->node);
        cJSON_AddBoolToObject(device, "software", info->software);
        cJSON_AddItemToArray(array, device);
    }
}

/* Adds a text, or null where there is none. */
static void add_text(cJSON *object, const char *key, const char *text)
{
    if (text)
        cJSON_AddStringToObject(object, key, text);
    else
        cJSON_AddNullToObject(object, key);
}

char *gls_job_plan_json(const gls_job *job, const gls_track_memory *memory)
{
    const gls_job_inputs *in = &job->inputs;
    cJSON *root = cJSON_CreateObject(), *inputs, *voxels;
    if (!root) return NULL;
    /* the same keys as in the sidecar, so that one reader serves both */
    gls_sidecar_add_software(root, job->options.argc, job->options.argv);
    inputs = cJSON_AddObjectToObject(root, "inputs");
    for (int i = 0; i < GLS_FILE_N_FILES; i++) gls_sidecar_add_file(inputs, &in->file[i]);
    gls_sidecar_add_grid(root, in->grid);
    voxels = cJSON_AddObjectToObject(root, "voxels");
    gls_json_uint(voxels, "mask", in->mask_voxels);
    if (in->roi)
        gls_json_uint(voxels, "seeds", in->seed_voxels);
    else
        cJSON_AddNullToObject(voxels, "seeds");
    gls_json_uint(root, "seeds", gls_job_seeds(job));
    gls_params_add(cJSON_AddObjectToObject(root, "parameters"), &job->options, &job->params);
    add_devices(root, job);
    add_memory(root, job, memory);
    cJSON *output = cJSON_AddObjectToObject(root, "output");
    add_text(output, "path", job->output);
    add_text(output, "sidecar", job->run.sidecar);
    gls_sidecar_add_warnings(root, &job->run.warnings);
    char *text = gls_json_print(root);
    cJSON_Delete(root);
    return text;
}
