#include "cmd/tract_files.h"

#include <cJSON.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <glslines/filters.h>

#include "cmd/interrupt.h"
#include "util/status.h"
#include "workflow/json.h"
#include "workflow/output.h"
#include "workflow/sidecar.h"

gls_status tract_open(const tract_input *input, const char *path, bool allow_invalid, gls_tractogram_reader **reader)
{
    gls_tractogram_read_options options = gls_tractogram_read_options_default();
    gls_grid reference;
    gls_status status = input->reference ? gls_tract_grid_read(input->reference, &reference) : GLS_OK;
    if (status) return status;
    if (input->reference) options.reference = &reference;
    options.vtk_space = (gls_vtk_space)input->vtk_space;
    options.recover = input->recover;
    options.allow_invalid = allow_invalid;
    return gls_tractogram_reader_open(path, &options, reader);
}

static bool go_on(void *user, double share)
{
    (void)user;
    (void)share;
    return !cmd_interrupted();
}

gls_status tract_pump(gls_tractogram_reader *reader, const gls_sink *sink, const char *output)
{
    gls_status status = gls_tractogram_pump(reader, sink, go_on, NULL);
    return status == GLS_ERR_CANCELLED ? gls_fail(status, "interrupted: %s was not written", output) : status;
}

gls_status tract_output_check(const char *output, bool force, const char *const *inputs, size_t n_inputs,
                              char **sidecar)
{
    gls_status status = gls_place_check(output, force, inputs, n_inputs, NULL, 0);
    if (status) return status;
    *sidecar = gls_sidecar_name(output);
    if (!*sidecar) return gls_fail(GLS_ERR_MEMORY, "out of memory");
    return gls_place_check(*sidecar, force, inputs, n_inputs, &output, 1);
}

cJSON *tract_sidecar_begin(const char *description, const cmd_command *command, const void *values,
                           const cmd_arguments *arguments, const char *const *inputs, size_t n_inputs,
                           const char *output)
{
    cJSON *root = cJSON_CreateObject(), *list = cJSON_CreateArray();
    struct stat info;
    cJSON_AddStringToObject(root, "Description", description);
    gls_sidecar_add_software(root, arguments->argc, arguments->argv);
    for (size_t i = 0; i < n_inputs; i++) {
        if (!inputs[i]) continue;
        cJSON *file = cJSON_CreateObject();
        cJSON_AddStringToObject(file, "path", inputs[i]);
        if (stat(inputs[i], &info) == 0) gls_json_uint(file, "bytes", (uint64_t)info.st_size);
        cJSON_AddItemToArray(list, file);
    }
    cJSON_AddItemToObject(root, "inputs", list);
    cmd_options_json(cJSON_AddObjectToObject(root, "parameters"), command, values);
    if (output) cJSON_AddStringToObject(cJSON_AddObjectToObject(root, "output"), "path", output);
    return root;
}

gls_status tract_sidecar_write(const char *path, bool force, cJSON *root)
{
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    if (!text) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
    cmd_interrupt_catch();
    gls_status status = gls_sidecar_write(path, force, NULL, text);
    cmd_interrupt_release();
    free(text);
    return status;
}
