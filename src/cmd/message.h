/* Output of the program while a command runs: messages, exit codes, progress in the terminal; and its signals. */
#ifndef GLS_CMD_MESSAGE_H
#define GLS_CMD_MESSAGE_H

#include <stdbool.h>

#include <glslines/log.h>
#include <glslines/workflow.h>

#include "options/options.h"

/* Exit codes of the tool: the one place where they are defined; the help prints them. */

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

/* Everything the tool says on standard error: messages of the tool and of the library, and the progress of a run. Safe
 * from several threads. */

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
/* Where --json has JSON, which it frees: in a file, or printed if path is ""; NULL: nowhere. Returns the exit code. */
int cmd_json_to(const char *path, bool force, char *text);
/* "glslines: warning: TEXT". */
void cmd_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A line for the user, silenced by -q. */
void cmd_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether info lines are shown. */
bool cmd_message_info_enabled(void);

/* A line that stands at the bottom of the terminal until the next call; NULL removes it. Only for a terminal. */
void cmd_message_status_line(const char *line);

/* The terminal behind standard error: whether it has colours, and the progress that it shows in its tab or on the task
 * bar (OSC 9;4, which Windows Terminal, Konsole, Ghostty, WezTerm and iTerm2 read). */

/* Standard error is a terminal that knows colours, and NO_COLOR is not set. */
bool cmd_terminal_has_colour(void);
/* Shows a fraction from 0 to 1 in the tab. Call it whenever the progress line is drawn: an unchanged percentage is
 * written again with every 40th call. */
void cmd_terminal_progress(double fraction);
void cmd_terminal_progress_end(void);
/* From a signal handler. */
void cmd_terminal_end_by_signal(void);

/* SIGINT, SIGTERM, SIGHUP and SIGXCPU. Outside catch .. release the program ends at once with exit code 128 and the
 * signal's number: there is nothing to clean up. Inside, where unfinished files exist, they are a request to stop; a
 * second one ends the program at once. They end waiting for an input that is a pipe, too. After done, when all outputs
 * are complete, the first one changes nothing.
 * SIGPIPE and SIGXFSZ are ignored, so that a write fails with a message instead. */

/* Once, at the start of the program. */
void cmd_interrupt_init(void);
/* Calls nest. */
void cmd_interrupt_catch(void);
void cmd_interrupt_release(void);
void cmd_interrupt_done(void);
/* Whether one came since catch, and asks for an end. */
bool cmd_interrupted(void);
/* The opposite. */
bool cmd_goes_on(void);
/* The exit code of a program that such a signal ended. */
int cmd_interrupt_code(void);

/* Progress on the desktop's launcher icon (Ubuntu dock, Plasma, Plank) through libunity, where it was built in and a
 * session bus exists; notifications by the same way. */

typedef struct cmd_launcher cmd_launcher;

/* NULL where there is nothing to show progress on, which the others accept. All calls from one thread. */
cmd_launcher *cmd_launcher_create(void);
void cmd_launcher_update(cmd_launcher *launcher, double fraction);
void cmd_launcher_destroy(cmd_launcher *launcher);
/* A notification on the desktop; without a desktop nothing. */
void cmd_launcher_notify(const char *title, const char *text);

/* Progress of a tracking run or of a fit: a bar with rate and time left on a terminal, plain lines elsewhere, and the
 * launcher icon of a desktop. */
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

/* Progress for programs: JSON objects, one a line (--progress json, --progress-file). */

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
