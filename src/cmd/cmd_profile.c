/* glslines profile: values of images along bundles. */
#include "cmd/commands.h"
#include "cmd/tract.h"

#define ROWS "workflow/tracts/profile.def"
#define OPTIONS gls_profile_cli
#include "cmd/tract_table.def"

static const tract_work work = {"Bundle profiles by glslines", gls_tract_profile, offsetof(tract_command_values, o),
                                "takes TRACKS and one IMAGE or more", 2};

static const char *const positionals[] = {
    "TRACKS",   "Tractogram: a bundle, a TRX file whose groups are bundles, or any with --bundles.",
    "IMAGE...", "Images, NIfTI, of any grids in the same space; each is a column, named after its file.",
    NULL,
};

static const char *const examples[] = {
    "FA and MD along the bundles of a file of glslines segment:",
    "glslines profile bundles.trx fa.nii.gz md.nii.gz -o profiles.csv",
    "The numbers of afq_profile of DIPY:",
    "glslines profile arcuate.trk fa.nii.gz --like dipy --orient standard.trk -o profile.csv",
    NULL,
};

const cmd_command cmd_profile = {
    .name = "profile",
    .synopsis = "TRACKS IMAGE... [options]",
    .summary = "Profile images along bundles",
    .description = "Streamlines of a bundle are turned one way, cleaned if asked for, and resampled to nodes at equal "
                   "distances; each image is averaged over them at each node, those near the core counting more. The "
                   "table is that of pyAFQ: tractID, nodeID, then a column for each image. Memory: 12 bytes for each "
                   "node of the streamlines in bundles.",
    .positionals = positionals,
    .max_positionals = 64,
    .options = table,
    .examples = examples,
    .work = &work,
    .values_size = sizeof(tract_command_values),
    .set_defaults = set_defaults,
    .run = tract_run,
};
