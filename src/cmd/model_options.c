#include "cmd/model_options.h"

#include "cmd/message.h"

void model_options_default(model_options *options, int model)
{
    gls_qball_options qball = gls_qball_options_default();
    gls_gradients_options gradients = gls_gradients_options_default();
    *options = (model_options){
        .bvec_frame = gradients.frame,
        .b0_threshold = gradients.b0_threshold,
        .model = model,
        .sh_order = qball.sh_order,
        .sm_lambda = qball.smooth,
        .min_signal = qball.min_signal,
        .sh_basis = GLS_SH_TOURNIER07,
        .sh_frame = MODEL_FRAME_AUTO,
    };
}

int model_options_check(const cmd_command *command, const model_options *o, const cmd_arguments *arguments)
{
    static const char *const qball_only[] = {"sm-lambda", "min-signal"};
    if (o->sh_order % 2) return cmd_error(CMD_EXIT_USAGE, "--sh-order: %d is odd: must be even, 2 to 8", o->sh_order);
    if (o->response && o->model != MODEL_CSD) return cmd_error(CMD_EXIT_USAGE, "--response: only --model csd has one");
    for (size_t i = 0; i < sizeof qball_only / sizeof *qball_only && o->model == MODEL_CSD; i++)
        if (cmd_options_given(command, arguments, qball_only[i]))
            return cmd_error(CMD_EXIT_USAGE, "--%s: only --model opdt and csa have it", qball_only[i]);
    return CMD_EXIT_OK;
}

gls_bvec_frame model_options_frame(const model_options *o)
{
    if (o->sh_frame != MODEL_FRAME_AUTO) return (gls_bvec_frame)(o->sh_frame - 1);
    return o->sh_basis == GLS_SH_TOURNIER07 || o->sh_basis == GLS_SH_TOURNIER07_LEGACY ? GLS_BVEC_WORLD : GLS_BVEC_FSL;
}

const char *model_basis_name(gls_sh_basis basis)
{
    static const char *const names[] = {[GLS_SH_DESCOTEAUX07_LEGACY] = "descoteaux07_legacy",
                                        [GLS_SH_DESCOTEAUX07] = "descoteaux07",
                                        [GLS_SH_TOURNIER07_LEGACY] = "tournier07_legacy",
                                        [GLS_SH_TOURNIER07] = "tournier07"};
    return names[basis];
}
