/* Commands that make values, maps, matrices, fixels and weights. src/run and src/sinks do their work. */
#include "cmd/commands.h"
#include "cmd/tract_command.h"

/* `glslines sample`: values of images along streamlines. */
#define NAME sample
#define ROWS "sinks/sample.def"
#include "cmd/tract_table.def"

const cmd_command command_sample = {
    TRACT_COMMAND(sample, gls_tract_sample, "Values along streamlines by glslines",
                  "takes TRACKS and one IMAGE or more", 2, tract_shared_rows),
    .synopsis = "TRACKS IMAGE... [options]",
    .summary = "Sample images along streamlines: at each point, or as mean, median ... of each",
    .description = "Images are interpolated at the points of streamlines, or, with --by voxel, taken from the voxels "
                   "that they pass. What lies outside is no value and left out. Memory does not grow with the number "
                   "of streamlines.",
    .positionals =
        (const char *const[]){
            "TRACKS",
            "Tractogram: TRX (file or folder), TRK, TCK or VTK.",
            "IMAGE...",
            "Images, NIfTI, of any grids in the same space; each volume is a column.",
            NULL,
        },
    .max_positionals = 64,
    .examples =
        (const char *const[]){
            "Mean FA and MD of each streamline:",
            "glslines sample tracks.trx fa.nii.gz md.nii.gz -o means.tsv",
            "FA at each point and its mean, in the tractogram:",
            "glslines sample tracks.trx fa.nii.gz --to-dpv fa --stat-tck mean --to-dps mean_fa --trx with_fa.trx",
            "The numbers of tcksample:",
            "glslines sample tracks.tck fa.nii.gz --like mrtrix -o fa.txt",
            NULL,
        },
};

/* `glslines profile`: values of images along bundles. */
#define NAME profile
#define ROWS "sinks/profile.def"
#include "cmd/tract_table.def"

const cmd_command command_profile = {
    TRACT_COMMAND(profile, gls_tract_profile, "Bundle profiles by glslines", "takes TRACKS and one IMAGE or more", 2,
                  tract_shared_rows),
    .synopsis = "TRACKS IMAGE... [options]",
    .summary = "Profile images along bundles",
    .description = "Streamlines of a bundle are turned one way, cleaned if asked for, and resampled to nodes at equal "
                   "distances; each image is averaged over them at each node, those near the core counting more. The "
                   "table is that of pyAFQ: tractID, nodeID, then a column for each image. Memory: 12 bytes for each "
                   "node of the streamlines in bundles.",
    .positionals =
        (const char *const[]){
            "TRACKS",
            "Tractogram: a bundle, a TRX file whose groups are bundles, or any with --bundles.",
            "IMAGE...",
            "Images, NIfTI, of any grids in the same space; each is a column, named after its file.",
            NULL,
        },
    .max_positionals = 64,
    .examples =
        (const char *const[]){
            "FA and MD along the bundles of a file of glslines segment:",
            "glslines profile bundles.trx fa.nii.gz md.nii.gz -o profiles.csv",
            "The numbers of afq_profile of DIPY:",
            "glslines profile arcuate.trk fa.nii.gz --like dipy --orient standard.trk -o profile.csv",
            NULL,
        },
};

/* `glslines density`: a map of how many streamlines, or mm of them, lie in each voxel. */
#define NAME density
#define ROWS "sinks/density.def"
#include "cmd/tract_table.def"

const cmd_command command_density = {
    TRACT_COMMAND(density, gls_tract_density, "Track density by glslines", "takes TRACKS and OUT", 2,
                  tract_shared_rows),
    .synopsis = "TRACKS OUT [options]",
    .summary = "Map how many streamlines lie in each voxel",
    .description = "Counts for each voxel the streamlines that pass through it, each once. By default a streamline is "
                   "the line between its points, cut exactly at voxel faces, so that the map does not depend on step, "
                   "compression or format. Sums are whole numbers or fixed point: the same bytes for any number of "
                   "threads. Counts are written as int32, mm and weighted sums as float32.",
    .positionals =
        (const char *const[]){
            "TRACKS",
            "Tractogram: TRX (file or folder), TRK, TCK or VTK.",
            "OUT",
            "Map to write, NIfTI (.nii, .nii.gz).",
            NULL,
        },
    .max_positionals = 2,
    .aliases = (const char *const[]){"voxel", "voxel-size", "normalise", "normalize", NULL},
    .examples =
        (const char *const[]){
            "Streamlines in each voxel of the grid of an image:",
            "glslines density tracks.tck density.nii.gz --template fa.nii.gz",
            "The same numbers as tckmap:",
            "glslines density tracks.tck density.nii.gz --template fa.nii.gz --like mrtrix",
            "Weighted by SIFT2, in mm:",
            "glslines density tracks.trx density.nii.gz --mapping length --weights sift2.txt",
            "Mean FA of the streamlines in each voxel of 1 mm:",
            "glslines density tracks.tck fa.nii.gz --voxel-size 1 --contrast scalar_map --image fa.nii.gz --stat-vox "
            "mean",
            "Colours of their directions:",
            "glslines density tracks.tck dec.nii.gz --template fa.nii.gz --dec",
            NULL,
        },
};

/* `glslines connectome`: how many streamlines join each pair of regions. */
#define NAME connectome
#define ROWS "sinks/connectome.def"
#include "cmd/tract_table.def"

const cmd_command command_connectome = {
    TRACT_COMMAND(connectome, gls_tract_connectome, "Connectome by glslines", "takes TRACKS, LABELS and OUT", 3,
                  tract_shared_rows),
    .synopsis = "TRACKS LABELS OUT [options]",
    .summary = "Count the streamlines between each two regions of an image of labels",
    .description =
        "Defaults are those of tck2connectome of MRtrix3 3.0: each end belongs to the labelled voxel whose "
        "centre is nearest, within 4 mm; the matrix has counts in the upper triangle with the diagonal, and "
        "no header. Rows are the labels that occur, in ascending order; OUT_nodes.tsv and the sidecar list them.",
    .positionals =
        (const char *const[]){
            "TRACKS",
            "Tractogram: TRX (file or folder), TRK, TCK or VTK.",
            "LABELS",
            "Image of regions, NIfTI: whole numbers, 0 for none; of any grid in the same space.",
            "OUT",
            "Matrix to write: .csv with commas, .tsv with tabs, others with blanks.",
            NULL,
        },
    .max_positionals = 3,
    .examples =
        (const char *const[]){
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
        },
};

/* `glslines fixels`: the lobes of fibre orientation distributions as a fixel directory. */
#define NAME fixels
#define ROWS "sinks/fod.def"
#include "cmd/tract_table.def"

const cmd_command command_fixels = {
    TRACT_COMMAND(fixels, gls_tract_fixels, "Fixels by glslines", "takes SH and DIR", 2, tract_force_row),
    .synopsis = "SH DIR [options]",
    .summary = "Segment fibre orientation distributions into fixels",
    .description = "Writes index.nii and directions.nii, fd.nii (fibre density: the integral of a lobe and its "
                   "antipode), peak.nii (its amplitude) and fixels.json, as MRtrix3's fod2fixel.",
    .positionals =
        (const char *const[]){
            "SH",
            "FODs as spherical harmonics of even order up to 16, NIfTI, such as PREFIX_wm.nii.gz of 'glslines fit'.",
            "DIR",
            "Directory to write to; made where it does not exist.",
            NULL,
        },
    .max_positionals = 2,
    .examples =
        (const char *const[]){
            "Fixels for MRtrix3 and other programs:",
            "glslines fixels sub01_wm.nii.gz sub01_fixels",
            NULL,
        },
};

/* `glslines peaks`: the peaks of fibre orientation distributions as an image. */
#define NAME peaks
#define ROWS "sinks/fod_peaks.def"
#include "cmd/tract_table.def"

const cmd_command command_peaks = {
    TRACT_COMMAND(peaks, gls_tract_peaks, "Peaks by glslines", "takes SH", 1, tract_force_row),
    .synopsis = "SH -o FILE [options]",
    .summary = "Find the peaks of fibre orientation distributions",
    .description = "Writes the largest maxima of each voxel as vectors along the scanner axes, whose length is the "
                   "amplitude, as MRtrix3's sh2peaks. 'glslines track --peaks' and tckgen's FACT track them.",
    .positionals =
        (const char *const[]){
            "SH",
            "FODs as spherical harmonics of even order up to 16, such as PREFIX_wm.nii.gz of 'glslines fit'.",
            NULL,
        },
    .max_positionals = 1,
    .examples =
        (const char *const[]){
            "Peaks of FODs:",
            "glslines peaks sub01_wm.nii.gz -o sub01_peaks.nii.gz",
            "Streamlines along them:",
            "glslines track --peaks sub01_peaks.nii.gz --mask mask.nii.gz --roi wm.nii.gz --dg fact",
            "The strongest peak alone, of FODs in DIPY's basis:",
            "glslines peaks sh.nii.gz -o peaks.nii.gz --number 1 --sh-basis descoteaux07_legacy",
            NULL,
        },
};

/* `glslines weights`: how many fibres each streamline of a tractogram represents. */
#define NAME weights
#define ROWS "sinks/weights.def"
#define DEFAULTS gls_weights_cli_default()
#include "cmd/tract_table.def"

const cmd_command command_weights = {
    TRACT_COMMAND(weights, gls_tract_weigh, "Weights of streamlines by glslines", "takes TRACKS and SH", 2,
                  tract_shared_rows),
    .synopsis = "TRACKS SH [OUT] [options]",
    .summary = "Weight streamlines by fibre density: SIFT2, SIFT",
    .description = "Fits the density of streamlines in each fixel to that of the fibre orientation distributions. "
                   "Options, defaults and results are those of tcksift2 and tcksift of MRtrix3 3.0.4. For the results "
                   "of tcksift2 3.0.3, which Debian 12 has, take --single-visit keep. With --force it goes on where "
                   "all fixels are excluded. The same bytes for any number of threads and devices.",
    .positionals =
        (const char *const[]){
            "TRACKS",
            "Tractogram: TRX (file or folder), TRK, TCK or VTK.",
            "SH",
            "FODs as spherical harmonics of even order up to 16, NIfTI: those that were tracked.",
            "OUT",
            "What --output names; one of the two, or --in-place, is needed.",
            NULL,
        },
    .max_positionals = 3,
    .examples =
        (const char *const[]){
            "Weights for MRtrix3's -tck_weights_in:",
            "glslines weights tracks.tck sub01_wm.nii.gz -o sift2.txt --act 5tt.nii.gz --mu mu.txt",
            "Within a TRX file:",
            "glslines weights tracks.trx sub01_wm.nii.gz -o weighted.trx",
            "A connectome of them:",
            "glslines connectome weighted.trx parcels.nii.gz connectome.csv --weights dps:sift2_weights",
            "A selection of 100,000 streamlines:",
            "glslines weights tracks.tck sub01_wm.nii.gz -o selected.tck --method sift --term-number 100000",
            NULL,
        },
};
