/* The commands of the tool; src/main.c lists them. */
#ifndef GLS_CMD_COMMANDS_H
#define GLS_CMD_COMMANDS_H

#include "cmd/options.h"

extern const cmd_command cmd_track;
extern const cmd_command cmd_merge;
extern const cmd_command cmd_fit;
extern const cmd_command cmd_phantom;
extern const cmd_command cmd_score;
extern const cmd_command cmd_devices;
extern const cmd_command cmd_bench;

#endif
