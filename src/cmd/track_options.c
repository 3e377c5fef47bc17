/* Options of `glslines track` and of a model: defaults, and checks of combinations. */
#include "cmd/track_options.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "cmd/message.h"
#include "gpu/devices.h"

void track_options_default(void *values)
{
    ((track_options *)values)->run.job = gls_job_options_default();
}

/* pairs: an alternative spelling and the option that it stands for */
const char *const model_option_aliases[] = {"normalize", "normalise", "no-normalize", "no-normalise", NULL};

int model_options_check(const gls_model_options *o, const cmd_arguments *arguments)
{
    static const char *const estimate[] = {"response-fa", "response-radius", "response-voxels", NULL};
    bool csd = o->model == GLS_MODEL_CSD, qball = o->model == GLS_MODEL_OPDT || o->model == GLS_MODEL_CSA;
    gls_status status = gls_model_options_check(o);
    if (status) return cmd_error(CMD_EXIT_USAGE, "%s", gls_last_error());
    /* reject options of another model, by the column `user` of params.def */
    for (const gls_option *row = gls_params; row->name; row++) {
        const char *models = row->user == GLS_FOR_CSD && !csd       ? "csd has"
                             : row->user == GLS_FOR_QBALL && !qball ? "opdt and csa have"
                                                                    : NULL;
        if (models && cmd_options_given(arguments, row->name))
            return cmd_error(CMD_EXIT_USAGE, "--%s: only --model %s it", row->name, models);
    }
    const char *name = cmd_options_first(arguments, estimate);
    if (name && o->response) return cmd_error(CMD_EXIT_USAGE, "--%s: has no effect with --response", name);
    if (o->response_voxels && cmd_options_given(arguments, "response-fa"))
        return cmd_error(CMD_EXIT_USAGE,
                         "--response-fa and --response-voxels exclude each other: leave out one of them");
    return CMD_EXIT_OK;
}

int model_files_get(const cmd_arguments *arguments, model_files files)
{
    const char *const *file = arguments->positional;
    int n = arguments->n_positionals;
    /* users of other programs often name a method, such as csd, in place of DWI */
    const char *method = n > 0 && access(file[0], F_OK) != 0 ? cmd_bridge_method(file[0]) : NULL;
    if (method)
        return cmd_error(CMD_EXIT_USAGE, "%s: '%s' stands where DWI is expected; here it is %s",
                         arguments->command->name, file[0], method);
    if (n != 2 && n != 4 && n != 5)
        return cmd_error(CMD_EXIT_USAGE,
                         "%s: takes DWI PREFIX, DWI BVAL BVEC PREFIX or DWI BVAL BVEC MASK PREFIX, got %d argument%s; "
                         "without MASK, --mask FILE names the mask",
                         arguments->command->name, n, n == 1 ? "" : "s");
    if (n == 5 && *files.mask) return cmd_error(CMD_EXIT_USAGE, "--mask: the argument MASK names it already");
    if (access(file[n - 1], F_OK) == 0)
        return cmd_error(CMD_EXIT_USAGE,
                         "%s: PREFIX, the last argument, exists already: %s; give the beginning of new file names",
                         arguments->command->name, file[n - 1]);
    *files.dwi = file[0];
    if (n > 2) *files.bval = file[1];
    if (n > 2) *files.bvec = file[2];
    if (n > 4) *files.mask = file[3];
    *files.prefix = file[n - 1];
    return CMD_EXIT_OK;
}

/* Draws a seed where option `name` has the value "random", and shows it, so that the run can be repeated. */
static int draw_seed(uint64_t *seed, const char *name, const cmd_arguments *arguments)
{
    if (!cmd_options_random(arguments, name)) return CMD_EXIT_OK;
    if (getrandom(seed, sizeof *seed, 0) != sizeof *seed)
        return cmd_error(CMD_EXIT_INTERNAL, "--%s random: no random number from the system: %s", name, strerror(errno));
    cmd_info("--%s random: drew %" PRIu64, name, *seed);
    return CMD_EXIT_OK;
}

/* Rejects --write-method if it contradicts the suffix of --output. */
static int check_output(const gls_job_options *o, const cmd_arguments *arguments)
{
    gls_tractogram_format format;
    if (!o->output || o->output_prefix || !cmd_options_given(arguments, "write-method")) return CMD_EXIT_OK;
    gls_status status = gls_tractogram_format_parse(o->output, &format);
    if (status) return cmd_error_status(status);
    if (format != o->format)
        return cmd_error(CMD_EXIT_USAGE, "--write-method: contradicts the suffix of --output %s", o->output);
    return CMD_EXIT_OK;
}

/* Checks the combination of images: a series, ODFs, both, or the phantom. */
static int check_inputs(const gls_job_options *o, const cmd_arguments *arguments)
{
    static const char *const for_series[] = {"bvec-frame", "b0-threshold", "bvalue-scaling", NULL};
    const char *for_fit[64] = {NULL};
    /* collect in for_fit the names of the options of the model, which have no effect on ODFs that are read */
    size_t n_for_fit = 0;
    for (const gls_option *row = gls_params; row->name; row++)
        if (row->owner == GLS_OF_MODEL) for_fit[n_for_fit++] = row->name;
    const char *odf = gls_directions_option(o), *name;
    int n = arguments->n_positionals;
    gls_tractogram_format format;
    /* a tractogram among the inputs is a frequent slip; the message names the option that was meant */
    for (int i = 0; i < n; i++)
        if (gls_tractogram_format_parse(arguments->positional[i], &format) == GLS_OK)
            return cmd_error(CMD_EXIT_USAGE, "track: %s: a tractogram is no input; --output names the one to write",
                             arguments->positional[i]);
    /* two arguments: BVAL without BVEC, or a mask behind DWI, which needs the option --mask */
    if (n == 2)
        return cmd_error(CMD_EXIT_USAGE,
                         "track: takes DWI or DWI BVAL BVEC [MASK [ROI]], got 2 arguments; the last is '%s'. Where DWI "
                         "stands alone, --mask FILE and --roi FILE name the masks",
                         arguments->positional[n - 1]);
    if (n == 0 && (name = cmd_options_first(arguments, for_series)))
        return cmd_error(CMD_EXIT_USAGE, "--%s: needs input files; the built-in phantom has no use for it", name);
    if (n == 0 && !odf && (o->mask || o->roi))
        return cmd_error(CMD_EXIT_USAGE, "--%s: needs DWI, or --sh, --odf, --peaks or --bedpostx",
                         o->mask ? "mask" : "roi");
    /* DWI BVAL BVEC MASK ROI: the fourth and the fifth argument are the masks */
    if ((n > 3 && o->mask) || (n > 4 && o->roi))
        return cmd_error(CMD_EXIT_USAGE, "--%s: the argument %s names it already", n > 3 && o->mask ? "mask" : "roi",
                         n > 3 && o->mask ? "MASK" : "ROI");
    /* refuse options for an input that is not given, so that no option is ignored silently */
    if (odf && (name = cmd_options_first(arguments, for_fit)))
        return cmd_error(CMD_EXIT_USAGE, "--%s: has no effect with --%s, which is not fitted", name, odf);
    if (!o->sh && cmd_options_given(arguments, "sh-basis"))
        return cmd_error(CMD_EXIT_USAGE, "--sh-basis: needs --sh FILE");
    if (!o->sh && !o->odf && cmd_options_given(arguments, "sh-frame"))
        return cmd_error(CMD_EXIT_USAGE, "--sh-frame: needs --sh FILE or --odf FILE");
    if (o->peaks.n == 0 && cmd_options_given(arguments, "peaks-frame"))
        return cmd_error(CMD_EXIT_USAGE, "--peaks-frame: needs --peaks FILE");
    return CMD_EXIT_OK;
}

/* Rejects options of seeds that contradict each other or have no effect. Returns an exit code. */
static int check_seeds(gls_job_options *o, const cmd_arguments *arguments)
{
    static const char *const finite[] = {"seeds", "seeds-per-voxel", "seed-grid", NULL};
    bool nseeds = cmd_options_given(arguments, "nseeds");
    const char *name = cmd_options_first(arguments, finite);
    if (nseeds && name)
        return cmd_error(CMD_EXIT_USAGE, "--nseeds and --%s exclude each other: leave out one of them", name);
    if (!o->seeds && cmd_options_given(arguments, "seed-space"))
        return cmd_error(CMD_EXIT_USAGE, "--seed-space: needs --seeds FILE");
    if (o->seeds && cmd_options_given(arguments, "seed-seed"))
        return cmd_error(CMD_EXIT_USAGE, "--seed-seed: has no effect with --seeds FILE");
    if (o->track.select > 0 && o->shard && !nseeds && !name)
        return cmd_error(CMD_EXIT_USAGE, "--select with --shard: needs --nseeds N, the seeds that the shards divide");
    return CMD_EXIT_OK;
}

/* GPUStreamlines' default model depends on the getter: --model default stands for csd with a given getter that needs no
 * q-ball model. */
static void take_model(gls_job_options *o, const cmd_arguments *arguments)
{
    bool is_default = strstr(arguments->taken, "--model default:") != NULL;
    if (is_default && gls_getter_source_of(o->track.dg) != GLS_FROM_QBALL && cmd_options_given(arguments, "dg"))
        o->model.model = GLS_MODEL_CSD;
}

/* Sets the defaults of preset, getter and model for options that are not given. */
static void take_defaults(gls_job_options *o, const cmd_arguments *arguments)
{
    /* the library sets the defaults in a copy; take only options that are not given from the copy */
    gls_job_options decided = *o;
    const char *given[CMD_MAX_OPTIONS + 1] = {NULL};
    size_t n = 0;
    for (const gls_option *row = gls_params; row->name; row++)
        if (cmd_options_given(arguments, row->name)) given[n++] = row->name;
    gls_job_options_set_defaults(&decided, given);
    for (const gls_option *row = gls_params; row->name; row++)
        if (row->owner != GLS_OF_COMMAND && !cmd_options_given(arguments, row->name)) gls_option_copy(row, o, &decided);
}

/* Rejects options that the getter does not have, and options of particle filtering without --pft. */
static int check_getter(const gls_job_options *o, const cmd_arguments *arguments)
{
    char text[256];
    for (const gls_option *row = gls_params; row->name; row++) {
        if (row->user == GLS_FOR_PFT && !o->track.pft && cmd_options_given(arguments, row->name))
            return cmd_error(CMD_EXIT_USAGE, "--%s: needs --pft", row->name);
        /* checked: options that only some getters have */
        bool checked = row->user == GLS_FOR_PTT || row->user == GLS_FOR_PEAKS || row->user == GLS_FOR_STARTS ||
                       row->user == GLS_FOR_FOD || row->user == GLS_FOR_CUTOFF || row->user == GLS_FOR_IFOD ||
                       row->user == GLS_FOR_IFOD2 || row->user == GLS_FOR_RK4 || row->user == GLS_FOR_FIBRES ||
                       row->user == GLS_FOR_NOISE;
        const bool fit = row->user == GLS_FOR_FIT && !gls_directions_option(o) && !gls_fits_model(o);
        if (fit && cmd_options_given(arguments, row->name))
            return cmd_error(CMD_EXIT_USAGE, "--%s cannot be used with --dg %s, which fits no model", row->name,
                             gls_getter_name(o->track.dg));
        if (checked && !gls_param_is_used(row, o) && cmd_options_given(arguments, row->name))
            return cmd_error(CMD_EXIT_USAGE, "--%s: only --dg %s has it", row->name,
                             gls_getters_with((gls_param_user)row->user, text, sizeof text));
    }
    return CMD_EXIT_OK;
}

int track_options_check(track_options *options, const cmd_arguments *arguments)
{
    gls_job_options *o = &options->run.job;
    const char **files[] = {&o->dwi, &o->bval, &o->bvec, &o->mask, &o->roi};
    int code = check_inputs(o, arguments);
    if (!code) code = check_seeds(o, arguments);
    if (code) return code;
    for (int i = 0; i < arguments->n_positionals; i++) *files[i] = arguments->positional[i];
    o->argc = arguments->argc;
    o->argv = arguments->argv;
    /* choose the model before the defaults, which depend on it */
    take_model(o, arguments);
    take_defaults(o, arguments);
    code = check_getter(o, arguments);
    if (!code) code = model_options_check(&o->model, arguments);
    if (code) return code;
    if (options->run.json && !options->run.dry_run)
        return cmd_error(CMD_EXIT_USAGE, "--json: needs --dry-run; a run writes its JSON to --sidecar");
    /* --device may name several devices; --ngpus must agree */
    size_t n_names = gls_device_set_count(o->device);
    if (n_names > 1 && cmd_options_given(arguments, "ngpus") && n_names != (size_t)o->ngpus)
        return cmd_error(CMD_EXIT_USAGE, "--ngpus %d: --device names %zu devices; leave out --ngpus", o->ngpus,
                         n_names);
    code = check_output(o, arguments);
    const char *drawn = cmd_options_random(arguments, "rng-seed")    ? "rng-seed"
                        : cmd_options_random(arguments, "seed-seed") ? "seed-seed"
                                                                     : NULL;
    if (!code && o->shard && drawn)
        code = cmd_error(CMD_EXIT_USAGE, "--%s random: every shard would draw another number; give one", drawn);
    if (!code) code = draw_seed(&o->seed_seed, "seed-seed", arguments);
    return code ? code : draw_seed(&o->track.rng_seed, "rng-seed", arguments);
}
