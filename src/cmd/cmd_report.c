/* `glslines report`: writes an HTML report on a tractogram. */
#include <glslines/report.h>

#include "cmd/commands.h"
#include "cmd/message.h"
#include "cmd/tract_command.h"

typedef struct report_values {
    cmd_common common;
    /* tractogram and how to read it */
    gls_tract_common input;
    /* options of the report */
    gls_report_options o;
} report_values;

#define OPTION_OWNER gls_report_options
#define ROW GLS_OPTION_ROW
static const gls_option rows[] = {
#include "render/report.def"
    {.name = NULL},
};
#undef ROW

static void set_defaults(void *values)
{
    ((report_values *)values)->o = gls_report_options_default();
}

/* Entry of the command: writes the report, then prints its size and the number of warnings that it shows. */
static int run_report(void *values, const cmd_arguments *arguments)
{
    report_values *v = values;
    gls_report_options *o = &v->o;
    gls_report_result result;
    gls_grid reference;
    /* output: path of the report as the library chose it where -o is not given */
    char *output = NULL;
    if (arguments->n_positionals != 1)
        return cmd_error(CMD_EXIT_USAGE, "report: takes a tractogram, a connectome or a sidecar, got %d arguments",
                         arguments->n_positionals);
    o->go_on = cmd_goes_on;
    cmd_interrupt_catch();
    gls_status status = tract_input_read(&v->input, GLS_PATHS(o->output, o->versions), &o->read, &reference);
    if (!status) status = gls_report_files(arguments->positional[0], o, &output, &result);
    cmd_interrupt_release();
    if (!status) cmd_info("%s: %s, %zu warnings", output, GLS_BYTES(result.bytes), result.warnings);
    gls_free(output);
    return cmd_finish(status);
}

const cmd_command command_report = {
    .name = "report",
    .synopsis = "INPUT [options]",
    .summary = "Write an HTML report on a tractogram",
    .description = "Writes one HTML file with pictures, plots, a 3-D view to turn, warnings, all parameters and where "
                   "the data came from. It needs no network, and opens in any browser. Pictures that cannot be drawn "
                   "are left out with the reason.",
    .positionals = CMD_TEXTS(
        "INPUT", "Tractogram (TRX, TRK, TCK, VTK), connectome (.csv) or sidecar (.json); each finds the others."),
    .max_positionals = 1,
    .rows = {{.table = rows, .at = offsetof(report_values, o)},
             {.table = tract_input_rows, .at = offsetof(report_values, input), .group = "Input"}},
    .examples =
        CMD_TEXTS("A report beside the tractogram, tracks.html:", "glslines report tracks.trx --image fa.nii.gz",
                  "Also for MultiQC, which collects the reports of many subjects:",
                  "glslines report sub-01.trx -o reports/sub-01.html --mqc reports"),
    .values_size = sizeof(report_values),
    .set_defaults = set_defaults,
    .run = run_report,
};
