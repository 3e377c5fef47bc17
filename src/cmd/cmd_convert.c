/* glslines convert: a tractogram of any program in another format, with its columns and groups. */
#include "cmd/commands.h"
#include "cmd/tract.h"

#define ROWS "workflow/tracts/convert.def"
#define OPTIONS gls_convert_cli
#include "cmd/tract_table.def"

static const tract_work work = {"Tractogram converted by glslines", gls_tract_convert,
                                offsetof(tract_command_values, o), "takes IN and OUT", 2};

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
    .work = &work,
    .values_size = sizeof(tract_command_values),
    .set_defaults = set_defaults,
    .run = tract_run,
};
