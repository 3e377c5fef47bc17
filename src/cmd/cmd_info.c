/* glslines info: what a tractogram of any program holds. */
#include <cJSON.h>
#include <inttypes.h>
#include <string.h>

#include <glslines/summary.h>

#include "cmd/commands.h"
#include "cmd/message.h"
#include "cmd/tract_files.h"
#include "util/output.h"

typedef struct info_options {
    cmd_common common;
    tract_input input;
    bool count, check, force;
    const char *json;
} info_options;

#define FIELD(f) .offset = offsetof(info_options, f)

static const cmd_option table[] = {
    TRACT_INPUT_OPTIONS(info_options, input),
    {.group = "Output",
     .name = "count",
     .type = CMD_FLAG,
     FIELD(count),
     .help = "Read all streamlines: count them, measure lengths and steps, and tell the values of their columns."},
    {.group = "Output",
     .name = "check",
     .type = CMD_FLAG,
     FIELD(check),
     .help = "The same, and exit with code 3 if a point is not finite."},
    {.group = "Output",
     .name = "json",
     .type = CMD_STRING,
     .metavar = "FILE",
     FIELD(json),
     .default_text = "none",
     .help = "The same as JSON, one entry a tractogram."},
    {.group = "Output", .name = "force", .type = CMD_FLAG, FIELD(force), .help = "Overwrite an existing file."},
    {.name = NULL},
};

static void set_defaults(void *values)
{
    *(info_options *)values = (info_options){.count = false};
}

static void print_header(const char *path, const gls_tractogram_info *info)
{
    printf("%s\n", path);
    printf("  format       %s", gls_tractogram_format_name(info->format));
    if (info->format == GLS_FORMAT_TRK) printf(" version %d", info->version);
    if (info->format == GLS_FORMAT_VTK) printf(" version %d.%d", info->version / 10, info->version % 10);
    printf(", %s positions%s, %" PRIu64 " bytes\n", gls_type_name(info->position_type),
           info->is_packed ? ", deflated" : "", info->bytes);
    if (info->counts_streamlines) printf("  header       %" PRIu64 " streamlines\n", info->n_streamlines);
    if (info->counts_points) printf("  header       %" PRIu64 " points\n", info->n_points);
    if (info->has_grid) {
        const gls_grid *g = &info->grid;
        char axes[4];
        gls_grid_axis_codes(g, axes);
        printf("  grid         %d x %d x %d voxels of %g x %g x %g mm, axes %s\n", g->dim[0], g->dim[1], g->dim[2],
               g->voxel_size[0], g->voxel_size[1], g->voxel_size[2], axes);
        for (int r = 0; r < 3; r++)
            printf("  %-12s %12.6g %12.6g %12.6g %12.6g\n", r == 0 ? "affine" : "", g->affine[r][0], g->affine[r][1],
                   g->affine[r][2], g->affine[r][3]);
    }
    for (size_t k = 0; k < info->n_dps; k++)
        printf("  dps          %s: %u x %s\n", info->dps[k].name, info->dps[k].components,
               gls_type_name(info->dps[k].type));
    for (size_t k = 0; k < info->n_dpv; k++)
        printf("  dpv          %s: %u x %s\n", info->dpv[k].name, info->dpv[k].components,
               gls_type_name(info->dpv[k].type));
    for (size_t k = 0; k < info->n_groups; k++)
        printf("  group        %s: %" PRIu64 " streamlines\n", info->group[k].name, info->group_size[k]);
    for (size_t k = 0; k < info->n_header; k++) {
        const char *value = info->header[k].value;
        printf("  key          %s: %.*s%s\n", info->header[k].key, (int)strcspn(value, "\n"), value,
               strchr(value, '\n') ? " ..." : "");
    }
}

static void print_spread(const char *what, const gls_spread *s)
{
    printf("  %-12s mean %.6g, median %.6g, sd %.4g, min %.6g, max %.6g mm\n", what, s->mean, s->median, s->sd, s->min,
           s->max);
}

static void print_summary(const gls_summary_result *r)
{
    printf("  counted      %" PRIu64 " streamlines, %" PRIu64 " points\n", r->streamlines, r->points);
    if (r->length.n > 0) {
        printf("  box          %.6g .. %.6g, %.6g .. %.6g, %.6g .. %.6g mm\n", r->low[0], r->high[0], r->low[1],
               r->high[1], r->low[2], r->high[2]);
        print_spread("length", &r->length);
    }
    if (r->step.n > 0) print_spread("step", &r->step);
    for (size_t k = 0; k < r->n_columns; k++) {
        const gls_column_summary *c = &r->column[k];
        if (c->kind != GLS_COLUMN_GROUP)
            printf("  values       %s: min %.6g, mean %.6g, max %.6g%s\n", c->name, c->min, c->mean, c->max,
                   c->n_not_finite > 0 ? ", some not finite" : "");
    }
    if (r->empty) printf("  empty        %" PRIu64 " streamlines without points\n", r->empty);
    if (r->single_points) printf("  single       %" PRIu64 " streamlines of one point\n", r->single_points);
    if (r->zero_steps) printf("  repeated     %" PRIu64 " points equal to the one before\n", r->zero_steps);
    if (r->outside)
        printf("  outside      %" PRIu64 " streamlines leave the grid, the first is %" PRIu64 "\n", r->outside,
               r->first_outside);
    if (r->not_finite)
        printf("  invalid      %" PRIu64 " streamlines with a point that is not finite, the first is %" PRIu64 "\n",
               r->not_finite, r->first_not_finite);
}

static gls_status inform(const info_options *o, const char *path, cJSON *list, bool *invalid)
{
    gls_tractogram_reader *reader = NULL;
    gls_summary *summary = NULL;
    const gls_summary_result *result = NULL;
    gls_status status = tract_open(&o->input, path, true, &reader);
    if (status) return status;
    const gls_tractogram_info *info = gls_tractogram_reader_info(reader);
    if (o->count || o->check) status = gls_summary_create(info->has_grid ? &info->grid : NULL, &summary);
    if (!status && summary) {
        gls_sink sink = gls_summary_sink(summary);
        status = gls_tractogram_pump(reader, &sink, NULL, NULL);
        result = gls_summary_get(summary);
    }
    if (!status) {
        print_header(path, info);
        if (result) print_summary(result);
        *invalid |= result && result->not_finite > 0;
        cJSON_AddItemToArray(list, tract_info_json(path, info, result));
    }
    gls_summary_destroy(summary);
    gls_tractogram_reader_close(reader);
    return status;
}

static int run_info(const cmd_command *command, void *values, const cmd_arguments *arguments)
{
    const info_options *o = values;
    const size_t n = (size_t)arguments->n_positionals;
    bool invalid = false;
    if (n == 0) return cmd_error(CMD_EXIT_USAGE, "info: needs a tractogram");
    gls_status status = o->json ? gls_output_check(o->json, o->force, arguments->positional, n, NULL, 0) : GLS_OK;
    if (status) return cmd_error_status(status);
    cJSON *root = tract_sidecar_begin("Tractograms as glslines reads them", command, values, arguments, NULL, 0, NULL);
    cJSON *list = cJSON_AddArrayToObject(root, "tractograms");
    for (size_t i = 0; i < n && !status; i++) status = inform(o, arguments->positional[i], list, &invalid);
    if (!status && o->json) {
        status = tract_sidecar_write(o->json, o->force, root);
        root = NULL;
    }
    cJSON_Delete(root);
    if (status) return cmd_error_status(status);
    if (invalid && o->check) return cmd_error(CMD_EXIT_INPUT, "a point is not finite, see above");
    return CMD_EXIT_OK;
}

static const char *const positionals[] = {
    "TRACKS",
    "Tractograms: TRX (file or folder), TRK, TCK or VTK, told apart by their contents.",
    NULL,
};

static const char *const examples[] = {
    "What the header says:",
    "glslines info tracks.trx",
    "Lengths, steps, values, and whether all is well:",
    "glslines info tracks.tck --check --json tracks_info.json",
    NULL,
};

const cmd_command cmd_info_command = {
    .name = "info",
    .synopsis = "TRACKS... [options]",
    .summary = "Tell what tractograms hold: format, grid, counts, lengths, columns, groups",
    .description = "Prints format, grid, columns, groups and keys of tractograms of any program. Without --count only "
                   "headers are read, and the numbers are those that they state; a header of TCK or TRK may be wrong. "
                   "With --count and --check all streamlines are read, in constant memory.",
    .positionals = positionals,
    .max_positionals = CMD_MAX_POSITIONALS,
    .options = table,
    .examples = examples,
    .values_size = sizeof(info_options),
    .set_defaults = set_defaults,
    .run = run_info,
};
