/* The list of commands of the program. */
#ifndef GLS_CMD_COMMANDS_H
#define GLS_CMD_COMMANDS_H

#include "options/options.h"

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
    ROW(sample) \
    ROW(stats) \
    ROW(segment) \
    ROW(profile) \
    ROW(density) \
    ROW(connectome) \
    ROW(fixels) ROW(peaks) \
    ROW(weights) \
    ROW(render) \
    ROW(report) \
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

#endif
