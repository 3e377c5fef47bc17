/* Commands on tractograms: names, arguments and help. src/sinks and src/bench do their work. */
#include <cJSON.h>
#include <stdlib.h>
#include <string.h>

#include <glslines/report.h>

#include "bench/score_methods.h"
#include "cmd/commands.h"
#include "cmd/message.h"
#include "cmd/progress.h"
#include "options/help.h"
#include "record/sidecar.h"
#include "tools/image_info.h"
#include "tools/tract_results.h"
#include "util/plain.h"
#include "util/status.h"

/* Work of one command on tractograms, to which cmd_command.work points. */
typedef struct tract_work {
    const char *description; /* what the run did, in one sentence for the sidecar */
    gls_status (*work)(gls_tract_run *run, const void *options, const char *const *file, size_t n);
    /* error text for a wrong number of arguments; the upper limit is the command's max_positionals */
    const char *arguments; /* such as "takes IN and OUT" */
    int min_files;
} tract_work;

/* Values of a command on tractograms. The struct of the command's own rows follows at the offset TRACT_AT. */
typedef struct tract_values {
    cmd_common common;
    gls_tract_common shared;
} tract_values;
#define TRACT_AT sizeof(tract_values)

/* TRACT_FILES: the shared rows of a command that reads tractograms. TRACT_FORCE: those of one that reads none. */
#define TRACT_FORCE                                                        \
    {                                                                      \
        .table = gls_tract_force_row, .at = offsetof(tract_values, shared) \
    }
#define TRACT_FILES {.table = gls_tract_input_rows, .at = offsetof(tract_values, shared)}, TRACT_FORCE

/* Members of a command whose rows and defaults come from tract_table.def: rows NAME_rows at TRACT_AT, the shared rows,
 * the work, the size of the values, the defaults and tract_run(). */
#define TRACT_NAME(before, name, after) TRACT_JOIN(before, name, after)
#define TRACT_JOIN(before, name, after) before##name##after
#define TRACT_COMMAND(...) TRACT_COMMAND_BY(tract_run, __VA_ARGS__)
#define TRACT_COMMAND_BY(run_, name_, work_, description_, arguments_, min_files_, ...) \
    .name = #name_, .rows = {{.table = name_##_rows, .at = TRACT_AT}, __VA_ARGS__},     \
    .work = &(const tract_work){description_, work_, arguments_, min_files_},           \
    .values_size = TRACT_AT + sizeof(gls_##name_##_cli), .set_defaults = set_##name_##_defaults, .run = run_

/* For gls_tract_run.go_on: whether no signal has asked to stop. The monitor, not this function, shows progress. */
static bool go_on(void *user, double share)
{
    (void)user;
    (void)share;
    return !cmd_interrupted();
}

/* Entry of all commands on tractograms: makes a run from the command line, and an exit code from the run. */
static int tract_run(void *values, const cmd_arguments *arguments)
{
    const cmd_command *command = arguments->command;
    const tract_work *work = command->work;
    const size_t n = (size_t)arguments->n_positionals;
    if (arguments->n_positionals < work->min_files || arguments->n_positionals > command->max_positionals)
        return cmd_error(CMD_EXIT_USAGE, "%s: %s, got %zu argument%s", command->name, work->arguments, n,
                         n == 1 ? "" : "s");
    /* the sidecar begins with program, command line and parameters; the work adds its results */
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "Description", work->description);
    gls_sidecar_add_software(root, arguments->argc, arguments->argv);
    cmd_options_json(cJSON_AddObjectToObject(root, "parameters"), arguments, values);
    gls_tract_run run;
    gls_tract_run_init(&run, &((const tract_values *)values)->shared, root);
    run.go_on = go_on;
    run.monitor = cmd_monitor(true);
    cmd_interrupt_catch();
    gls_status status = work->work(&run, (const char *)values + TRACT_AT, arguments->positional, n);
    /* outputs have temporary names until all of them are complete */
    if (!status) status = gls_tract_run_commit(&run);
    /* text for standard output is printed after the files are in place */
    char *printed = status ? NULL : run.printed;
    if (printed) run.printed = NULL;
    int code = printed ? cmd_print(printed) : CMD_EXIT_OK;
    /* a run may write all of its files and still fail, for example because a check finds errors */
    if (!status) status = run.verdict;
    gls_tract_run_finish(&run);
    cmd_interrupt_release();
    return status ? cmd_error_status(status) : code;
}

/* `glslines info`: what a tractogram of any program holds. */
#define NAME info
#define ROWS "tools/info.def"
#include "cmd/tract_table.def"

const cmd_command command_info = {
    TRACT_COMMAND(info, gls_tract_info, "Tractograms and images as glslines reads them", "needs a file", 1,
                  TRACT_FILES),
    .synopsis = "FILE... [options]",
    .summary = "Show what tractograms and images hold: format, grid, counts, lengths, columns, gradients",
    .description = "Prints format, grid, columns, groups and keys of tractograms of any program. Without --count only "
                   "headers are read, and numbers are as the headers state; a header of TCK or TRK may be wrong. With "
                   "--count or --check all streamlines are read, with --count in constant memory. Of images it prints "
                   "grid, axes, strides, type of the values, and the shells of the gradient table in the header or "
                   "beside the file; with --count the range of the values.",
    .positionals =
        CMD_TEXTS("FILE", "Tractograms: TRX (file or folder), TRK, TCK, VTK or VTP, also .gz, recognised by their "
                          "contents; images, recognised by their suffix: .nii, .hdr, .img, .mif, .mih, also .gz."),
    .max_positionals = CMD_MAX_POSITIONALS,
    .examples = CMD_TEXTS(
        "What the header says:", "glslines info tracks.trx",
        "Lengths, steps, values, and whether all is well:", "glslines info tracks.tck --check --json tracks_info.json",
        "A series with its shells:", "glslines info dwi.nii.gz"),
};

/* `glslines convert`: a tractogram of any program in another format, with its columns and groups. */
#define NAME convert
#define ROWS "tools/convert.def"
#include "cmd/tract_table.def"

const cmd_command command_convert = {
    TRACT_COMMAND(convert, gls_tract_convert, "Tractogram converted by glslines", "takes IN and OUT", 2, TRACT_FILES),
    .of_tractograms = true,
    .synopsis = "IN OUT [options]",
    .writes = GLS_WRITES_TRACTOGRAM,
    .summary = "Convert a tractogram to TRX, TRK, TCK or VTK, with columns and groups",
    .description =
        "World positions stay as they are. Columns and groups go along as far as the format holds them; a warning "
        "names the others. Streamlines without points are left out and counted. A point that is not finite is an "
        "error. Memory grows with the number of streamlines only for --weights and --dps.",
    .positionals =
        CMD_TEXTS("IN", "Tractogram: TRX (file or folder), TRK, TCK, VTK or VTP, also .gz, recognised by its contents.",
                  "OUT", "Tractogram to write; the suffix .trx, .trk, .tck or .vtk gives the format."),
    .max_positionals = 2,
    .examples = CMD_TEXTS("For TrackVis and older programs:", "glslines convert tracks.trx tracks.trk",
                          "MRtrix3 tracks with their SIFT2 weights as TRX, which needs the grid of an image:",
                          "glslines convert tracks.tck tracks.trx --reference fa.nii.gz --weights sift2.txt"),
};

/* `glslines edit`: selects streamlines and changes their points. */
#define NAME edit
#define ROWS "tools/edit.def"
#include "cmd/tract_table.def"

const cmd_command command_edit = {
    TRACT_COMMAND(edit, gls_tract_edit, "Streamlines selected and shaped by glslines", "takes one IN or more, and OUT",
                  2, TRACT_FILES),
    .of_tractograms = true,
    .synopsis = "IN... OUT [options]",
    .writes = GLS_WRITES_TRACTOGRAM,
    .summary = "Select streamlines by regions, length, weight, groups; crop, resample, turn round",
    .description = "The order is always the same: inputs are joined, transformed, checked (--invalid), selected (all "
                   "tests must be passed), reduced in number (--skip, --number, --random), cropped, turned round, "
                   "given other points, compressed and written. By default a region between two points of a streamline "
                   "is met, too. Columns and groups go along. Memory grows with the number of streamlines only for "
                   "--unique, --minus and --and (16 to 32 bytes each) and for text files with a line for each.",
    .positionals = CMD_TEXTS(
        "IN...", "Tractograms: TRX (file or folder), TRK, TCK, VTK or VTP, also .gz; several are joined in this order.",
        "OUT", "Tractogram to write; the suffix .trx, .trk, .tck or .vtk gives the format."),
    .max_positionals = 256,
    .aliases = CMD_TEXTS("include-ends", "include-end", "exclude-ends", "exclude-end", "both-ends", "include-both-ends",
                         "minlength", "min-length", "maxlength", "max-length", "max-turn", "max-angle", "step",
                         "step-size", "seed", "rng-seed"),
    .examples = CMD_TEXTS(
        "Streamlines that pass a region and are no shorter than 40 mm:",
        "glslines edit tracks.trx cst.trx --include stem.nii.gz --exclude midline.nii.gz --min-length 40",
        "From one label to another, 1000 of them, 100 points each:",
        "glslines edit tracks.tck ab.tck --include-end aparc.nii.gz:1024 --include-end aparc.nii.gz:16 --random 1000 "
        "--points 100",
        "Two files as groups of one, without points that lie on a line:",
        "glslines edit left.trk right.trk both.trx --group-by-file --compress"),
};

/* `glslines stats`: lengths and shapes of tractograms. */
#define NAME stats
#define ROWS "tools/stats.def"
#include "cmd/tract_table.def"

const cmd_command command_stats = {
    TRACT_COMMAND(stats, gls_tract_stats, "Statistics of tractograms by glslines", "takes one TRACKS or more", 1,
                  TRACT_FILES),
    .of_tractograms = true,
    .synopsis = "TRACKS... [OUT] [options]",
    .summary = "Tabulate lengths and shapes of tractograms and of their groups",
    .description =
        "Writes a row for each file, and with --groups for each group: number, weight, points; mean, median, standard "
        "deviation, quartiles and extremes of lengths; median step. For --shape the first points are the start of a "
        "bundle, the last points its end: turn streamlines round first (edit --orient, segment). Memory does not grow "
        "with the number of streamlines, but large files are read several times.",
    .positionals = CMD_TEXTS("TRACKS...", "Tractograms: TRX (file or folder), TRK, TCK, VTK or VTP, also .gz.", "OUT",
                             "The table of --output, .tsv or .csv."),
    .max_positionals = 256,
    .out_suffixes = ".tsv .csv",
    .examples = CMD_TEXTS("Lengths:", "glslines stats tracks.tck", "Shape of each bundle:",
                          "glslines stats bundles.trx --groups --shape --template fa.nii.gz -o shapes.tsv"),
};

/* `glslines segment`: bundles by a table of rules. */
#define NAME segment
#define ROWS "tools/segment.def"
#include "cmd/tract_table.def"

const cmd_command command_segment = {
    TRACT_COMMAND(segment, gls_tract_segment, "Bundles by glslines", "takes TRACKS and BUNDLES", 2, TRACT_FILES),
    .synopsis = "TRACKS BUNDLES [OUT] [options]",
    .summary = "Find bundles by regions, lengths and directions",
    .description = "Columns of the table: bundle (name; alone required); include, "
                   "exclude (regions joined by ;), include_any (of these one at least); "
                   "start, end (region of the first and the last point); ends (image of both, its two largest parts); "
                   "all (region that holds the streamline), all_fraction (share of length that suffices); min_length, "
                   "max_length (mm); min_span, max_span (mm from end to end); length_x (LOW,HIGH mm from end to end "
                   "along x), length_x_abs (the same of the way forth and back), also with y and z; max_winding "
                   "(largest sum of angles between steps, degrees), angle (largest angle around the mean point, "
                   "degrees); cross_midline (yes, no), midline (its x in mm; empty: 0); primary_axis (L/R, P/A, I/S); "
                   "include_tolerance, exclude_tolerance, end_tolerance (mm by which regions are widened); ordered, "
                   "clean (yes). Streamlines are turned to run from start to end, else from the first to the last "
                   "include region, else along their mean. Regions must be in the space of the streamlines.",
    .positionals =
        CMD_TEXTS("TRACKS", "Tractogram: TRX (file or folder), TRK, TCK, VTK or VTP, also .gz.", "BUNDLES",
                  "Table with tabs, a row for each bundle and the columns above; or scilpy's JSON of bundles.", "OUT",
                  "The tractogram of --output."),
    .max_positionals = 3,
    .examples =
        CMD_TEXTS("Bundles as groups of one file, and how many there are:",
                  "glslines segment tracks.trx bundles.tsv -o bundles.trx --table bundles_counts.tsv",
                  "Each streamline in one bundle, without outliers:",
                  "glslines segment tracks.tck bundles.tsv --reference fa.nii.gz -o bundles.trx --unique --clean",
                  "A file for each bundle and their counts, named as pyAFQ does it:",
                  "glslines segment tracks.trx bundles.tsv --each sub-01_desc-{}_tractography.trx --counts "
                  "sub-01_desc-slCount_tractography.csv"),
};

/* `glslines cluster`: clusters of streamlines that run alike. */
#define NAME cluster
#define ROWS "tools/cluster.def"
#include "cmd/tract_table.def"

const cmd_command command_cluster = {
    TRACT_COMMAND(cluster, gls_tract_cluster, "Clusters of streamlines by glslines", "takes TRACKS", 1, TRACT_FILES),
    .of_tractograms = true,
    .synopsis = "TRACKS [OUT] [options]",
    .summary = "Cluster streamlines that run alike: QuickBundles, QuickBundlesX",
    .since = "0.2.0",
    .description = "A streamline joins the cluster whose centroid is nearest, or founds one. The distance (MDF) is the "
                   "mean distance of points at equal steps, in the better of both directions. Clusters and centroids "
                   "are those of DIPY for the same order, to the bit, with any number of threads. Memory: 4 bytes for "
                   "each streamline with --order file, else 12 for each point, of which --points says how many.",
    .positionals = CMD_TEXTS("TRACKS", "Tractogram: TRX (file or folder), TRK, TCK, VTK or VTP, also .gz.", "OUT",
                             "The tractogram of --output."),
    .max_positionals = 2,
    .aliases = CMD_TEXTS("seed", "rng-seed"),
    .examples = CMD_TEXTS(
        "Clusters within 10 mm, as a column of the tractogram:", "glslines cluster tracks.trx -o clusters.trx",
        "Their centroids and a table of their sizes, the largest first:",
        "glslines cluster tracks.tck --thresholds 40,30,20,10 --by-size --centroids centroids.tck "
        "--table clusters.tsv",
        "The 20 largest clusters as groups:",
        "glslines cluster tracks.trx -o clusters.trx --threshold 15 --largest 20"),
};

/* `glslines search`: neighbours of streamlines among references. */
#define NAME search
#define ROWS "tools/search.def"
#include "cmd/tract_table.def"

const cmd_command command_search = {
    TRACT_COMMAND(search, gls_tract_search, "Neighbours of streamlines by glslines", "takes TRACKS and REFERENCES", 2,
                  TRACT_FILES),
    .of_tractograms = true,
    .synopsis = "TRACKS REFERENCES [OUT] [options]",
    .summary = "Find the streamlines that are near those of another tractogram",
    .since = "0.2.0",
    .description = "Finds for each streamline the references within a radius, or the nearest ones. The search is "
                   "exact: bounds skip only pairs that are farther. Each pair is listed once, with the better of both "
                   "directions. TRACKS is read as a stream; the references need 24 bytes for each of --points.",
    .positionals =
        CMD_TEXTS("TRACKS", "Tractogram: TRX (file or folder), TRK, TCK, VTK or VTP, also .gz.", "REFERENCES",
                  "Tractogram such as a bundle or an atlas, in the same space, or in another with --transform.", "OUT",
                  "The table of --output."),
    .max_positionals = 3,
    .examples = CMD_TEXTS(
        "Streamlines within 8 mm of those of a bundle:", "glslines search tracks.trx arcuate.trk --tracks near.trx",
        "The three nearest references of each, however far:",
        "glslines search tracks.tck atlas.tck --nearest 3 --radius 1000 -o neighbours.tsv"),
};

/* `glslines recognize`: the bundles of an atlas. */
#define NAME recognize
#define ROWS "tools/recognize.def"
#define DEFAULTS gls_recognize_cli_default()
#include "cmd/tract_table.def"

const cmd_command command_recognize = {
    TRACT_COMMAND(recognize, gls_tract_recognize, "Bundles recognised by glslines", "takes TRACKS and ATLAS", 2,
                  TRACT_FILES),
    .synopsis = "TRACKS ATLAS [OUT] [options]",
    .summary = "Recognise the bundles of an atlas",
    .since = "0.2.0",
    .description =
        "Moves each bundle of the atlas to the streamlines near it (by a registration of centroids), then finds all "
        "streamlines within a distance of it. With several atlases --vote-ratio says how many must agree. This is the "
        "method of BundleSeg, "
        "with an exact search. A streamline may be in several bundles. The atlas must lie in the space of TRACKS to "
        "within about 20 mm and 10 degrees; --atlas-transform brings it there. Memory: about 320 bytes for each "
        "streamline. --method recobundles moves the clusters near a bundle to it instead, and takes those that are "
        "near "
        "it then: 500 bytes for each.",
    .positionals =
        CMD_TEXTS("TRACKS", "Tractogram: TRX (file or folder), TRK, TCK, VTK or VTP, also .gz.", "ATLAS",
                  "Folder of tractograms (TRX, TRK, TCK, VTK or VTP), each a bundle named up to the first dot; or a "
                  "folder of such folders, each an atlas; or a TRX file whose groups are bundles.",
                  "OUT", "The tractogram of --output."),
    .max_positionals = 3,
    .aliases = CMD_TEXTS("seed", "rng-seed"),
    .examples =
        CMD_TEXTS("The bundles of a folder as groups of one file, and how well they were found:",
                  "glslines recognize tracks.trx atlas/ -o bundles.trx --table bundles.tsv",
                  "A file for each bundle, with thresholds of its own:",
                  "glslines recognize tracks.tck atlases/ --config config.json --each found/{}.tck",
                  "RecoBundles:", "glslines recognize tracks.trx atlas/ -o bundles.trx --method recobundles --refine"),
};

/* `glslines similarity`: how alike bundles are. */
#define NAME similarity
#define ROWS "tools/similarity.def"
#include "cmd/tract_table.def"

const cmd_command command_similarity = {
    TRACT_COMMAND(similarity, gls_tract_similarity, "Similarity of bundles by glslines", "takes one INPUT or more", 1,
                  TRACT_FILES),
    .of_tractograms = true,
    .synopsis = "INPUT... [OUT] [options]",
    .summary = "Measure how alike bundles are",
    .since = "0.2.0",
    .description =
        "Compares the bundles of the same name of each two inputs: overlap of voxels and of end voxels, "
        "correlation of densities, and distances of voxels and of centroids, with the names of scilpy and DIPY. "
        "Inputs that are all single tractograms are compared whatever their names are. All must lie in the same space. "
        "Memory: 16 bytes for each voxel and input.",
    .positionals = CMD_TEXTS(
        "INPUT...",
        "Folders of tractograms, each a bundle named up to the first dot; TRX files whose groups are bundles; or "
        "tractograms, each a single bundle.",
        "OUT", "The table of --output, .tsv or .csv."),
    .max_positionals = 1024,
    .out_suffixes = ".tsv .csv",
    .aliases = CMD_TEXTS("seed", "rng-seed"),
    .examples = CMD_TEXTS("The bundles of two sessions:", "glslines similarity one.trx two.trx -o similarity.tsv",
                          "Recognised bundles against those of an expert, on the grid of the images:",
                          "glslines similarity found/ --against expert/ -o similarity.tsv --template fa.nii.gz",
                          "DIPY's matrix of shape similarity of several subjects:",
                          "glslines similarity sub-*.trx -o ba.tsv --matrix ba"),
};

/* `glslines atlas`: models of bundles from several subjects. */
#define NAME atlas
#define ROWS "tools/atlas.def"
#include "cmd/tract_table.def"

const cmd_command command_atlas = {
    TRACT_COMMAND(atlas, gls_tract_atlas, "Atlas of bundles made by glslines", "takes two SUBJECT or more", 2,
                  TRACT_FILES),
    .of_tractograms = true,
    .synopsis = "SUBJECT... -o FILE [options]",
    .summary = "Make an atlas of the bundles of several subjects",
    .since = "0.2.0",
    .description =
        "Brings subjects to one place between them, registering them in pairs by the centroids of all their bundles. "
        "Then clusters the streamlines of each bundle of all subjects, and keeps one of each cluster that enough "
        "subjects have. The result is an atlas for 'glslines recognize' and 'glslines profile --assign'. Memory: 252 "
        "bytes for each streamline.",
    .positionals = CMD_TEXTS(
        "SUBJECT...",
        "For each subject a folder of tractograms, each a bundle named up to the first dot, or a TRX file whose "
        "groups are bundles, such as 'glslines segment' and 'recognize' write."),
    .max_positionals = 1024,
    .aliases = CMD_TEXTS("seed", "rng-seed"),
    .examples = CMD_TEXTS(
        "An atlas of four subjects:",
        "glslines atlas sub-1/ sub-2/ sub-3/ sub-4/ -o atlas.trx --config thresholds.json --reference fa.nii.gz",
        "The bundles of a fifth subject:",
        "glslines recognize sub-5.trx atlas.trx --config thresholds.json -o bundles.trx"),
};

/* `glslines clean`: drops outliers, repetitions and wrong shapes from a bundle, and gives it one direction. */
#define NAME clean
#define ROWS "tools/outliers.def"
#include "cmd/tract_table.def"

const cmd_command command_clean = {
    TRACT_COMMAND(clean, gls_tract_clean, "Bundle cleaned by glslines", "takes TRACKS and OUT", 2, TRACT_FILES),
    .of_tractograms = true,
    .synopsis = "TRACKS OUT [options]",
    .writes = GLS_WRITES_TRACTOGRAM,
    .summary = "Drop outliers, loops and repetitions from a bundle, and turn it one way",
    .since = "0.2.0",
    .description =
        "Takes all streamlines of TRACKS as one bundle. Streamlines that repeat others are dropped first, with "
        "--duplicates, then those of a wrong shape, with --loops, --max-curvature and --sharp-turns, then those that "
        "lie "
        "apart, by --method. What stays can be divided into parts (--sub-bundles) and get one direction (--orient). "
        "The "
        "column clean_score has the score of each streamline; --rejected writes those that are dropped, and with "
        "--keep-all they stay as a group. Memory: 144 bytes for each streamline, with qb 400, with --orient 300.",
    .positionals = CMD_TEXTS("TRACKS", "Tractogram of a bundle: TRX (file or folder), TRK, TCK, VTK or VTP, also .gz.",
                             "OUT", "Tractogram to write; the suffix .trx, .trk, .tck or .vtk gives the format."),
    .max_positionals = 2,
    .examples = CMD_TEXTS("As scilpy's hierarchical QuickBundles:", "glslines clean arcuate.trk clean.trk",
                          "By the cluster confidence index, without duplicates:",
                          "glslines clean arcuate.trk clean.trk --method cci --duplicates 0.5 --rejected rest.trk",
                          "Without loops and sharp turns, all in one direction:",
                          "glslines clean arcuate.trk clean.trk --loops 360 --sharp-turns --orient auto"),
};

/* `glslines score`: scores a tractogram; or tracks the built-in phantom with the models and direction getters that are
 * asked for, and scores the results against its bundles. */
#define NAME score
#define ROWS "tools/score.def"
#define DEFAULTS gls_score_cli_default()
#include "cmd/tract_table.def"

const cmd_command command_score = {
    TRACT_COMMAND(score, gls_tract_score, "Scores by glslines", "takes TRACKS or nothing", 0, TRACT_FILES),
    .of_tractograms = true,
    .synopsis = "[TRACKS] [options]",
    .summary = "Score a tractogram against known bundles, or every method on the phantom",
    .description =
        "Without TRACKS, makes the built-in phantom, tracks it by the models of --model and the direction getters of "
        "--dg, and prints how the streamlines compare with its bundles. With TRACKS, a tractogram is scored in the "
        "same way against the bundles of --truth, or compared with that of --against. A streamline is valid (VS) if "
        "its ends lie within one voxel (--end-distance) of the two end regions of a bundle and it stays within two "
        "voxels (--route-distance) of bundle and end regions. It has a wrong path (WPC) if only the ends are right. It "
        "is an invalid connection (IC) if it joins end regions of different bundles, and no connection (NC) otherwise. "
        "Overlap is the share of the bundle's voxels that valid streamlines visit; overreach is the share of the "
        "voxels that they visit outside bundle and end regions; f1 is the harmonic mean of overlap and 1 - overreach.",
    .positionals = CMD_TEXTS("TRACKS", "Tractogram to score with --truth or --against; none: the phantom is tracked."),
    .max_positionals = 1,
    .aliases = CMD_TEXTS("seed", "rng-seed"),
    .examples = CMD_TEXTS("The usual methods:", "glslines score", "Deconvolution, with a row for each bundle:",
                          "glslines score --model csd --bundles --json scores.json",
                          "A tractogram against bundles that are known:",
                          "glslines score tracks.trx --truth bundles.tsv --json scores.json",
                          "The same by the JSON of scilpy, whose files lie in a folder:",
                          "glslines score tracks.trk --truth config.json --folder scoring_data",
                          "Two tractograms:", "glslines score tracks.trx --against other.trx"),
};

/* --- Commands that make values, maps, matrices, fixels and weights. */

/* `glslines register`: the transform between two images or tractograms. */
#define NAME register
#define ROWS "tools/register.def"
#include "cmd/tract_table.def"

/* Makes the report of a registration from its sidecar. */
static void report_registration(const char *prefix, bool force)
{
    gls_report_options options = gls_report_options_default();
    gls_report_result made;
    char *sidecar = NULL, *page = NULL;
    gls_status status = gls_run_join(prefix, ".json", &sidecar);
    if (!status && gls_asprintf(&page, "%s.html", prefix) < 0) status = gls_no_memory();
    options.output = page;
    options.force = force;
    if (!status) status = gls_report_files(sidecar, &options, NULL, &made);
    if (status) gls_log(GLS_LOG_WARNING, "the report was not made: %s", gls_last_error());
    free(sidecar);
    free(page);
}

/* Entry of `glslines register`: refuses options of tractograms beside images, and the reverse. */
static int register_run(void *values, const cmd_arguments *arguments)
{
    const char *file = arguments->n_positionals > 0 ? arguments->positional[0] : NULL;
    const bool image = file && gls_image_is_name(file);
    for (size_t i = 0; i < arguments->table.n && file; i++) {
        const gls_option *row = &arguments->table.option[i];
        const bool of_images = strncmp(row->group, "Images", strlen("Images")) == 0;
        const bool of_tracks =
            strcmp(row->group, "Tractograms") == 0 || gls_options_find(gls_tract_input_rows, row->name);
        if (arguments->given[i] && (image ? of_tracks : of_images))
            return cmd_error(CMD_EXIT_USAGE, "--%s: is for %s, but %s is %s", row->name,
                             image ? "tractograms" : "images", file, image ? "an image" : "a tractogram");
    }
    gls_warnings seen; /* the report reads the images again: what is wrong with their headers is said once */
    gls_warnings_begin(&seen);
    const int code = tract_run(values, arguments);
    const gls_register_cli *o = (const void *)((const char *)values + TRACT_AT);
    if (code == CMD_EXIT_OK && o->report) report_registration(o->output, ((tract_values *)values)->shared.force);
    gls_warnings_end(&seen);
    return code;
}

const cmd_command command_register = {
    TRACT_COMMAND_BY(register_run, register, gls_tract_register,
                     "Transform between two images or tractograms, found by glslines", "takes MOVING and FIXED", 2,
                     TRACT_FILES),
    .synopsis = "MOVING FIXED -o PREFIX [options]",
    .summary = "Find the transform between two images or two tractograms",
    .since = "0.2.0",
    .description =
        "Aligns the image MOVING to the image FIXED: a search of starts, then a rigid and an affine map by normalised "
        "mutual information, which suits images of any two contrasts, then a smooth field with an inverse by local "
        "correlation. 'glslines transform' applies what is written, and so do ANTs, ITK and MRtrix3. Headers are "
        "checked, never repaired. Of two tractograms it finds the linear map that brings streamlines nearest to each "
        "other: of whole brains by the centroids of their clusters, of a bundle by its streamlines. The result does "
        "not depend on the number of threads.",
    .positionals = CMD_TEXTS(
        "MOVING", "Image (.nii, .hdr, .img, .mif, .mih, also .gz) or tractogram that is to be brought to the other.",
        "FIXED", "Image or tractogram to which it is brought."),
    .max_positionals = 2,
    .examples = CMD_TEXTS("A template to a T1; 'glslines transform' then brings its labels there:",
                          "glslines register template.nii.gz t1.nii.gz -o tpl", "A T1 to the mean b=0 of a series:",
                          "glslines register t1.nii.gz b0.nii.gz --type rigid -o t1_to_dwi --warped",
                          "The tractogram of a subject to an atlas:",
                          "glslines register tracks.trx whole_brain_MNI.trk -o to_atlas --moved tracks_in_atlas.trx"),
};

/* `glslines anat`: a T1 and an atlas in the space of a series. */
#define NAME anat
#define ROWS "tools/anat.def"
#include "cmd/tract_table.def"

const cmd_command command_anat = {
    TRACT_COMMAND(anat, gls_tract_anat, "T1 and atlas in the space of a series, by glslines", "takes T1, or --fod", 0,
                  TRACT_FORCE),
    .synopsis = "T1 --dwi DWI --template IMAGE --labels LABELS -o DIR [options]",
    .summary = "Bring a T1 and an atlas to the space of a series: brain mask, tissue, labels",
    .since = "0.2.0",
    .description =
        "Aligns the T1 to the series by a rigid map and to the template by a smooth field; then makes, on one grid in "
        "the space of the series, the brain mask, the T1 without its bias field, fractions of white matter, grey "
        "matter and CSF, the five tissues for 'glslines track --act', and the labels of the atlas for --connectome. "
        "Each image is interpolated once, from its file. Headers are checked, never repaired.",
    .positionals =
        CMD_TEXTS("T1", "T1-weighted image of the subject, whole head (.nii, .hdr, .img, .mif, .mih, also .gz). With "
                        "--fod there is none."),
    .max_positionals = 1,
    .examples =
        CMD_TEXTS("All that a connectome needs:",
                  "glslines anat t1.nii.gz --dwi dwi.nii.gz --template tpl-MNI_T1w.nii.gz --template-mask "
                  "tpl-MNI_mask.nii.gz --labels aal.nii.gz,aal.txt -o anat",
                  "Brain mask and tissue without a template:", "glslines anat t1.nii.gz --dwi dwi.nii.gz -o anat",
                  "The same without a T1, from a fit with three tissues:",
                  "glslines anat --fod fit_wm.nii.gz --gm fit_gm.nii.gz --csf fit_csf.nii.gz -o anat"),
};

/* `glslines transform`: images and tractograms in the space of another image. */
#define NAME transform
#define ROWS "tools/transform.def"
#include "cmd/tract_table.def"

const cmd_command command_transform = {
    TRACT_COMMAND(transform, gls_tract_transform, "Image or tractogram transformed by glslines", "takes IN", 1,
                  TRACT_FILES),
    .synopsis = "IN -t FILE [-t FILE ...] -o OUT [options]",
    .summary = "Bring images and tractograms to the space of another image",
    .since = "0.2.0",
    .description =
        "Transforms of ANTs, ITK, MRtrix3, FSL, AFNI, FreeSurfer, NiftyReg and DIPY map points of the fixed "
        "image, to whose space IN is brought, to points of the moving image, to which IN belongs. Images are "
        "resampled by them; points of streamlines go by their inverse; directions of gradient tables turn with affine "
        "maps. With the word compose for IN the chain itself is written as one transform, also for another program. "
        "'glslines help transforms' lists the formats.",
    .positionals = CMD_TEXTS(
        "IN",
        "Image (.nii, .hdr, .img, .mif, .mih, also .gz), tractogram of any format, gradient table (.bvec, .bvecs, .b); "
        "or compose."),
    .max_positionals = 1,
    .examples = CMD_TEXTS("An atlas in the space of a series, by what antsRegistration found:",
                          "glslines transform atlas.nii.gz -t warp.nii.gz -t affine.mat --template fa.nii.gz -o "
                          "labels.nii.gz",
                          "Streamlines to the template, by the inverse:",
                          "glslines transform tracks.tck -t affine.mat,inverse -o template.tck",
                          "One field of MRtrix3 from a field and an affine map of ANTs:",
                          "glslines transform compose -t warp.nii.gz -t affine.mat -o deformation.mif"),
};

/* `glslines sample`: values of images along streamlines. */
#define NAME sample
#define ROWS "tools/sample.def"
#include "cmd/tract_table.def"

const cmd_command command_sample = {
    TRACT_COMMAND(sample, gls_tract_sample, "Values along streamlines by glslines",
                  "takes TRACKS and one IMAGE or more", 2, TRACT_FILES),
    .synopsis = "TRACKS IMAGE... [OUT] [options]",
    .summary = "Sample images along streamlines: at each point, or as mean, median ... of each",
    .description = "Images are interpolated at the points of streamlines, or, with --by voxel, taken from the voxels "
                   "that they pass. Points outside an image are left out, unless --outside zero or --like mrtrix is "
                   "given. Memory does not grow with the number of streamlines.",
    .positionals = CMD_TEXTS("TRACKS", "Tractogram: TRX (file or folder), TRK, TCK, VTK or VTP, also .gz.", "IMAGE...",
                             "Images, NIfTI or MIF, of any grids in the same space; each volume is a column.", "OUT",
                             "The table of --output, .tsv, .csv or .txt."),
    .max_positionals = 64,
    .out_suffixes = ".tsv .csv .txt",
    .examples =
        CMD_TEXTS("Mean FA and MD of each streamline:", "glslines sample tracks.trx fa.nii.gz md.nii.gz -o means.tsv",
                  "FA at each point and its mean, in the tractogram:",
                  "glslines sample tracks.trx fa.nii.gz --to-dpv fa --stat-tck mean --to-dps mean_fa --trx with_fa.trx",
                  "The numbers of tcksample:", "glslines sample tracks.tck fa.nii.gz --like mrtrix -o fa.txt"),
};

/* `glslines profile`: values of images along bundles. */
#define NAME profile
#define ROWS "tools/profile.def"
#define DEFAULTS gls_profile_cli_default()
#include "cmd/tract_table.def"

const cmd_command command_profile = {
    TRACT_COMMAND(profile, gls_tract_profile, "Bundle profiles by glslines", "takes TRACKS and one IMAGE or more", 2,
                  TRACT_FILES),
    .synopsis = "TRACKS IMAGE... OUT [options]",
    .summary = "Profile images along bundles",
    .description = "Streamlines of a bundle are turned one way, cleaned if asked for, and resampled to nodes at equal "
                   "distances; each image is averaged at each node over the streamlines, which by default count more "
                   "near the core, the mean line of the bundle. The table has the form of pyAFQ's: tractID, nodeID, "
                   "then a column for each image. Memory: 12 bytes for each node of the streamlines in bundles.",
    .positionals = CMD_TEXTS(
        "TRACKS", "Tractogram: a bundle, a TRX file whose groups are bundles, or any with --bundles.", "IMAGE...",
        "Images, NIfTI or MIF, of any grids in the same space; each volume is a column, named after its file.", "OUT",
        "Table to write, .csv or .tsv; or --output FILE."),
    .max_positionals = 64,
    .out_suffixes = ".csv .tsv",
    .examples = CMD_TEXTS("FA and MD along the bundles of a file of glslines segment:",
                          "glslines profile bundles.trx fa.nii.gz md.nii.gz -o profiles.csv",
                          "The numbers of afq_profile of DIPY:",
                          "glslines profile arcuate.trk fa.nii.gz --like dipy --orient standard.trk -o profile.csv"),
};

/* `glslines density`: a map of how many streamlines, or mm of them, lie in each voxel. */
#define NAME density
#define ROWS "tools/density.def"
#include "cmd/tract_table.def"

const cmd_command command_density = {
    TRACT_COMMAND(density, gls_tract_density, "Track density by glslines", "takes TRACKS and OUT", 2, TRACT_FILES),
    .synopsis = "TRACKS OUT [options]",
    .writes = GLS_WRITES_IMAGE,
    .summary = "Map how many streamlines lie in each voxel",
    .description = "Counts for each voxel the streamlines that pass through it, each streamline once. By default a "
                   "streamline is the line between its points, cut exactly at voxel faces, so that the map hardly "
                   "depends on the spacing of its points. Any number of threads gives the same bytes. Counts are "
                   "written as int32, or as float64 if one is too large; other values as float32.",
    .positionals = CMD_TEXTS("TRACKS", "Tractogram: TRX (file or folder), TRK, TCK, VTK or VTP, also .gz.", "OUT",
                             "Map to write: .nii, .nii.gz, .mif or .mif.gz."),
    .max_positionals = 2,
    .aliases = CMD_TEXTS("voxel", "voxel-size", "normalise", "normalize"),
    .examples = CMD_TEXTS(
        "Streamlines in each voxel of the grid of an image:",
        "glslines density tracks.tck density.nii.gz --template fa.nii.gz",
        "The same numbers as tckmap:", "glslines density tracks.tck density.nii.gz --template fa.nii.gz --like mrtrix",
        "Weighted by SIFT2, in mm:", "glslines density tracks.trx density.nii.gz --mapping length --weights sift2.txt",
        "Mean FA of the streamlines in each voxel of 1 mm:",
        "glslines density tracks.tck fa_1mm.nii.gz --voxel-size 1 --contrast scalar_map --image fa.nii.gz --stat-vox "
        "mean",
        "Colours of their directions:", "glslines density tracks.tck dec.nii.gz --template fa.nii.gz --dec"),
};

/* `glslines connectome`: how many streamlines join each pair of regions. */
#define NAME connectome
#define ROWS "tools/connectome.def"
#define DEFAULTS gls_connectome_cli_default()
#include "cmd/tract_table.def"

const cmd_command command_connectome = {
    TRACT_COMMAND(connectome, gls_tract_connectome, "Connectome by glslines", "takes TRACKS, LABELS and OUT", 3,
                  TRACT_FILES),
    .synopsis = "TRACKS LABELS OUT [LABELS OUT]... [options]",
    .writes = GLS_WRITES_TEXT,
    .out_step = 2,
    .summary = "Count the streamlines between each pair of regions of an image of labels",
    .description =
        "Defaults are those of tck2connectome of MRtrix3 3.0: each end belongs to the labelled voxel whose centre is "
        "nearest, within 4 mm; the matrix has counts in the upper triangle with the diagonal, and no header. Rows are "
        "the labels that occur in LABELS, in ascending order, unlike in tck2connectome (see --labels); OUT_nodes.tsv "
        "(OUT without its suffix) and the sidecar list them. Further pairs of LABELS and OUT are matrices of the same "
        "streamlines, which are read once; each has the bytes of its own run.",
    .positionals = CMD_TEXTS("TRACKS", "Tractogram: TRX (file or folder), TRK, TCK, VTK or VTP, also .gz.", "LABELS",
                             "Image of regions, NIfTI or MIF, on any grid in the same space: whole numbers, 0 for "
                             "none.",
                             "OUT", "Matrix to write: .csv with commas, .tsv with tabs, others with blanks."),
    .max_positionals = CMD_MAX_POSITIONALS,
    .examples = CMD_TEXTS(
        "Streamlines between each pair of regions:", "glslines connectome tracks.tck parcels.nii.gz connectome.csv",
        "Weighted by SIFT2, both triangles:",
        "glslines connectome tracks.tck parcels.nii.gz sift2.csv --weights sift2.txt --symmetric --zero-diagonal",
        "Mean FA of the streamlines of a cell, from a table of glslines sample; names of FreeSurfer:",
        "glslines connectome tracks.tck aparc.nii.gz fa.csv --scale-file fa.txt --stat-edge mean --lut "
        "FreeSurferColorLUT.txt --header",
        "Two atlases in one reading:",
        "glslines connectome tracks.tck aparc.nii.gz aparc.csv schaefer.nii.gz schaefer.csv", "Mean length in mm:",
        "glslines connectome tracks.tck parcels.nii.gz length.csv --scale length --stat-edge mean"),
};

/* `glslines edges`: the streamlines of each edge of a connectome. */
#define NAME edges
#define ROWS "tools/edges.def"
#include "cmd/tract_table.def"

const cmd_command command_edges = {
    TRACT_COMMAND(edges, gls_tract_edges, "Streamlines of the edges of a connectome by glslines",
                  "takes TRACKS, ASSIGNMENTS and OUT", 3, TRACT_FILES),
    .of_tractograms = true,
    .synopsis = "TRACKS ASSIGNMENTS|LABELS OUT [options]",
    .summary = "Extract the streamlines of each edge or region of a connectome, or exemplars of edges",
    .since = "0.2.0",
    .description = "Sorts streamlines by the labels of their ends, as connectome2tck of MRtrix3 does: each pair of two "
                   "labels is an "
                   "edge. Streamlines that begin and end in one region, and those with an end in none, are left out "
                   "unless options "
                   "keep them; edges without streamlines get no file. Streamlines with three labels or more belong to "
                   "each pair of "
                   "them. Memory: 30 bytes for each streamline, with --exemplars 5 kB for each edge. More than 256 "
                   "files are written "
                   "in several readings.",
    .positionals =
        CMD_TEXTS("TRACKS", "Tractogram: TRX (file or folder), TRK, TCK, VTK or VTP, also .gz.", "ASSIGNMENTS|LABELS",
                  "Text file with the labels that each streamline joins, as --assignments of 'glslines connectome' or "
                  "-out_assignments of tck2connectome writes it; or an image of labels, of which each end gets the "
                  "nearest within "
                  "4 mm, as by 'glslines connectome'.",
                  "OUT",
                  "Tractogram to write. With --files per_edge and per_node its name gets the labels before the suffix: "
                  "out/edge-.tck stands for out/edge-3-7.tck and others; without a suffix .tck is added."),
    .max_positionals = 3,
    .examples =
        CMD_TEXTS("All edges as groups of one file:", "glslines edges tracks.trx parcels.nii.gz edges.trx",
                  "A file for each edge, from the assignments of tck2connectome:",
                  "glslines edges tracks.tck assignments.txt edge-.tck", "The streamlines between the regions 1 and 2:",
                  "glslines edges tracks.tck assignments.txt between.tck --nodes 1,2 --exclusive --files single",
                  "One line for each edge, as mrview shows connectomes:",
                  "glslines edges tracks.tck assignments.txt exemplars.tck --exemplars parcels.nii.gz --files single"),
};

/* `glslines permute`: permutation tests of the connectomes of several subjects. */
#define NAME permute
#define ROWS "tools/permute.def"
#include "cmd/tract_table.def"

/* Entry: refuses options that others leave without an effect. */
static int permute_run(void *values, const cmd_arguments *arguments)
{
    static const struct {
        const char *by, *name[5];
    } idle[] = {{"notest", {"nshuffles", "rng-seed", "permutations", "strong"}},
                {"permutations", {"nshuffles", "rng-seed"}}};
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++) {
        const char *name = cmd_options_first(arguments, idle[i].name);
        if (name && cmd_options_given(arguments, idle[i].by))
            return cmd_error(CMD_EXIT_USAGE, "--%s: has no effect with --%s: leave one of them out", name, idle[i].by);
    }
    return tract_run(values, arguments);
}

const cmd_command command_permute = {
    TRACT_COMMAND_BY(permute_run, permute, gls_tract_permute, "Permutation tests by glslines",
                     "takes FILES, DESIGN and CONTRASTS", 3, TRACT_FORCE),
    .synopsis = "FILES DESIGN CONTRASTS -o PREFIX [options]",
    .summary = "Test connectomes or vectors of the subjects of a study by permutations",
    .since = "0.2.0",
    .description =
        "Fits a linear model to each edge, or each element of a vector, and compares its statistic with those after "
        "subjects were permuted, by the method of Freedman and Lane, as connectomestats and vectorstats of MRtrix3 do. "
        "A "
        "corrected p-value holds over all edges. No column of ones is added to the design. For each hypothesis (t1, t2 "
        "... for the rows of CONTRASTS, F1 ... for F-tests) it writes PREFIX_tvalue_t1.csv or Fvalue_F1, Zstat (the "
        "same as "
        "a standard normal number), enhanced, fwe_1mpvalue (1 minus the corrected p), uncorrected_pvalue (the share of "
        "shuffles that are smaller, 1 minus p), null_contributions, null_dist, and of the data beta_0 ..., std_dev, "
        "abs_effect, std_effect. Tests are one-sided.",
    .positionals =
        CMD_TEXTS("FILES",
                  "Text file with the name of a file for each subject, relative to its folder: connectomes without "
                  "directions, also with names as 'glslines bids --atlas' writes them, or vectors.",
                  "DESIGN", "Text file with a row for each subject and a column for each variable.", "CONTRASTS",
                  "Text file with a row for each t-test and a column for each variable."),
    .max_positionals = 3,
    .aliases = CMD_TEXTS("seed", "rng-seed"),
    .examples =
        CMD_TEXTS("Which edges differ between groups:",
                  "glslines permute files.txt design.txt contrasts.txt -o edges --enhance tfnbs",
                  "Each element alone, 10,000 shuffles:",
                  "glslines permute files.txt design.txt contrasts.txt -o vectors --type vector --nshuffles 10000"),
};

/* `glslines fixels`: the lobes of fibre orientation distributions as a fixel directory. */
#define NAME fixels
#define ROWS "tools/fixels.def"
#define DEFAULTS gls_fixels_cli_default()
#include "cmd/tract_table.def"

const cmd_command command_fixels = {
    TRACT_COMMAND(fixels, gls_tract_fixels, "Fixels by glslines", "takes IN and OUT", 2, TRACT_FILES),
    .synopsis = "IN OUT [options]",
    .writes = GLS_WRITES_SEVERAL,
    .summary = "Segment fibre orientation distributions into fixels; streamlines of fixels",
    .description =
        "Without --tracks writes the directory OUT: index.nii and directions.nii, fd.nii (fibre density: the "
        "integral of a lobe and its antipode), peak.nii (largest amplitude of the lobe) and fixels.json, as "
        "MRtrix3's fod2fixel. With --tracks writes how many streamlines each fixel of the directory IN has, as "
        "tck2fixel, or with --afd the density of the FODs IN along a bundle, as afdconnectivity. 'glslines "
        "sample --fixels' brings values of fixels to streamlines.",
    .positionals = CMD_TEXTS(
        "IN",
        "FODs as spherical harmonics of even order up to 16, NIfTI or MIF, such as PREFIX_wm.nii.gz of 'glslines fit'; "
        "with --tracks and without --afd a fixel directory.",
        "OUT",
        "Directory to write to, made where it does not exist; with --tracks an image with a value for each fixel, "
        "such as IN/tracks.nii; with --afd a text file."),
    .max_positionals = 2,
    .examples = CMD_TEXTS(
        "Fixels for MRtrix3 and other programs:", "glslines fixels sub01_wm.nii.gz sub01_fixels",
        "Streamlines of each fixel:", "glslines fixels sub01_fixels sub01_fixels/tracks.nii --tracks tracks.tck",
        "Fibre density along a bundle, with its share in each fixel:",
        "glslines fixels sub01_wm.nii.gz cst.txt --tracks cst.tck --tracks-all tracks.tck --afd"),
};

/* `glslines peaks`: the peaks of fibre orientation distributions as an image. */
#define NAME peaks
#define ROWS "tools/fod_peaks.def"
#include "cmd/tract_table.def"

const cmd_command command_peaks = {
    TRACT_COMMAND(peaks, gls_tract_peaks, "Peaks by glslines", "takes SH", 1, TRACT_FORCE),
    .synopsis = "SH OUT [options]",
    .summary = "Find the peaks of fibre orientation distributions",
    .since = "0.2.0",
    .description =
        "Writes the largest maxima of each voxel as vectors along the scanner axes, as MRtrix3's sh2peaks: a vector's "
        "length is the amplitude of its peak. 'glslines track --peaks' and tckgen's FACT track them.",
    .positionals = CMD_TEXTS(
        "SH", "FODs as spherical harmonics of even order up to 16, such as PREFIX_wm.nii.gz of 'glslines fit'.", "OUT",
        "NIfTI image to write; or --output FILE."),
    .max_positionals = 2,
    .examples =
        CMD_TEXTS("Peaks of FODs:", "glslines peaks sub01_wm.nii.gz -o sub01_peaks.nii.gz", "Streamlines along them:",
                  "glslines track --peaks sub01_peaks.nii.gz --mask mask.nii.gz --roi wm.nii.gz --dg fact",
                  "The strongest peak alone, of FODs in DIPY's basis:",
                  "glslines peaks sh.nii.gz -o peaks.nii.gz --number 1 --sh-basis descoteaux07_legacy"),
};

/* `glslines weights`: how many fibres each streamline of a tractogram represents. */
#define NAME weights
#define ROWS "tools/weights.def"
#define DEFAULTS gls_weights_cli_default()
#include "cmd/tract_table.def"

const cmd_command command_weights = {
    TRACT_COMMAND(weights, gls_tract_weigh, "Weights of streamlines by glslines", "takes TRACKS and SH", 2,
                  TRACT_FILES),
    .synopsis = "TRACKS SH [OUT] [options]",
    .summary = "Weight streamlines by fibre density or by the signal: SIFT2, SIFT, COMMIT",
    .description =
        "Finds a weight for each streamline by which the density of streamlines in each fixel fits the fibre density "
        "of "
        "the FODs, or selects streamlines that fit it. Options, defaults and results are those of tcksift2 and tcksift "
        "of MRtrix3 3.0.4; for the results of tcksift2 3.0.3, which Debian 12 has, take --single-visit keep. If the "
        "fit "
        "has to exclude all fixels that streamlines meet, the command fails; with --force these streamlines get "
        "weights "
        "of 1. With --method commit, SH is the diffusion series, and the weights are those by which sticks along "
        "streamlines, zeppelins and balls explain its signals. Any number of threads and devices gives the same bytes; "
        "weights of commit differ between the CPU and devices by rounding.",
    .positionals =
        CMD_TEXTS("TRACKS", "Tractogram: TRX (file or folder), TRK, TCK, VTK or VTP, also .gz.", "SH",
                  "FODs as spherical harmonics of even order up to 16, NIfTI or MIF: the FODs that were tracked. With "
                  "--method commit the series.",
                  "OUT", "File to write, in place of --output FILE; OUT, --output or --in-place is needed."),
    .max_positionals = 3,
    .examples = CMD_TEXTS(
        "Weights for MRtrix3's -tck_weights_in:",
        "glslines weights tracks.tck sub01_wm.nii.gz -o sift2.txt --act 5tt.nii.gz --mu mu.txt",
        "Within a TRX file:", "glslines weights tracks.trx sub01_wm.nii.gz -o weighted.trx", "A connectome of them:",
        "glslines connectome weighted.trx parcels.nii.gz connectome.csv --weights dps:sift2_weights",
        "A selection of 100,000 streamlines:",
        "glslines weights tracks.tck sub01_wm.nii.gz -o selected.tck --method sift --term-number 100000",
        "Weights by the signal, with maps of the compartments:",
        "glslines weights tracks.tck dwi.nii.gz -o commit.txt --method commit --mask mask.nii.gz --peaks peaks.nii.gz "
        "--tol-fun 1e-5 --maps commit"),
};
