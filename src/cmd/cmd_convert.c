/* glslines convert: a tractogram of any program in another format, with its columns and groups. */
#include <cJSON.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/filters.h>

#include "cmd/commands.h"
#include "cmd/interrupt.h"
#include "cmd/message.h"
#include "cmd/tract_files.h"
#include "util/status.h"
#include "workflow/json.h"

enum { MAX_FIELDS = 64, MAX_LINES = 256 };

typedef struct convert_options {
    cmd_common common;
    tract_input input;
    const char *fields, *weights;
    int half;
    bool force;
} convert_options;

#define FIELD(f) .offset = offsetof(convert_options, f)

static const cmd_option table[] = {
    TRACT_INPUT_OPTIONS(convert_options, input),
    {.group = "Input",
     .name = "weights",
     .type = CMD_STRING,
     .metavar = "FILE",
     FIELD(weights),
     .default_text = "none",
     .help = "Text file with a number for each streamline, which go into the output as the column weights."},
    {.group = "Output",
     .name = "fields",
     .type = CMD_STRING,
     .metavar = "NAMES",
     FIELD(fields),
     .default_text = "all",
     .help = "Columns and groups to keep: all, none, or names with commas."},
    {.group = "Output",
     .name = "output-precision",
     .type = CMD_CHOICE,
     .choices = "float|half",
     FIELD(half),
     .help = "Precision of positions in TRX files."},
    {.group = "Output", .name = "force", .type = CMD_FLAG, FIELD(force), .help = "Overwrite existing output files."},
    {.name = NULL},
};

typedef struct conversion {
    const convert_options *options;
    const char *in, *out;
    gls_tractogram_reader *reader;
    gls_tractogram_writer *writer; /* belongs to the sink */
    gls_sink sink;
    gls_summary *summary;
    gls_filter_counts valid;
    double *weights;
    char *text; /* names of fields, header lines */
    char *lost;
} conversion;

static void set_defaults(void *values)
{
    *(convert_options *)values = (convert_options){.half = 0};
}

/* The grid that the output gets: that of --reference, else the input's own; TCK has none. */
static gls_status choose_grid(const conversion *c, gls_tractogram_format format, gls_grid *grid)
{
    static const double identity[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    const gls_tractogram_info *info = gls_tractogram_reader_info(c->reader);
    if (c->options->input.reference) return tract_grid_read(c->options->input.reference, grid);
    if (info->has_grid) {
        *grid = info->grid;
        return GLS_OK;
    }
    if (format != GLS_FORMAT_TCK)
        return gls_fail(GLS_ERR_ARGUMENT, "%s: has no grid, and %s needs one: name an image with --reference", c->in,
                        c->out);
    return gls_grid_init(grid, (const int32_t[3]){1, 1, 1}, identity);
}

/* Keys of a TCK header for another one; lines point into c->text. */
static gls_status copy_header(conversion *c, const char *lines[MAX_LINES + 1])
{
    static const char *const own[] = {"datatype", "file", "count", "total_count", "timestamp"};
    const gls_tractogram_info *info = gls_tractogram_reader_info(c->reader);
    size_t n = 0, bytes = 1;
    if (info->format != GLS_FORMAT_TCK) return GLS_OK;
    for (size_t k = 0; k < info->n_header; k++)
        for (const char *v = info->header[k].value; v; v = strchr(v, '\n') ? strchr(v, '\n') + 1 : NULL)
            bytes += strlen(info->header[k].key) + strcspn(v, "\n") + 3;
    char *to = c->text = malloc(bytes);
    if (!to) return gls_fail(GLS_ERR_MEMORY, "out of memory");
    for (size_t k = 0; k < info->n_header; k++) {
        bool skipped = strncmp(info->header[k].key, "glslines", 8) == 0;
        for (size_t i = 0; i < sizeof own / sizeof *own; i++) skipped |= strcmp(info->header[k].key, own[i]) == 0;
        for (const char *v = info->header[k].value; v; v = strchr(v, '\n') ? strchr(v, '\n') + 1 : NULL) {
            int length = (int)strcspn(v, "\n");
            if (skipped || memchr(v, ':', (size_t)length) || n == MAX_LINES) continue;
            lines[n++] = to;
            to += sprintf(to, "%s: %.*s", info->header[k].key, length, v) + 1;
        }
    }
    lines[n] = NULL;
    return GLS_OK;
}

static gls_status create_writer(conversion *c, gls_grid *grid)
{
    const gls_tractogram_info *info = gls_tractogram_reader_info(c->reader);
    const char *lines[MAX_LINES + 1] = {NULL};
    gls_tractogram_format format;
    gls_tractogram_options options = gls_tractogram_options_default();
    gls_status status = gls_tractogram_format_parse(c->out, &format);
    if (!status && c->options->half && format != GLS_FORMAT_TRX)
        status = gls_fail(GLS_ERR_ARGUMENT, "--output-precision half: only TRX files have it");
    if (!status) status = choose_grid(c, format, grid);
    if (!status) status = copy_header(c, lines);
    options.precision = c->options->half ? GLS_PRECISION_HALF : GLS_PRECISION_FLOAT;
    options.overwrite = c->options->force;
    options.header_lines = lines;
    if (!c->options->fields || strcmp(c->options->fields, "all") == 0) {
        options.dpg = info->dpg;
        options.n_dpg = info->n_dpg;
    }
    if (!status) status = gls_tractogram_writer_create(c->out, format, grid, &options, &c->writer);
    if (!status) c->sink = gls_tractogram_writer_sink(c->writer);
    return status;
}

static gls_status add_fields(conversion *c)
{
    const char *names[MAX_FIELDS];
    size_t n = 0;
    if (!c->options->fields || strcmp(c->options->fields, "all") == 0) return GLS_OK;
    char *copy = strdup(c->options->fields), *rest = copy;
    if (!copy) return gls_fail(GLS_ERR_MEMORY, "out of memory");
    const gls_tractogram_info *info = gls_tractogram_reader_info(c->reader);
    gls_status status = GLS_OK;
    for (char *name; !status && strcmp(c->options->fields, "none") != 0 && (name = strsep(&rest, ","));) {
        bool known = gls_column_find(info->dps, info->n_dps, name) || gls_column_find(info->dpv, info->n_dpv, name) ||
                     gls_column_find(info->group, info->n_groups, name) || (c->weights && strcmp(name, "weights") == 0);
        if (!known) status = gls_fail(GLS_ERR_INPUT, "%s: has no column or group \"%s\"", c->in, name);
        if (!status && n == MAX_FIELDS) status = gls_fail(GLS_ERR_ARGUMENT, "--fields: more than %d names", MAX_FIELDS);
        if (!status) names[n++] = name;
    }
    gls_sink next = c->sink;
    if (!status) status = gls_filter_columns_create(names, n, &next, &c->sink);
    free(copy);
    return status;
}

/* Reader -> weights -> without empty ones -> fields -> writer and summary. */
static gls_status connect(conversion *c)
{
    gls_grid grid;
    size_t n = 0;
    gls_status status = create_writer(c, &grid);
    if (!status) status = gls_summary_create(c->options->input.reference ? &grid : NULL, &c->summary);
    if (status) return status;
    gls_sink both[] = {c->sink, gls_summary_sink(c->summary)};
    status = gls_sink_tee(both, 2, &c->sink);
    if (!status && c->options->weights) status = tract_weights_read(c->options->weights, &c->weights, &n);
    if (!status) status = add_fields(c);
    gls_sink next = c->sink;
    if (!status) status = gls_filter_valid_create(&c->valid, &next, &c->sink);
    if (status || !c->weights) return status;
    next = c->sink;
    const gls_column column = {"weights", GLS_TYPE_FLOAT64, 1, c->weights};
    return gls_filter_dps_create(&column, n, &next, &c->sink);
}

static gls_status convert(conversion *c)
{
    gls_status status = connect(c);
    if (!status) status = tract_pump(c->reader, &c->sink, c->out);
    const char *lost = !status ? gls_tractogram_writer_lost(c->writer) : NULL;
    if (lost) c->lost = strdup(lost);
    if (!status) return gls_sink_finish(&c->sink);
    gls_sink_abort(&c->sink);
    return status;
}

static gls_status report(const conversion *c, const char *sidecar, cJSON *root)
{
    const gls_summary_result *r = gls_summary_get(c->summary);
    cJSON *counts = cJSON_AddObjectToObject(root, "counts");
    gls_json_uint(counts, "read", c->valid.taken);
    gls_json_uint(counts, "written", c->valid.kept);
    gls_json_uint(counts, "points", r->points);
    gls_json_uint(counts, "outside_reference", r->outside);
    if (c->lost) cJSON_AddStringToObject(root, "lost", c->lost);
    gls_status status = tract_sidecar_write(sidecar, c->options->force, root);
    if (c->lost) cmd_warn("%s: its format does not hold %s", c->out, c->lost);
    if (c->valid.kept < c->valid.taken)
        cmd_warn("%s: %" PRIu64 " streamlines without points were left out", c->in, c->valid.taken - c->valid.kept);
    if (r->outside > 0)
        cmd_warn("%s: %" PRIu64 " streamlines leave the grid of %s, the first is %" PRIu64, c->in, r->outside,
                 c->options->input.reference, r->first_outside);
    cmd_info("%s: %" PRIu64 " streamlines, %" PRIu64 " points", c->out, r->streamlines, r->points);
    return status;
}

static int run_convert(const cmd_command *command, void *values, const cmd_arguments *arguments)
{
    conversion c = {.options = values};
    char *sidecar = NULL;
    if (arguments->n_positionals != 2)
        return cmd_error(CMD_EXIT_USAGE, "convert: takes IN and OUT, got %d arguments", arguments->n_positionals);
    c.in = arguments->positional[0];
    c.out = arguments->positional[1];
    const char *inputs[] = {c.in, c.options->input.reference, c.options->weights};
    gls_tractogram_format format;
    gls_status status = gls_tractogram_format_parse(c.out, &format);
    if (!status) status = tract_output_check(c.out, c.options->force, inputs, 3, &sidecar);
    if (!status) status = tract_open(&c.options->input, c.in, false, &c.reader);
    if (!status) {
        cmd_interrupt_catch();
        status = convert(&c);
        cmd_interrupt_release();
    }
    if (!status)
        status = report(
            &c, sidecar,
            tract_sidecar_begin("Tractogram converted by glslines", command, values, arguments, inputs, 3, c.out));
    gls_tractogram_reader_close(c.reader);
    gls_summary_destroy(c.summary);
    free(c.weights);
    free(c.text);
    free(c.lost);
    free(sidecar);
    return status ? cmd_error_status(status) : CMD_EXIT_OK;
}

static const char *const positionals[] = {
    "IN",  "Tractogram: TRX (file or folder), TRK, TCK or VTK, told apart by its contents.",
    "OUT", "Tractogram to write; the suffix .trx, .trk or .tck gives the format.",
    NULL,
};

static const char *const examples[] = {
    "For TrackVis and older programs:",
    "glslines convert tracks.trx tracks.trk",
    "MRtrix3 tracks with their SIFT2 weights as TRX, which needs the grid of an image:",
    "glslines convert tracks.tck tracks.trx --reference fa.nii.gz --weights sift2.txt",
    NULL,
};

const cmd_command cmd_convert = {
    .name = "convert",
    .synopsis = "IN OUT [options]",
    .summary = "Convert a tractogram to TRX, TRK or TCK, with columns and groups",
    .description =
        "World positions stay as they are. Columns and groups go along as far as the format holds them; what "
        "it does not hold is named in a warning. Streamlines without points are left out and counted, "
        "points that are not finite end the command. Memory does not grow with the number of streamlines.",
    .positionals = positionals,
    .max_positionals = 2,
    .options = table,
    .examples = examples,
    .values_size = sizeof(convert_options),
    .set_defaults = set_defaults,
    .run = run_convert,
};
