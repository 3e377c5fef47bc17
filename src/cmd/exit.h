/* Exit codes of the tool: the one place where they are defined; the help prints them. */
#ifndef GLS_CMD_EXIT_H
#define GLS_CMD_EXIT_H

#include <glslines/common.h>

typedef enum cmd_exit {
    CMD_EXIT_OK = 0,
    CMD_EXIT_INTERNAL = 1,
    CMD_EXIT_USAGE = 2,
    CMD_EXIT_INPUT = 3,
    CMD_EXIT_OUTPUT = 4,
    CMD_EXIT_DEVICE = 5,
    CMD_EXIT_EMPTY = 6,
    CMD_EXIT_UNSUPPORTED = 7,
    CMD_EXIT_CONVERGENCE = 8,
    CMD_EXIT_SIGNAL = 128, /* and the number of the signal that ended the program */
    CMD_EXIT_INTERRUPTED = 130
} cmd_exit;

cmd_exit cmd_exit_from_status(gls_status status);

/* The codes and a line on each, for the help; the text is NULL at the end of the list. */
const char *cmd_exit_text(size_t i);
int cmd_exit_code(size_t i);

#endif
