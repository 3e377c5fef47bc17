#include "workflow/params.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/format.h"
#include "util/hash.h"
#include "util/json.h"
#include "util/parse.h"
#include "util/status.h"
#include "workflow/json.h"

/* Where the field of a row lies. */
#define OF_TRACK o->track.
#define OF_JOB o->
#define OF_GRADIENTS o->model.
#define OF_MODEL o->model.
#define OF_BASIS o->model.

enum {
#define GLS_PARAM(owner, group, type, field, ...) ROW_##field,
#include <glslines/params.def>
#undef GLS_PARAM
    N_ROWS
};

#define IS_MODEL_TRACK false
#define IS_MODEL_JOB false
#define IS_MODEL_COMMAND false
#define IS_MODEL_GRADIENTS true
#define IS_MODEL_MODEL true
#define IS_MODEL_BASIS true
#define IS_COMMAND_TRACK false
#define IS_COMMAND_JOB false
#define IS_COMMAND_COMMAND true
#define IS_COMMAND_GRADIENTS false
#define IS_COMMAND_MODEL false
#define IS_COMMAND_BASIS false

#define IS_FIT_TRACK false
#define IS_FIT_JOB false
#define IS_FIT_COMMAND false
#define IS_FIT_GRADIENTS false
#define IS_FIT_MODEL true
#define IS_FIT_BASIS false

static const gls_param rows[N_ROWS] = {
#define GLS_PARAM(owner, group, type, field, name_, letter, metavar, unit_, range_, default_, default_text, choices_, \
                  user_, role_, help)                                                                                 \
    {.name = name_,                                                                                                   \
     .unit = unit_,                                                                                                   \
     .choices = choices_,                                                                                             \
     .range = {GLS_RANGE range_},                                                                                     \
     .role = GLS_ROLE_##role_,                                                                                        \
     .user = GLS_FOR_##user_,                                                                                         \
     .of_fit = IS_FIT_##owner,                                                                                        \
     .of_model = IS_MODEL_##owner,                                                                                    \
     .of_command = IS_COMMAND_##owner},
#include <glslines/params.def>
#undef GLS_PARAM
};

const gls_param *gls_params_find(const char *name)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (strcmp(rows[i].name, name) == 0) return &rows[i];
    return NULL;
}

size_t gls_params_count(void)
{
    return N_ROWS;
}

const gls_param *gls_params_get(size_t i)
{
    return &rows[i];
}

gls_job_options gls_job_options_bare(void)
{
    gls_job_options job = {.size = sizeof job}, *o = &job;
#define SET_JOB(field, value) o->field = (value);
#define SET_TRACK(field, value)
#define SET_GRADIENTS(field, value)
#define SET_MODEL(field, value)
#define SET_BASIS(field, value)
#define SET_COMMAND(field, value)
#define GLS_PARAM(owner, group, type, field, name, letter, metavar, unit, range, default_, ...) \
    SET_##owner(field, default_)
#include <glslines/params.def>
#undef GLS_PARAM
    job.track = gls_track_params_default();
    job.model = gls_model_options_default(GLS_MODEL_OPDT);
    return job;
}

gls_model_options gls_model_options_default(gls_model_kind model)
{
    gls_model_options options = {.model = model}, *o = &options;
#undef SET_JOB
#undef SET_GRADIENTS
#undef SET_MODEL
#undef SET_BASIS
#define SET_JOB(field, value)
#define SET_GRADIENTS(field, value) o->field = (value);
#define SET_MODEL(field, value) o->field = (value);
#define SET_BASIS(field, value) o->field = (value);
#define GLS_PARAM(owner, group, type, field, name, letter, metavar, unit, range, default_, ...) \
    SET_##owner(field, default_)
#include <glslines/params.def>
#undef GLS_PARAM
    options.model = model;
    return options;
}

bool gls_fit_on_device(const gls_model_options *o)
{
    return o->fit_device && strcmp(o->fit_device, "cpu") != 0;
}

gls_status gls_model_options_check(const gls_model_options *o)
{
    bool qball = o->model <= GLS_MODEL_CSA, msmt = o->model == GLS_MODEL_MSMT || o->model == GLS_MODEL_AUTO;
    const char *only_msmt = o->response_wm         ? "response-wm"
                            : o->response_gm       ? "response-gm"
                            : o->response_csf      ? "response-csf"
                            : o->force_response    ? "force-response"
                            : o->normalise         ? "normalise"
                            : o->no_normalise      ? "no-normalise"
                            : gls_fit_on_device(o) ? "fit-device"
                                                   : NULL;
    if (o->sh_order % 2) return gls_fail(GLS_ERR_ARGUMENT, "--sh-order: %d is odd: must be even, 2 to 12", o->sh_order);
    if (qball && o->sh_order > 8)
        return gls_fail(GLS_ERR_ARGUMENT, "--sh-order: %d: --model %s goes up to 8", o->sh_order,
                        gls_model_name(o->model));
    if (o->response && msmt)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--response: is for --model csd; msmt has --response-wm, --response-gm and --response-csf");
    if (o->response && o->model != GLS_MODEL_CSD)
        return gls_fail(GLS_ERR_ARGUMENT, "--response: only --model csd has one");
    if (o->csd_directions && qball)
        return gls_fail(GLS_ERR_ARGUMENT, "--csd-directions: only --model csd and msmt have a constraint");
    if (only_msmt && !msmt) return gls_fail(GLS_ERR_ARGUMENT, "--%s: only --model msmt has it", only_msmt);
    if ((o->response_gm || o->response_csf) && !o->response_wm)
        return gls_fail(GLS_ERR_ARGUMENT, "--%s: needs --response-wm: responses are given for all tissues or for none",
                        o->response_gm ? "response-gm" : "response-csf");
    if (o->force_response && !o->response_wm)
        return gls_fail(GLS_ERR_ARGUMENT, "--force-response: needs --response-wm");
    if (o->normalise && o->no_normalise)
        return gls_fail(GLS_ERR_ARGUMENT, "--normalise and --no-normalise exclude each other");
    return GLS_OK;
}

int gls_model_order(const gls_model_options *o)
{
    if (o->sh_order > 0) return o->sh_order;
    return o->model == GLS_MODEL_MSMT  ? 8
           : o->model == GLS_MODEL_CSD ? gls_csd_options_default().sh_order
                                       : gls_qball_options_default().sh_order;
}

gls_bvec_frame gls_model_frame(const gls_model_options *o)
{
    if (o->sh_frame != GLS_FRAME_AUTO) return (gls_bvec_frame)(o->sh_frame - 1);
    return o->sh_basis == GLS_SH_TOURNIER07 || o->sh_basis == GLS_SH_TOURNIER07_LEGACY ? GLS_BVEC_WORLD : GLS_BVEC_FSL;
}

const char *gls_directions_option(const gls_job_options *o)
{
    return o->sh ? "sh" : o->odf ? "odf" : o->peaks.n > 0 ? "peaks" : NULL;
}

bool gls_along_peaks(const gls_job_options *o)
{
    return o->track.dg == GLS_DG_FACT || o->track.dg == GLS_DG_EUDX;
}

const char *gls_csd_directions_file(const gls_model_options *o)
{
    return o->csd_directions && !gls_sphere_is_built_in(o->csd_directions) ? o->csd_directions : NULL;
}

const char *gls_basis_name(gls_sh_basis basis)
{
    static const char *const names[] = {[GLS_SH_DESCOTEAUX07_LEGACY] = "descoteaux07_legacy",
                                        [GLS_SH_DESCOTEAUX07] = "descoteaux07",
                                        [GLS_SH_TOURNIER07_LEGACY] = "tournier07_legacy",
                                        [GLS_SH_TOURNIER07] = "tournier07"};
    return names[basis];
}

const char *gls_model_name(gls_model_kind model)
{
    static const char *const names[] = {[GLS_MODEL_OPDT] = "opdt",
                                        [GLS_MODEL_CSA] = "csa",
                                        [GLS_MODEL_CSD] = "csd",
                                        [GLS_MODEL_MSMT] = "msmt",
                                        [GLS_MODEL_AUTO] = "auto"};
    return names[model];
}

const char *gls_csd_rule_name(gls_csd_rule rule)
{
    return rule == GLS_CSD_RULE_MRTRIX ? "mrtrix" : "dipy";
}

const char *gls_getter_name(gls_direction_getter dg)
{
#define NAME(value, word) [value] = #word,
    static const char *const names[] = {GLS_GETTERS(NAME)};
#undef NAME
    return names[dg];
}

void gls_param_key(const gls_param *param, char *key, size_t size)
{
    const char *unit = !param->unit ? "" : strcmp(param->unit, "s/mm2") == 0 ? "s_per_mm2" : param->unit;
    snprintf(key, size, "%s%s%s", param->name, *unit ? "_" : "", unit);
    for (char *c = key; *c; c++)
        if (*c == '-') *c = '_';
}

bool gls_param_is_used(const gls_param *param, const gls_job_options *o)
{
    bool given = gls_directions_option(o) != NULL, fod = gls_getter_ends_itself(o->track.dg);
    if (param == &rows[ROW_batch_seeds]) return o->track.batch_seeds > 0;
    if (param == &rows[ROW_memory_limit]) return o->memory_limit > 0;
    switch (param->user) {
    case GLS_FOR_ALL: return true;
    case GLS_FOR_BOOT: return o->track.dg == GLS_DG_BOOT;
    case GLS_FOR_PROB_DET: return o->track.dg == GLS_DG_PROB || o->track.dg == GLS_DG_DET;
    case GLS_FOR_PTT: return o->track.dg == GLS_DG_PTT;
    case GLS_FOR_VERTICES: return o->track.dg != GLS_DG_PTT && !fod;
    case GLS_FOR_PEAKS: return !fod;
    case GLS_FOR_STARTS: return !fod || gls_along_peaks(o);
    case GLS_FOR_FOD: return fod && !gls_along_peaks(o);
    case GLS_FOR_CUTOFF:
        return fod ||
               ((o->track.dg == GLS_DG_PROB || o->track.dg == GLS_DG_DET) && (given || o->model.model > GLS_MODEL_CSA));
    case GLS_FOR_IFOD: return o->track.dg == GLS_DG_IFOD1 || o->track.dg == GLS_DG_IFOD2;
    case GLS_FOR_IFOD2: return o->track.dg == GLS_DG_IFOD2;
    case GLS_FOR_FIT: return !given;
    case GLS_FOR_QBALL: return !given && o->model.model <= GLS_MODEL_CSA;
    case GLS_FOR_MSMT: return !given && o->model.model == GLS_MODEL_MSMT;
    case GLS_FOR_CSD: return !given && o->model.model == GLS_MODEL_CSD;
    case GLS_FOR_SH: return o->sh != NULL;
    case GLS_FOR_ODF: return o->sh || o->odf;
    case GLS_FOR_PEAK_FILES: return o->peaks.n > 0;
    case GLS_FOR_SEED_COUNT: return o->seeds_per_voxel == 0 && !o->seeds && o->seed_grid == 0;
    case GLS_FOR_SEEDS_PER_VOXEL: return o->seeds_per_voxel > 0;
    case GLS_FOR_SEED_LIST: return o->seeds != NULL;
    case GLS_FOR_SEED_GRID: return o->seed_grid > 0;
    case GLS_FOR_TISSUE: return o->act || o->pve_wm;
    }
    return true;
}

static void add_length(cJSON *object, const char *key, double value, bool mm)
{
    char text[64];
    gls_format_double(value, text, sizeof text - 4);
    cJSON_AddStringToObject(object, key, strcat(text, mm ? "mm" : "vox"));
}

static void add_string(cJSON *object, const char *key, const char *text)
{
    if (text)
        cJSON_AddStringToObject(object, key, text);
    else
        cJSON_AddNullToObject(object, key);
}

static void add_numbers(cJSON *object, const char *key, const gls_numbers *numbers)
{
    cJSON *array = cJSON_AddArrayToObject(object, key);
    for (int i = 0; i < numbers->n; i++) gls_json_append_double(array, numbers->value[i]);
}

static void add_strings(cJSON *object, const char *key, const gls_strings *strings)
{
    cJSON *array = cJSON_AddArrayToObject(object, key);
    for (int i = 0; i < strings->n; i++) cJSON_AddItemToArray(array, cJSON_CreateString(strings->value[i]));
}

static void add_choice(cJSON *object, const char *key, const char *choices, int place)
{
    char word[64];
    cJSON_AddStringToObject(object, key, gls_choice_word(choices, place, word, sizeof word));
}

#define ADD_FLAG(at, field) cJSON_AddBoolToObject(object, key, at field)
#define ADD_INT(at, field) cJSON_AddNumberToObject(object, key, at field)
#define ADD_UINT64(at, field) gls_json_uint(object, key, at field)
#define ADD_SEED(at, field) gls_json_uint(object, key, at field)
#define ADD_DOUBLE(at, field) gls_json_double(object, key, at field)
#define ADD_LENGTH(at, field) add_length(object, key, at field, o->in_mm.field)
#define ADD_NUMBERS(at, field) add_numbers(object, key, &at field)
#define ADD_STRINGS(at, field) add_strings(object, key, &at field)
#define ADD_STRING(at, field) add_string(object, key, at field)
#define ADD_CHOICE(at, field) add_choice(object, key, rows[ROW_##field].choices, (int)at field)

#define CASE_TRACK(type, field)      \
    case ROW_##field:                \
        ADD_##type(OF_TRACK, field); \
        break;
#define CASE_JOB(type, field)      \
    case ROW_##field:              \
        ADD_##type(OF_JOB, field); \
        break;
#define CASE_GRADIENTS(type, field)      \
    case ROW_##field:                    \
        ADD_##type(OF_GRADIENTS, field); \
        break;
#define CASE_MODEL(type, field)      \
    case ROW_##field:                \
        ADD_##type(OF_MODEL, field); \
        break;
#define CASE_BASIS(type, field)      \
    case ROW_##field:                \
        ADD_##type(OF_BASIS, field); \
        break;
#define CASE_COMMAND(type, field)

static void add_row(cJSON *object, const gls_job_options *o, size_t row)
{
    char key[96];
    gls_param_key(&rows[row], key, sizeof key);
    switch (row) {
#define GLS_PARAM(owner, group, type, field, ...) CASE_##owner(type, field)
#include <glslines/params.def>
#undef GLS_PARAM
    }
}

void gls_param_add(cJSON *object, const gls_param *param, const gls_job_options *options)
{
    add_row(object, options, (size_t)(param - rows));
}

static void add_null(cJSON *object, size_t row)
{
    char key[96];
    gls_param_key(&rows[row], key, sizeof key);
    cJSON_AddNullToObject(object, key);
}

void gls_params_add(cJSON *object, const gls_job_options *o, const gls_track_params *mm)
{
    gls_json_double(object, "step_size_mm", mm->step_size);
    for (size_t i = 0; i < N_ROWS; i++) {
        if (rows[i].of_command) continue;
        if (gls_param_is_used(&rows[i], o))
            add_row(object, o, i);
        else
            add_null(object, i);
    }
    if (o->track.dg != GLS_DG_PTT) return;
    gls_json_double(object, "probe_length_mm", mm->probe_length);
    gls_json_double(object, "probe_radius_mm", mm->probe_radius);
    gls_json_double(object, "ptt_substep_mm", mm->ptt_substep);
    gls_json_double(object, "min_radius_of_curvature_mm", 1 / gls_track_max_curvature(mm));
}

void gls_params_add_model(cJSON *object, const gls_model_options *model)
{
    /* the basis and the axes of what is written */
    gls_job_options options = {.size = sizeof options, .model = *model};
    for (int basis = 0; basis < 2; basis++)
        for (size_t i = 0; i < N_ROWS; i++) {
            bool of_basis = rows[i].user == GLS_FOR_SH || rows[i].user == GLS_FOR_ODF;
            if (!rows[i].of_model || of_basis != (basis == 1)) continue;
            if (of_basis || gls_param_is_used(&rows[i], &options))
                add_row(object, &options, i);
            else
                add_null(object, i);
        }
}

bool gls_gmwmi_is_made(const char *seed_gmwmi)
{
    return seed_gmwmi && strcmp(seed_gmwmi, "auto") == 0;
}

/* Whether the value of a row that names a file is a word instead, which has no contents to tell it from others by. */
static bool is_word(size_t row, const cJSON *value)
{
    if (!cJSON_IsString(value)) return false;
    if (row == ROW_seed_gmwmi) return gls_gmwmi_is_made(value->valuestring);
    return (row == ROW_sphere || row == ROW_csd_directions) && gls_sphere_is_built_in(value->valuestring);
}

void gls_params_keep_identity(cJSON *object)
{
    char key[96];
    for (size_t i = 0; i < N_ROWS; i++) {
        gls_param_key(&rows[i], key, sizeof key);
        if (rows[i].role == GLS_ROLE_RESULT || is_word(i, cJSON_GetObjectItemCaseSensitive(object, key))) continue;
        cJSON_DeleteItemFromObjectCaseSensitive(object, key);
    }
}

gls_status gls_params_identity(const gls_job_options *options, const gls_track_params *mm, uint64_t *hash)
{
    cJSON *object = cJSON_CreateObject();
    if (object) {
        gls_params_add(object, options, mm);
        gls_params_keep_identity(object);
    }
    char *text = object ? gls_json_print_line(object) : NULL;
    cJSON_Delete(object);
    if (!text) return gls_fail(GLS_ERR_MEMORY, "out of memory");
    *hash = gls_hash(text, strlen(text));
    cJSON_free(text);
    return GLS_OK;
}

#define SCALE_LENGTH(field) \
    if (!o->in_mm.field && mm.field > 0) mm.field *= voxel_mm;
#define SCALE_FLAG(field)
#define SCALE_INT(field)
#define SCALE_UINT64(field)
#define SCALE_SEED(field)
#define SCALE_DOUBLE(field)
#define SCALE_NUMBERS(field)
#define SCALE_STRINGS(field)
#define SCALE_STRING(field)
#define SCALE_CHOICE(field)

gls_track_params gls_params_in_mm(const gls_job_options *o, const gls_grid *grid)
{
    const double *side = grid->voxel_size, voxel_mm = fmin(side[0], fmin(side[1], side[2]));
    gls_track_params mm = o->track;
    for (int a = 0; a < 3 && o->seed_direction.n == 3; a++) mm.seed_direction[a] = o->seed_direction.value[a];
#define GLS_PARAM(owner, group, type, field, ...) SCALE_##type(field)
#include <glslines/params.def>
#undef GLS_PARAM
    gls_track_params_lengths(&mm, rint(1e6 * cbrt(side[0] * side[1] * side[2])) / 1e6);
    /* a default gives way to a maximum that was given */
    if (o->track.min_length < 0) mm.min_length = fmin(mm.min_length, mm.max_length);
    return mm;
}
