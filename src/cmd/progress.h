/* Progress of a run: a bar on a terminal, lines elsewhere, the launcher icon, and events. */
#ifndef GLS_CMD_PROGRESS_H
#define GLS_CMD_PROGRESS_H

#include <glslines/workflow.h>

/* The monitor of the command: it shows the progress of each phase, and asks the run to stop after a signal. lines: also
 * show progress where standard error is not a terminal. */
const gls_monitor *cmd_monitor(bool lines);
/* Shows a notification. Does nothing without a desktop with a session bus, or in a program built without libunity. */
void cmd_launcher_notify(const char *title, const char *text);

#endif
