/* glslines info: what a tractogram of any program holds. */
#include "cmd/commands.h"
#include "cmd/tract.h"

typedef struct info_values {
    tract_values shared;
    gls_info_cli o;
} info_values;
#define TRACT_OWNER info_values

static const cmd_option table[] = {
#define ROW TRACT_ROW
#include "workflow/tracts/info.def"
#undef ROW
#define ROW TRACT_SHARED_ROW
#include "workflow/tracts/common.def"
#undef ROW
    {.name = NULL},
};

static void set_defaults(void *values)
{
    *(info_values *)values = (info_values){.shared = {.common = {false}}};
}

static int run_info(const cmd_command *command, void *values, const cmd_arguments *arguments)
{
    return tract_run(command, values, arguments,
                     &(tract_work){"Tractograms as glslines reads them", gls_tract_info, offsetof(info_values, o),
                                   "needs a tractogram", 1});
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
    .values_size = sizeof(info_values),
    .set_defaults = set_defaults,
    .run = run_info,
};
