/* glslines merge: shards in, the tractogram of the whole run out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/commands.h"
#include "cmd/interrupt.h"
#include "cmd/merge_sidecar.h"
#include "cmd/message.h"
#include "cmd/output.h"
#include "cmd/progress.h"
#include "cmd/sidecar.h"
#include "cmd/text.h"

#define FIELD(f) .offset = offsetof(merge_options, f)

static const cmd_option table[] = {
    {.group = "Output",
     .name = "output",
     .letter = 'o',
     .type = CMD_STRING,
     .metavar = "FILE",
     FIELD(output),
     .default_text = "",
     .help = "Tractogram to write, of the same format as the shards. Has to be given."},
    {.group = "Output",
     .name = "sidecar",
     .type = CMD_STRING,
     .metavar = "FILE",
     FIELD(sidecar),
     .default_text = "the output's name with .json",
     .help = "JSON file with parameters, counts and times, made from those of the shards; 'none' writes none and reads "
             "none."},
    {.group = "Output", .name = "force", .type = CMD_FLAG, FIELD(force), .help = "Overwrite existing output files."},
    {.group = "Output",
     .name = "fail-if-empty",
     .type = CMD_FLAG,
     FIELD(fail_if_empty),
     .help = "Exit with code 6 if no shard holds a streamline (the empty file is written all the same)."},
    {.name = NULL},
};

static void set_defaults(void *values)
{
    *(merge_options *)values = (merge_options){.output = NULL};
}

typedef struct merge_run {
    const merge_options *options;
    const cmd_arguments *arguments;
    size_t n;
    merge_shard *shard; /* in the order of the command line */
    char *sidecar;      /* NULL: none */
    gls_merge_result result;
    uint64_t bytes;
    double start;
} merge_run;

static int set_sidecar(merge_run *run)
{
    const merge_options *o = run->options;
    if (o->sidecar && strcmp(o->sidecar, "none") == 0) return CMD_EXIT_OK;
    run->sidecar = o->sidecar ? strdup(o->sidecar) : cmd_sidecar_name(o->output);
    if (!run->sidecar) return cmd_error(CMD_EXIT_INTERNAL, "out of memory");
    if (strcmp(run->sidecar, o->output) == 0)
        return cmd_error(CMD_EXIT_USAGE, "--sidecar: %s is the tractogram itself", run->sidecar);
    return CMD_EXIT_OK;
}

/* No output may take the place of an input, not even with --force. */
static int check_distinct(const merge_run *run, const char *output)
{
    struct stat out, in;
    if (!output || stat(output, &out) != 0) return CMD_EXIT_OK;
    for (size_t i = 0; i < run->n; i++) {
        const char *files[] = {run->shard[i].path, run->shard[i].sidecar};
        for (int k = 0; k < 2; k++)
            if (files[k] && stat(files[k], &in) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
                return cmd_error(CMD_EXIT_USAGE, "%s: is a shard to be merged, or the sidecar of one", output);
    }
    return CMD_EXIT_OK;
}

static int check_output(merge_run *run)
{
    const merge_options *o = run->options;
    gls_tractogram_format format;
    if (run->n == 0) return cmd_error(CMD_EXIT_USAGE, "merge: needs the shards to merge");
    if (!o->output) return cmd_error(CMD_EXIT_USAGE, "merge: needs --output FILE");
    if (gls_tractogram_format_parse(o->output, &format)) return cmd_error_status(GLS_ERR_ARGUMENT);
    for (size_t i = 0; i < run->n; i++)
        if (gls_tractogram_format_parse(run->shard[i].path, &format)) return cmd_error_status(GLS_ERR_ARGUMENT);
    int code = set_sidecar(run);
    if (!code) code = check_distinct(run, o->output);
    if (!code) code = cmd_output_check(o->output, o->force);
    return code || !run->sidecar ? code : cmd_output_check(run->sidecar, o->force);
}

/* Sidecars tell more clearly than the shards themselves what does not fit. */
static int read_sidecars(merge_run *run)
{
    bool warned = false;
    for (size_t i = 0; i < run->n; i++) {
        int code = merge_sidecar_read(&run->shard[i]);
        if (!code && i > 0) code = merge_sidecar_compare(&run->shard[0], &run->shard[i], &warned);
        if (code) return code;
    }
    return check_distinct(run, run->sidecar);
}

static int by_part(const void *a, const void *b)
{
    const cJSON *x = cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(((const merge_shard *)a)->root, "shard"), "index");
    const cJSON *y = cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(((const merge_shard *)b)->root, "shard"), "index");
    double i = cJSON_IsNumber(x) ? x->valuedouble : 0, j = cJSON_IsNumber(y) ? y->valuedouble : 0;
    return (i > j) - (i < j);
}

static int write_tractogram(merge_run *run)
{
    const merge_options *o = run->options;
    const char **paths = malloc(run->n * sizeof *paths);
    cmd_progress progress;
    struct stat info;
    if (!paths) return cmd_error(CMD_EXIT_INTERNAL, "out of memory");
    for (size_t i = 0; i < run->n; i++) paths[i] = run->shard[i].path;
    cmd_progress_init(&progress);
    gls_status status =
        gls_tractogram_merge(paths, run->n, o->output, o->force, cmd_progress_merge_step, &progress, &run->result);
    cmd_progress_finish(&progress);
    free(paths);
    if (status == GLS_ERR_CANCELLED)
        return cmd_error(CMD_EXIT_INTERRUPTED, "interrupted: %s was not written", o->output);
    if (status) return cmd_error_status(status);
    if (stat(o->output, &info) == 0) run->bytes = (uint64_t)info.st_size;
    return CMD_EXIT_OK;
}

/* The part in which temporary files exist. */
static int write_results(merge_run *run)
{
    cmd_sidecar *sidecar = NULL;
    char error[1024], *text = NULL;
    int code = CMD_EXIT_OK;
    cmd_interrupt_catch();
    gls_status status = run->sidecar ? cmd_sidecar_create(run->sidecar, &sidecar, error, sizeof error) : GLS_OK;
    if (status) {
        code = cmd_error(cmd_exit_from_status(status), "%s", error);
        goto done;
    }
    code = write_tractogram(run);
    if (code || !sidecar) goto done;
    qsort(run->shard, run->n, sizeof *run->shard, by_part);
    code = merge_sidecar_text(run->shard, run->n, run->options, run->arguments, &run->result, run->bytes, &text);
    if (code) {
        /* all or nothing, unless it took the place of an older file */
        if (!run->options->force) remove(run->options->output);
        goto done;
    }
    status = cmd_sidecar_finish(sidecar, text, error, sizeof error);
    sidecar = NULL;
    if (status) code = cmd_error(cmd_exit_from_status(status), "%s (%s is complete)", error, run->options->output);
done:
    free(text);
    cmd_sidecar_abort(sidecar);
    cmd_interrupt_release();
    return code;
}

static void print_summary(const merge_run *run)
{
    char a[32], b[32], c[32];
    cmd_info("merged       %zu shards in %s", run->n, cmd_text_duration(cmd_clock() - run->start, a, sizeof a));
    cmd_info("streamlines  %s, %s points", cmd_text_count(run->result.streamlines, a, sizeof a),
             cmd_text_count(run->result.points, b, sizeof b));
    cmd_info("output       %s, %s%s%s", run->options->output, cmd_text_bytes(run->bytes, c, sizeof c),
             run->sidecar ? "; sidecar " : "", run->sidecar ? run->sidecar : "");
    if (run->result.streamlines == 0) cmd_warn("no streamline in any shard; the output is valid and empty");
}

static int run_merge(const cmd_command *command, void *values, const cmd_arguments *arguments)
{
    (void)command;
    merge_run run = {
        .options = values, .arguments = arguments, .n = (size_t)arguments->n_positionals, .start = cmd_clock()};
    run.shard = calloc(run.n + 1, sizeof *run.shard);
    if (!run.shard) return cmd_error(CMD_EXIT_INTERNAL, "out of memory");
    for (size_t i = 0; i < run.n; i++) run.shard[i].path = arguments->positional[i];
    int code = check_output(&run);
    if (!code && run.sidecar) code = read_sidecars(&run);
    if (!code) code = write_results(&run);
    if (!code) print_summary(&run);
    if (!code && run.result.streamlines == 0 && run.options->fail_if_empty)
        code = cmd_error(CMD_EXIT_EMPTY, "%s: no streamline, and --fail-if-empty was given", run.options->output);
    for (size_t i = 0; i < run.n; i++) merge_sidecar_finish(&run.shard[i]);
    free(run.shard);
    free(run.sidecar);
    return code;
}

static const char *const positionals[] = {
    "SHARD",
    "Files of 'glslines track --shard', all of one run, in any order; beside each its sidecar.",
    NULL,
};

static const char *const examples[] = {
    "The three parts of a run into the file that one run writes:",
    "glslines merge -o tracks.trx tracks_shard-*of3.trx",
    NULL,
};

const cmd_command cmd_merge = {
    .name = "merge",
    .synopsis = "SHARD... --output FILE",
    .summary = "Join the files of 'track --shard' into the one that a single run writes",
    .description =
        "Writes the tractogram that one run over all seeds writes on the same device, byte for byte, and a sidecar "
        "that differs from that run's in its "
        "command line and times only: \"seconds\" are sums over the shards, \"run\" also lists the shards. Shards are "
        "put in order by the numbers inside them. "
        "A shard that is missing, doubled, damaged or of another run ends the command, and nothing is written.",
    .positionals = positionals,
    .max_positionals = CMD_MAX_POSITIONALS,
    .options = table,
    .examples = examples,
    .values_size = sizeof(merge_options),
    .set_defaults = set_defaults,
    .run = run_merge,
};
