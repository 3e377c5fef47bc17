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

/* Keys of the draft BIDS extension for tractograms, for tools that look for them. */
static void add_bids(cJSON *root, const track_run *run)
{
    const track_options *o = run->options;
    cJSON_AddStringToObject(root, "TractographyClass", "local");
    cJSON_AddStringToObject(root, "TractographyMethod", o->dg == GLS_DG_DET ? "deterministic" : "probabilistic");
    cJSON_AddStringToObject(root, "StepSizeUnits", "mm");
    json_double(root, "StepSize", run->input.step_mm);
    json_double(root, "AngleCurvature", o->max_angle);
    cJSON_AddStringToObject(root, "SeedingMethod", o->seeds_per_voxel > 0 ? "seedsPerVoxel" : "globalSeedNumber");
    json_uint(root, "SeedingNumberMethod", o->seeds_per_voxel > 0 ? o->seeds_per_voxel : gls_seeds_count(run->input.seeds));
    json_uint(root, "Count", run->result.streamlines);
}

void sidecar_add_description(cJSON *root, const track_run *run)
{
    cJSON_AddStringToObject(root, "Description", "Whole-image tractogram made by glslines");
    add_bids(root, run);
    cJSON *software = cJSON_AddObjectToObject(root, "software");
    cJSON_AddStringToObject(software, "name", "glslines");
    cJSON_AddStringToObject(software, "version", gls_version());
    cJSON *line = cJSON_AddArrayToObject(root, "command_line");
    for (int i = 0; i < run->arguments->argc; i++) cJSON_AddItemToArray(line, cJSON_CreateString(run->arguments->argv[i]));
}

static void add_grid(cJSON *root, const gls_grid *grid)
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

static void add_phantom(cJSON *root, const gls_phantom_params *p)
{
    cJSON *object = cJSON_AddObjectToObject(root, "phantom");
    cJSON *bvals = cJSON_AddArrayToObject(object, "bvals_s_per_mm2");
    for (int i = 0; i < p->n_shells; i++) cJSON_AddItemToArray(bvals, number(p->bval[i]));
    json_uint(object, "directions_per_shell", (uint64_t)p->n_directions);
    json_uint(object, "b0_volumes", (uint64_t)p->n_b0);
    json_double(object, "snr", p->snr);
    json_uint(object, "seed", p->seed);
}

void sidecar_add_inputs(cJSON *root, const track_run *run)
{
    static const char *const frames[] = {[GLS_BVEC_FSL] = "fsl", [GLS_BVEC_IMAGE] = "image", [GLS_BVEC_WORLD] = "world"};
    const track_input *in = &run->input;
    cJSON *inputs = cJSON_AddObjectToObject(root, "inputs");
    for (int i = 0; i < TRACK_N_FILES; i++) {
        if (!in->file[i].path) continue;
        cJSON *file = cJSON_AddObjectToObject(inputs, in->file[i].role);
        cJSON_AddStringToObject(file, "path", in->file[i].path);
        json_uint(file, "bytes", in->file[i].bytes);
    }
    if (in->phantom) add_phantom(inputs, &in->phantom->params);
    add_grid(root, &in->dwi->grid);

    cJSON *gradients = cJSON_AddObjectToObject(root, "gradients");
    cJSON_AddStringToObject(gradients, "rule", in->phantom ? "image" : frames[run->options->bvec_frame]);
    json_double(gradients, "affine_determinant", gls_grid_determinant(&in->dwi->grid));
    cJSON_AddBoolToObject(gradients, "x_negated", in->gradients->x_flipped);
    json_double(gradients, "b0_threshold_s_per_mm2", in->gradients->b0_threshold);
    json_uint(gradients, "volumes", in->gradients->n);
    json_uint(gradients, "b0_volumes", in->gradients->n_b0);
    cJSON *shells = cJSON_AddArrayToObject(gradients, "shells");
    for (size_t i = 0; i < in->n_shells; i++) {
        cJSON *shell = cJSON_CreateObject();
        json_double(shell, "b_s_per_mm2", in->shell[i].bval);
        json_double(shell, "min_b_s_per_mm2", in->shell[i].min_bval);
        json_double(shell, "max_b_s_per_mm2", in->shell[i].max_bval);
        json_uint(shell, "volumes", in->shell[i].n);
        cJSON_AddItemToArray(shells, shell);
    }
    cJSON *masks = cJSON_AddObjectToObject(root, "voxels");
    json_uint(masks, "mask", in->mask_voxels);
    json_uint(masks, "seeds", in->seed_voxels);
}

/* "max-angle" in degrees -> "max_angle_degrees" */
static void parameter_key(const cmd_option *option, char *key, size_t size)
{
    snprintf(key, size, "%s%s%s", option->name, option->unit ? "_" : "", !option->unit ? "" : strcmp(option->unit, "s/mm2") == 0 ? "s_per_mm2" : option->unit);
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
        for (int i = 0; i < numbers->n; i++) cJSON_AddItemToArray(array, number(numbers->value[i]));
        break;
    }
    case CMD_STRING:
        if (*(const char *const *)field)
            cJSON_AddStringToObject(object, key, *(const char *const *)field);
        else
            cJSON_AddNullToObject(object, key);
        break;
    case CMD_CHOICE: cJSON_AddStringToObject(object, key, cmd_choice_word(option->choices, *(const int *)field, text, sizeof text)); break;
    }
}

void sidecar_add_parameters(cJSON *root, const track_run *run)
{
    static const char *const formats[] = {[GLS_FORMAT_TRX] = "trx", [GLS_FORMAT_TRK] = "trk", [GLS_FORMAT_TCK] = "tck"};
    cJSON *parameters = cJSON_AddObjectToObject(root, "parameters");
    json_double(parameters, "step_size_mm", run->input.step_mm);
    for (size_t i = 0; run->command->options[i].name; i++) add_parameter(parameters, &run->command->options[i], run->options);
    /* a value that had no part in the result would mislead */
    bool per_voxel = run->options->seeds_per_voxel > 0, list = run->options->seeds != NULL;
    if (per_voxel || list) cJSON_ReplaceItemInObject(parameters, "nseeds", cJSON_CreateNull());
    if (!per_voxel) cJSON_ReplaceItemInObject(parameters, "seeds_per_voxel", cJSON_CreateNull());
    if (!list) cJSON_ReplaceItemInObject(parameters, "seed_space", cJSON_CreateNull());

    cJSON *sphere = cJSON_AddObjectToObject(root, "sphere");
    json_uint(sphere, "directions", run->input.sphere->n);
    cJSON_AddBoolToObject(sphere, "antipodal", run->input.sphere->antipodal);

    cJSON *rng = cJSON_AddObjectToObject(root, "rng");
    cJSON_AddStringToObject(rng, "algorithm", "Philox4x32-10");
    json_uint(rng, "rng_seed", run->options->rng_seed.value);
    json_uint(rng, "seed_seed", run->options->seed_seed.value);

    cJSON *output = cJSON_AddObjectToObject(root, "output");
    cJSON_AddStringToObject(output, "path", run->output);
    cJSON_AddStringToObject(output, "format", formats[run->format]);
    json_uint(output, "bytes", run->output_bytes);
}
