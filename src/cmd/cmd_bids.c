/* `glslines bids`: tracks a BIDS data set of preprocessed diffusion series into a data set of tractograms, or makes
 * tables of all its participants. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bids/dataset.h"
#include "bids/dataset_bundles.h"
#include "bids/dataset_connectome.h"
#include "bids/dataset_describe.h"
#include "bids/dataset_find.h"
#include "bids/dataset_group.h"
#include "bids/dataset_names.h"
#include "bids/dataset_profiles.h"
#include "bids/dataset_select.h"
#include "cmd/commands.h"
#include "cmd/message.h"
#include "cmd/progress.h"
#include "options/help.h"
#include "options/parser.h"
#include "render/dataset_pages.h"
#include "util/text.h"

/* Values of the command's options; options of `track` follow "--" and are checked for each unit. */
typedef struct bids_values {
    cmd_common common;
    /* input, output, participants and the other choices that the workflow of data sets takes */
    gls_dataset_options data;
    /* texts of --seed-region ("auto" if not given), --shard, --unit, --bids-filter-file (NULL if not given) */
    const char *region, *shard, *unit, *filter_file;
    /* number of worker processes, each of which tracks one series at a time */
    int jobs;
    /* list: show the units only; stop_on_error: end with the first failure */
    bool list, stop_on_error, no_report;
} bids_values;
#define OPTION_OWNER bids_values

#define SELECTION "Selection"
#define SEEDS "Seeds"
#define RUN "Run"

static const gls_option table[] = {
    GLS_TEXTS(SELECTION, data.participants, "participant-label", "LABEL ...", "all",
              "Participants with or without sub-, blanks or commas between them; may be repeated."),
    GLS_TEXTS(SELECTION, data.sessions, "session-label", "LABEL ...", "all",
              "Sessions with or without ses-, blanks or commas between them; may be repeated."),
    GLS_TEXTS(SELECTION, data.filters, "filter", "KEY=VALUE", "",
              "Track only series whose name has this entity, such as space=ACPC or acq=dir98; may be repeated."),
    GLS_TEXT(SELECTION, filter_file, "bids-filter-file", "FILE", "none",
             "BIDS filter file (JSON): its object dwi has the entities that a series must have, by their names in "
             "pybids; a list of values allows each of them."),
    GLS_FLAG(SELECTION, data.raw, "raw", "Take series that are not preprocessed, of a raw data set."),
    GLS_FLAG(SELECTION, list, "list",
             "Print a line for each unit, with tabs between columns: unit, subject, session, dwi, mask, region, files "
             "of options with braces, state (ready, tracked, or why it cannot be tracked)."),
    GLS_TEXT(SELECTION, unit, "unit", "NAME", "all",
             "Track only this unit, named as in a line of --list: for workflow managers."),
    GLS_TEXT(SELECTION, shard, "shard", "I/N|auto", "all",
             "Track every N-th unit from the I-th (1 to N) on: for job arrays. auto: I and N from srun or mpirun."),
    GLS_TEXTS(SEEDS, data.derivatives, "derivatives", "DIR", "",
              "Further data set in which masks and segmentations are looked for; may be repeated."),
    GLS_TEXT(
        SEEDS, region, "seed-region", "auto|wm|aseg|dseg|fa|fa:X|KEY-VALUE_SUFFIX", NULL,
        "Where seeds lie. wm: label-WM_probseg above 0.5. aseg: white matter and deep grey matter of desc-aseg_dseg. "
        "dseg: white matter of a dseg whose table (.tsv) names it. fa, fa:X: FA above --seed-fa, or above X. auto: "
        "the first of these that exists. KEY-VALUE_SUFFIX: an image in the space of the series, such as "
        "label-WM_mask."),
    GLS_NUMBER(SEEDS, DOUBLE, data.fa, "seed-fa", "X", NULL, GLS_BETWEEN(0, 1), NULL,
               "FA above which seeds lie with --seed-region fa."),
    GLS_FLAG(SEEDS, data.tissue, "tissue",
             "Take label-WM_probseg, label-GM_probseg and label-CSF_probseg in the space of the series as --pve-wm, "
             "--pve-gm and --pve-csf, for --pft or other tissue options given after --.",
             .since = "0.2.0"),
    GLS_FLAG(SEEDS, data.t1, "t1",
             "Make tissue from the T1w image of each participant, in the space of the series, and track with it, as "
             "'glslines track --t1' does: seeds lie on the interface of grey and white matter unless others are named. "
             "The image of the session is taken, else of the participant, else of another session; of several the one "
             "with the run of the series, then desc-preproc. A participant without one is not tracked. --t1 behind -- "
             "names the image in place of this.",
             .since = "0.2.0"),
    GLS_NUMBER(RUN, INT, jobs, "jobs", "N", NULL, GLS_BETWEEN(1, 256), NULL,
               "Number of units that are tracked at a time, each in a process of its own. If --device (behind --) "
               "names several devices, each process takes one of them."),
    GLS_FLAG(RUN, no_report, "no-report", "Leave out reports and pictures."),
    GLS_TEXTS(
        RUN, data.atlases, "atlas", "NAME|TEMPLATE,LABELS[,MASK[,NAMES]]", "none",
        "Also write the connectome of each tractogram for seg-NAME_dseg (or atlas-NAME, desc-NAME) in its space: "
        "seg-NAME_relmat.tsv; may be repeated. With --t1 also a template with its labels, as --atlas of 'glslines "
        "track': they are brought to the space of each series."),
    GLS_FLAG(
        RUN, data.wide, "wide",
        "Level group: also write connectomes_seg-NAME_wide.tsv, with a line for each connectome and a column for each "
        "pair of regions, which all must have, and connectomes_seg-NAME_list.txt with their names, as 'glslines "
        "permute' takes it; and bundle_profiles_wide.tsv, with a line for each tractogram and a column for each "
        "bundle, node and image.",
        .since = "0.2.0"),
    GLS_TEXT(
        RUN, data.bundle_atlas, "bundle-atlas", "ATLAS", "none",
        "Also recognise the bundles of this atlas in each tractogram, as 'glslines recognize' does: "
        "desc-bundles_tractogram.trx, whose groups they are, and desc-bundles_tracts.tsv. The atlas must lie in the "
        "space of each series.",
        .since = "0.2.0"),
    GLS_TEXT(
        RUN, data.bundle_transform, "bundle-transform", "FILE", "none",
        "Matrix from the world mm of --bundle-atlas to that of each series, text of 4 lines of 4 numbers; the name has "
        "entities in braces, as in 'xfm/sub-{subject}[_ses-{session}]_from-atlas_xfm.txt'.",
        .since = "0.2.0"),
    GLS_TEXTS(
        RUN, data.bundle_chain, "bundle-chain", "FILE[,inverse]", "none",
        "Transform that maps points of each series to the space of --bundle-atlas, as --transform of 'glslines "
        "recognize'; give it several times for a chain, from the series to its T1 and from there to a template; the "
        "names have entities in braces as those of --bundle-transform.",
        .since = "0.2.0"),
    GLS_TEXTS(RUN, data.bundle_images, "bundle-profile", "IMAGE", "none",
              "Also write profiles of this image along the bundles of --bundle-atlas, by the nodes of the atlas, as "
              "'glslines profile --assign' does: desc-profiles_tracts.tsv; may be repeated; the name has entities in "
              "braces. In the table the image has the parts of its name without braces. With --fit-outputs also of FA.",
              .since = "0.2.0"),
    GLS_FLAG(RUN, data.fit_outputs, "fit-outputs",
             "Also write FA and the model: model-tensor_param-fa_dwimap and model-MODEL_param-sh_dwimap (msmt: "
             "param-wm, param-gm, param-csf)."),
    GLS_FLAG(RUN, data.legacy_names, "legacy-names", "Write TRK files and name them _tractography, as pyAFQ does."),
    GLS_FLAG(RUN, data.force, "force",
             "Track anew what was tracked before with other options or from other files, and replace what is there "
             "under the names of outputs."),
    GLS_FLAG(RUN, stop_on_error, "stop-on-error", "End with the first unit that fails."),
    {.name = NULL},
};

/* Sets the defaults other than 0; all values are 0 before. */
static void set_bids_defaults(void *values)
{
    bids_values *o = values;
    o->data.fa = 0.2;
    o->region = "auto";
    o->jobs = 1;
}

/* Returns the output file that an option of `track` names, which every series would overwrite, or the value of an
 * option for such an output. NULL: the option is not given or is none of these, or its optional file is left out. */
static const char *file_of_all(const gls_param *p, const gls_job_options *track)
{
    const void *at = (const char *)track + p->offset;
    const bool columns = p->role == GLS_ROLE_COLUMNS;
    if (p->owner != GLS_OF_JOB || (p->role != GLS_ROLE_OUTPUT && !columns)) return NULL;
    const char *value = p->kind == GLS_KIND_STRING    ? *(const char *const *)at
                        : p->kind == GLS_KIND_STRINGS ? ((const gls_strings *)at)->value[0]
                                                      : NULL;
    return value && columns && !(strstr(p->metavar, "[:") && gls_names_first(value, ':')) ? NULL : value;
}

/* Rejects options of `track` that bids sets itself, and options that write one file for all series. */
static int check_track_options(const gls_job_options *track, const cmd_arguments *arguments)
{
    static const char *const chosen[] = {"output", "output-prefix", "write-method", "sidecar",
                                         "shard",  "force",         "write-mask"};
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++)
        if (cmd_options_given(arguments, chosen[i]))
            return cmd_error(CMD_EXIT_USAGE, "--%s: cannot follow --: bids sets it or has it before --", chosen[i]);
    const char *common = cmd_options_common(arguments);
    if (common) return cmd_error(CMD_EXIT_USAGE, "--%s: cannot follow --: give it before --", common);
    for (const gls_param *p = gls_params; p->name; p++) {
        if (p->owner == GLS_OF_COMMAND && cmd_options_given(arguments, p->name))
            return cmd_error(CMD_EXIT_USAGE,
                             "--%s: cannot follow --: the command track alone uses it (dry run of bids: --list; "
                             "reports and pictures are made without it)",
                             p->name);
        const char *value = file_of_all(p, track);
        if (value)
            return cmd_error(CMD_EXIT_USAGE, "--%s %s: is %sone file for all series: %s", p->name, value,
                             p->writes ? "" : "for an output that is ",
                             p->role == GLS_ROLE_COLUMNS ? "leave out what follows the colon"
                                                         : "leave it out, or run 'glslines track' on each series");
    }
    return CMD_EXIT_OK;
}

/* Rejects a second source of tissue beside the T1 image, and what would move its tissue. */
static int check_t1(const gls_dataset_options *d, const gls_job_options *track, const cmd_arguments *arguments)
{
    const bool t1 = d->t1 || track->t1;
    const char *other = cmd_options_first(arguments, CMD_TEXTS("act", "pve-wm", "pve-gm", "pve-csf", "pve-sgm",
                                                               "map-include", "map-exclude", "transform"));
    if (t1 && (d->tissue || other))
        return cmd_error(CMD_EXIT_USAGE, "--t1 and --%s exclude each other: the tissue is made of the T1 image",
                         d->tissue ? "tissue" : other);
    if (!t1 && (d->t1_atlas || track->atlas))
        return cmd_error(CMD_EXIT_USAGE, "--atlas %s: needs --t1", d->t1_atlas ? d->t1_atlas : track->atlas);
    if (!t1 && track->boundary) return cmd_error(CMD_EXIT_USAGE, "--boundary: needs --t1");
    if (d->t1_atlas && track->atlas)
        return cmd_error(CMD_EXIT_USAGE, "--atlas: names a template before and behind --: leave out one of them");
    return CMD_EXIT_OK;
}

/* Parses the options after "--". */
static int parse_track(const cmd_arguments *given, const gls_dataset_options *d, track_options *track,
                       cmd_arguments *arguments)
{
    const bool tissue = d->tissue;
    char error[1024], *argv[CMD_MAX_POSITIONALS + 8] = {(char *)"glslines", (char *)"track"};
    int n = 2;
    for (int i = 3; i < given->n_positionals; i++) argv[n++] = (char *)given->positional[i];
    track_options_default(track);
    if (!cmd_options_parse(&command_track, n, argv, 2, track, arguments, error, sizeof error))
        return cmd_error(CMD_EXIT_USAGE, "%s", error);
    cmd_options_log(arguments);
    if (arguments->n_positionals > 0)
        return cmd_error(CMD_EXIT_USAGE,
                         "bids: '%s' is one argument too many: give BIDS_DIR OUT_DIR participant|group -- OPTIONS",
                         arguments->positional[0]);
    int code = check_track_options(&track->run.job, arguments);
    if (!code) code = check_t1(d, &track->run.job, arguments);
    if (code) return code;
    const char *fraction = cmd_options_first(arguments, CMD_TEXTS("pve-wm", "pve-gm", "pve-csf"));
    if (tissue && fraction)
        return cmd_error(CMD_EXIT_USAGE, "--tissue and --%s both name the tissue of each series: leave one of them out",
                         fraction);
    /* the checks of track require files, which bids sets later for each series: pass empty names */
    arguments->n_positionals = 3;
    for (int i = 0; i < 3; i++) arguments->positional[i] = "";
    gls_job_options *job = &track->run.job;
    if (tissue) job->pve_wm = job->pve_gm = job->pve_csf = "";
    if (d->t1 && !job->t1) job->t1 = "";
    if (job->track.pft && !job->act && !job->pve_wm && !job->map_include && !job->t1)
        return cmd_error(
            CMD_EXIT_USAGE,
            "--pft: needs the tissue of each series: give --t1 or --tissue before --, or, after it, --act, "
            "--pve-wm or --map-include with the file's name in terms of entities, as in sub-{subject}");
    code = track_options_take(track, arguments);
    arguments->n_positionals = 0;
    /* what no series can use is refused before the data set is read */
    if (!code) code = cmd_finish(gls_job_options_complete(job, track->given));
    job->given = track->given;
    return code;
}

/* Function `end` of gls_dataset_task: ends a worker process without the exit handlers, which belong to the parent. */
static void end_process(void)
{
    _exit(CMD_EXIT_OK);
}

/* Tracks the chosen units, or with --list lists them. Returns an exit code: if units failed, that of the worst unit. */
static int participants(const bids_values *o, gls_dataset_options *d, const cmd_arguments *arguments)
{
    static track_options track;
    static cmd_arguments track_arguments;
    gls_dataset_choice choice;
    gls_dataset dataset = {.n = 0};
    gls_status worst = GLS_OK;
    int code = parse_track(arguments, d, &track, &track_arguments);
    if (code) return code;
    /* the names that parse_track() made up are no files of a series: remove them */
    gls_job_options *job = &track.run.job;
    job->dwi = job->bval = job->bvec = NULL;
    if (d->tissue) job->pve_wm = job->pve_gm = job->pve_csf = NULL;
    if (job->t1 && !*job->t1) job->t1 = NULL;
    job->argc = arguments->argc;
    job->argv = arguments->argv;
    d->job = job;
    gls_status status = gls_dataset_choose(&choice, o->unit, o->shard);
    if (!status) status = gls_dataset_open(d, &dataset);
    if (status) return cmd_error_status(status);
    choice.stop_on_error = o->stop_on_error;
    status = gls_dataset_check(d, &dataset, &choice);
    if (!status && o->list) {
        code = cmd_print(gls_dataset_list(d, &dataset, &choice));
    } else if (!status) {
        gls_dataset_task task = {.dataset = d,
                                 .choice = &choice,
                                 .monitor = cmd_monitor(true),
                                 .go_on = cmd_goes_on,
                                 .jobs = o->jobs,
                                 .end = end_process,
                                 .document = gls_dataset_document,
                                 .no_report = o->no_report};
        status = gls_dataset_describe(d);
        /* with worker processes, catch signals, so that the parent waits for its children before it ends */
        if (o->jobs > 1) cmd_interrupt_catch();
        if (!status) status = gls_dataset_run(&task, &dataset, &worst);
        if (o->jobs > 1) cmd_interrupt_release();
    }
    if (status) code = cmd_error_status(status);
    gls_dataset_finish(&dataset);
    return worst ? (int)cmd_exit_from_status(worst) : code;
}

/* Interprets --seed-region: a word, fa:X with X from 0 to 1, or the entities and suffix of an image. Returns false if
 * the text is something else. */
static bool read_region(const char *text, gls_dataset_options *d)
{
    static const char *const words[] = {"auto", "wm", "aseg", "dseg", "fa"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], text) == 0) {
            d->region = (gls_dataset_region)i;
            return true;
        }
    if (strncmp(text, "fa:", 3) == 0) {
        d->region = GLS_DATASET_FA;
        return gls_parse_double(text + 3, &d->fa) && d->fa >= 0 && d->fa <= 1;
    }
    d->region = GLS_DATASET_FILE;
    return gls_bids_split(text, &d->region_file);
}

/* Writes the tables of the data set: of tractograms, of profiles, and of connectomes. */
static int group(const gls_dataset_options *d)
{
    size_t tractograms = 0, profiles = 0, atlases = 0, bundles = 0, assigned = 0;
    gls_status status = gls_dataset_group(d, &tractograms);
    if (!status) status = gls_dataset_profiles(d, &profiles);
    if (!status) status = gls_dataset_connectomes(d, &atlases);
    if (!status) status = gls_dataset_bundles(d, &bundles, &assigned);
    if (status) return cmd_error_status(status);
    if (tractograms + profiles + atlases + bundles + assigned == 0)
        return cmd_error(
            CMD_EXIT_INPUT,
            "%s: no tractogram, no table of profiles or bundles and no connectome that the options ask for", d->output);
    if (tractograms > 0) cmd_info("%s/group.tsv, index.html: %zu tractograms", d->output, tractograms);
    if (atlases > 0) cmd_info("%s/connectomes_seg-*.tsv: connectomes of %zu atlases", d->output, atlases);
    if (bundles > 0) cmd_info("%s/bundles.tsv: bundles of %zu tractograms", d->output, bundles);
    if (assigned > 0) cmd_info("%s/bundle_profiles.tsv: profiles of %zu tractograms", d->output, assigned);
    if (profiles > 0) cmd_info("%s/tract_profiles.csv: profiles of %zu tables", d->output, profiles);
    return CMD_EXIT_OK;
}

/* Takes the atlas that is a template with its labels out of the list of names, and checks the names. */
static int take_atlases(gls_dataset_options *d)
{
    int n = 0;
    for (int i = 0; i < d->atlases.n; i++) {
        const char *atlas = d->atlases.value[i];
        if (!strchr(atlas, ',')) {
            if (!gls_is_label(atlas)) return cmd_error(CMD_EXIT_USAGE, "--atlas: '%s': " GLS_BIDS_LABELS, atlas);
            d->atlases.value[n++] = atlas;
        } else if (d->t1_atlas) {
            return cmd_error(CMD_EXIT_USAGE, "--atlas %s: is the second template, and T1 images are registered to one",
                             atlas);
        } else {
            d->t1_atlas = atlas;
        }
    }
    d->atlases.n = n;
    return CMD_EXIT_OK;
}

/* Entry of the command: checks the options, then tracks participants or makes tables. Returns an exit code. */
static int run_bids(void *values, const cmd_arguments *arguments)
{
    const bids_values *o = values;
    if (arguments->n_positionals < 3)
        return cmd_error(CMD_EXIT_USAGE, "bids: needs BIDS_DIR OUT_DIR participant|group");
    const char *level = arguments->positional[2];
    gls_dataset_options d = o->data;
    for (int i = 0; i < d.filters.n; i++)
        if (!strchr(d.filters.value[i], '='))
            return cmd_error(CMD_EXIT_USAGE, "--filter: '%s' is not KEY=VALUE", d.filters.value[i]);
    const int code_of_atlases = take_atlases(&d);
    if (code_of_atlases) return code_of_atlases;
    d.input = arguments->positional[0];
    d.output = arguments->positional[1];
    /* i = -2: BIDS_DIR, -1: OUT_DIR, then the folders of --derivatives */
    for (int i = -2; i < d.derivatives.n; i++) {
        const char *folder = i == -2 ? d.input : i == -1 ? d.output : d.derivatives.value[i];
        if (strlen(folder) > GLS_DATASET_MAX_FOLDER)
            return cmd_error(CMD_EXIT_USAGE, "bids: the path %.40s... has more than %d bytes: give a shorter path",
                             folder, GLS_DATASET_MAX_FOLDER);
    }
    if (!read_region(o->region, &d))
        return cmd_error(CMD_EXIT_USAGE,
                         "--seed-region: '%s' is none of auto, wm, aseg, dseg, fa, fa:X with X from 0 to 1, or the end "
                         "of a name such as label-WM_mask",
                         o->region);
    if (strcmp(level, "group") != 0 && strcmp(level, "participant") != 0)
        return cmd_error(CMD_EXIT_USAGE, "bids: '%s' is neither participant nor group", level);
    gls_status status = o->filter_file ? gls_dataset_filters_read(o->filter_file, &d.filters) : GLS_OK;
    const int code = status ? cmd_error_status(status) : *level == 'g' ? group(&d) : participants(o, &d, arguments);
    for (int i = o->data.filters.n; i < d.filters.n; i++)
        free((char *)d.filters.value[i]); /* free the filters from the filter file */
    return code;
}

const cmd_command command_bids = {
    CMD_ENTRY(bids),
    .synopsis = "BIDS_DIR OUT_DIR participant|group [options] [-- options of track]",
    .summary = "Track a whole BIDS data set into another",
    .description = "Finds desc-preproc_dwi series with their tables (.bval and .bvec, or MRtrix's .b), brain masks and "
                   "segmentations of white matter in the same space, brings masks and segmentations to the grid of the "
                   "series, and tracks each series into OUT_DIR, a BIDS data set of derivatives. What is there already "
                   "with the same options is left as it is, so that an interrupted run continues when it is started "
                   "again. A series that fails does not stop the others.\nOptions of track that name a file of one "
                   "brain take a path with BIDS entities in braces, relative to the current folder: "
                   "'sub-{subject}/[ses-{session}/]peaks.nii.gz'; a part in brackets is left out for series without "
                   "its entity. --list shows the file of each series.",
    .positionals = CMD_TEXTS(
        "BIDS_DIR", "Data set of preprocessed diffusion images, such as the output of QSIPrep.", "OUT_DIR",
        "Data set of tractograms, made where it does not exist.", "LEVEL",
        "participant: track; group: write into OUT_DIR group.tsv, a table of the tractograms and of the series "
        "that lack one; index.html, which shows them; tract_profiles.csv, the rows of the files "
        "*_desc-profiles_tractography.csv; bundles.tsv, the rows of the files *_desc-bundles_tracts.tsv; "
        "bundle_profiles.tsv, those of *_desc-profiles_tracts.tsv; and "
        "connectomes_seg-NAME.tsv, the connectomes of an atlas."),
    .max_positionals = CMD_MAX_POSITIONALS,
    .rows = {{.table = table}},
    .behind = &command_track,
    .aliases = CMD_TEXTS("dry-run", "list"),
    .examples = CMD_TEXTS(
        "All participants of the output of QSIPrep, by probabilistic tracking of CSD:",
        "glslines bids qsiprep tracts participant -- --model csd --nseeds 1000000",
        "Along the peaks of each participant:",
        "glslines bids qsiprep tracts participant -- --peaks 'tractseg/sub-{subject}/peaks.nii.gz' --dg fact",
        "What there is to track:", "glslines bids qsiprep tracts participant --list",
        "Four at a time, on four GPUs:", "glslines bids qsiprep tracts participant --jobs 4 -- --device 0,1,2,3",
        "With tissue and the connectome of an atlas, made of the T1 image of each participant:",
        "glslines bids qsiprep tracts participant --t1 --atlas tpl.nii.gz,atlas.nii.gz,mask.nii.gz,names.txt -- "
        "--model csd",
        "With the connectome of an atlas, weighted by SIFT2:",
        "glslines bids qsiprep tracts participant --atlas 4S156Parcels -- --model csd --weights",
        "One part of a job array:", "glslines bids qsiprep tracts participant --shard 3/20"),
};
