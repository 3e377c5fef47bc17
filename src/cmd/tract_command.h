/* Frame of all commands on tractograms: it makes a run of src/sinks or src/bench from a command line, and an exit code
 * from the result of the run. */
#ifndef GLS_CMD_TRACT_COMMAND_H
#define GLS_CMD_TRACT_COMMAND_H

#include <string.h>

#include "options/options.h"
#include "sinks/tract_results.h"

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
    /* options of tract_shared_rows, or --force alone of tract_force_row */
    gls_tract_common shared;
} tract_values;
#define TRACT_AT sizeof(tract_values)

/* Tables of options: shared by all commands on tractograms; --force alone; how tractograms
 * are read. */
extern const gls_option tract_shared_rows[], tract_force_row[], tract_input_rows[];

/* cmd_command.run of commands on tractograms. */
int tract_run(void *values, const cmd_arguments *arguments);

/* Members of a command whose rows and defaults come from tract_table.def: rows NAME_rows at TRACT_AT, the shared rows,
 * the work, the size of the values, the defaults and tract_run(). */
#define TRACT_NAME(before, name, after) TRACT_JOIN(before, name, after)
#define TRACT_JOIN(before, name, after) before##name##after
#define TRACT_COMMAND(name_, work_, description_, arguments_, min_files_, shared_)                               \
    .name = #name_,                                                                                              \
    .rows = {{.table = name_##_rows, .at = TRACT_AT}, {.table = shared_, .at = offsetof(tract_values, shared)}}, \
    .work = &(const tract_work){description_, work_, arguments_, min_files_},                                    \
    .values_size = TRACT_AT + sizeof(gls_##name_##_cli), .set_defaults = set_##name_##_defaults, .run = tract_run

/* Sets how tractograms are read, for commands that draw them and have the rows tract_input_rows. *reference must
 * outlive *options. GLS_ERR_OUTPUT: one of the n outputs (NULL entries are skipped) is the file of --reference. */
gls_status tract_input_read(const gls_tract_common *input, const char *const *output, size_t n,
                            gls_tractogram_read_options *options, gls_grid *reference);

#endif
