/* glslines connectome: how many streamlines join each pair of regions. */
#include "cmd/commands.h"
#include "cmd/tract.h"

#define ROWS "workflow/tracts/connectome.def"
#define OPTIONS gls_connectome_cli
#include "cmd/tract_table.def"

static const tract_work work = {"Connectome by glslines", gls_tract_connectome, offsetof(tract_command_values, o),
                                "takes TRACKS, LABELS and OUT", 3};

static const char *const positionals[] = {
    "TRACKS", "Tractogram: TRX (file or folder), TRK, TCK or VTK.",
    "LABELS", "Image of regions, NIfTI: whole numbers, 0 for none; of any grid in the same space.",
    "OUT",    "Matrix to write: .csv with commas, .tsv with tabs, others with blanks.",
    NULL,
};

static const char *const examples[] = {
    "Streamlines between each two regions:",
    "glslines connectome tracks.tck parcels.nii.gz connectome.csv",
    "Weighted by SIFT2, both triangles:",
    "glslines connectome tracks.tck parcels.nii.gz sift2.csv --weights sift2.txt --symmetric --zero-diagonal",
    "All streamlines of a cell with their mean FA, from a table of glslines sample; names of FreeSurfer:",
    "glslines connectome tracks.tck aparc.nii.gz fa.csv --scale-file fa.txt --stat-edge mean --lut "
    "FreeSurferColorLUT.txt --header",
    "Mean length in mm:",
    "glslines connectome tracks.tck parcels.nii.gz length.csv --scale length --stat-edge mean",
    NULL,
};

const cmd_command cmd_connectome = {
    .name = "connectome",
    .synopsis = "TRACKS LABELS OUT [options]",
    .summary = "Count the streamlines between each two regions of an image of labels",
    .description =
        "Defaults are those of tck2connectome of MRtrix3 3.0: each end belongs to the labelled voxel whose "
        "centre is nearest, within 4 mm; the matrix has counts in the upper triangle with the diagonal, and "
        "no header. Rows are the labels that occur, in ascending order; OUT_nodes.tsv and the sidecar list them.",
    .positionals = positionals,
    .max_positionals = 3,
    .options = table,
    .examples = examples,
    .work = &work,
    .values_size = sizeof(tract_command_values),
    .set_defaults = set_defaults,
    .run = tract_run,
};
