/* glslines density: a map of how many streamlines, or mm of them, lie in each voxel. */
#include "cmd/commands.h"
#include "cmd/tract.h"

#define ROWS "workflow/tracts/density.def"
#define OPTIONS gls_density_cli
#include "cmd/tract_table.def"

static const tract_work work = {"Track density by glslines", gls_tract_density, offsetof(tract_command_values, o),
                                "takes TRACKS and OUT", 2};

static const char *const positionals[] = {
    "TRACKS", "Tractogram: TRX (file or folder), TRK, TCK or VTK.", "OUT", "Map to write, NIfTI (.nii, .nii.gz).", NULL,
};

static const char *const examples[] = {
    "Streamlines in each voxel of the grid of an image:",
    "glslines density tracks.tck density.nii.gz --template fa.nii.gz",
    "The same numbers as tckmap:",
    "glslines density tracks.tck density.nii.gz --template fa.nii.gz --like mrtrix",
    "Weighted by SIFT2, in mm:",
    "glslines density tracks.trx density.nii.gz --mapping length --weights sift2.txt",
    "Mean FA of the streamlines in each voxel of 1 mm:",
    "glslines density tracks.tck fa.nii.gz --voxel-size 1 --contrast scalar_map --image fa.nii.gz --stat-vox mean",
    "Colours of their directions:",
    "glslines density tracks.tck dec.nii.gz --template fa.nii.gz --dec",
    NULL,
};

const cmd_command cmd_density = {
    .name = "density",
    .synopsis = "TRACKS OUT [options]",
    .summary = "Map how many streamlines lie in each voxel",
    .description = "Counts for each voxel the streamlines that pass through it, each once. By default a streamline is "
                   "the line between its points, cut exactly at voxel faces, so that the map does not depend on step, "
                   "compression or format. Sums are whole numbers or fixed point: the same bytes for any number of "
                   "threads. Counts are written as int32, mm and weighted sums as float32.",
    .positionals = positionals,
    .max_positionals = 2,
    .options = table,
    .aliases = (const char *const[]){"voxel", "voxel-size", "normalise", "normalize", NULL},
    .examples = examples,
    .work = &work,
    .values_size = sizeof(tract_command_values),
    .set_defaults = set_defaults,
    .run = tract_run,
};
