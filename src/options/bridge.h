/* Commands, options and words of other programs, and their counterparts in glslines. */
#ifndef GLS_OPTIONS_BRIDGE_H
#define GLS_OPTIONS_BRIDGE_H

#include "options/options.h"

/* Returns the words to type after "glslines" in place of another program, mostly the name of a command. NULL: glslines
 * has no counterpart. */
const char *cmd_bridge_command(const char *program);

/* The counterpart of an option of another program. */
typedef struct cmd_bridged {
    /* what does the same in glslines, mostly an option; "unneeded: " and why the flag can be left out, or
     * "unneeded with its value: "; "nothing: " or
     * "no option: " and why there is no counterpart; NULL: the option is not known */
    const char *here;
    /* name of a command with the option `here`: the command in use, if it has a counterpart, else another command */
    const char *command;
} cmd_bridged;

/* Finds the counterpart of the option `name`, without dashes, that was given to a command. table: its options. */
cmd_bridged cmd_bridge_option(const char *command, const cmd_table *table, const char *name);
/* Returns the counterpart in glslines of a value of another program, as text for a message; NULL: none is known, or the
 * counterpart is an option that the command in use lacks. */
const char *cmd_bridge_value(const cmd_table *table, const char *option, const char *value);
/* The value of glslines that replaces a value of another program, such as "SD_STREAM"; NULL: none does. */
const char *cmd_bridge_word(const char *option, const char *value);

#endif
