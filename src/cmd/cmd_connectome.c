/* glslines connectome: how many streamlines join each pair of regions. */
#include <cJSON.h>
#include <inttypes.h>
#include <stdlib.h>

#include <glslines/connectome.h>

#include "cmd/commands.h"
#include "cmd/interrupt.h"
#include "cmd/message.h"
#include "cmd/tract_files.h"
#include "workflow/json.h"

typedef struct connectome_options {
    cmd_common common;
    tract_input input;
    int assign, scale, stat;
    double radius;
    const char *weights;
    bool symmetric, zero_diagonal, keep_unassigned, force;
} connectome_options;

#define FIELD(f) .offset = offsetof(connectome_options, f)

static const cmd_option table[] = {
    {.group = "Regions",
     .name = "assign",
     .type = CMD_CHOICE,
     .choices = "radial|end",
     FIELD(assign),
     .help = "How an end finds its region. radial: the labelled voxel whose centre is nearest, within --radius. end: "
             "the label of the voxel that holds the end."},
    {.group = "Regions",
     .name = "radius",
     .type = CMD_DOUBLE,
     .metavar = "R",
     .unit = "mm",
     .min = 0,
     .min_open = true,
     .max = 1000,
     FIELD(radius),
     .help = "Reach of the radial search."},
    {.group = "Values",
     .name = "scale",
     .type = CMD_CHOICE,
     .choices = "none|length|invlength|invnodevol",
     FIELD(scale),
     .help = "What a streamline brings to its cell: 1, its length in mm, 1 / length, or 2 / (voxels of both regions)."},
    {.group = "Values",
     .name = "stat-edge",
     .type = CMD_CHOICE,
     .choices = "sum|mean|min|max",
     FIELD(stat),
     .help = "What becomes of the values in a cell; min and max ignore weights and are nan in cells without "
             "streamlines."},
    {.group = "Values",
     .name = "weights",
     .type = CMD_STRING,
     .metavar = "FILE|dps:NAME",
     FIELD(weights),
     .default_text = "1",
     .help = "A number by which each streamline counts: a text file, or a column of the tractogram."},
    TRACT_INPUT_OPTIONS(connectome_options, input),
    {.group = "Output",
     .name = "symmetric",
     .type = CMD_FLAG,
     FIELD(symmetric),
     .help = "Mirror the upper triangle; otherwise the lower one is 0."},
    {.group = "Output", .name = "zero-diagonal", .type = CMD_FLAG, FIELD(zero_diagonal), .help = "Set it to 0."},
    {.group = "Output",
     .name = "keep-unassigned",
     .type = CMD_FLAG,
     FIELD(keep_unassigned),
     .help = "A first row and column for ends without a region."},
    {.group = "Output", .name = "force", .type = CMD_FLAG, FIELD(force), .help = "Overwrite existing output files."},
    {.name = NULL},
};

static void set_defaults(void *values)
{
    *(connectome_options *)values = (connectome_options){.radius = gls_connectome_options_default().radius};
}

static gls_status connect(const connectome_options *o, const char *const *file, gls_tractogram_reader *reader,
                          gls_connectome **connectome)
{
    gls_image *labels = NULL;
    tract_weights weights;
    gls_sink sink = {0};
    gls_status status = tract_weights_open(&weights, o->weights, &o->input, file[0]);
    if (status) return status;
    const gls_connectome_options options = {.size = sizeof options,
                                            .assignment = (gls_assignment)o->assign,
                                            .radius = o->radius,
                                            .scale = (gls_connectome_scale)o->scale,
                                            .stat = (gls_connectome_stat)o->stat,
                                            .symmetric = o->symmetric,
                                            .zero_diagonal = o->zero_diagonal,
                                            .keep_unassigned = o->keep_unassigned,
                                            .weights = weights.column};
    status = gls_image_read(file[1], GLS_IMAGE_3D, &labels);
    if (!status) status = gls_connectome_create(labels, file[1], &options, connectome);
    gls_image_destroy(labels);
    if (!status) status = tract_weights_sink(&weights, gls_connectome_sink(*connectome), &sink);
    if (!status) status = tract_pump(reader, &sink, file[2]);
    if (!status)
        status = gls_sink_finish(&sink);
    else
        gls_sink_abort(&sink);
    if (!status) status = gls_connectome_write(*connectome, file[2], o->force);
    tract_weights_close(&weights);
    return status;
}

static gls_status report(const connectome_options *o, const gls_connectome *connectome, const char *const *file,
                         const char *sidecar, cJSON *root)
{
    const int32_t *label;
    gls_connectome_counts c = gls_connectome_get_counts(connectome);
    size_t n = gls_connectome_nodes(connectome, &label);
    cJSON *counts = cJSON_AddObjectToObject(root, "counts");
    gls_json_uint(counts, "read", c.streamlines);
    gls_json_uint(counts, "joined", c.joined);
    gls_json_uint(counts, "unassigned_ends", c.unassigned);
    gls_json_uint(counts, "without_points", c.empty);
    cJSON *labels = cJSON_AddArrayToObject(root, "labels");
    for (size_t i = 0; i < n; i++) cJSON_AddItemToArray(labels, cJSON_CreateNumber(label[i]));
    gls_status status = tract_sidecar_write(sidecar, o->force, root);
    if (c.unassigned > 0.6 * (double)(c.streamlines - c.empty))
        cmd_warn("%s: %" PRIu64 " of %" PRIu64 " ends have no region: are %s and the tractogram in one space?", file[0],
                 c.unassigned, 2 * (c.streamlines - c.empty), file[1]);
    cmd_info("%s: %zu regions, %" PRIu64 " of %" PRIu64 " streamlines join two", file[2], n, c.joined, c.streamlines);
    return status;
}

static int run_connectome(const cmd_command *command, void *values, const cmd_arguments *arguments)
{
    const connectome_options *o = values;
    const char *const *file = arguments->positional;
    gls_tractogram_reader *reader = NULL;
    gls_connectome *connectome = NULL;
    char *sidecar = NULL;
    if (arguments->n_positionals != 3)
        return cmd_error(CMD_EXIT_USAGE, "connectome: takes TRACKS, LABELS and OUT, got %d arguments",
                         arguments->n_positionals);
    const char *inputs[] = {file[0], file[1], tract_weights_file(o->weights), o->input.reference};
    gls_status status = tract_output_check(file[2], o->force, inputs, 4, &sidecar);
    if (!status) status = tract_open(&o->input, file[0], false, &reader);
    if (!status) {
        cmd_interrupt_catch();
        status = connect(o, file, reader, &connectome);
        cmd_interrupt_release();
    }
    if (!status)
        status = report(o, connectome, file, sidecar,
                        tract_sidecar_begin("Connectome by glslines", command, values, arguments, inputs, 4, file[2]));
    gls_connectome_destroy(connectome);
    gls_tractogram_reader_close(reader);
    free(sidecar);
    return status ? cmd_error_status(status) : CMD_EXIT_OK;
}

static const char *const positionals[] = {
    "TRACKS", "Tractogram: TRX (file or folder), TRK, TCK or VTK.",
    "LABELS", "Image of regions, NIfTI: whole numbers, 0 for none; of any grid in the same space.",
    "OUT",    "Matrix to write: .csv with commas, .tsv with tabs, others with blanks.",
    NULL,
};

static const char *const examples[] = {
    "Streamlines between each two regions:",
    "glslines connectome tracks.tck parcels.nii.gz connectome.csv",
    "Weighted by SIFT2, both triangles:",
    "glslines connectome tracks.tck parcels.nii.gz sift2.csv --weights sift2.txt --symmetric --zero-diagonal",
    "Mean length in mm:",
    "glslines connectome tracks.tck parcels.nii.gz length.csv --scale length --stat-edge mean",
    NULL,
};

const cmd_command cmd_connectome = {
    .name = "connectome",
    .synopsis = "TRACKS LABELS OUT [options]",
    .summary = "Count the streamlines between each two regions of an image of labels",
    .description = "Defaults are those of tck2connectome of MRtrix3 3.0: each end belongs to the labelled voxel whose "
                   "centre is nearest, within 4 mm; the matrix has counts in the upper triangle with the diagonal, and "
                   "no header. Rows are the labels that occur, in ascending order; the sidecar lists them.",
    .positionals = positionals,
    .max_positionals = 3,
    .options = table,
    .examples = examples,
    .values_size = sizeof(connectome_options),
    .set_defaults = set_defaults,
    .run = run_connectome,
};
