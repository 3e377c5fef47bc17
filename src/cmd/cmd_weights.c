/* glslines weights: how many fibres each streamline of a tractogram stands for. */
#include "cmd/commands.h"
#include "cmd/tract.h"

#define ROWS "workflow/tracts/weights.def"
#define OPTIONS gls_weights_cli
#define DEFAULTS gls_weights_cli_default()
#include "cmd/tract_table.def"

static const tract_work work = {"Weights of streamlines by glslines", gls_tract_weigh,
                                offsetof(tract_command_values, o), "takes TRACKS and SH", 2};

static const char *const positionals[] = {
    "TRACKS", "Tractogram: TRX (file or folder), TRK, TCK or VTK.",
    "SH",     "FODs as spherical harmonics of even order up to 16, NIfTI: those that were tracked.",
    NULL,
};

static const char *const examples[] = {
    "Weights for MRtrix3's -tck_weights_in:",
    "glslines weights tracks.tck sub01_sh.nii.gz -o sift2.txt --act 5tt.nii.gz --mu mu.txt",
    "Within a TRX file:",
    "glslines weights tracks.trx sub01_sh.nii.gz -o weighted.trx",
    "A connectome of them:",
    "glslines connectome weighted.trx parcels.nii.gz connectome.csv --weights dps:sift2_weights",
    "A selection of 100,000 streamlines:",
    "glslines weights tracks.tck sub01_sh.nii.gz -o selected.tck --method sift --term-number 100000",
    NULL,
};

const cmd_command cmd_weights = {
    .name = "weights",
    .synopsis = "TRACKS SH --output OUT [options]",
    .summary = "Weight streamlines by fibre density: SIFT2, SIFT",
    .description = "Fits the density of streamlines in each fixel to that of the fibre orientation distributions. "
                   "Options, defaults and results are those of tcksift2 and tcksift of MRtrix3 3.0.4. For the results "
                   "of tcksift2 3.0.3, which Debian 12 has, take --single-visit keep. With --force it goes on where "
                   "all fixels are excluded. The same bytes for any number of threads and devices.",
    .positionals = positionals,
    .max_positionals = 2,
    .options = table,
    .examples = examples,
    .work = &work,
    .values_size = sizeof(tract_command_values),
    .set_defaults = set_defaults,
    .run = tract_run,
};
