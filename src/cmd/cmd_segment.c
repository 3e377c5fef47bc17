/* glslines segment: bundles by a table of rules. */
#include "cmd/commands.h"
#include "cmd/tract.h"

typedef struct segment_values {
    tract_values shared;
    gls_segment_cli o;
} segment_values;
#define TRACT_OWNER segment_values

static const cmd_option table[] = {
#define ROW TRACT_ROW
#include "workflow/tracts/segment.def"
#undef ROW
#define ROW TRACT_SHARED_ROW
#include "workflow/tracts/common.def"
#undef ROW
    {.name = NULL},
};

static void set_defaults(void *values)
{
    *(segment_values *)values = (segment_values){.o = {
#define ROW GLS_ROW_DEFAULT
#include "workflow/tracts/segment.def"
#undef ROW
                                                 }};
}

static int run_segment(const cmd_command *command, void *values, const cmd_arguments *arguments)
{
    return tract_run(command, values, arguments,
                     &(tract_work){"Bundles by glslines", gls_tract_segment, offsetof(segment_values, o),
                                   "takes TRACKS and BUNDLES", 2});
}

static const char *const positionals[] = {
    "TRACKS",
    "Tractogram: TRX (file or folder), TRK, TCK or VTK.",
    "BUNDLES",
    "Table with a row for each bundle, columns with tabs: bundle, include, exclude, start, end, ends, all ...",
    NULL,
};

static const char *const examples[] = {
    "Bundles as groups of one file, and how many there are:",
    "glslines segment tracks.trx bundles.tsv -o bundles.trx --table bundles_counts.tsv",
    "Each streamline in one bundle, without outliers:",
    "glslines segment tracks.tck bundles.tsv --reference fa.nii.gz -o bundles.trx --unique --clean",
    NULL,
};

const cmd_command cmd_segment = {
    .name = "segment",
    .synopsis = "TRACKS BUNDLES [options]",
    .summary = "Find bundles by regions, lengths and directions",
    .description = "Columns of the table, all but the first may be empty or missing: bundle (name); include, exclude "
                   "(regions with ; between); start, end (region of the first and the last point); ends (an image of "
                   "two blobs); all, all_fraction; min_length, max_length, min_span, max_span (mm); max_winding "
                   "(degrees); cross_midline (yes, no), midline (mm, 0); primary_axis (L/R, P/A, I/S); "
                   "include_tolerance, exclude_tolerance, end_tolerance (mm); ordered, clean (yes). Streamlines are "
                   "turned to run from start to end, else from the first to the last include region, else along "
                   "their mean. Regions must be in the space of the streamlines.",
    .positionals = positionals,
    .max_positionals = 2,
    .options = table,
    .examples = examples,
    .values_size = sizeof(segment_values),
    .set_defaults = set_defaults,
    .run = run_segment,
};
