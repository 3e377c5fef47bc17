/* glslines stats: lengths and shapes of tractograms. */
#include "cmd/commands.h"
#include "cmd/tract.h"

#define ROWS "workflow/tracts/stats.def"
#define OPTIONS gls_stats_cli
#include "cmd/tract_table.def"

static const tract_work work = {"Statistics of tractograms by glslines", gls_tract_stats,
                                offsetof(tract_command_values, o), "takes one TRACKS or more", 1};

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
    .work = &work,
    .values_size = sizeof(tract_command_values),
    .set_defaults = set_defaults,
    .run = tract_run,
};
