#include "cmd/sidecar_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cmd/text.h"

static cJSON *number(double v)
{
    char text[40];
    return isfinite(v) ? cJSON_CreateRaw(cmd_text_double(v, text, sizeof text)) : cJSON_CreateNull();
}

void json_append_double(cJSON *array, double v)
{
    cJSON_AddItemToArray(array, number(v));
}

void json_double(cJSON *object, const char *key, double v)
{
    cJSON_AddItemToObject(object, key, number(v));
}

void json_uint(cJSON *object, const char *key, uint64_t v)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, v);
    if (v <= UINT64_C(1) << 53)
        cJSON_AddRawToObject(object, key, text);
    else
        cJSON_AddStringToObject(object, key, text);
}

void sidecar_add_software(cJSON *root, const cmd_arguments *arguments)
{
    cJSON *software = cJSON_AddObjectToObject(root, "software");
    cJSON_AddStringToObject(software, "name", "glslines");
    cJSON_AddStringToObject(software, "version", gls_version());
    cJSON *line = cJSON_AddArrayToObject(root, "command_line");
    for (int i = 0; i < arguments->argc; i++) cJSON_AddItemToArray(line, cJSON_CreateString(arguments->argv[i]));
}

void sidecar_add_file(cJSON *inputs, const cmd_file *file)
{
    if (!file->path) return;
    cJSON *object = cJSON_AddObjectToObject(inputs, file->role);
    cJSON_AddStringToObject(object, "path", file->path);
    json_uint(object, "bytes", file->bytes);
}

void sidecar_add_grid(cJSON *root, const gls_grid *grid)
{
    char axes[4];
    cJSON *object = cJSON_AddObjectToObject(root, "grid");
    cJSON *dim = cJSON_AddArrayToObject(object, "dimensions");
    cJSON *size = cJSON_AddArrayToObject(object, "voxel_size_mm");
    cJSON *affine = cJSON_AddArrayToObject(object, "voxel_to_rasmm");
    for (int a = 0; a < 3; a++) {
        cJSON *row = cJSON_CreateArray();
        cJSON_AddItemToArray(dim, cJSON_CreateNumber(grid->dim[a]));
        cJSON_AddItemToArray(size, number(grid->voxel_size[a]));
        for (int c = 0; c < 4; c++) cJSON_AddItemToArray(row, number(grid->affine[a][c]));
        cJSON_AddItemToArray(affine, row);
    }
    gls_grid_axis_codes(grid, axes);
    cJSON_AddStringToObject(object, "axes", axes);
    json_double(object, "determinant", gls_grid_determinant(grid));
}

void sidecar_add_gradients(cJSON *root, const cmd_series *series, const char *rule)
{
    cJSON *gradients = cJSON_AddObjectToObject(root, "gradients");
    cJSON_AddStringToObject(gradients, "rule", rule);
    json_double(gradients, "affine_determinant", gls_grid_determinant(&series->dwi->grid));
    cJSON_AddBoolToObject(gradients, "x_negated", series->gradients->x_flipped);
    json_double(gradients, "b0_threshold_s_per_mm2", series->gradients->b0_threshold);
    json_uint(gradients, "volumes", series->gradients->n);
    json_uint(gradients, "b0_volumes", series->gradients->n_b0);
    cJSON *shells = cJSON_AddArrayToObject(gradients, "shells");
    for (size_t i = 0; i < series->n_shells; i++) {
        cJSON *shell = cJSON_CreateObject();
        json_double(shell, "b_s_per_mm2", series->shell[i].bval);
        json_double(shell, "min_b_s_per_mm2", series->shell[i].min_bval);
        json_double(shell, "max_b_s_per_mm2", series->shell[i].max_bval);
        json_uint(shell, "volumes", series->shell[i].n);
        cJSON_AddItemToArray(shells, shell);
    }
}

/* "max-angle" in degrees -> "max_angle_degrees" */
static void parameter_key(const cmd_option *option, char *key, size_t size)
{
    snprintf(key, size, "%s%s%s", option->name, option->unit ? "_" : "",
             !option->unit                        ? ""
             : strcmp(option->unit, "s/mm2") == 0 ? "s_per_mm2"
                                                  : option->unit);
    for (char *c = key; *c; c++)
        if (*c == '-') *c = '_';
}

static void add_parameter(cJSON *object, const cmd_option *option, const void *values)
{
    const void *field = (const char *)values + option->offset;
    char key[96], text[64];
    parameter_key(option, key, sizeof key);
    switch (option->type) {
    case CMD_FLAG: cJSON_AddBoolToObject(object, key, *(const bool *)field); break;
    case CMD_COUNT:
    case CMD_INT: cJSON_AddNumberToObject(object, key, *(const int *)field); break;
    case CMD_UINT64: json_uint(object, key, *(const uint64_t *)field); break;
    case CMD_SEED: json_uint(object, key, ((const cmd_seed *)field)->value); break;
    case CMD_DOUBLE: json_double(object, key, *(const double *)field); break;
    case CMD_LENGTH: {
        const cmd_length *length = field;
        cmd_text_double(length->value, text, sizeof text - 4);
        cJSON_AddStringToObject(object, key, strcat(text, length->mm ? "mm" : "vox"));
        break;
    }
    case CMD_NUMBERS: {
        const cmd_numbers *numbers = field;
        cJSON *array = cJSON_AddArrayToObject(object, key);
        for (int i = 0; i < numbers->n; i++) json_append_double(array, numbers->value[i]);
        break;
    }
    case CMD_STRING:
        if (*(const char *const *)field)
            cJSON_AddStringToObject(object, key, *(const char *const *)field);
        else
            cJSON_AddNullToObject(object, key);
        break;
    case CMD_CHOICE:
        cJSON_AddStringToObject(object, key, cmd_choice_word(option->choices, *(const int *)field, text, sizeof text));
        break;
    }
}

void sidecar_add_options(cJSON *parameters, const cmd_command *command, const void *values)
{
    for (size_t i = 0; command->options[i].name; i++) add_parameter(parameters, &command->options[i], values);
}

void sidecar_drop_option(cJSON *parameters, const cmd_command *command, const char *name)
{
    char key[96];
    for (size_t i = 0; command->options[i].name; i++) {
        if (strcmp(command->options[i].name, name) != 0) continue;
        parameter_key(&command->options[i], key, sizeof key);
        cJSON_ReplaceItemInObject(parameters, key, cJSON_CreateNull());
    }
}
