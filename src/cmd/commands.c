/* The commands in the order in which the help lists them. */
#include "cmd/commands.h"

const cmd_command *const cmd_commands[] = {
    &cmd_track,        &cmd_merge,      &cmd_fit,    &cmd_bids,         &cmd_response, &cmd_phantom, &cmd_score,
    &cmd_info_command, &cmd_convert,    &cmd_edit,   &cmd_sample,       &cmd_stats,    &cmd_segment, &cmd_profile,
    &cmd_density,      &cmd_connectome, &cmd_fixels, &cmd_peaks,        &cmd_weights,  &cmd_render,  &cmd_report,
    &cmd_devices,      &cmd_bench,      &cmd_cite,   &cmd_help_command, NULL,
};
