/* Output of the program while a command runs: messages, exit codes, progress in the terminal, on the desktop and as
 * events for other programs; and how the program reacts to signals. */
#ifndef GLS_CMD_MESSAGE_H
#define GLS_CMD_MESSAGE_H

#include <stdbool.h>

#include <glslines/log.h>
#include <glslines/workflow.h>

#include "options/options.h"

/* Exit codes of the program. They are defined here only; the help prints them, and cmd_exit_text() and the manual's
 * topic troubleshooting say what each means. */
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
    CMD_EXIT_SIGNAL = 128, /* plus the number of the signal that ended the program */
    CMD_EXIT_INTERRUPTED = 130
} cmd_exit;

/* Exit code of a status of the library. */
cmd_exit cmd_exit_from_status(gls_status status);
/* Description of exit code i of the list of exit codes, i from 0, for the help; NULL: the list is shorter. */
const char *cmd_exit_text(size_t i);
/* The exit code that cmd_exit_text(i) describes; i is an index, not a code. */
int cmd_exit_code(size_t i);

/* --- Messages on standard error, of the program and of the library. Safe from several threads. */

/* Sets the level from -q and -v, and receives the messages of the library. Call it before other threads exist. */
void cmd_message_init(const cmd_common *common);
/* Prints "glslines: TEXT". Returns code, so that `return cmd_error(...)` ends a command. */
int cmd_error(cmd_exit code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Prints the last error of the library and returns the exit code of `status`. */
int cmd_error_status(gls_status status);
/* true: the text of cmd_error() becomes the last error, and is not printed; false: it is printed again. */
void cmd_errors_keep(bool keep);
/* cmd_error_status() if status is an error; CMD_EXIT_OK otherwise. */
int cmd_finish(gls_status status);
/* Prints a text from malloc to standard output and frees it. NULL: reports that memory ran out. Escapes control
 * characters except tabs and line ends. The caller must escape tabs and line ends in names. Returns an exit code. */
int cmd_print(char *text);
/* Writes the text of --json to the file at path, or prints it if path is "", then frees it. path NULL: does nothing.
 * text NULL: reports that memory ran out. Returns an exit code. */
int cmd_json_to(const char *path, bool force, char *text);
/* Prints a line for the user, unless -q is given. */
void cmd_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Whether cmd_info() prints. */
bool cmd_message_info_enabled(void);
/* Shows a line at the bottom of the terminal until the next call or message; NULL removes it. For terminals only. */
void cmd_message_status_line(const char *line);

/* --- Progress in the tab of the terminal at standard error, or on the task bar (escape sequence OSC 9;4, which Windows
 * Terminal, Konsole, Ghostty, WezTerm and iTerm2 understand). */

/* Shows a fraction, 0 to 1, as a percentage; writes an unchanged percentage again only at every 40th call. */
void cmd_terminal_progress(double fraction);
/* Removes the progress, if any is shown. */
void cmd_terminal_progress_end(void);

/* --- Signals: SIGINT, SIGTERM, SIGQUIT, SIGHUP and SIGXCPU.
 * Outside cmd_interrupt_catch() .. cmd_interrupt_release() a signal ends the program at once with the exit code 128 +
 * the signal's number, because there is nothing to clean up. Inside, while unfinished files exist, the first signal
 * asks the command to stop, and the second one ends the program at once. Signals also end a wait for an input that is a
 * pipe. After cmd_interrupt_done(), when all outputs are complete, the first signal has no effect. SIGPIPE and SIGXFSZ
 * are ignored, so that a write fails with a message instead. */

/* Sets the handlers of signals. Call this once when the program starts. */
void cmd_interrupt_init(void);
/* Begins a part of the program in which a signal only asks to stop. Calls nest. */
void cmd_interrupt_catch(void);
/* Ends the part of the program that cmd_interrupt_catch() began. */
void cmd_interrupt_release(void);
/* Makes the first signal have no effect. Call this when all outputs are complete. */
void cmd_interrupt_done(void);
/* Whether a signal has asked the command to stop; always false after cmd_interrupt_done(). */
bool cmd_interrupted(void);
/* The opposite of cmd_interrupted(), for callbacks that return whether to continue. */
bool cmd_goes_on(void);
/* Exit code of a program that a signal ended: 128 + the number of the signal; 130 if no signal came. */
int cmd_interrupt_code(void);

/* --- Progress for other programs: one JSON object a line (--progress json, --progress-file). */

/* Opens the stream and writes the event start. While the reader of a pipe does not read, the run waits as long as
 * go_on() is true. GLS_ERR_OUTPUT: the file cannot be opened, or holds something else than events. With neither
 * --progress json nor --progress-file there is no stream. */
gls_status cmd_events_begin(const cmd_common *common, const char *command, bool (*go_on)(void));
/* The mode of --progress that cmd_events_begin() was given. */
cmd_progress_mode cmd_events_mode(void);
/* The functions below do nothing without a stream of events. */
/* Event: a device takes part in the run. */
void cmd_event_device(const char *renderer, uint64_t seeds);
/* Event: a phase begins. */
void cmd_event_phase(gls_phase phase);
/* Event: progress of a phase. seconds: time since the phase began; left: time that the rest takes, or NAN: not known.
 */
void cmd_event_progress(const gls_progress *progress, double seconds, double left);
/* Event "end": the exit code of the command, and all files that it wrote. */
void cmd_event_end(int code);

#endif
