/* The rows of params.def at run time: the table of options, which options a run uses, entries of sidecars, the identity
 * of a run, and lengths in mm. */
#include "record/run_params.h"

#include <math.h>
#include <string.h>

#include "record/method.h"
#include "track/getter/getters.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/status.h"

/* Headings of the groups in the help, by the second column of params.def. */
#define TITLE_OUTPUT "Output"
#define TITLE_INPUT "Input"
#define TITLE_SEEDS "Seeds"
#define TITLE_MODEL "Model"
#define TITLE_TRACKING "Tracking"
#define TITLE_REGIONS "Regions"
#define TITLE_TISSUE "Tissue"
#define TITLE_PTT "Parallel transport (--dg ptt)"
#define TITLE_FOD "MRtrix3's getters (--dg ifod1, ifod2, sdstream)"
#define TITLE_DEVICE "Device"

/* AT_...: the member of gls_run_options that holds a parameter. MM_...: offset of the flag that says whether a length
 * is in mm; 0: no length. */
#define AT_TRACK(field) job.track.field
#define AT_JOB(field) job.field
#define AT_GRADIENTS(field) job.model.field
#define AT_MODEL(field) job.model.field
#define AT_BASIS(field) job.model.field
#define AT_COMMAND(field) field
#define MM_LENGTH(field) offsetof(gls_run_options, job.in_mm.field)
#define MM_FLAG(field) 0
#define MM_INT(field) 0
#define MM_UINT64(field) 0
#define MM_SEED(field) 0
#define MM_DOUBLE(field) 0
#define MM_NUMBERS(field) 0
#define MM_STRINGS(field) 0
#define MM_STRING(field) 0
#define MM_CHOICE(field) 0

const gls_option gls_params[GLS_N_PARAMS + 1] = {
/* one gls_option for each row; options of other tables have no owner, role and user */
#define GLS_PARAM(owner_, group, type, field, name, letter, metavar, unit, range, default_, default_text, choices,     \
                  user_, role_, ...)                                                                                   \
    {GLS_OPTION_AT(offsetof(gls_run_options, AT_##owner_(field)), MM_##type(field), TITLE_##group, type, name, letter, \
                   metavar, unit, range, default_text, choices, __VA_ARGS__),                                          \
     .owner = GLS_OF_##owner_, .role = GLS_ROLE_##role_, .user = GLS_FOR_##user_},
#include <glslines/params.def>
#undef GLS_PARAM
};

gls_job_options gls_job_options_bare(void)
{
    gls_run_options run = {.job.size = sizeof run.job};
#define GLS_PARAM(owner, group, type, field, name, letter, metavar, unit, range, default_, ...) \
    run.AT_##owner(field) = (default_);
#include <glslines/params.def>
#undef GLS_PARAM
    /* the parameters of the tracker have their defaults in gls_track_params_default() */
    run.job.track = gls_track_params_default();
    return run.job;
}

gls_model_options gls_model_options_default(gls_model_kind model)
{
    gls_model_options options = gls_job_options_bare().model;
    options.model = model;
    return options;
}

gls_status gls_model_require(const gls_model_options *o, const char *const *given)
{
    static const char *const estimate[] = {"response-fa", "response-radius", "response-voxels", NULL};
    const bool csd = o->model == GLS_MODEL_CSD, qball = o->model == GLS_MODEL_OPDT || o->model == GLS_MODEL_CSA;
    for (const gls_option *row = gls_params; row->name; row++) {
        const char *models = row->user == GLS_FOR_CSD && !csd       ? "csd"
                             : row->user == GLS_FOR_QBALL && !qball ? "opdt or csa"
                                                                    : NULL;
        if (models && gls_is_given(given, row->name))
            return gls_fail(GLS_ERR_ARGUMENT, "--%s: only --model %s can use it", row->name, models);
    }
    const char *name = gls_first_given(estimate, given);
    if (name && o->response) return gls_fail(GLS_ERR_ARGUMENT, "--%s: has no effect with --response", name);
    if (o->response_voxels && gls_is_given(given, "response-fa"))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--response-fa and --response-voxels exclude each other: leave out one of them");
    return GLS_OK;
}

bool gls_param_is_used(const gls_option *param, const gls_method *method, const gls_job_options *o)
{
    /* 0 in batch_seeds: the program chooses the number; 0 in memory_limit: there is no limit */
    if (param == &gls_params[ROW_batch_seeds]) return o->track.batch_seeds > 0;
    if (param == &gls_params[ROW_memory_limit]) return o->memory_limit > 0;
    return gls_method_uses(method, param, o);
}

void gls_option_add(cJSON *object, const gls_option *option, const void *options)
{
    const void *at = (const char *)options + option->offset;
    const gls_strings *strings = at;
    const gls_numbers *numbers = at;
    char key[96], text[64];
    cJSON *array;
    gls_option_key(option, key, sizeof key);
    /* a number outside its range stands for "not set", see params.def */
    const bool number =
        option->kind == GLS_KIND_INT || option->kind == GLS_KIND_UINT64 || option->kind == GLS_KIND_DOUBLE;
    if (number && !gls_range_has(&option->range, gls_option_get_number(option, options).value)) {
        cJSON_AddNullToObject(object, key);
        return;
    }
    switch (option->kind) {
    case GLS_KIND_FLAG: cJSON_AddBoolToObject(object, key, *(const bool *)at); break;
    case GLS_KIND_COUNT:
    case GLS_KIND_INT: cJSON_AddNumberToObject(object, key, *(const int *)at); break;
    case GLS_KIND_UINT64:
    case GLS_KIND_SEED: gls_json_uint(object, key, *(const uint64_t *)at); break;
    case GLS_KIND_DOUBLE: gls_json_double(object, key, *(const double *)at); break;
    case GLS_KIND_LENGTH:
        gls_format_double(*(const double *)at, text, sizeof text - 4);
        /* gls_format_double() left space for the unit */
        strcat(text, gls_option_in_mm(option, options) ? "mm" : "vox");
        cJSON_AddStringToObject(object, key, text);
        break;
    case GLS_KIND_NUMBERS:
        array = cJSON_AddArrayToObject(object, key);
        for (int i = 0; i < numbers->n; i++) gls_json_append_double(array, numbers->value[i]);
        break;
    case GLS_KIND_STRINGS:
        array = cJSON_AddArrayToObject(object, key);
        for (int i = 0; i < strings->n; i++) cJSON_AddItemToArray(array, cJSON_CreateString(strings->value[i]));
        break;
    case GLS_KIND_STRING: gls_json_text(object, key, *(const char *const *)at); break;
    case GLS_KIND_CHOICE: cJSON_AddStringToObject(object, key, GLS_WORD(option->choices, *(const int *)at)); break;
    }
}

/* Adds the value of a row; null if the run does not use the parameter. */
static void add_row(cJSON *object, const gls_option *row, const gls_method *method, const gls_job_options *o)
{
    char key[96];
    gls_option_key(row, key, sizeof key);
    if (gls_param_is_used(row, method, o))
        gls_option_add(object, row, o);
    else
        cJSON_AddNullToObject(object, key);
}

void gls_params_add(cJSON *object, const gls_job_options *o, const gls_method *method, const gls_track_params *mm)
{
    gls_json_double(object, "step_size_mm", mm->step_size);
    for (const gls_option *row = gls_params; row->name; row++)
        if (row->owner != GLS_OF_COMMAND) add_row(object, row, method, o);
    if (!gls_getter_uses(method->getter, GLS_FOR_ptt)) return;
    gls_json_double(object, "probe_length_mm", mm->probe_length);
    gls_json_double(object, "probe_radius_mm", mm->probe_radius);
    gls_json_double(object, "ptt_substep_mm", mm->ptt_substep);
    gls_json_double(object, "min_radius_of_curvature_mm", 1 / gls_track_max_curvature(mm));
}

void gls_params_add_model(cJSON *object, const gls_model_options *model, bool has_model)
{
    /* rows of gradients and model first, then the rows of the basis, which here say basis and axes of the output */
    const gls_job_options options = {.size = sizeof options, .model = *model};
    const gls_method method = gls_method_of(&options);
    for (const gls_option *row = gls_params; row->name; row++)
        if (row->owner & (GLS_OF_GRADIENTS | (has_model ? GLS_OF_MODEL : 0))) add_row(object, row, &method, &options);
    for (const gls_option *row = gls_params; row->name && has_model; row++)
        if (row->owner == GLS_OF_BASIS) gls_option_add(object, row, &options);
}

bool gls_is_auto(const char *value)
{
    return value && strcmp(value, "auto") == 0;
}

/* Whether the value of an option that takes a file is a word, such as the name of a built-in sphere. A word has no
 * contents to hash. */
static bool is_word(size_t row, const cJSON *value)
{
    if (!cJSON_IsString(value)) return false;
    if (row == ROW_seed_gmwmi || row == ROW_seed_dynamic) return gls_is_auto(value->valuestring);
    return (row == ROW_sphere || row == ROW_csd_directions) && gls_sphere_is_built_in(value->valuestring);
}

/* Removes all parameters but those whose values belong to the identity of a run: removes devices and outputs, and the
 * paths of input files, whose contents are hashed elsewhere. A key without a row, such as step_size_mm, stays. */
static void keep_identity(cJSON *object)
{
    char key[96];
    for (size_t i = 0; i < GLS_N_PARAMS; i++) {
        gls_option_key(&gls_params[i], key, sizeof key);
        if (gls_params[i].role == GLS_ROLE_RESULT || is_word(i, gls_json_at(object, key))) continue;
        cJSON_DeleteItemFromObjectCaseSensitive(object, key);
    }
}

const char *gls_params_difference(cJSON *a, cJSON *b)
{
    keep_identity(a);
    keep_identity(b);
    return gls_json_difference(a, b);
}

gls_status gls_params_identity(const gls_job_options *options, const gls_method *method, const gls_track_params *mm,
                               uint64_t *hash)
{
    cJSON *object = cJSON_CreateObject();
    if (object) {
        gls_params_add(object, options, method, mm);
        keep_identity(object);
    }
    char *text = object ? gls_json_print_line(object) : NULL;
    cJSON_Delete(object);
    if (!text) return gls_no_memory();
    *hash = gls_hash(text, strlen(text));
    cJSON_free(text);
    return GLS_OK;
}

gls_track_params gls_params_in_mm(const gls_job_options *o, const gls_grid *grid)
{
    const double *side = grid->voxel_size, voxel_mm = fmin(side[0], fmin(side[1], side[2]));
    gls_track_params mm = o->track;
    for (int a = 0; a < 3 && o->seed_direction.n == 3; a++) mm.seed_direction[a] = o->seed_direction.value[a];
    /* all lengths are parameters of the tracker */
    for (const gls_option *row = gls_params; row->name; row++) {
        if (row->kind != GLS_KIND_LENGTH) continue;
        const gls_option_number length = gls_option_get_number(row, o);
        /* convert positive lengths in voxels; negative lengths are converted below, with tckgen's voxel size */
        if (!length.mm && length.value > 0)
            *(double *)((char *)&mm + row->offset - offsetof(gls_job_options, track)) *= voxel_mm;
    }
    /* voxel size of tckgen: the cube root of the volume, rounded to 1e-6 mm */
    gls_track_params_lengths(&mm, rint(1e6 * cbrt(side[0] * side[1] * side[2])) / 1e6);
    /* a minimum length below 0 counts voxels; limit it to the maximum length, which the user may have set */
    if (o->track.min_length < 0) mm.min_length = fmin(mm.min_length, mm.max_length);
    return mm;
}
