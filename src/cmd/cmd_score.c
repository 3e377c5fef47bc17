/* glslines score: tracks the built-in phantom with every model and direction getter and scores the results against its
 * bundles; or scores a tractogram. */
#include "cmd/commands.h"
#include "cmd/tract.h"

#define ROWS "workflow/tracts/score.def"
#define OPTIONS gls_score_cli
#define DEFAULTS gls_score_cli_default()
#include "cmd/tract_table.def"

static const tract_work work = {"Scores by glslines", gls_tract_score, offsetof(tract_command_values, o),
                                "takes TRACKS or nothing", 0};

static const char *const positionals[] = {
    "TRACKS",
    "Tractogram to score with --truth or --against; none: the phantom is tracked.",
    NULL,
};

static const char *const examples[] = {
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
};

const cmd_command cmd_score = {
    .name = "score",
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
    .positionals = positionals,
    .max_positionals = 1,
    .options = table,
    .aliases = (const char *const[]){"seed", "rng-seed", NULL},
    .examples = examples,
    .work = &work,
    .values_size = sizeof(tract_command_values),
    .set_defaults = set_defaults,
    .run = tract_run,
};
