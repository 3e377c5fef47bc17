/* glslines peaks: the peaks of fibre orientation distributions as an image. */
#include "cmd/commands.h"
#include "cmd/tract.h"

#define ROWS "workflow/tracts/fod_peaks.def"
#define OPTIONS gls_peaks_cli
#define SHARED_ROWS "workflow/tracts/force.def"
#include "cmd/tract_table.def"

static const tract_work work = {"Peaks by glslines", gls_tract_peaks, offsetof(tract_command_values, o), "takes SH", 1};

static const char *const positionals[] = {
    "SH",
    "FODs as spherical harmonics of even order up to 16, such as PREFIX_sh.nii.gz of 'glslines fit'.",
    NULL,
};

static const char *const examples[] = {
    "Peaks of FODs, and streamlines along them:",
    "glslines peaks sub01_sh.nii.gz -o sub01_peaks.nii.gz",
    "glslines track --peaks sub01_peaks.nii.gz --mask mask.nii.gz --roi wm.nii.gz --dg fact",
    "The strongest peak alone, of FODs in DIPY's basis:",
    "glslines peaks sh.nii.gz -o peaks.nii.gz --number 1 --sh-basis descoteaux07_legacy",
    NULL,
};

const cmd_command cmd_peaks = {
    .name = "peaks",
    .synopsis = "SH -o FILE [options]",
    .summary = "Find the peaks of fibre orientation distributions",
    .description = "Writes the largest maxima of each voxel as vectors along the scanner axes, whose length is the "
                   "amplitude, as MRtrix3's sh2peaks. 'glslines track --peaks' and tckgen's FACT track them.",
    .positionals = positionals,
    .max_positionals = 1,
    .options = table,
    .examples = examples,
    .work = &work,
    .values_size = sizeof(tract_command_values),
    .set_defaults = set_defaults,
    .run = tract_run,
};
