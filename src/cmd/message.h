/* Everything the tool says on standard error: messages of the tool and of the library, and the progress of a run. Safe
 * from several threads. */
#ifndef GLS_CMD_MESSAGE_H
#define GLS_CMD_MESSAGE_H

#include <glslines/log.h>

#include "cmd/exit.h"
#include "options/options.h"

/* Sets the levels from -q and -v and takes over the messages of the library. */
void cmd_message_init(const cmd_common *common);

/* "glslines: TEXT"; returns code, so that `return cmd_error(...)` ends a command. */
int cmd_error(cmd_exit code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The library's last error under its own exit code. */
int cmd_error_status(gls_status status);
/* The same, or success. */
int cmd_finish(gls_status status);
/* Prints a text from malloc to standard output and frees it; NULL: memory ran out. What could steer a terminal is
 * escaped, but for tabs and ends of lines: names in the text have theirs escaped where they enter it. */
int cmd_print(char *text);
/* "glslines: warning: TEXT". */
void cmd_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A line for the user, silenced by -q. */
void cmd_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A line for those who asked with -v. */
void cmd_detail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether info lines are shown. */
bool cmd_message_info_enabled(void);

/* A line that stands at the bottom of the terminal until the next call; NULL removes it. Only for a terminal. */
void cmd_message_status_line(const char *line);

#endif
