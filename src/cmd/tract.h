/* What the commands on tractograms share: from the command line to a job of workflow/tracts, and to an exit code. */
#ifndef GLS_CMD_TRACT_H
#define GLS_CMD_TRACT_H

#include "options/rows.h"
#include "workflow/tracts/tracts.h"

/* How a command is run: its member work. Its struct of values begins with a tract_values; options are those of its file
 * of rows. */
typedef struct tract_work {
    const char *description; /* of the sidecar */
    gls_status (*work)(gls_tract_job *job, const void *options, const char *const *file, size_t n);
    size_t options;        /* offset in the values */
    const char *arguments; /* "takes IN and OUT": in the error for another number */
    int min_files;
} tract_work;

typedef struct tract_values {
    cmd_common common;
    gls_tract_common shared;
} tract_values;

/* The member run of these commands. */
int tract_run(const cmd_command *command, void *values, const cmd_arguments *arguments);

/* A row in the table of a command whose struct of values is CMD_OWNER, with its options as member o. */
#define TRACT_ROW(group, type, field, name, letter, metavar, unit, range, default_, default_text, choices, help)    \
    CMD_ENTRY(group, type, offsetof(CMD_OWNER, o.field), name, letter, metavar, unit, range, default_text, choices, \
              help)
#define TRACT_SHARED_ROW(group, type, field, name, letter, metavar, unit, range, default_, default_text, choices,  \
                         help)                                                                                     \
    CMD_ENTRY(group, type, offsetof(tract_values, shared.field), name, letter, metavar, unit, range, default_text, \
              choices, help)

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
#define TRACT_INPUT_ROW(group, type, field, name, letter, metavar, unit, range, default_, default_text, choices, help) \
    CMD_ENTRY("Input", type, offsetof(CMD_OWNER, input.field), name, letter, metavar, unit, range, default_text,       \
              choices, help)

#endif
