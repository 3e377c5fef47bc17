/* `glslines render`: draws pictures of tractograms. */
#include <glslines/render.h>

#include "cmd/commands.h"
#include "cmd/message.h"
#include "cmd/tract_command.h"

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
               "Picture to write, .png or .apng; with --frames a folder. Required."),
    {.name = NULL},
};
#undef OPTION_OWNER

#define OPTION_OWNER gls_render_options
#define ROW GLS_OPTION_ROW
static const gls_option rows[] = {
#include "render/render.def"
    {.name = NULL},
};
#undef ROW

static void set_defaults(void *values)
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
    if (!v->file) return cmd_error(CMD_EXIT_USAGE, "render: needs -o FILE");
    /* turn 0 is a still picture, so the smallest number of frames is checked here */
    if (o->turn > 0 && o->turn < 8) return cmd_error(CMD_EXIT_USAGE, "--turn %u: must be at least 8", o->turn);
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
    .name = "render",
    .synopsis = "[TRACKS...] -o FILE [options]",
    .summary = "Draw tractograms, without a display",
    .description =
        "Draws streamlines as tubes or lines, seen from named places, with slices of an image, and writes a "
        "PNG file, with --turn an animated one. Letters of orientation, a scale, counts and a legend stand on the "
        "picture. It is drawn by compute shaders in whole numbers: every device gives the same pixels.",
    .positionals = CMD_TEXTS(
        "TRACKS",
        "Tractograms: TRX (files or folders), TRK, TCK or VTK; several are drawn together, as bundles. None with --odf "
        "alone."),
    .max_positionals = CMD_MAX_POSITIONALS,
    .rows = {{.table = file_row},
             {.table = rows, .at = offsetof(render_values, o)},
             {.table = tract_input_rows, .at = offsetof(render_values, input), .group = "Input"}},
    .aliases = CMD_TEXTS("colour", "color", "colours", "colors", "colourmap", "colormap"),
    .examples = CMD_TEXTS(
        "From above, from behind and from the left, with slices of FA:",
        "glslines render tracks.trx --image fa.nii.gz -o tracks.png",
        "Twelve axial slices with the streamlines near them:",
        "glslines render tracks.tck --image t1.nii.gz --views slab -o slices.png",
        "Bundles that turn, as an animated picture:", "glslines render AF_L.trk CST_L.trk -o turn.png --turn 72",
        "ODFs as glyphs on an axial slice, over FA:", "glslines render --odf fod.nii.gz --image fa.nii.gz -o odf.png",
        "Bundles in the outline of the brain:", "glslines render AF_L.trk CST_L.trk --outline mask.nii.gz -o glass.png",
        "Coloured by a column, seen from the front and the right:",
        "glslines render tracks.trx --color dpv:fa --views oblique -o fa.png"),
    .values_size = sizeof(render_values),
    .set_defaults = set_defaults,
    .run = run_render,
};
