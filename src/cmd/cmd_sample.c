/* glslines sample: values of images along streamlines. */
#include "cmd/commands.h"
#include "cmd/tract.h"

#define ROWS "workflow/tracts/sample.def"
#define OPTIONS gls_sample_cli
#include "cmd/tract_table.def"

static const tract_work work = {"Values along streamlines by glslines", gls_tract_sample,
                                offsetof(tract_command_values, o), "takes TRACKS and one IMAGE or more", 2};

static const char *const positionals[] = {
    "TRACKS",   "Tractogram: TRX (file or folder), TRK, TCK or VTK.",
    "IMAGE...", "Images, NIfTI, of any grids in the same space; each volume is a column.",
    NULL,
};

static const char *const examples[] = {
    "Mean FA and MD of each streamline:",
    "glslines sample tracks.trx fa.nii.gz md.nii.gz -o means.tsv",
    "FA at each point and its mean, in the tractogram:",
    "glslines sample tracks.trx fa.nii.gz --to-dpv fa --stat-tck mean --to-dps mean_fa --trx with_fa.trx",
    "The numbers of tcksample:",
    "glslines sample tracks.tck fa.nii.gz --like mrtrix -o fa.txt",
    NULL,
};

const cmd_command cmd_sample = {
    .name = "sample",
    .synopsis = "TRACKS IMAGE... [options]",
    .summary = "Sample images along streamlines: at each point, or as mean, median ... of each",
    .description = "Images are interpolated at the points of streamlines, or, with --by voxel, taken from the voxels "
                   "that they pass. What lies outside is no value and left out. Memory does not grow with the number "
                   "of streamlines.",
    .positionals = positionals,
    .max_positionals = 64,
    .options = table,
    .examples = examples,
    .work = &work,
    .values_size = sizeof(tract_command_values),
    .set_defaults = set_defaults,
    .run = tract_run,
};
