/* Progress of a tracking run or of a fit: a bar with rate and time left on a terminal, plain lines elsewhere, and the
 * launcher icon of a desktop. */
#ifndef GLS_CMD_PROGRESS_H
#define GLS_CMD_PROGRESS_H

#include <glslines/workflow.h>

typedef struct cmd_launcher cmd_launcher;

typedef struct cmd_progress {
    bool begun, shown; /* shown: info messages are wanted */
    bool terminal;     /* standard error is one */
    bool quiet_lines;  /* set by the caller: nothing is shown where it is no terminal */
    double start, last_time, last_event;
    uint64_t last_done;
    cmd_launcher *launcher;
} cmd_progress;

/* A monitor that shows the progress of each phase and asks to stop once a signal has come; progress (set to 0) must
 * outlive it. */
gls_monitor cmd_progress_monitor(cmd_progress *progress);

#endif
