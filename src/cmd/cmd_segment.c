/* glslines segment: bundles by a table of rules. */
#include "cmd/commands.h"
#include "cmd/tract.h"

#define ROWS "workflow/tracts/segment.def"
#define OPTIONS gls_segment_cli
#include "cmd/tract_table.def"

static const tract_work work = {"Bundles by glslines", gls_tract_segment, offsetof(tract_command_values, o),
                                "takes TRACKS and BUNDLES", 2};

static const char *const positionals[] = {
    "TRACKS",
    "Tractogram: TRX (file or folder), TRK, TCK or VTK.",
    "BUNDLES",
    "Table with a row for each bundle, columns with tabs: bundle, include, exclude, start, end, ends, all ...; or "
    "scilpy's JSON of bundles.",
    NULL,
};

static const char *const examples[] = {
    "Bundles as groups of one file, and how many there are:",
    "glslines segment tracks.trx bundles.tsv -o bundles.trx --table bundles_counts.tsv",
    "Each streamline in one bundle, without outliers:",
    "glslines segment tracks.tck bundles.tsv --reference fa.nii.gz -o bundles.trx --unique --clean",
    "A file for each bundle and their counts, named as pyAFQ does it:",
    "glslines segment tracks.trx bundles.tsv --each sub-01_desc-{}_tractography.trx --counts "
    "sub-01_desc-slCount_tractography.csv",
    NULL,
};

const cmd_command cmd_segment = {
    .name = "segment",
    .synopsis = "TRACKS BUNDLES [options]",
    .summary = "Find bundles by regions, lengths and directions",
    .description = "Columns of the table, all but the first may be empty or missing: bundle (name); include, exclude "
                   "(regions with ; between); start, end (region of the first and the last point); ends (an image of "
                   "two blobs); all, all_fraction; min_length, max_length, min_span, max_span (mm); length_x, "
                   "length_x_abs ... (LOW,HIGH mm along an axis); max_winding, angle (degrees); cross_midline (yes, "
                   "no), midline (mm, 0); primary_axis (L/R, P/A, I/S); "
                   "include_tolerance, exclude_tolerance, end_tolerance (mm); ordered, clean (yes). Streamlines are "
                   "turned to run from start to end, else from the first to the last include region, else along "
                   "their mean. Regions must be in the space of the streamlines.",
    .positionals = positionals,
    .max_positionals = 2,
    .options = table,
    .examples = examples,
    .work = &work,
    .values_size = sizeof(tract_command_values),
    .set_defaults = set_defaults,
    .run = tract_run,
};
