/* glslines sample: values of images along streamlines. */
#include "cmd/commands.h"
#include "cmd/tract.h"

typedef struct sample_values {
    tract_values shared;
    gls_sample_cli o;
} sample_values;
#define TRACT_OWNER sample_values

static const cmd_option table[] = {
#define ROW TRACT_ROW
#include "workflow/tracts/sample.def"
#undef ROW
#define ROW TRACT_SHARED_ROW
#include "workflow/tracts/common.def"
#undef ROW
    {.name = NULL},
};

static void set_defaults(void *values)
{
    *(sample_values *)values = (sample_values){.shared = {.common = {false}}};
}

static int run_sample(const cmd_command *command, void *values, const cmd_arguments *arguments)
{
    return tract_run(command, values, arguments,
                     &(tract_work){"Values along streamlines by glslines", gls_tract_sample, offsetof(sample_values, o),
                                   "takes TRACKS and one IMAGE or more", 2});
}

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
    .values_size = sizeof(sample_values),
    .set_defaults = set_defaults,
    .run = run_sample,
};
