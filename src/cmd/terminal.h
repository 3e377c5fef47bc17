/* What the terminal behind standard error is told: colours, and the progress that it shows in its tab or on the task
 * bar (OSC 9;4, which Windows Terminal, Konsole, Ghostty, WezTerm and iTerm2 read). */
#ifndef GLS_CMD_TERMINAL_H
#define GLS_CMD_TERMINAL_H

#include <stdbool.h>

/* Standard error is a terminal that knows colours, and NO_COLOR is not set. */
bool cmd_terminal_has_colour(void);
/* Beside a bar: 0 .. 1, again after five seconds at the latest. */
void cmd_terminal_progress(double fraction);
void cmd_terminal_progress_end(void);
/* From a signal handler. */
void cmd_terminal_end_by_signal(void);

#endif
