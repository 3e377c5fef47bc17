/* glslines report: an HTML file on a tractogram. */
#include <stdlib.h>

#include <glslines/report.h>

#include "cmd/commands.h"
#include "cmd/interrupt.h"
#include "cmd/message.h"
#include "cmd/tract.h"
#include "util/format.h"

typedef struct report_values {
    cmd_common common;
    tract_input input;
    gls_report_options o;
    int api;
} report_values;

#define FIELD(f) .offset = offsetof(report_values, f)

static const cmd_option table[] = {
    {.group = "Report",
     .name = "output",
     .letter = 'o',
     .type = CMD_STRING,
     .metavar = "FILE",
     FIELD(o.output),
     .default_text = "the input's name with .html",
     .help = "HTML file to write."},
    {.group = "Report",
     .name = "image",
     .type = CMD_STRING,
     .metavar = "FILE",
     FIELD(o.image),
     .default_text = "the stop map that the run was given",
     .help = "NIfTI image behind the streamlines of the slices, FA or T1."},
    {.group = "Report",
     .name = "max-streamlines",
     .type = CMD_UINT64,
     .metavar = "N",
     .min = 1,
     .max = 100000,
     FIELD(o.max_streamlines),
     .help = "Streamlines in the pictures and in the 3-D view, evenly spread over the file. 5,000 take about 0.4 MB."},
    {.group = "Report", .name = "no-view", .type = CMD_FLAG, FIELD(o.no_view), .help = "Leave out the 3-D view."},
    {.group = "Report",
     .name = "mqc",
     .type = CMD_STRING,
     .metavar = "DIR",
     FIELD(o.mqc),
     .default_text = "none",
     .help = "Also write files for MultiQC into this folder: numbers, lengths, picture."},
    {.group = "Report", .name = "force", .type = CMD_FLAG, FIELD(o.force), .help = "Overwrite existing output files."},
#define CMD_OWNER report_values
#define ROW TRACT_INPUT_ROW
#include "workflow/tracts/input.def"
#undef ROW
    {.group = "Device",
     .name = "device",
     .type = CMD_STRING,
     .metavar = "NAME",
     FIELD(o.device),
     .help = "Device that draws, as for track."},
    {.group = "Device",
     .name = "api",
     .type = CMD_CHOICE,
     .choices = "auto|gl|gles",
     FIELD(api),
     .help = "OpenGL or OpenGL ES."},
    {.name = NULL},
};

static void set_defaults(void *values)
{
    *(report_values *)values = (report_values){.o = gls_report_options_default()};
}

static bool go_on(void)
{
    return !cmd_interrupted();
}

static int run_report(const cmd_command *command, void *values, const cmd_arguments *arguments)
{
    report_values *v = values;
    gls_report_result result;
    gls_grid reference;
    char *output = NULL, size[32];
    (void)command;
    if (arguments->n_positionals != 1)
        return cmd_error(CMD_EXIT_USAGE, "report: takes a tractogram or its sidecar, got %d arguments",
                         arguments->n_positionals);
    gls_status status = v->input.reference ? gls_tract_grid_read(v->input.reference, &reference) : GLS_OK;
    if (status) return cmd_error_status(status);
    if (v->input.reference) v->o.read.reference = &reference;
    v->o.read.vtk_space = (gls_vtk_space)v->input.vtk_space;
    v->o.read.recover = v->input.recover;
    v->o.api = (gls_graphics)v->api;
    v->o.go_on = go_on;
    cmd_interrupt_catch();
    status = gls_report_files(arguments->positional[0], &v->o, &output, &result);
    cmd_interrupt_release();
    if (status) return cmd_error_status(status);
    cmd_info("%s: %s, %zu warnings", output, gls_format_bytes(result.bytes, size, sizeof size), result.warnings);
    gls_free(output);
    return CMD_EXIT_OK;
}

static const char *const positionals[] = {
    "INPUT",
    "Tractogram (TRX, TRK, TCK, VTK) or sidecar of 'glslines track' (.json); each finds the other.",
    NULL,
};

static const char *const examples[] = {
    "A report beside the tractogram, tracks.html:",
    "glslines report tracks.trx --image fa.nii.gz",
    "Also for MultiQC, which collects those of many subjects:",
    "glslines report sub-01.trx -o reports/sub-01.html --mqc reports",
    NULL,
};

const cmd_command cmd_report = {
    .name = "report",
    .synopsis = "INPUT [options]",
    .summary = "Write an HTML report on a tractogram",
    .description = "Writes one HTML file with pictures, plots, a 3-D view to turn, warnings, all parameters and where "
                   "the data came from. It needs no network, and opens in any browser. Pictures that cannot be drawn "
                   "are left out with the reason.",
    .positionals = positionals,
    .max_positionals = 1,
    .options = table,
    .examples = examples,
    .values_size = sizeof(report_values),
    .set_defaults = set_defaults,
    .run = run_report,
};
