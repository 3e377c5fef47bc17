/* Completions for bash, zsh and fish, from the tables of options: choices, files and folders. */
#ifndef GLS_CMD_MANUAL_COMPLETE_H
#define GLS_CMD_MANUAL_COMPLETE_H

#include <stdio.h>

#include "options/options.h"

/* Writes completions for bash. "glslines help installation" says where files of completions belong. */
bool manual_write_bash(FILE *out, const cmd_command *const *commands);
/* Writes completions for zsh. */
bool manual_write_zsh(FILE *out, const cmd_command *const *commands);
/* Writes completions for fish. */
bool manual_write_fish(FILE *out, const cmd_command *const *commands);

#endif
