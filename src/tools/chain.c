/* Chains of transforms: their files belong to the inputs of a run, and its sidecar says how each was read. */
#include "tools/chain.h"

#include <stdlib.h>

#include "util/json_text.h"
#include "util/status.h"

gls_status gls_chain_note(gls_tract_run *run, const gls_strings *files)
{
    gls_status status = GLS_OK;
    for (int i = 0; i < files->n && !status; i++) {
        char *paths[3];
        const size_t n = gls_transform_files(files->value[i], paths);
        for (size_t k = 0; k < n; k++) {
            if (!status) status = gls_tract_run_reads(run, paths[k]);
            free(paths[k]);
        }
    }
    return status;
}

gls_status gls_chain_read(gls_tract_run *run, const gls_strings *files, gls_transform *transform)
{
    *transform = (gls_transform){.n = 0};
    if (files->n == 0) return GLS_OK;
    gls_status status = gls_transform_read(files->value, (size_t)files->n, transform);
    cJSON *steps = cJSON_GetObjectItemCaseSensitive(run->root, "transforms");
    if (!steps) steps = cJSON_AddArrayToObject(run->root, "transforms");
    for (size_t i = 0; i < transform->n && !status; i++) {
        cJSON *step = cJSON_CreateObject();
        cJSON_AddStringToObject(step, "file", files->value[transform->step[i].text]);
        cJSON_AddStringToObject(step, "format", transform->step[i].format);
        cJSON_AddStringToObject(step, "maps", "points of the fixed image to points of the moving image");
        cJSON_AddItemToArray(steps, step);
    }
    return status;
}
