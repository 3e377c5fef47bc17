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
    if (o->sh_order % 2) return cmd_error(CMD_EXIT_USAGE, "--sh-order: %d is odd: must be even, 2 to 8", o->sh_order);
    if (o->response && o->model != GLS_MODEL_CSD)
        return cmd_error(CMD_EXIT_USAGE, "--response: only --model csd has one");
    for (size_t i = 0; i < sizeof qball_only / sizeof *qball_only && o->model == GLS_MODEL_CSD; i++)
        if (cmd_options_given(command, arguments, qball_only[i]))
            return cmd_error(CMD_EXIT_USAGE, "--%s: only --model opdt and csa have it", qball_only[i]);
    return CMD_EXIT_OK;
}
