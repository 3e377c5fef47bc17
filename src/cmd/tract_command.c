/* Runs a command on tractograms: makes a run from a command line, and an exit code from the run. */
#include "cmd/tract_command.h"

#include <cJSON.h>

#include "cmd/message.h"
#include "record/sidecar.h"

#define OPTION_OWNER gls_tract_common
#define ROW GLS_OPTION_ROW
const gls_option tract_shared_rows[] = {
#include "record/common.def"
    {.name = NULL},
};
const gls_option tract_force_row[] = {
#include "record/force.def"
    {.name = NULL},
};
const gls_option tract_input_rows[] = {
#include "record/input.def"
    {.name = NULL},
};
#undef ROW

/* For gls_tract_run.go_on: whether no signal has asked to stop. The share of the work done is not needed: the monitor
 * shows progress. */
static bool go_on(void *user, double share)
{
    (void)user;
    (void)share;
    return !cmd_interrupted();
}

int tract_run(void *values, const cmd_arguments *arguments)
{
    const cmd_command *command = arguments->command;
    const tract_work *work = command->work;
    const size_t n = (size_t)arguments->n_positionals;
    if (arguments->n_positionals < work->min_files || arguments->n_positionals > command->max_positionals)
        return cmd_error(CMD_EXIT_USAGE, "%s: %s, got %zu arguments", command->name, work->arguments, n);
    /* the sidecar begins with program, command line and parameters; the work adds its results */
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "Description", work->description);
    gls_sidecar_add_software(root, arguments->argc, arguments->argv);
    cmd_options_json(cJSON_AddObjectToObject(root, "parameters"), arguments, values);
    gls_tract_run run;
    gls_tract_run_init(&run, &((const tract_values *)values)->shared, root);
    run.go_on = go_on;
    run.monitor = cmd_monitor(true);
    cmd_interrupt_catch();
    gls_status status = work->work(&run, (const char *)values + TRACT_AT, arguments->positional, n);
    /* outputs have temporary names until all of them are complete */
    if (!status) status = gls_tract_run_commit(&run);
    /* text for standard output is printed after the files are in place */
    char *printed = status ? NULL : run.printed;
    if (printed) run.printed = NULL;
    int code = printed ? cmd_print(printed) : CMD_EXIT_OK;
    /* a run may write all of its files and still fail, for example because a check finds errors */
    if (!status) status = run.verdict;
    gls_tract_run_finish(&run);
    cmd_interrupt_release();
    return status ? cmd_error_status(status) : code;
}

gls_status tract_input_read(const gls_tract_common *input, const char *const *output, size_t n,
                            gls_tractogram_read_options *options, gls_grid *reference)
{
    gls_inputs inputs = {0};
    gls_status status = gls_inputs_add(&inputs, input->reference);
    for (size_t i = 0; i < n && !status; i++)
        if (output[i]) status = gls_inputs_check(&inputs, output[i]);
    gls_inputs_finish(&inputs);
    return status ? status : gls_tract_read_options(input, options, reference);
}
