/* glslines density: a map of how many streamlines, or mm of them, lie in each voxel. */
#include <cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/density.h>
#include <glslines/filters.h>

#include "cmd/commands.h"
#include "cmd/interrupt.h"
#include "cmd/message.h"
#include "cmd/tract_files.h"
#include "util/parse.h"
#include "util/status.h"
#include "workflow/json.h"

#define MAPPINGS "segment|length|vertex|mrtrix|ends"

enum { LIKE_NONE, LIKE_MRTRIX, LIKE_DIPY };

typedef struct density_options {
    cmd_common common;
    tract_input input;
    const char *template_image, *weights;
    int mapping, like;
    double step_size;
    bool force;
} density_options;

#define FIELD(f) .offset = offsetof(density_options, f)

static const cmd_option table[] = {
    {.group = "Map",
     .name = "template",
     .type = CMD_STRING,
     .metavar = "IMAGE",
     FIELD(template_image),
     .default_text = "the grid of a TRX or TRK file",
     .help = "Image on whose grid the map is made."},
    {.group = "Map",
     .name = "mapping",
     .type = CMD_CHOICE,
     .choices = MAPPINGS,
     FIELD(mapping),
     .help = "Where a streamline is. segment: in each voxel through which the line between its points passes. length: "
             "the same, counted in mm. vertex: in the voxels of its points. mrtrix: in those of its points upsampled "
             "as tckmap does. ends: in those of its two ends."},
    {.group = "Map",
     .name = "like",
     .type = CMD_CHOICE,
     .choices = "none|mrtrix|dipy",
     FIELD(like),
     .help = "The mapping that gives the numbers of another program: mrtrix those of tckmap (--mapping mrtrix), dipy "
             "those of density_map (--mapping vertex)."},
    {.group = "Map",
     .name = "step-size",
     .type = CMD_DOUBLE,
     .metavar = "L",
     .unit = "mm",
     .min = 0,
     .min_open = true,
     .max = INFINITY,
     FIELD(step_size),
     .default_text = "the key step_size of a TCK file",
     .help = "Distance between points, from which tckmap chooses its upsampling; --mapping mrtrix only."},
    {.group = "Map",
     .name = "weights",
     .type = CMD_STRING,
     .metavar = "FILE|dps:NAME",
     FIELD(weights),
     .default_text = "1",
     .help = "What each streamline counts: a text file with a number for each, or a column of the tractogram."},
    TRACT_INPUT_OPTIONS(density_options, input),
    {.group = "Output", .name = "force", .type = CMD_FLAG, FIELD(force), .help = "Overwrite existing output files."},
    {.name = NULL},
};

static void set_defaults(void *values)
{
    *(density_options *)values = (density_options){.mapping = GLS_DENSITY_SEGMENT};
}

static gls_status choose_grid(const density_options *o, const char *in, const gls_tractogram_info *info, gls_grid *grid)
{
    if (o->template_image) return tract_grid_read(o->template_image, grid);
    if (!info->has_grid) return gls_fail(GLS_ERR_ARGUMENT, "%s: has no grid: name an image with --template", in);
    *grid = info->grid;
    return GLS_OK;
}

static gls_status choose_upsampling(const density_options *o, const char *in, const gls_tractogram_info *info,
                                    const gls_grid *grid, uint32_t *upsample)
{
    static const char *const keys[] = {"output_step_size", "step_size"};
    double step = o->step_size;
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < info->n_header && step == 0; k++)
            if (info->format == GLS_FORMAT_TCK && strcmp(info->header[k].key, keys[i]) == 0 &&
                !gls_parse_double(info->header[k].value, &step))
                step = 0;
    if (step <= 0)
        return gls_fail(GLS_ERR_ARGUMENT, "%s: does not say its step: --mapping mrtrix needs --step-size", in);
    *upsample = gls_density_upsampling(step, grid);
    return GLS_OK;
}

static gls_status map(const density_options *o, const char *in, const char *out, gls_tractogram_reader *reader,
                      gls_density **density)
{
    const gls_tractogram_info *info = gls_tractogram_reader_info(reader);
    gls_density_options options = gls_density_options_default();
    tract_weights weights;
    gls_grid grid;
    gls_status status = tract_weights_open(&weights, o->weights, &o->input, in);
    if (status) return status;
    options.mapping = o->like == LIKE_MRTRIX ? GLS_DENSITY_MRTRIX : (gls_density_mapping)o->mapping;
    if (o->like == LIKE_DIPY) options.mapping = GLS_DENSITY_VERTEX;
    options.weights = weights.column;
    options.sum_weights = weights.most * (double)weights.n;
    status = choose_grid(o, in, info, &grid);
    if (!status && options.mapping == GLS_DENSITY_MRTRIX)
        status = choose_upsampling(o, in, info, &grid, &options.upsample);
    if (!status) status = gls_density_create(&grid, &options, density);
    gls_sink sink = {0};
    if (!status) status = tract_weights_sink(&weights, gls_density_sink(*density), &sink);
    if (!status) status = tract_pump(reader, &sink, out);
    if (!status)
        status = gls_sink_finish(&sink);
    else
        gls_sink_abort(&sink);
    if (!status) status = gls_density_write(*density, out);
    tract_weights_close(&weights);
    return status;
}

static gls_status report(const density_options *o, const gls_density *density, const char *in, const char *out,
                         const char *sidecar, cJSON *root)
{
    gls_density_counts c = gls_density_get_counts(density);
    cJSON *counts = cJSON_AddObjectToObject(root, "counts");
    gls_json_uint(counts, "read", c.streamlines);
    gls_json_uint(counts, "used", c.used);
    gls_json_uint(counts, "without_points", c.empty);
    gls_json_uint(counts, "partly_outside", c.partial);
    gls_status status = tract_sidecar_write(sidecar, o->force, root);
    if (c.used < c.streamlines - c.empty)
        cmd_warn("%s: %" PRIu64 " of %" PRIu64 " streamlines lie outside the map", in, c.streamlines - c.empty - c.used,
                 c.streamlines);
    cmd_info("%s: %" PRIu64 " streamlines, %" PRIu64 " of them partly outside", out, c.used, c.partial);
    return status;
}

static int run_density(const cmd_command *command, void *values, const cmd_arguments *arguments)
{
    const density_options *o = values;
    gls_tractogram_reader *reader = NULL;
    gls_density *density = NULL;
    char *sidecar = NULL;
    if (arguments->n_positionals != 2)
        return cmd_error(CMD_EXIT_USAGE, "density: takes TRACKS and OUT, got %d arguments", arguments->n_positionals);
    if (o->like && cmd_options_given(command, arguments, "mapping"))
        return cmd_error(CMD_EXIT_USAGE, "--like and --mapping exclude each other");
    if (o->step_size > 0 && o->like != LIKE_MRTRIX && o->mapping != GLS_DENSITY_MRTRIX)
        return cmd_error(CMD_EXIT_USAGE, "--step-size: only --mapping mrtrix has it");
    const char *in = arguments->positional[0], *out = arguments->positional[1];
    const char *inputs[] = {in, o->template_image, tract_weights_file(o->weights), o->input.reference};
    gls_status status = gls_image_name_check(out);
    if (!status) status = tract_output_check(out, o->force, inputs, 4, &sidecar);
    if (!status) status = tract_open(&o->input, in, false, &reader);
    if (!status) {
        cmd_interrupt_catch();
        status = map(o, in, out, reader, &density);
        cmd_interrupt_release();
    }
    if (!status)
        status = report(o, density, in, out, sidecar,
                        tract_sidecar_begin("Track density by glslines", command, values, arguments, inputs, 4, out));
    gls_density_destroy(density);
    gls_tractogram_reader_close(reader);
    free(sidecar);
    return status ? cmd_error_status(status) : CMD_EXIT_OK;
}

static const char *const positionals[] = {
    "TRACKS", "Tractogram: TRX (file or folder), TRK, TCK or VTK.", "OUT", "Map to write, NIfTI (.nii, .nii.gz).", NULL,
};

static const char *const examples[] = {
    "Streamlines in each voxel of the grid of an image:",
    "glslines density tracks.tck density.nii.gz --template fa.nii.gz",
    "The same numbers as tckmap:",
    "glslines density tracks.tck density.nii.gz --template fa.nii.gz --like mrtrix",
    "Weighted by SIFT2, in mm:",
    "glslines density tracks.trx density.nii.gz --mapping length --weights sift2.txt",
    NULL,
};

const cmd_command cmd_density = {
    .name = "density",
    .synopsis = "TRACKS OUT [options]",
    .summary = "Map how many streamlines lie in each voxel",
    .description = "Counts for each voxel the streamlines that pass through it, each once. By default a streamline is "
                   "the line between its points, cut exactly at voxel faces, so that the map does not depend on step, "
                   "compression or format. Sums are whole numbers or fixed point: the same bytes for any number of "
                   "threads. Counts are written as int32, mm and weighted sums as float32.",
    .positionals = positionals,
    .max_positionals = 2,
    .options = table,
    .examples = examples,
    .values_size = sizeof(density_options),
    .set_defaults = set_defaults,
    .run = run_density,
};
