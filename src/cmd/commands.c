/* The commands in the order in which the help lists them. */
#include "cmd/commands.h"

const cmd_command *const cmd_commands[] = {
    &cmd_track,  &cmd_merge,        &cmd_fit,     &cmd_bids,         &cmd_phantom,
    &cmd_score,  &cmd_info_command, &cmd_convert, &cmd_density,      &cmd_connectome,
    &cmd_render, &cmd_devices,      &cmd_bench,   &cmd_help_command, NULL,
};
