/* Progress for programs: JSON objects, one a line (--progress json, --progress-file). */
#ifndef GLS_CMD_EVENTS_H
#define GLS_CMD_EVENTS_H

#include <glslines/workflow.h>

#include "options/options.h"

/* Opens the stream of the options and writes the event start. A reader that does not read holds the run while go_on. */
gls_status cmd_events_begin(const cmd_common *common, const char *command, bool (*go_on)(void));
cmd_progress_mode cmd_events_mode(void);
/* Whether events go to standard error, which then has no other text. */
bool cmd_events_own_stderr(void);

/* Nothing happens below where there are no events. level: "warning" or "error". */
void cmd_event_message(const char *level, const char *text);
void cmd_event_device(const char *renderer, uint64_t seeds);
void cmd_event_phase(gls_phase phase);
void cmd_event_progress(const gls_progress *progress, double seconds);
/* A file that was made, for the event end. */
void cmd_event_output(const char *path);
void cmd_event_end(int code);
/* The same from a signal handler. */
void cmd_event_end_by_signal(int code);

#endif
