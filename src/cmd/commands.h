/* The commands of the tool. */
#ifndef GLS_CMD_COMMANDS_H
#define GLS_CMD_COMMANDS_H

#include "options/options.h"

extern const cmd_command cmd_track;
extern const cmd_command cmd_merge;
extern const cmd_command cmd_fit;
extern const cmd_command cmd_response;
extern const cmd_command cmd_bids;
extern const cmd_command cmd_phantom;
extern const cmd_command cmd_score;
extern const cmd_command cmd_info_command;
extern const cmd_command cmd_convert;
extern const cmd_command cmd_edit;
extern const cmd_command cmd_sample;
extern const cmd_command cmd_stats;
extern const cmd_command cmd_segment;
extern const cmd_command cmd_profile;
extern const cmd_command cmd_density;
extern const cmd_command cmd_weights;
extern const cmd_command cmd_connectome;
extern const cmd_command cmd_fixels;
extern const cmd_command cmd_peaks;
extern const cmd_command cmd_render;
extern const cmd_command cmd_report;
extern const cmd_command cmd_devices;
extern const cmd_command cmd_bench;
extern const cmd_command cmd_cite;
extern const cmd_command cmd_help_command;

/* All of them, in the order of the help; NULL ends the list. */
extern const cmd_command *const cmd_commands[];
/* What 'glslines help' prints without arguments. */
void cmd_print_overview(FILE *out);

#endif
