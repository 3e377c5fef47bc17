/* glslines info: what a tractogram of any program holds. */
#include "cmd/commands.h"
#include "cmd/tract.h"

#define ROWS "workflow/tracts/info.def"
#define OPTIONS gls_info_cli
#include "cmd/tract_table.def"

static const tract_work work = {"Tractograms as glslines reads them", gls_tract_info, offsetof(tract_command_values, o),
                                "needs a tractogram", 1};

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
    .work = &work,
    .values_size = sizeof(tract_command_values),
    .set_defaults = set_defaults,
    .run = tract_run,
};
