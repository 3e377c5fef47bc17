#include "cmd/track_options.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>

#include "cmd/message.h"
#include "options/bridge.h"
#include "util/log.h"
#include "workflow/devices.h"
#include "workflow/params.h"

#define GROUP_OUTPUT "Output"
#define GROUP_INPUT "Input"
#define GROUP_SEEDS "Seeds"
#define GROUP_MODEL "Model"
#define GROUP_TRACKING "Tracking"
#define GROUP_REGIONS "Regions"
#define GROUP_TISSUE "Tissue"
#define GROUP_PTT "Parallel transport (--dg ptt)"
#define GROUP_FOD "MRtrix3's getters (--dg ifod1, ifod2, sdstream)"
#define GROUP_DEVICE "Device"

/* Fields of a row in the structs of the command and of the library. */
#define AT_TRACK(field) field
#define AT_JOB(field) field
#define AT_COMMAND(field) field
#define AT_GRADIENTS(field) model.field
#define AT_MODEL(field) model.field
#define AT_BASIS(field) model.field

const cmd_option track_option_table[] = {
#define GLS_PARAM(owner, group, type, field, name, letter, metavar, unit, range, default_, default_text, choices,  \
                  user, role, help)                                                                                \
    CMD_ENTRY(GROUP_##group, type, offsetof(track_options, AT_##owner(field)), name, letter, metavar, unit, range, \
              default_text, choices, help)
#include <glslines/params.def>
#undef GLS_PARAM
    {.name = NULL},
};

/* The rows that are no model's: the model's are copied at once. */
#define GLS_PARAM(owner, group, type, field, ...) COPY_##owner(type, field)
#define COPY_TRACK(type, field) COPY(type, field, job.track.field)
#define COPY_JOB(type, field) COPY(type, field, job.field)
#define COPY_COMMAND(...)
#define COPY_GRADIENTS(...)
#define COPY_MODEL(...)
#define COPY_BASIS(...)

void track_options_default(void *values)
{
    track_options *o = values;
    gls_job_options job = gls_job_options_default();
#define COPY(type, field, at) CMD_SET_##type(at, job.in_mm.field, o->field)
#include <glslines/params.def>
#undef COPY
    model_options_set(&o->model, &job.model);
}

gls_job_options track_options_job(const track_options *o, const cmd_arguments *arguments)
{
    gls_job_options job = gls_job_options_default();
#define COPY(type, field, at) CMD_GET_##type(at, job.in_mm.field, o->field)
#include <glslines/params.def>
#undef COPY
    job.model = model_options_get(&o->model);
    const char **files[] = {&job.dwi, &job.bval, &job.bvec, &job.mask, &job.roi};
    for (int i = 0; i < arguments->n_positionals; i++) *files[i] = arguments->positional[i];
    job.argc = arguments->argc;
    job.argv = arguments->argv;
    return job;
}
#undef GLS_PARAM

static int draw_seed(cmd_seed *seed, const char *name)
{
    if (!seed->random) return CMD_EXIT_OK;
    if (getrandom(&seed->value, sizeof seed->value, 0) != sizeof seed->value)
        return cmd_error(CMD_EXIT_INTERNAL, "--%s random: no random number from the system: %s", name, strerror(errno));
    cmd_info("--%s random: drew %" PRIu64, name, seed->value);
    return CMD_EXIT_OK;
}

static int check_output(const cmd_command *command, const track_options *o, const cmd_arguments *arguments)
{
    gls_tractogram_format format;
    if (!o->output || o->output_prefix || !cmd_options_given(command, arguments, "write-method")) return CMD_EXIT_OK;
    gls_status status = gls_tractogram_format_parse(o->output, &format);
    if (status) return cmd_error_status(status);
    if ((int)format != o->format)
        return cmd_error(CMD_EXIT_USAGE, "--write-method: contradicts the suffix of --output %s", o->output);
    return CMD_EXIT_OK;
}

/* Which images there are: a series, ODFs, both, or the phantom. */
static int check_inputs(const cmd_command *command, const track_options *o, const cmd_arguments *arguments)
{
    static const char *const for_series[] = {"bvec-frame", "b0-threshold", "bvalue-scaling", NULL};
    const char *for_fit[64] = {NULL};
    for (size_t i = 0, k = 0; i < gls_params_count(); i++)
        if (gls_params_get(i)->of_fit) for_fit[k++] = gls_params_get(i)->name;
    const char *odf = o->sh ? "sh" : o->odf ? "odf" : o->peaks.n > 0 ? "peaks" : NULL, *name;
    int n = arguments->n_positionals;
    if (n == 2)
        return cmd_error(CMD_EXIT_USAGE,
                         "track: takes DWI or DWI BVAL BVEC [MASK [ROI]], got 2 arguments; the last is '%s'. Where DWI "
                         "stands alone, --mask FILE and --roi FILE name the masks",
                         arguments->positional[n - 1]);
    if (n == 0 && (name = cmd_options_first(command, arguments, for_series)))
        return cmd_error(CMD_EXIT_USAGE, "--%s: needs input files; the built-in phantom has no use for it", name);
    if (n == 0 && !odf && (o->mask || o->roi))
        return cmd_error(CMD_EXIT_USAGE, "--%s: needs DWI, or --sh, --odf or --peaks", o->mask ? "mask" : "roi");
    if ((n > 3 && o->mask) || (n > 4 && o->roi))
        return cmd_error(CMD_EXIT_USAGE, "--%s: the argument %s names it already", n > 3 && o->mask ? "mask" : "roi",
                         n > 3 && o->mask ? "MASK" : "ROI");
    if (odf && (name = cmd_options_first(command, arguments, for_fit)))
        return cmd_error(CMD_EXIT_USAGE, "--%s: has no effect with --%s, which is not fitted", name, odf);
    if (!o->sh && cmd_options_given(command, arguments, "sh-basis"))
        return cmd_error(CMD_EXIT_USAGE, "--sh-basis: needs --sh FILE");
    if (!o->sh && !o->odf && cmd_options_given(command, arguments, "sh-frame"))
        return cmd_error(CMD_EXIT_USAGE, "--sh-frame: needs --sh FILE or --odf FILE");
    if (o->peaks.n == 0 && cmd_options_given(command, arguments, "peaks-frame"))
        return cmd_error(CMD_EXIT_USAGE, "--peaks-frame: needs --peaks FILE");
    return CMD_EXIT_OK;
}

static int check_seeds(const cmd_command *command, track_options *o, const cmd_arguments *arguments)
{
    static const char *const finite[] = {"seeds", "seeds-per-voxel", "seed-grid", NULL};
    bool nseeds = cmd_options_given(command, arguments, "nseeds");
    const char *name = cmd_options_first(command, arguments, finite);
    if (nseeds && name) return cmd_error(CMD_EXIT_USAGE, "--nseeds and --%s exclude each other", name);
    if (!o->seeds && cmd_options_given(command, arguments, "seed-space"))
        return cmd_error(CMD_EXIT_USAGE, "--seed-space: needs --seeds FILE");
    if (o->seeds && cmd_options_given(command, arguments, "seed-seed"))
        return cmd_error(CMD_EXIT_USAGE, "--seed-seed: has no effect with --seeds FILE");
    if (o->select > 0 && o->shard && !nseeds && !name)
        return cmd_error(CMD_EXIT_USAGE, "--select with --shard: needs --nseeds N, the seeds that the shards divide");
    return CMD_EXIT_OK;
}

/* Names of devices that are another program's. */
static void take_device(track_options *o)
{
    const char *word = cmd_bridge.word("device", o->device);
    if (!word) return;
    gls_log(GLS_LOG_INFO, "--device %s: %s", o->device, cmd_bridge.value("device", o->device));
    o->device = word;
}

/* GPUStreamlines' default model depends on the getter. */
static void take_model(const cmd_command *command, track_options *o, const cmd_arguments *arguments)
{
    bool is_default = strstr(arguments->taken, "--model default:") != NULL;
    if (is_default && o->dg != GLS_DG_BOOT && cmd_options_given(command, arguments, "dg"))
        o->model.model = GLS_MODEL_CSD;
}

/* The defaults of preset, getter and model, where nothing was given. */
static void settle(const cmd_command *command, track_options *o, const cmd_arguments *arguments)
{
    gls_job_options job = track_options_job(o, arguments);
    const char *given[CMD_MAX_OPTIONS + 1] = {NULL};
    size_t n = 0;
    for (size_t i = 0; i < gls_params_count(); i++)
        if (cmd_options_given(command, arguments, gls_params_get(i)->name)) given[n++] = gls_params_get(i)->name;
    gls_job_options_settle(&job, given);
#define GLS_PARAM(owner, group, type, field, name, ...) SET_##owner(type, field, name)
#define SET_TRACK(type, field, name) SET(type, field, name, job.track.field, o->field)
#define SET_JOB(type, field, name) SET(type, field, name, job.field, o->field)
#define SET_GRADIENTS(type, field, name) SET(type, field, name, job.model.field, o->model.field)
#define SET_MODEL SET_GRADIENTS
#define SET_BASIS SET_GRADIENTS
#define SET_COMMAND(...)
#define SET(type, field, name, from, to) \
    if (!cmd_options_given(command, arguments, name)) CMD_SET_##type(from, job.in_mm.field, to)
#include <glslines/params.def>
#undef GLS_PARAM
}

/* Model and getter where none were given, and options that the getter does not have. */
static int check_getter(const cmd_command *command, track_options *o, const cmd_arguments *arguments)
{
    settle(command, o, arguments);
    gls_job_options job = {.track.dg = (gls_direction_getter)o->dg,
                           .model.model = (gls_model_kind)o->model.model,
                           .sh = o->sh,
                           .odf = o->odf,
                           .peaks = o->peaks};
    for (size_t i = 0; i < gls_params_count(); i++) {
        const gls_param *param = gls_params_get(i);
        bool checked = param->user == GLS_FOR_PTT || param->user == GLS_FOR_PEAKS || param->user == GLS_FOR_STARTS ||
                       param->user == GLS_FOR_FOD || param->user == GLS_FOR_CUTOFF || param->user == GLS_FOR_IFOD ||
                       param->user == GLS_FOR_IFOD2;
        if (checked && !gls_param_is_used(param, &job) && cmd_options_given(command, arguments, param->name))
            return cmd_error(CMD_EXIT_USAGE, "--%s: only --dg %s has it", param->name,
                             gls_param_user_text(param->user));
    }
    return CMD_EXIT_OK;
}

int track_options_check(const cmd_command *command, track_options *o, const cmd_arguments *arguments)
{
    int code = check_inputs(command, o, arguments);
    if (!code) code = check_seeds(command, o, arguments);
    if (code) return code;
    take_device(o);
    take_model(command, o, arguments);
    code = check_getter(command, o, arguments);
    if (!code) code = model_options_check(command, &o->model, arguments);
    if (code) return code;
    if (o->json && !o->dry_run) return cmd_error(CMD_EXIT_USAGE, "--json: needs --dry-run; the sidecar is JSON");
    size_t n_names = gls_device_set_count(o->device);
    if (n_names > 1 && cmd_options_given(command, arguments, "ngpus") && n_names != (size_t)o->ngpus)
        return cmd_error(CMD_EXIT_USAGE, "--ngpus %d: --device names %zu", o->ngpus, n_names);
    code = check_output(command, o, arguments);
    if (!code && o->shard && (o->rng_seed.random || o->seed_seed.random))
        code = cmd_error(CMD_EXIT_USAGE, "--%s random: every shard would draw another one; give a number",
                         o->rng_seed.random ? "rng-seed" : "seed-seed");
    if (!code) code = draw_seed(&o->seed_seed, "seed-seed");
    return code ? code : draw_seed(&o->rng_seed, "rng-seed");
}
