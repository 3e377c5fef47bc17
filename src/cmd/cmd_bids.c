/* glslines bids: a BIDS data set of preprocessed diffusion series in, one of tractograms out. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/commands.h"
#include "cmd/interrupt.h"
#include "cmd/message.h"
#include "cmd/progress.h"
#include "cmd/track_options.h"
#include "util/output.h"
#include "workflow/dataset.h"

typedef struct bids_options {
    cmd_common common;
    gls_strings participants, sessions, filters, derivatives;
    int region;
    double fa;
    const char *shard, *unit;
    bool list, raw, stop_on_error, force;
} bids_options;
#define CMD_OWNER bids_options

#define SELECTION "Selection"
#define SEEDS "Seeds"
#define RUN "Run"

static const cmd_option table[] = {
    CMD_OPTION(SELECTION, STRINGS, participants, "participant-label", 0, "LABEL", NULL, GLS_ANY, "all", NULL,
               "Participant with or without sub-; may be repeated."),
    CMD_OPTION(SELECTION, STRINGS, sessions, "session-label", 0, "LABEL", NULL, GLS_ANY, "all", NULL,
               "Session with or without ses-; may be repeated."),
    CMD_OPTION(SELECTION, STRINGS, filters, "filter", 0, "KEY=VALUE", NULL, GLS_ANY, "", NULL,
               "Series whose name has this entity, such as space=ACPC or acq=dir98; may be repeated."),
    CMD_OPTION(SELECTION, FLAG, raw, "raw", 0, NULL, NULL, GLS_ANY, NULL, NULL,
               "Take series that are not preprocessed, of a raw data set."),
    CMD_OPTION(SELECTION, FLAG, list, "list", 0, NULL, NULL, GLS_ANY, NULL, NULL,
               "Print what would be tracked, a line each, tabs between columns: unit, subject, session, dwi, mask, "
               "region, problem."),
    CMD_OPTION(SELECTION, STRING, unit, "unit", 0, "NAME", NULL, GLS_ANY, "all", NULL,
               "One line of --list: for workflow managers."),
    CMD_OPTION(SELECTION, STRING, shard, "shard", 0, "I/N", NULL, GLS_ANY, "all", NULL,
               "Every N-th unit, from the I-th, counted from 1: for job arrays."),
    CMD_OPTION(SEEDS, STRINGS, derivatives, "derivatives", 0, "DIR", NULL, GLS_ANY, "", NULL,
               "Further data set in which masks and segmentations are looked for; may be repeated."),
    CMD_OPTION(SEEDS, CHOICE, region, "seed-region", 0, NULL, NULL, GLS_ANY, NULL, "auto|wm|aseg|fa",
               "Where seeds lie: label-WM_probseg above 0.5; white matter and deep grey matter of desc-aseg_dseg; FA "
               "above --seed-fa; auto: the first of them that there is."),
    CMD_OPTION(SEEDS, DOUBLE, fa, "seed-fa", 0, "X", NULL, GLS_BETWEEN(0, 1), NULL, NULL, "FA for the former."),
    CMD_OPTION(RUN, FLAG, force, "force", 0, NULL, NULL, GLS_ANY, NULL, NULL,
               "Track anew what was tracked before with other options."),
    CMD_OPTION(RUN, FLAG, stop_on_error, "stop-on-error", 0, NULL, NULL, GLS_ANY, NULL, NULL,
               "End with the first unit that fails."),
    {.name = NULL},
};

static void set_defaults(void *values)
{
    bids_options *o = values;
    o->fa = 0.2;
}

/* Options of track that are chosen here. */
static int check_track_options(const cmd_arguments *arguments)
{
    static const char *const chosen[] = {"output", "output-prefix", "write-method", "sidecar", "mask",  "roi",    "fa",
                                         "sh",     "odf",           "seeds",        "shard",   "force", "dry-run"};
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++)
        if (cmd_options_given(&cmd_track, arguments, chosen[i]))
            return cmd_error(CMD_EXIT_USAGE, "--%s: bids chooses it for each series", chosen[i]);
    return CMD_EXIT_OK;
}

/* What stands behind "--". */
static int parse_track(const cmd_arguments *given, track_options *track, cmd_arguments *arguments)
{
    char error[1024], *argv[CMD_MAX_POSITIONALS + 2] = {(char *)"glslines", (char *)"track"};
    int n = 2;
    for (int i = 3; i < given->n_positionals; i++) argv[n++] = (char *)given->positional[i];
    track_options_default(track);
    if (!cmd_options_parse(&cmd_track, n, argv, 2, track, arguments, error, sizeof error))
        return cmd_error(CMD_EXIT_USAGE, "%s", error);
    if (arguments->n_positionals > 0)
        return cmd_error(CMD_EXIT_USAGE,
                         "bids: takes BIDS_DIR OUT_DIR participant|group, and options of track behind "
                         "--; '%s' is too many",
                         arguments->positional[0]);
    int code = check_track_options(arguments);
    if (code) return code;
    /* bids gives the files that these checks ask for */
    const int n_files = arguments->n_positionals;
    arguments->n_positionals = 5;
    for (int i = 0; i < 5; i++) arguments->positional[i] = "";
    code = track_options_check(&cmd_track, track, arguments);
    arguments->n_positionals = n_files;
    return code;
}

static int parse_shard(const char *text, size_t *index, size_t *count)
{
    char *end;
    if (!text) return CMD_EXIT_OK;
    *index = strtoul(text, &end, 10);
    if (*end == '/') *count = strtoul(end + 1, &end, 10);
    if (*end || *index < 1 || *count < 1 || *index > *count)
        return cmd_error(CMD_EXIT_USAGE, "--shard: '%s' is not I/N with 1 <= I <= N", text);
    return CMD_EXIT_OK;
}

static void print_unit(const gls_dataset_unit *u)
{
    printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\n", u->name, u->subject, u->session, u->dwi, u->mask ? u->mask : "",
           u->region    ? u->region
           : u->problem ? ""
                        : "FA",
           u->problem ? u->problem : "");
}

static const char *const state_names[] = {"tracked", "up to date", "busy", "failed"};

typedef struct run {
    const bids_options *options;
    gls_dataset_options dataset;
    const gls_job_options *job;
    size_t counts[4];
    FILE *log; /* rows of logs/units.tsv */
    int code;
} run;

static void track_unit(run *r, const gls_dataset_unit *u)
{
    cmd_progress progress = {.begun = false};
    gls_monitor monitor = cmd_progress_monitor(&progress);
    gls_dataset_state state;
    cmd_info("%s", u->name);
    gls_status status = gls_dataset_track(&r->dataset, u, r->job, &monitor, &state);
    r->counts[state]++;
    fprintf(r->log, "%s\t%s\t%s\n", u->name, state_names[state], status ? gls_last_error() : "");
    if (!status) {
        cmd_info("%s: %s", u->name, state_names[state]);
        return;
    }
    int code = cmd_error_status(status);
    if (r->code == CMD_EXIT_OK || code == CMD_EXIT_INTERRUPTED || code == CMD_EXIT_DEVICE) r->code = code;
}

static int write_log(const run *r, const char *rows, size_t bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/logs/units.tsv", r->dataset.output);
    return gls_file_write(path, true, NULL, rows, bytes) ? cmd_error_status(GLS_ERR_OUTPUT) : CMD_EXIT_OK;
}

static bool is_chosen(const bids_options *o, const gls_dataset_unit *u, size_t place, size_t index, size_t count)
{
    return place % count + 1 == index && (!o->unit || strcmp(o->unit, u->name) == 0);
}

static int track_units(run *r, const gls_dataset *dataset, size_t index, size_t count)
{
    char *rows = NULL;
    size_t bytes = 0;
    r->log = open_memstream(&rows, &bytes);
    if (!r->log) return cmd_error(CMD_EXIT_INTERNAL, "out of memory");
    fputs("unit\tstate\treason\n", r->log);
    for (size_t i = 0; i < dataset->n; i++) {
        if (!is_chosen(r->options, &dataset->unit[i], i, index, count)) continue;
        track_unit(r, &dataset->unit[i]);
        if (r->code == CMD_EXIT_INTERRUPTED || r->code == CMD_EXIT_DEVICE || (r->code && r->options->stop_on_error))
            break;
    }
    fclose(r->log);
    int code = count == 1 && !r->options->unit ? write_log(r, rows, bytes) : CMD_EXIT_OK;
    free(rows);
    cmd_info("%zu tracked, %zu up to date, %zu busy elsewhere, %zu failed", r->counts[0], r->counts[1], r->counts[2],
             r->counts[3]);
    return r->code ? r->code : code;
}

static int participants(const bids_options *o, const gls_dataset_options *d, const cmd_arguments *arguments)
{
    static track_options track;
    static cmd_arguments track_arguments;
    size_t index = 1, count = 1;
    gls_dataset dataset;
    int code = parse_track(arguments, &track, &track_arguments);
    if (!code) code = parse_shard(o->shard, &index, &count);
    if (code) return code;
    gls_status status = gls_dataset_open(d, &dataset);
    if (status) return cmd_error_status(status);
    bool found = !o->unit;
    for (size_t i = 0; i < dataset.n && !found; i++) found = strcmp(dataset.unit[i].name, o->unit) == 0;
    if (!found) {
        code = cmd_error(CMD_EXIT_INPUT, "--unit %s: there is none; --list prints them", o->unit);
    } else if (o->list) {
        puts("unit\tsubject\tsession\tdwi\tmask\tregion\tproblem");
        for (size_t i = 0; i < dataset.n; i++)
            if (is_chosen(o, &dataset.unit[i], i, index, count)) print_unit(&dataset.unit[i]);
    } else if ((status = gls_dataset_describe(d))) {
        code = cmd_error_status(status);
    } else {
        gls_job_options job = track_options_job(&track, &track_arguments);
        job.dwi = job.bval = job.bvec = job.mask = job.roi = NULL;
        job.argc = arguments->argc;
        job.argv = arguments->argv;
        run r = {.options = o, .dataset = *d, .job = &job};
        code = track_units(&r, &dataset, index, count);
    }
    gls_dataset_finish(&dataset);
    return code;
}

static int run_bids(const cmd_command *command, void *values, const cmd_arguments *arguments)
{
    const bids_options *o = values;
    (void)command;
    if (arguments->n_positionals < 3)
        return cmd_error(CMD_EXIT_USAGE, "bids: needs BIDS_DIR OUT_DIR participant|group");
    const char *level = arguments->positional[2];
    for (int i = 0; i < o->filters.n; i++)
        if (!strchr(o->filters.value[i], '='))
            return cmd_error(CMD_EXIT_USAGE, "--filter: '%s' is not KEY=VALUE", o->filters.value[i]);
    gls_dataset_options d = {.input = arguments->positional[0],
                             .output = arguments->positional[1],
                             .participants = o->participants,
                             .sessions = o->sessions,
                             .filters = o->filters,
                             .derivatives = o->derivatives,
                             .region = (gls_dataset_region)o->region,
                             .fa = o->fa,
                             .raw = o->raw,
                             .force = o->force};
    if (strcmp(level, "participant") == 0) return participants(o, &d, arguments);
    if (strcmp(level, "group") != 0)
        return cmd_error(CMD_EXIT_USAGE, "bids: '%s' is neither participant nor group", level);
    size_t n;
    gls_status status = gls_dataset_group(&d, &n);
    if (status) return cmd_error_status(status);
    cmd_info("%s/group.tsv: %zu tractograms", d.output, n);
    return CMD_EXIT_OK;
}

static const char *const positionals[] = {
    "BIDS_DIR", "Data set of preprocessed diffusion images, such as the output of QSIPrep.",
    "OUT_DIR",  "Data set of tractograms, made where it does not exist.",
    "LEVEL",    "participant: track; group: write group.tsv, a table of all tractograms.",
    NULL,
};

static const char *const examples[] = {
    "All participants of the output of QSIPrep, by probabilistic tracking of CSD:",
    "glslines bids qsiprep tracts participant -- --model csd --sh-order 8 --nseeds 1000000",
    "What there is to track:",
    "glslines bids qsiprep tracts participant --list",
    "One part of a job array:",
    "glslines bids qsiprep tracts participant --shard 3/20",
    NULL,
};

const cmd_command cmd_bids = {
    .name = "bids",
    .synopsis = "BIDS_DIR OUT_DIR participant|group [options] [-- options of track]",
    .summary = "Track a whole BIDS data set into another",
    .description =
        "Finds desc-preproc_dwi series with their tables (.bval and .bvec, or MRtrix's .b), brain masks and "
        "segmentations of white matter in the same space, brings masks and segmentations to the grid of the "
        "series, and tracks each into OUT_DIR, a BIDS data set of derivatives. What is there already with the "
        "same options is left as it is, so that a run that was interrupted goes on where it was. A series "
        "that fails does not stop the others.",
    .positionals = positionals,
    .max_positionals = CMD_MAX_POSITIONALS,
    .options = table,
    .examples = examples,
    .values_size = sizeof(bids_options),
    .set_defaults = set_defaults,
    .run = run_bids,
};
