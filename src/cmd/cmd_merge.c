/* `glslines merge`: joins shards to the tractogram of the whole run, or adds up the maps of shards. */
#include <sys/stat.h>

#include "cmd/commands.h"
#include "cmd/message.h"
#include "sinks/sinks.h"
#include "util/clock.h"

CMD_VALUES(merge, gls_merge_options, gls_merge_options_default())

#define OPTION_OWNER gls_merge_options

static const gls_option table[] = {
    GLS_OPTION("Output", STRING, output, "output", 'o', "FILE", NULL, GLS_ANY, "", NULL,
               "Required: file to write, in the format of the shards."),
    GLS_TEXT("Output", sidecar, "sidecar", "FILE", "the output's name with .json",
             "JSON file with parameters, counts and times, made from the sidecars of the shards. With 'none' "
             "sidecars are neither read nor written."),
    GLS_FLAG("Output", force, "force", "Overwrite existing output files."),
    GLS_FLAG("Output", fail_if_empty, "fail-if-empty",
             "Exit with code 6 if no shard has a streamline (an empty, valid file is still written)."),
    {.name = NULL},
};

/* Prints what was merged, in how long, and into which files. */
static void print_summary(const gls_merge_options *o, const gls_merge_result *result, const char *sidecar,
                          double seconds)
{
    struct stat info;
    uint64_t bytes = stat(o->output, &info) == 0 ? (uint64_t)info.st_size : 0;
    cmd_info("merged       %zu shards in %s", o->n_shards, GLS_DURATION(seconds));
    cmd_info("streamlines  %s, %s points", GLS_COUNT(result->streamlines), GLS_COUNT(result->points));
    cmd_info("output       %s, %s%s%s", o->output, GLS_BYTES(bytes), *sidecar ? "; sidecar " : "", sidecar);
    if (result->streamlines == 0) gls_log(GLS_LOG_WARNING, "no streamline in any shard; the output is valid and empty");
}

/* Entry of the command: joins shards of a tractogram, or adds up the parts of a map. Returns an exit code. */
static int run_merge(void *values, const cmd_arguments *arguments)
{
    gls_merge_options *o = &((merge_values *)values)->o;
    gls_merge_result result;
    char sidecar[4096];
    double start = gls_clock_seconds();
    /* check for arguments and --output here, because the table of options cannot require them */
    if (arguments->n_positionals == 0) return cmd_error(CMD_EXIT_USAGE, "merge: needs the shards to merge");
    if (!o->output) return cmd_error(CMD_EXIT_USAGE, "merge: needs --output FILE");
    o->shards = arguments->positional;
    o->n_shards = (size_t)arguments->n_positionals;
    o->argc = arguments->argc;
    o->argv = arguments->argv;
    gls_status status = gls_merge_files(o, cmd_monitor(true), &result, sidecar, sizeof sidecar);
    if (status) return cmd_error_status(status);
    /* all files are complete: a signal no longer changes the exit code */
    cmd_interrupt_done();
    if (gls_map_is_name(o->output)) {
        cmd_info("%s: the sum of %zu parts", o->output, o->n_shards);
        return CMD_EXIT_OK;
    }
    print_summary(o, &result, sidecar, gls_clock_seconds() - start);
    return CMD_EXIT_OK;
}

const cmd_command command_merge = {
    CMD_ENTRY(merge),
    .synopsis = "SHARD... --output FILE",
    .summary = "Join the files of 'track --shard' into the file of a single run",
    .description =
        "Writes the tractogram that one run over all seeds writes on the same device, byte for byte, and a sidecar "
        "that differs from that run's in its "
        "command line and times only: \"seconds\" are sums over the shards, \"run\" also lists the shards. Shards are "
        "put in order by the numbers inside them. "
        "Maps of shards, .nii.gz of --density and .csv of --connectome, are added up in the same way; their names say "
        "which part they are. "
        "A shard that is missing, doubled, damaged or of another run ends the command, and nothing is written.",
    .positionals =
        CMD_TEXTS("SHARD", "Files of 'glslines track --shard', all of one run, in any order; beside each its sidecar."),
    .max_positionals = CMD_MAX_POSITIONALS,
    .rows = {{.table = table, .at = offsetof(merge_values, o)}},
    .examples = CMD_TEXTS("The three parts of a run into the file that one run writes:",
                          "glslines merge -o tracks.trx tracks_shard-*of3.trx",
                          "The maps of three parts:", "glslines merge -o density.nii.gz density_shard-*of3.nii.gz"),
};
