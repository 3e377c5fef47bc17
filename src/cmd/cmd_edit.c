/* glslines edit: streamlines selected and shaped. */
#include "cmd/commands.h"
#include "cmd/tract.h"

#define ROWS "workflow/tracts/edit.def"
#define OPTIONS gls_edit_cli
#include "cmd/tract_table.def"

static const tract_work work = {"Streamlines selected and shaped by glslines", gls_tract_edit,
                                offsetof(tract_command_values, o), "takes one IN or more, and OUT", 2};

static const char *const positionals[] = {
    "IN...", "Tractograms: TRX (file or folder), TRK, TCK or VTK; several are joined in this order.",
    "OUT",   "Tractogram to write; the suffix .trx, .trk, .tck or .vtk gives the format.",
    NULL,
};

static const char *const examples[] = {
    "Streamlines that pass a region and are no shorter than 40 mm:",
    "glslines edit tracks.trx cst.trx --include stem.nii.gz --exclude midline.nii.gz --min-length 40",
    "From one label to another, 1000 of them, 100 points each:",
    "glslines edit tracks.tck ab.tck --include-end aparc.nii.gz:1024 --include-end aparc.nii.gz:16 --random 1000 "
    "--points 100",
    "Two files as groups of one, a third of the points:",
    "glslines edit left.trk right.trk both.trx --group-by-file --compress",
    NULL,
};

const cmd_command cmd_edit = {
    .name = "edit",
    .synopsis = "IN... OUT [options]",
    .summary = "Select streamlines by regions, length, weight, groups; crop, resample, turn round",
    .description =
        "Always in this order: inputs are joined, transformed, checked (--invalid), selected (all tests have "
        "to be passed), numbered (--skip, --number, --random), cropped, turned round, given other points, "
        "compressed and written. A streamline is the line between its points, so that a region between "
        "two points is met, too. Columns and groups go along. Memory does not grow with the number of "
        "streamlines, except by 16 to 32 bytes for each with --unique, --minus and --and.",
    .positionals = positionals,
    .max_positionals = 256,
    .options = table,
    .aliases = (const char *const[]){"include-ends", "include-end", "exclude-ends", "exclude-end", "both-ends",
                                     "include-both-ends", "minlength", "min-length", "maxlength", "max-length",
                                     "max-turn", "max-angle", "step", "step-size", "seed", "rng-seed", NULL},
    .examples = examples,
    .work = &work,
    .values_size = sizeof(tract_command_values),
    .set_defaults = set_defaults,
    .run = tract_run,
};
