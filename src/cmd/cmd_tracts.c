/* Commands that read tractograms and write tractograms, tables and scores: names, arguments and help.
 * src/run and src/sinks do their work. */
#include "cmd/commands.h"
#include "cmd/tract_command.h"

/* `glslines info`: what a tractogram of any program holds. */
#define NAME info
#define ROWS "sinks/info.def"
#include "cmd/tract_table.def"

const cmd_command command_info = {
    TRACT_COMMAND(info, gls_tract_info, "Tractograms as glslines reads them", "needs a tractogram", 1,
                  tract_shared_rows),
    .synopsis = "TRACKS... [options]",
    .summary = "Tell what tractograms hold: format, grid, counts, lengths, columns, groups",
    .description = "Prints format, grid, columns, groups and keys of tractograms of any program. Without --count only "
                   "headers are read, and the numbers are those that they state; a header of TCK or TRK may be wrong. "
                   "With --count and --check all streamlines are read, in constant memory.",
    .positionals =
        (const char *const[]){
            "TRACKS",
            "Tractograms: TRX (file or folder), TRK, TCK or VTK, told apart by their contents.",
            NULL,
        },
    .max_positionals = CMD_MAX_POSITIONALS,
    .examples =
        (const char *const[]){
            "What the header says:",
            "glslines info tracks.trx",
            "Lengths, steps, values, and whether all is well:",
            "glslines info tracks.tck --check --json tracks_info.json",
            NULL,
        },
};

/* `glslines convert`: a tractogram of any program in another format, with its columns and groups. */
#define NAME convert
#define ROWS "run/convert.def"
#include "cmd/tract_table.def"

const cmd_command command_convert = {
    TRACT_COMMAND(convert, gls_tract_convert, "Tractogram converted by glslines", "takes IN and OUT", 2,
                  tract_shared_rows),
    .synopsis = "IN OUT [options]",
    .summary = "Convert a tractogram to TRX, TRK, TCK or VTK, with columns and groups",
    .description =
        "World positions stay as they are. Columns and groups go along as far as the format holds them; what "
        "it does not hold is named in a warning. Streamlines without points are left out and counted, "
        "points that are not finite end the command. Memory does not grow with the number of streamlines.",
    .positionals =
        (const char *const[]){
            "IN",
            "Tractogram: TRX (file or folder), TRK, TCK or VTK, told apart by its contents.",
            "OUT",
            "Tractogram to write; the suffix .trx, .trk, .tck or .vtk gives the format.",
            NULL,
        },
    .max_positionals = 2,
    .examples =
        (const char *const[]){
            "For TrackVis and older programs:",
            "glslines convert tracks.trx tracks.trk",
            "MRtrix3 tracks with their SIFT2 weights as TRX, which needs the grid of an image:",
            "glslines convert tracks.tck tracks.trx --reference fa.nii.gz --weights sift2.txt",
            NULL,
        },
};

/* `glslines edit`: selects streamlines and changes their points. */
#define NAME edit
#define ROWS "run/edit.def"
#include "cmd/tract_table.def"

const cmd_command command_edit = {
    TRACT_COMMAND(edit, gls_tract_edit, "Streamlines selected and shaped by glslines", "takes one IN or more, and OUT",
                  2, tract_shared_rows),
    .synopsis = "IN... OUT [options]",
    .summary = "Select streamlines by regions, length, weight, groups; crop, resample, turn round",
    .description =
        "Always in this order: inputs are joined, transformed, checked (--invalid), selected (all tests have "
        "to be passed), numbered (--skip, --number, --random), cropped, turned round, given other points, "
        "compressed and written. A streamline is the line between its points, so that a region between "
        "two points is met, too. Columns and groups go along. Memory does not grow with the number of "
        "streamlines, except by 16 to 32 bytes for each with --unique, --minus and --and.",
    .positionals =
        (const char *const[]){
            "IN...",
            "Tractograms: TRX (file or folder), TRK, TCK or VTK; several are joined in this order.",
            "OUT",
            "Tractogram to write; the suffix .trx, .trk, .tck or .vtk gives the format.",
            NULL,
        },
    .max_positionals = 256,
    .aliases = (const char *const[]){"include-ends", "include-end", "exclude-ends", "exclude-end", "both-ends",
                                     "include-both-ends", "minlength", "min-length", "maxlength", "max-length",
                                     "max-turn", "max-angle", "step", "step-size", "seed", "rng-seed", NULL},
    .examples =
        (const char *const[]){
            "Streamlines that pass a region and are no shorter than 40 mm:",
            "glslines edit tracks.trx cst.trx --include stem.nii.gz --exclude midline.nii.gz --min-length 40",
            "From one label to another, 1000 of them, 100 points each:",
            "glslines edit tracks.tck ab.tck --include-end aparc.nii.gz:1024 --include-end aparc.nii.gz:16 --random "
            "1000 "
            "--points 100",
            "Two files as groups of one, a third of the points:",
            "glslines edit left.trk right.trk both.trx --group-by-file --compress",
            NULL,
        },
};

/* `glslines stats`: lengths and shapes of tractograms. */
#define NAME stats
#define ROWS "sinks/stats.def"
#include "cmd/tract_table.def"

const cmd_command command_stats = {
    TRACT_COMMAND(stats, gls_tract_stats, "Statistics of tractograms by glslines", "takes one TRACKS or more", 1,
                  tract_shared_rows),
    .synopsis = "TRACKS... [options]",
    .summary = "Tabulate lengths and shapes of tractograms and of their groups",
    .description = "A row for each file, and with --groups for each group: number, weight, points, mean, median, "
                   "standard deviation and quartiles of lengths, median step. Start and end of a shape are the first "
                   "and the last points: turn streamlines round first (edit --orient, segment). Memory: 8 bytes a "
                   "streamline.",
    .positionals =
        (const char *const[]){
            "TRACKS...",
            "Tractograms: TRX (file or folder), TRK, TCK or VTK.",
            NULL,
        },
    .max_positionals = 256,
    .examples =
        (const char *const[]){
            "Lengths:",
            "glslines stats tracks.tck",
            "Shape of each bundle:",
            "glslines stats bundles.trx --groups --shape --template fa.nii.gz -o bundles.tsv",
            NULL,
        },
};

/* `glslines segment`: bundles by a table of rules. */
#define NAME segment
#define ROWS "sinks/segment.def"
#include "cmd/tract_table.def"

const cmd_command command_segment = {
    TRACT_COMMAND(segment, gls_tract_segment, "Bundles by glslines", "takes TRACKS and BUNDLES", 2, tract_shared_rows),
    .synopsis = "TRACKS BUNDLES [options]",
    .summary = "Find bundles by regions, lengths and directions",
    .description = "Columns of the table, all but the first may be empty or missing: bundle (name); include, exclude "
                   "(regions with ; between); start, end (region of the first and the last point); ends (an image of "
                   "two blobs); all, all_fraction; min_length, max_length, min_span, max_span (mm); length_x, "
                   "length_x_abs ... (LOW,HIGH mm along an axis); max_winding, angle (degrees); cross_midline (yes, "
                   "no), midline (mm, 0); primary_axis (L/R, P/A, I/S); "
                   "include_tolerance, exclude_tolerance, end_tolerance (mm); ordered, clean (yes). Streamlines are "
                   "turned to run from start to end, else from the first to the last include region, else along "
                   "their mean. Regions must be in the space of the streamlines.",
    .positionals =
        (const char *const[]){
            "TRACKS",
            "Tractogram: TRX (file or folder), TRK, TCK or VTK.",
            "BUNDLES",
            "Table with a row for each bundle, columns with tabs: bundle, include, exclude, start, end, ends, all ...; "
            "or "
            "scilpy's JSON of bundles.",
            NULL,
        },
    .max_positionals = 2,
    .examples =
        (const char *const[]){
            "Bundles as groups of one file, and how many there are:",
            "glslines segment tracks.trx bundles.tsv -o bundles.trx --table bundles_counts.tsv",
            "Each streamline in one bundle, without outliers:",
            "glslines segment tracks.tck bundles.tsv --reference fa.nii.gz -o bundles.trx --unique --clean",
            "A file for each bundle and their counts, named as pyAFQ does it:",
            "glslines segment tracks.trx bundles.tsv --each sub-01_desc-{}_tractography.trx --counts "
            "sub-01_desc-slCount_tractography.csv",
            NULL,
        },
};

/* `glslines score`: scores a tractogram; or tracks the built-in phantom with every model and direction getter, and
 * scores the results against its bundles. */
#define NAME score
#define ROWS "sinks/score.def"
#define DEFAULTS gls_score_cli_default()
#include "cmd/tract_table.def"

const cmd_command command_score = {
    TRACT_COMMAND(score, gls_tract_score, "Scores by glslines", "takes TRACKS or nothing", 0, tract_shared_rows),
    .synopsis = "[TRACKS] [options]",
    .summary = "Score a tractogram against known bundles, or every method on the phantom",
    .description = "Makes the built-in phantom, tracks it with each direction getter over its usual or over all "
                   "models, and prints how the streamlines compare with its "
                   "bundles. With TRACKS, a tractogram is scored in the same way against the bundles of --truth, or "
                   "compared with another one. A streamline is valid (VS) if its ends lie within one voxel of the two "
                   "end regions of a bundle and it stays within two voxels of bundle and end regions. It has a wrong "
                   "path (WPC) if only the ends are right. It is an invalid connection (IC) if it joins end regions of "
                   "different bundles, and no connection (NC) otherwise. Overlap is the share of the bundle's voxels "
                   "that valid streamlines visit; overreach is the share of the voxels that they visit outside bundle "
                   "and end regions; f1 is the harmonic mean of overlap and 1 - overreach.",
    .positionals =
        (const char *const[]){
            "TRACKS",
            "Tractogram to score with --truth or --against; none: the phantom is tracked.",
            NULL,
        },
    .max_positionals = 1,
    .aliases = (const char *const[]){"seed", "rng-seed", NULL},
    .examples =
        (const char *const[]){
            "The usual methods:",
            "glslines score",
            "Deconvolution of order 8, a narrow cone, by bundle:",
            "glslines score --model csd --bundles --json scores.json",
            "A tractogram against bundles that are known:",
            "glslines score tracks.trx --truth bundles.tsv --json scores.json",
            "The same by the JSON of scilpy, whose files lie in a folder:",
            "glslines score tracks.trk --truth config.json --folder scoring_data",
            "Two tractograms:",
            "glslines score tracks.trx --against other.trx",
            NULL,
        },
};
