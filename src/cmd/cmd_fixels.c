/* glslines fixels: the lobes of fibre orientation distributions as a fixel directory. */
#include "cmd/commands.h"
#include "cmd/tract.h"

#define ROWS "workflow/tracts/fod.def"
#define OPTIONS gls_fixels_cli
#define SHARED_ROWS "workflow/tracts/force.def"
#include "cmd/tract_table.def"

static const tract_work work = {"Fixels by glslines", gls_tract_fixels, offsetof(tract_command_values, o),
                                "takes SH and DIR", 2};

static const char *const positionals[] = {
    "SH",  "FODs as spherical harmonics of even order up to 16, NIfTI, such as PREFIX_sh.nii.gz of 'glslines fit'.",
    "DIR", "Directory to write to; made where it does not exist.",
    NULL,
};

static const char *const examples[] = {
    "Fixels for MRtrix3 and other programs:",
    "glslines fixels sub01_sh.nii.gz sub01_fixels",
    NULL,
};

const cmd_command cmd_fixels = {
    .name = "fixels",
    .synopsis = "SH DIR [options]",
    .summary = "Segment fibre orientation distributions into fixels",
    .description = "Writes index.nii and directions.nii, fd.nii (fibre density: the integral of a lobe and its "
                   "antipode), peak.nii (its amplitude) and fixels.json, as MRtrix3's fod2fixel.",
    .positionals = positionals,
    .max_positionals = 2,
    .options = table,
    .examples = examples,
    .work = &work,
    .values_size = sizeof(tract_command_values),
    .set_defaults = set_defaults,
    .run = tract_run,
};
