/* What the commands on tractograms share: from the command line to a run of workflow/tracts, and to an exit code. */
#ifndef GLS_CMD_TRACT_H
#define GLS_CMD_TRACT_H

#include <string.h>

#include "options/options.h"
#include "workflow/tracts/tracts.h"

/* How a command is run: its member work. */
typedef struct tract_work {
    const char *description; /* of the sidecar */
    gls_status (*work)(gls_tract_run *run, const void *options, const char *const *file, size_t n);
    const char *arguments; /* "takes IN and OUT": in the error for another number */
    int min_files;
} tract_work;

/* The values of these commands: behind these, at TRACT_AT, comes the struct of the command's own rows. */
typedef struct tract_values {
    cmd_common common;
    gls_tract_common shared;
} tract_values;
#define TRACT_AT sizeof(tract_values)

/* Rows of what all commands share, of --force alone, and of tract_input. */
extern const gls_option tract_shared_rows[], tract_force_row[], tract_input_rows[];

/* The member run of these commands. */
int tract_run(const cmd_command *command, void *values, const cmd_arguments *arguments);

/* Members of a command whose rows and defaults tract_table.def made. */
#define TRACT_NAME(before, name, after) TRACT_JOIN(before, name, after)
#define TRACT_JOIN(before, name, after) before##name##after
#define TRACT_COMMAND(name_, work_, description_, arguments_, min_files_, shared_)                               \
    .name = #name_,                                                                                              \
    .rows = {{.table = name_##_rows, .at = TRACT_AT}, {.table = shared_, .at = offsetof(tract_values, shared)}}, \
    .work = &(const tract_work){description_, work_, arguments_, min_files_},                                    \
    .values_size = TRACT_AT + sizeof(gls_##name_##_cli), .set_defaults = set_##name_##_defaults, .run = tract_run

/* For commands that draw tractograms: the same options of reading, in a member input. */
#define ROW GLS_ROW_FIELD
typedef struct tract_input {
#include "workflow/tracts/input.def"
} tract_input;
#undef ROW
/* *reference has to outlive *options. */
gls_status tract_input_read(const tract_input *input, gls_tractogram_read_options *options, gls_grid *reference);
/* GLS_ERR_OUTPUT if the output is what was read there. */
gls_status tract_input_keep(const tract_input *input, const char *output);

#endif
