#include "cmd/model_options.h"

#include "cmd/message.h"

#define PARAM(owner, group, type, field, ...) MODEL_COPY_##owner(type, field)
#define MODEL_COPY_GRADIENTS(type, field) MODEL_COPY(type, field)
#define MODEL_COPY_MODEL(type, field) MODEL_COPY(type, field)
#define MODEL_COPY_BASIS(type, field) MODEL_COPY(type, field)
#define MODEL_COPY_TRACK(...)
#define MODEL_COPY_JOB(...)
#define MODEL_COPY_COMMAND(...)

void model_options_set(model_options *options, const gls_model_options *from){
#define MODEL_COPY(type, field) CMD_SET_##type(from->field, false, options->field)
#include "track/params.def"
#undef MODEL_COPY
}

gls_model_options model_options_get(const model_options *options)
{
    gls_model_options to;
#define MODEL_COPY(type, field) CMD_GET_##type(to.field, , options->field)
#include "track/params.def"
#undef MODEL_COPY
    return to;
}

int model_options_check(const cmd_command *command, const model_options *o, const cmd_arguments *arguments)
{
    static const char *const qball_only[] = {"sm-lambda", "min-signal"};
    static const char *const csd_only[] = {"response", "response-fa", "response-radius", "response-voxels",
                                           "csd-directions"};
    bool csd = o->model == GLS_MODEL_CSD;
    if (o->sh_order % 2) return cmd_error(CMD_EXIT_USAGE, "--sh-order: %d is odd: must be even, 2 to 8", o->sh_order);
    for (size_t i = 0; i < sizeof csd_only / sizeof *csd_only; i++) {
        if (!cmd_options_given(command, arguments, csd_only[i])) continue;
        if (!csd) return cmd_error(CMD_EXIT_USAGE, "--%s: only --model csd has it", csd_only[i]);
        if (o->response && i > 0 && i < 4)
            return cmd_error(CMD_EXIT_USAGE, "--%s: has no effect with --response", csd_only[i]);
    }
    if (o->response_voxels && cmd_options_given(command, arguments, "response-fa"))
        return cmd_error(CMD_EXIT_USAGE, "--response-fa and --response-voxels exclude each other");
    for (size_t i = 0; i < sizeof qball_only / sizeof *qball_only && csd; i++)
        if (cmd_options_given(command, arguments, qball_only[i]))
            return cmd_error(CMD_EXIT_USAGE, "--%s: only --model opdt and csa have it", qball_only[i]);
    return CMD_EXIT_OK;
}
