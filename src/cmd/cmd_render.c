/* glslines render: pictures of tractograms. */
#include <inttypes.h>
#include <math.h>

#include <glslines/render.h>

#include "cmd/commands.h"
#include "cmd/interrupt.h"
#include "cmd/message.h"
#include "cmd/tract.h"
#include "util/format.h"

typedef struct render_values {
    cmd_common common;
    tract_input input;
    gls_render_options o;
    const char *output;
    int style, convention, api;
    int turn, fps;
} render_values;

#define FIELD(f) .offset = offsetof(render_values, f)
#define TEXT(heading, word, letters, field, text)                                                                 \
    {                                                                                                             \
        .group = heading, .name = word, .type = CMD_STRING, .metavar = letters, FIELD(field), .default_text = "", \
        .help = text                                                                                              \
    }
#define NUMBER(heading, word, letters, what, low, high, field, text)                                                   \
    {                                                                                                                  \
        .group = heading, .name = word, .type = CMD_DOUBLE, .metavar = letters, .unit = what, .min = low, .max = high, \
        FIELD(field), .help = text                                                                                     \
    }
#define WHOLE(heading, word, letters, low, high, field, shown, text)                                                \
    {                                                                                                               \
        .group = heading, .name = word, .type = CMD_INT, .metavar = letters, .min = low, .max = high, FIELD(field), \
        .default_text = shown, .help = text                                                                         \
    }
#define CHOICE(heading, word, words, field, text)                                                        \
    {                                                                                                    \
        .group = heading, .name = word, .type = CMD_CHOICE, .choices = words, FIELD(field), .help = text \
    }
#define FLAG(heading, word, field, text)                                             \
    {                                                                                \
        .group = heading, .name = word, .type = CMD_FLAG, FIELD(field), .help = text \
    }
#define RANGE(heading, word, letters, field, low, high, shown, text)                                                \
    {                                                                                                               \
        .group = heading, .name = word, .type = CMD_NUMBERS, .metavar = letters, .min = -INFINITY, .max = INFINITY, \
        .min_values = low, .max_values = high, FIELD(field), .default_text = shown, .help = text                    \
    }

static const cmd_option table[] = {
    {.group = "Output",
     .name = "output",
     .letter = 'o',
     .type = CMD_STRING,
     .metavar = "FILE",
     FIELD(output),
     .default_text = "",
     .help = "Picture to write, .png or .apng; with --frames a folder. Needed."},
    FLAG("Output", "palette", o.palette, "Write 256 colours: a third of the size."),
    FLAG("Output", "force", o.force, "Overwrite existing output files."),
    FLAG("Output", "fail-if-empty", o.fail_if_empty,
         "Exit with code 6 if no streamline is drawn (the picture is written all the same)."),
    {.group = "View",
     .name = "views",
     .type = CMD_STRING,
     .metavar = "LIST",
     FIELD(o.views),
     .default_text = "superior,posterior,left; with --turn posterior",
     .help = "Views from left to right, commas between them. Where the viewer stands: superior, inferior, anterior, "
             "posterior, left, right; oblique: see --oblique. axial, coronal, sagittal: as slices are shown, see "
             "--convention. slab: see --slab."},
    TEXT("View", "oblique", "AZIMUTH,ELEVATION", o.oblique,
         "Degrees from the front towards the right side of the body, and upwards (35,25): the view oblique."),
    TEXT("View", "slab", "AXIS:N[:MM]", o.slab,
         "The view slab (axial:12): N slices across the axis (axial, coronal or sagittal), evenly spread over the "
         "middle 80 %, with the streamlines within MM around each; two voxels of the image, or 4 mm, where MM is not "
         "given."),
    TEXT("View", "tile", "WxH", o.tile, "Pixels of one view, 64 to 8192 each (800x800, with slabs 400x400)."),
    WHOLE("View", "columns", "N", 0, 128, o.columns, "all views; with slabs 4", "Views in a row."),
    TEXT("View", "fit", "image|streamlines|MM", o.fit,
         "What fills the views, all at one scale: the image (where there is one), the streamlines, or MM along the "
         "shorter side: pictures of several subjects are then comparable."),
    RANGE("View", "crop", "X0,X1,Y0,Y1,Z0,Z1", o.crop, 6, 6, "none",
          "Box in world mm to which streamlines, image and view are cut."),
    CHOICE("View", "convention", "neurological|radiological", convention,
           "Side on which slices are seen: neurological shows left on the left. The picture says which."),
    WHOLE("View", "turn", "N", 0, 360, turn, "none",
          "Turn the view round the axis from feet to head in N frames, 8 or more: an animated PNG (APNG)."),
    WHOLE("View", "fps", "F", 1, 60, fps, NULL, "Frames a second of a turn."),
    FLAG("View", "frames", o.frames, "Write the frames of a turn as OUT/0000.png and so on, for ffmpeg and others."),
    TEXT("Image", "image", "FILE", o.image, "NIfTI image (of a series the first volume) whose slices are shown."),
    TEXT("Image", "planes", "X,Y,Z|centre|none", o.planes,
         "Place of the slices, world mm (centre). Views along an axis have one slice, behind the streamlines; other "
         "views have three, and streamlines pass through them."),
    RANGE("Image", "image-range", "LOW,HIGH", o.image_range, 2, 2, "2nd and 98th percentile of what is not 0",
          "Values of the image that are shown black and white."),
    TEXT("Streamlines", "color", "WHAT", o.color,
         "direction (red: left to right, green: back to front, blue: up and down), end (the same between both ends), "
         "length, bundle (one colour a file; the default for several files), group:NAME, dps:NAME, dpv:NAME, "
         "map:IMAGE, or #rrggbb. By default direction."),
    TEXT("Streamlines", "colors", "FILE", o.colors, "Colours of bundles: lines of NAME #rrggbb, NAME without suffix."),
    CHOICE("Streamlines", "colormap", "viridis|cividis|inferno|grey|redblue", o.colormap, "Colours of numbers."),
    RANGE("Streamlines", "range", "LOW,HIGH", o.range, 2, 2, "2nd and 98th percentile",
          "Numbers that get the first and the last colour; others get the nearer of the two."),
    CHOICE("Streamlines", "style", "tubes|lines", style, "Lines are one pixel wide and without light."),
    NUMBER("Streamlines", "radius", "R", "mm", 0.01, 5, o.radius, "Radius of tubes."),
    NUMBER("Streamlines", "opacity", "X", NULL, 0.01, 1, o.opacity,
           "Opacity of each streamline. Below 1 a pixel has the mean colour of all that lie there."),
    NUMBER("Streamlines", "occlusion", "X", NULL, 0, 1, o.occlusion,
           "How much darker streamlines are between and behind others."),
    {.group = "Streamlines",
     .name = "max-streamlines",
     .type = CMD_UINT64,
     .metavar = "N",
     .min = 1,
     .max = 4294967295.0,
     FIELD(o.max_streamlines),
     .help = "Streamlines to draw of each file, evenly spread over it."},
    NUMBER("Streamlines", "min-length", "L", "mm", 0, INFINITY, o.min_length, "Shorter streamlines are not drawn."),
    {.group = "Streamlines",
     .name = "max-length",
     .type = CMD_DOUBLE,
     .metavar = "L",
     .unit = "mm",
     .min = 0,
     .max = INFINITY,
     FIELD(o.max_length),
     .default_text = "none",
     .help = "Longer streamlines are not drawn."},
    TEXT("Look", "background", "COLOR", o.background, "black, white, grey, #rrggbb or transparent (black)."),
    FLAG("Look", "no-labels", o.no_labels, "Leave out letters, names and the foot with counts, scale and legend."),
    TEXT("Look", "title", "TEXT", o.title, "A title in the foot."),
#define CMD_OWNER render_values
#define ROW TRACT_INPUT_ROW
#include "workflow/tracts/input.def"
#undef ROW
    {.group = "Device",
     .name = "device",
     .type = CMD_STRING,
     .metavar = "NAME",
     FIELD(o.device),
     .help = "Device that draws, as for track. Every device draws the same picture."},
    CHOICE("Device", "api", "auto|gl|gles", api, "OpenGL or OpenGL ES."),
    {.name = NULL},
};

static void set_defaults(void *values)
{
    *(render_values *)values = (render_values){.o = gls_render_options_default(), .fps = 12};
}

static bool go_on(void)
{
    return !cmd_interrupted();
}

static gls_status draw(render_values *v, const cmd_arguments *arguments, gls_render_result *result)
{
    gls_grid reference;
    gls_status status = v->input.reference ? gls_tract_grid_read(v->input.reference, &reference) : GLS_OK;
    if (status) return status;
    if (v->input.reference) v->o.read.reference = &reference;
    v->o.read.vtk_space = (gls_vtk_space)v->input.vtk_space;
    v->o.read.recover = v->input.recover;
    v->o.style = (gls_render_style)v->style;
    v->o.convention = (gls_render_convention)v->convention;
    v->o.api = (gls_graphics)v->api;
    v->o.turn = (uint32_t)v->turn;
    v->o.fps = (uint32_t)v->fps;
    v->o.go_on = go_on;
    cmd_interrupt_catch();
    status = gls_render_files(arguments->positional, (size_t)arguments->n_positionals, v->output, &v->o, result);
    cmd_interrupt_release();
    return status;
}

static int run_render(const cmd_command *command, void *values, const cmd_arguments *arguments)
{
    render_values *v = values;
    gls_render_result result;
    char shown[32], total[32];
    (void)command;
    if (arguments->n_positionals == 0)
        return cmd_error(CMD_EXIT_USAGE, "render: takes one or more tractograms, got none");
    if (!v->output) return cmd_error(CMD_EXIT_USAGE, "render: needs -o FILE");
    if (v->turn > 0 && v->turn < 8) return cmd_error(CMD_EXIT_USAGE, "--turn %d: must be at least 8", v->turn);
    gls_status status = draw(v, arguments, &result);
    if (status) return cmd_error_status(status);
    cmd_info("%s: %u x %u pixels of %.3g mm, %s of %s streamlines", v->output, result.width, result.height,
             result.mm_per_pixel, gls_format_count(result.shown, shown, sizeof shown),
             gls_format_count(result.total, total, sizeof total));
    return CMD_EXIT_OK;
}

static const char *const positionals[] = {
    "TRACKS",
    "Tractograms: TRX (files or folders), TRK, TCK or VTK; several are drawn together, as bundles.",
    NULL,
};

static const char *const examples[] = {
    "From above, from behind and from the left, with slices of FA:",
    "glslines render tracks.trx --image fa.nii.gz -o tracks.png",
    "Twelve axial slices with the streamlines near them:",
    "glslines render tracks.tck --image t1.nii.gz --views slab -o slices.png",
    "Bundles that turn, as an animated picture:",
    "glslines render AF_L.trk CST_L.trk -o turn.png --turn 72",
    "Coloured by a column, seen from the front and the right:",
    "glslines render tracks.trx --color dpv:fa --views oblique -o fa.png",
    NULL,
};

const cmd_command cmd_render = {
    .name = "render",
    .synopsis = "TRACKS... -o FILE [options]",
    .summary = "Draw tractograms, without a display",
    .description = "Draws streamlines as tubes or lines, seen from named places, with slices of an image, and writes a "
                   "PNG file, or one that turns. Letters of orientation, a scale, counts and a legend stand on the "
                   "picture. It is drawn by compute shaders in whole numbers: every device gives the same pixels.",
    .positionals = positionals,
    .max_positionals = CMD_MAX_POSITIONALS,
    .options = table,
    .examples = examples,
    .values_size = sizeof(render_values),
    .set_defaults = set_defaults,
    .run = run_render,
};
