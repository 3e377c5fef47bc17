#include "cmd/model_options.h"

#include <unistd.h>

#include "cmd/message.h"
#include "workflow/params.h"

#define GLS_PARAM(owner, group, type, field, ...) MODEL_COPY_##owner(type, field)
#define MODEL_COPY_GRADIENTS(type, field) MODEL_COPY(type, field)
#define MODEL_COPY_MODEL(type, field) MODEL_COPY(type, field)
#define MODEL_COPY_BASIS(type, field) MODEL_COPY(type, field)
#define MODEL_COPY_TRACK(...)
#define MODEL_COPY_JOB(...)
#define MODEL_COPY_COMMAND(...)

void model_options_set(model_options *options, const gls_model_options *from){
#define MODEL_COPY(type, field) CMD_SET_##type(from->field, false, options->field)
#include <glslines/params.def>
#undef MODEL_COPY
}

gls_model_options model_options_get(const model_options *options)
{
    gls_model_options to;
#define MODEL_COPY(type, field) CMD_GET_##type(to.field, , options->field)
#include <glslines/params.def>
#undef MODEL_COPY
    return to;
}

const char *const model_option_aliases[] = {"normalize", "normalise", "no-normalize", "no-normalise", NULL};

int model_options_check(const cmd_command *command, const model_options *o, const cmd_arguments *arguments)
{
    /* those of an estimated response, and who has what */
    static const char *const qball_only[] = {"sm-lambda", "min-signal", NULL};
    static const char *const estimate[] = {"response-fa", "response-radius", "response-voxels", NULL};
    bool csd = o->model == GLS_MODEL_CSD, qball = o->model == GLS_MODEL_OPDT || o->model == GLS_MODEL_CSA;
    const char *name = NULL;
    gls_model_options options = model_options_get(o);
    gls_status status = gls_model_options_check(&options);
    if (status) return cmd_error(CMD_EXIT_USAGE, "%s", gls_last_error());
    if ((name = cmd_options_first(command, arguments, estimate)) && !csd)
        return cmd_error(CMD_EXIT_USAGE, "--%s: only --model csd has it", name);
    if (!csd && o->model != GLS_MODEL_AUTO && cmd_options_given(command, arguments, "csd-rule"))
        return cmd_error(CMD_EXIT_USAGE, "--csd-rule: only --model csd has it");
    if (name && o->response) return cmd_error(CMD_EXIT_USAGE, "--%s: has no effect with --response", name);
    if (o->response_voxels && cmd_options_given(command, arguments, "response-fa"))
        return cmd_error(CMD_EXIT_USAGE, "--response-fa and --response-voxels exclude each other");
    if (!qball && (name = cmd_options_first(command, arguments, qball_only)))
        return cmd_error(CMD_EXIT_USAGE, "--%s: only --model opdt and csa have it", name);
    return CMD_EXIT_OK;
}

int model_files_get(const cmd_command *command, const cmd_arguments *arguments, const char *mask, model_files *files)
{
    const char *const *file = arguments->positional;
    int n = arguments->n_positionals;
    if (n != 2 && n != 4 && n != 5)
        return cmd_error(CMD_EXIT_USAGE,
                         "%s: takes DWI PREFIX, DWI BVAL BVEC PREFIX or DWI BVAL BVEC MASK PREFIX, got %d argument%s; "
                         "--mask FILE names a mask in each of these cases",
                         command->name, n, n == 1 ? "" : "s");
    if (n == 5 && mask) return cmd_error(CMD_EXIT_USAGE, "--mask: the argument MASK names it already");
    if (access(file[n - 1], F_OK) == 0)
        return cmd_error(CMD_EXIT_USAGE, "%s: PREFIX, the last argument, is a file: %s", command->name, file[n - 1]);
    *files = (model_files){.dwi = file[0], .mask = mask, .prefix = file[n - 1]};
    if (n > 2) files->bval = file[1];
    if (n > 2) files->bvec = file[2];
    if (n > 4) files->mask = file[3];
    return CMD_EXIT_OK;
}
