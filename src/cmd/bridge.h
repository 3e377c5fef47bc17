/* Options and words of other programs, and what stands for them here: whoever types one out of habit is told. */
#ifndef GLS_CMD_BRIDGE_H
#define GLS_CMD_BRIDGE_H

#include <stddef.h>

/* What stands in glslines COMMAND for the option of another program, e.g. "select", "seed_image" or "s"; NULL: nobody
 * has such an option. */
const char *cmd_bridge_option(const char *command, const char *name);

/* The same for a value of an option of ours, e.g. "device", "metal". */
const char *cmd_bridge_value(const char *option, const char *value);

#endif
