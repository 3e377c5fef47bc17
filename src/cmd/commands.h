/* The list of commands of the program, and the options that several commands share: of `track`, and of a model. */
#ifndef GLS_CMD_COMMANDS_H
#define GLS_CMD_COMMANDS_H

#include "options/options.h"
#include "record/run_params.h"

/* One row for each command, in the order of the help. The file of the command defines command_NAME. */
/* clang-format off */
#define CMD_COMMANDS(ROW) \
    ROW(track) \
    ROW(merge) \
    ROW(fit) \
    ROW(bids) \
    ROW(response) \
    ROW(phantom) \
    ROW(score) \
    ROW(info) \
    ROW(convert) \
    ROW(edit) \
    ROW(register) \
    ROW(anat) \
    ROW(transform) \
    ROW(sample) \
    ROW(stats) \
    ROW(segment) \
    ROW(cluster) \
    ROW(search) \
    ROW(recognize) \
    ROW(similarity) \
    ROW(atlas) \
    ROW(clean) \
    ROW(profile) \
    ROW(density) \
    ROW(connectome) \
    ROW(edges) \
    ROW(permute) \
    ROW(fixels) ROW(peaks) \
    ROW(weights) \
    ROW(render) \
    ROW(report) \
    ROW(view) \
    ROW(devices) \
    ROW(bench) \
    ROW(cite) \
    ROW(help)
/* clang-format on */

#define CMD_DECLARE(name) extern const cmd_command command_##name;
/* declares command_track, command_merge ... for the file that lists them */
CMD_COMMANDS(CMD_DECLARE)
#undef CMD_DECLARE

/* All commands, in the order of CMD_COMMANDS. NULL ends the list. */
extern const cmd_command *const cmd_commands[];
/* Prints the text of `glslines help` without arguments. */
void cmd_print_overview(FILE *out);

/* --- Options of `track`, the rows of glslines/params.def; options and arguments of commands that fit a model. */

/* Values of the options of `track`. */
typedef struct track_options {
    cmd_common common;
    /* the options of gls_params: options of the job, and options of the program alone (--dry-run, --report ...) */
    gls_run_options run;
    const char *given[GLS_N_PARAMS + 1]; /* memory for run.job.given */
} track_options;

/* cmd_command.set_defaults of `track`. values: a track_options. */
void track_options_default(void *values);

/* Stores in the options what else the words say: the files of the arguments, which options are given, and numbers in
 * place of random seeds. The job completes and checks them. After a fault prints a message. Returns an exit code. */
int track_options_take(track_options *options, const cmd_arguments *arguments);

/* Entry of cmd_command.rows: the options of a model, stored in `member`, a gls_model_options of the struct `values`. */
#define CMD_MODEL_ROWS(values, member, ...)                                                                 \
    {                                                                                                       \
        .table = gls_params, .at = offsetof(values, member) - offsetof(gls_job_options, model), __VA_ARGS__ \
    }
/* Alternative names of options of a model. */
extern const char *const model_option_aliases[];
/* Checks combinations of the options of a model. Prints a message if they are at fault. Returns an exit code. */
int model_options_check(const gls_model_options *options, const cmd_arguments *arguments);

/* Names and descriptions of the arguments DWI, BVAL and BVEC for help and manual. */
#define CMD_SERIES_POSITIONALS                                                                                       \
    "DWI", "Diffusion series, NIfTI (.nii, .nii.gz) or MRtrix's .mif, 4D.", "BVAL",                                  \
        "Text file of b-values in s/mm2, a row or a column; or with - for BVEC one of rows x y z b (MRtrix); or -: " \
        "in a .mif. Default: in the header of DWI, or beside it.",                                                   \
        "BVEC",                                                                                                      \
        "Text file of gradient directions, three rows or three columns; or -, see BVAL. Default: in the header "     \
        "of DWI, or beside it."

#endif
