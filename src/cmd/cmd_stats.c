/* glslines stats: lengths and shapes of tractograms. */
#include "cmd/commands.h"
#include "cmd/tract.h"

typedef struct stats_values {
    tract_values shared;
    gls_stats_cli o;
} stats_values;
#define TRACT_OWNER stats_values

static const cmd_option table[] = {
#define ROW TRACT_ROW
#include "workflow/tracts/stats.def"
#undef ROW
#define ROW TRACT_SHARED_ROW
#include "workflow/tracts/common.def"
#undef ROW
    {.name = NULL},
};

static void set_defaults(void *values)
{
    *(stats_values *)values = (stats_values){.shared = {.common = {false}}};
}

static int run_stats(const cmd_command *command, void *values, const cmd_arguments *arguments)
{
    return tract_run(command, values, arguments,
                     &(tract_work){"Statistics of tractograms by glslines", gls_tract_stats, offsetof(stats_values, o),
                                   "takes one TRACKS or more", 1});
}

static const char *const positionals[] = {
    "TRACKS...",
    "Tractograms: TRX (file or folder), TRK, TCK or VTK.",
    NULL,
};

static const char *const examples[] = {
    "Lengths:",
    "glslines stats tracks.tck",
    "Shape of each bundle:",
    "glslines stats bundles.trx --groups --shape --template fa.nii.gz -o bundles.tsv",
    NULL,
};

const cmd_command cmd_stats = {
    .name = "stats",
    .synopsis = "TRACKS... [options]",
    .summary = "Tabulate lengths and shapes of tractograms and of their groups",
    .description = "A row for each file, and with --groups for each group: number, weight, points, mean, median, "
                   "standard deviation and quartiles of lengths, median step. Start and end of a shape are the first "
                   "and the last points: turn streamlines round first (edit --orient, segment). Memory: 8 bytes a "
                   "streamline.",
    .positionals = positionals,
    .max_positionals = 256,
    .options = table,
    .examples = examples,
    .values_size = sizeof(stats_values),
    .set_defaults = set_defaults,
    .run = run_stats,
};
