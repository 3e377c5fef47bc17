/* Commands that show tractograms and runs: render, report, cite. */
#include <glslines/render.h>
#include <glslines/report.h>

#include "cmd/commands.h"
#include "cmd/message.h"
#include "record/tract_run.h"
#include "render/cite.h"

/* Sets how tractograms are read. *reference must outlive *options. GLS_ERR_OUTPUT: one of the n outputs (NULL entries
 * are skipped) is the file of --reference. */
static gls_status tract_input_read(const gls_tract_common *input, const char *const *output, size_t n,
                                   gls_tractogram_read_options *options, gls_grid *reference)
{
    gls_inputs inputs = {0};
    gls_status status = gls_inputs_add(&inputs, input->reference);
    for (size_t i = 0; i < n && !status; i++)
        if (output[i]) status = gls_inputs_check(&inputs, output[i]);
    gls_inputs_finish(&inputs);
    return status ? status : gls_tract_read_options(input, options, reference);
}

/* `glslines render`: draws pictures of tractograms. */
typedef struct render_values {
    cmd_common common;
    /* tractograms and how to read them */
    gls_tract_common input;
    /* picture, or folder with --frames */
    const char *file;
    /* options of the picture */
    gls_render_options o;
} render_values;
#define OPTION_OWNER render_values
static const gls_option file_row[] = {
    GLS_OPTION("Output", STRING, file, "output", 'o', "FILE", NULL, GLS_ANY, "", NULL,
               "Picture to write, .png or .apng; with --frames a folder. Required.",
               .writes = GLS_WRITES_PICTURE | GLS_WRITES_SEVERAL),
    {.name = NULL},
};
#undef OPTION_OWNER

#define OPTION_OWNER gls_render_options
#define ROW GLS_OPTION_ROW
static const gls_option render_rows[] = {
#include "render/render.def"
    {.name = NULL},
};
#undef ROW

static void set_render_defaults(void *values)
{
    ((render_values *)values)->o = gls_render_options_default();
}

/* Entry of the command: draws, then prints the sizes of the picture and its pixels, and the number of streamlines. */
static int run_render(void *values, const cmd_arguments *arguments)
{
    render_values *v = values;
    gls_render_options *o = &v->o;
    gls_render_result result;
    gls_grid reference;
    if (arguments->n_positionals == 0 && !o->odf && !o->image)
        return cmd_error(CMD_EXIT_USAGE, "render: takes one or more tractograms, --odf or --image, got none");
    if (!v->file) return cmd_error(CMD_EXIT_USAGE, "render: needs OUT, a name that ends in .png or .apng, or -o FILE");
    /* turn 0 is a still picture, so the smallest number of frames is checked here */
    if (o->turn > 0 && o->turn < 8)
        return cmd_error(CMD_EXIT_USAGE, "--turn %u: must be at least 8, or 0 for a still picture", o->turn);
    o->go_on = cmd_goes_on;
    cmd_interrupt_catch();
    /* with --frames the output is a folder, so that it need not be compared with the file of --reference */
    gls_status status = tract_input_read(&v->input, &v->file, !o->frames, &o->read, &reference);
    if (!status)
        status = gls_render_files(arguments->positional, (size_t)arguments->n_positionals, v->file, o, &result);
    cmd_interrupt_release();
    if (!status)
        cmd_info(arguments->n_positionals ? "%s: %u x %u pixels of %.3g mm, %s of %s streamlines"
                                          : "%s: %u x %u pixels of %.3g mm",
                 v->file, result.width, result.height, result.mm_per_pixel, GLS_COUNT(result.shown),
                 GLS_COUNT(result.total));
    return cmd_finish(status);
}

const cmd_command command_render = {
    CMD_ENTRY(render),
    .of_tractograms = true,
    .synopsis = "[TRACKS...] OUT [options]",
    .summary = "Draw tractograms, without a display",
    .description = "Draws streamlines as tubes or lines, seen from the sides of --views, with slices of an image, to "
                   "a PNG file, an animated one with --turn. Letters of orientation, a scale, counts and a legend are "
                   "on it. Compute shaders draw in whole numbers, so that every device gives the same pixels.",
    .positionals = CMD_TEXTS("TRACKS",
                             "Tractograms: TRX (files or folders), TRK, TCK, VTK or VTP, also .gz; several are drawn "
                             "together, as bundles. None is needed with --odf or --image.",
                             "OUT", "Picture to write, .png or .apng; or --output FILE."),
    .max_positionals = CMD_MAX_POSITIONALS,
    .out_suffixes = ".png .apng",
    .rows = {{.table = file_row},
             {.table = render_rows, .at = offsetof(render_values, o)},
             {.table = gls_tract_input_rows, .at = offsetof(render_values, input), .group = "Input"}},
    .aliases = CMD_TEXTS("colour", "color", "colours", "colors", "colourmap", "colormap"),
    .examples = CMD_TEXTS(
        "From above, from behind and from the left, with slices of FA:",
        "glslines render tracks.trx --views superior,posterior,left --image fa.nii.gz -o tracks.png",
        "Twelve axial slices with the streamlines near them:",
        "glslines render tracks.tck --image t1.nii.gz --views slab -o slices.png",
        "Bundles that turn, as an animated picture:", "glslines render AF_L.trk CST_L.trk -o turn.png --turn 72",
        "ODFs as glyphs on an axial slice, over FA:", "glslines render --odf fod.nii.gz --image fa.nii.gz -o odf.png",
        "Bundles in the outline of the brain:", "glslines render AF_L.trk CST_L.trk --outline mask.nii.gz -o glass.png",
        "Coloured by a column, seen from the front and the right:",
        "glslines render tracks.trx --color dpv:fa --views oblique -o fa.png"),
};

#undef OPTION_OWNER

/* `glslines report`: writes an HTML report on a tractogram. */
typedef struct report_values {
    cmd_common common;
    /* tractogram and how to read it */
    gls_tract_common input;
    /* options of the report */
    gls_report_options o;
} report_values;

#define OPTION_OWNER gls_report_options
#define ROW GLS_OPTION_ROW
static const gls_option report_rows[] = {
#include "render/report.def"
    {.name = NULL},
};
#undef ROW

static void set_report_defaults(void *values)
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
        return cmd_error(CMD_EXIT_USAGE, "report: takes one tractogram, connectome or sidecar, got %d arguments",
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
    CMD_ENTRY(report),
    .synopsis = "INPUT [OUT] [options]",
    .summary = "Write an HTML report on a tractogram",
    .description = "Writes one HTML file with pictures, plots, a 3-D view that can be turned, warnings, all parameters "
                   "and where the data came from. It needs no network, and opens in any browser. Pictures that cannot "
                   "be drawn are left out with the reason.",
    .positionals = CMD_TEXTS("INPUT",
                             "Tractogram (TRX, TRK, TCK, VTK), connectome (.csv, .tsv, .txt) or sidecar "
                             "(.json); the command finds the other files of the run beside it.",
                             "OUT", "The file of --output, .html."),
    .max_positionals = 2,
    .rows = {{.table = report_rows, .at = offsetof(report_values, o)},
             {.table = gls_tract_input_rows, .at = offsetof(report_values, input), .group = "Input"}},
    .examples =
        CMD_TEXTS("A report beside the tractogram, tracks.html:", "glslines report tracks.trx --image fa.nii.gz",
                  "Also for MultiQC, which collects the reports of many subjects:",
                  "glslines report sub-01.trx -o reports/sub-01.html --mqc reports"),
};

#undef OPTION_OWNER

/* `glslines cite`: prints references for a paper. */
CMD_VALUES(cite, int, GLS_CITE_TEXT) /* a gls_cite_format */
#define OPTION_OWNER cite_values

static const gls_option cite_rows[] = {
    GLS_CHOICE("Output", o, "format", GLS_CITE_FORMATS,
               "text: a list of references. methods: paragraphs on the methods of RUN for a paper, and the list. "
               "markdown: a table of methods and papers. bibtex: entries for LaTeX and reference managers. cff: the "
               "program's CITATION.cff."),
    {.name = NULL},
};

/* Entry of the command: prints what to cite for the run of a tractogram or sidecar, or for all methods. */
static int run_cite(void *values, const cmd_arguments *arguments)
{
    char *text = NULL;
    gls_status status = gls_cite(arguments->n_positionals ? arguments->positional[0] : NULL,
                                 (gls_cite_format)((const cite_values *)values)->o, &text);
    return status ? cmd_error_status(status) : cmd_print(text);
}

const cmd_command command_cite = {
    CMD_ENTRY(cite),
    .synopsis = "[RUN] [options]",
    .summary = "Print what to cite: this program, and the papers of the methods of a run",
    .since = "0.2.0",
    .description = "Prints references to this program and to the papers of the methods of a run and of the runs that "
                   "made its inputs, as far as their sidecars lie beside them. --format methods has the methods in "
                   "words: series, model, tracking, weights, connectome.",
    .positionals = CMD_TEXTS("RUN", "Output of 'glslines track', 'fit', 'weights', 'connectome' and so on, or its "
                                    "sidecar. Without RUN, the papers of all methods."),
    .max_positionals = 1,
    .rows = {{.table = cite_rows}},
    .examples = CMD_TEXTS("What to cite for a tractogram:", "glslines cite tracks.trx",
                          "The same for LaTeX:", "glslines cite tracks.trx --format bibtex >> paper.bib",
                          "The section on methods of a paper:", "glslines cite connectome.csv --format methods"),
};
