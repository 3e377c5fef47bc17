/* Messages on standard error, the line of progress in the terminal, exit codes and signals; progress for other programs
 * as JSON events, one a line (--progress json, --progress-file). */
#include <cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/message.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/json_text.h"
#include "util/output_file.h"
#include "util/status.h"

#define FORMAT 1 /* version of the format of events */

static struct {
    pthread_mutex_t lock;
    cmd_progress_mode mode;
    volatile sig_atomic_t fd; /* descriptor to which events are written; -1: no events */
    cJSON *outputs;
    bool (*go_on)(void);
    bool broken; /* true: an event was written in part, so that no further event may follow it */
} events = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

/* names in events, by gls_phase */
static const char *const phases[] = {"fit", "track", "merge", "write", "test"};

/* Writes an event as one line, unless an earlier one was written only in part; frees the object, which may be NULL. */
static void send(cJSON *object)
{
    char *text = object ? gls_json_print_line(object) : NULL;
    cJSON_Delete(object);
    size_t n = text ? strlen(text) : 0;
    char *line = text ? realloc(text, n + 2) : NULL;
    if (line) {
        line[n] = '\n';
        pthread_mutex_lock(&events.lock);
        const bool writes = events.fd >= 0 && !events.broken;
        const size_t written = writes ? gls_fd_write_while(events.fd, line, n + 1, events.go_on) : 0;
        events.broken |= written > 0 && written <= n;
        pthread_mutex_unlock(&events.lock);
        text = line;
    }
    free(text);
}

/* Makes an object whose first member is "event"; send() frees it. Returns NULL if no stream of events is open. */
static cJSON *event(const char *name)
{
    cJSON *object = events.fd >= 0 ? cJSON_CreateObject() : NULL;
    cJSON_AddStringToObject(object, "event", name);
    return object;
}

/* Opens a pipe or a device, or makes a file. Replaces a regular file only if it is empty or holds earlier events, so
 * that a wrong path does not destroy data. */
static gls_status open_file(const char *path)
{
    static const char first[] = "{\"event\"";
    char found[sizeof first - 1];
    struct stat info;
    if (stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        bool own = fd >= 0 && read(fd, found, sizeof found) == (ssize_t)sizeof found &&
                   memcmp(found, first, sizeof found) == 0;
        if (fd >= 0) close(fd);
        if (!own)
            return gls_fail(GLS_ERR_OUTPUT, "--progress-file: %s: exists and holds no events; give another name", path);
    }
    events.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (events.fd >= 0) return GLS_OK;
    return gls_fail(GLS_ERR_OUTPUT, "--progress-file: %s: %s", path, strerror(errno));
}

/* Adds an output file to the list that the event "end" will have. */
static void note_output(const char *path)
{
    pthread_mutex_lock(&events.lock);
    cJSON_AddItemToArray(events.outputs, cJSON_CreateString(path));
    pthread_mutex_unlock(&events.lock);
}

gls_status cmd_events_begin(const cmd_common *common, const char *command, bool (*go_on)(void))
{
    events.go_on = go_on;
    events.mode = (cmd_progress_mode)common->progress;
    if (common->progress_file) {
        gls_status status = open_file(common->progress_file);
        if (status) return status;
    } else if (events.mode == CMD_PROGRESS_JSON) {
        events.fd = STDERR_FILENO;
    }
    if (events.fd < 0) return GLS_OK;
    events.outputs = cJSON_CreateArray();
    gls_outputs_note(note_output);
    cJSON *start = event("start");
    cJSON_AddNumberToObject(start, "version", FORMAT);
    cJSON_AddStringToObject(start, "command", command);
    cJSON_AddStringToObject(start, "software", gls_version());
    send(start);
    return GLS_OK;
}

cmd_progress_mode cmd_events_mode(void)
{
    return events.mode;
}

/* Writes the event of a message. level: "warning" or "error". */
static void cmd_event_message(const char *level, const char *text)
{
    cJSON *object = event(level);
    cJSON_AddStringToObject(object, "text", text);
    send(object);
}

void cmd_event_device(const char *renderer, uint64_t seeds)
{
    cJSON *object = event("device");
    cJSON_AddStringToObject(object, "renderer", renderer);
    cJSON_AddNumberToObject(object, "seeds", (double)seeds);
    send(object);
}

void cmd_event_phase(gls_phase phase)
{
    cJSON *object = event("phase");
    cJSON_AddStringToObject(object, "name", phases[phase]);
    send(object);
}

void cmd_event_progress(const gls_progress *p, double seconds, double left)
{
    cJSON *object = event("progress");
    cJSON_AddStringToObject(object, "phase", phases[p->phase]);
    cJSON_AddNumberToObject(object, "done", (double)p->done);
    cJSON_AddNumberToObject(object, "total", (double)p->total);
    if (p->phase == GLS_PHASE_TRACK) {
        cJSON_AddNumberToObject(object, "streamlines", (double)p->streamlines);
        cJSON_AddNumberToObject(object, "points", (double)p->points);
        cJSON *rejected = cJSON_AddObjectToObject(object, "rejected");
        for (int v = GLS_VERDICT_KEPT + 1; v < GLS_VERDICT_COUNT; v++)
            cJSON_AddNumberToObject(rejected, gls_verdict_name((gls_verdict)v), (double)p->verdicts[v]);
    }
    cJSON_AddNumberToObject(object, "seconds", seconds);
    if (left >= 0)
        cJSON_AddNumberToObject(object, "eta", left);
    else
        cJSON_AddNullToObject(object, "eta");
    send(object);
}

void cmd_event_end(int code)
{
    gls_outputs_note(NULL);
    cJSON *object = event("end");
    cJSON_AddStringToObject(object, "status",
                            code == CMD_EXIT_OK      ? "ok"
                            : code > CMD_EXIT_SIGNAL ? "interrupted"
                                                     : "failed");
    cJSON_AddNumberToObject(object, "exit", code);
    cJSON_AddItemToObject(object, "output", events.outputs);
    events.outputs = NULL;
    send(object);
    events.fd = -1;
}

/* --- Messages, and the line of progress. */

cmd_exit cmd_exit_from_status(gls_status status)
{
    switch (status) {
    case GLS_OK: return CMD_EXIT_OK;
    case GLS_ERR_ARGUMENT: return CMD_EXIT_USAGE;
    case GLS_ERR_INPUT: return CMD_EXIT_INPUT;
    case GLS_ERR_OUTPUT: return CMD_EXIT_OUTPUT;
    case GLS_ERR_MEMORY: return CMD_EXIT_INTERNAL;
    case GLS_ERR_DEVICE:
    case GLS_ERR_LOST:
    case GLS_ERR_DEVICE_MEMORY: return CMD_EXIT_DEVICE;
    case GLS_ERR_UNSUPPORTED: return CMD_EXIT_UNSUPPORTED;
    case GLS_ERR_EMPTY: return CMD_EXIT_EMPTY;
    case GLS_ERR_CANCELLED: return CMD_EXIT_INTERRUPTED;
    case GLS_ERR_CONVERGENCE: return CMD_EXIT_CONVERGENCE;
    }
    return CMD_EXIT_INTERNAL;
}

/* The exit codes with their descriptions, in the order in which the help lists them. */
static const struct {
    cmd_exit code;
    const char *text;
} exit_codes[] = {
    {CMD_EXIT_OK, "success; an empty result counts as success"},
    {CMD_EXIT_INTERNAL, "internal error, or out of memory"},
    {CMD_EXIT_USAGE, "usage: unknown option, value out of range"},
    {CMD_EXIT_INPUT, "bad input: missing, damaged or inconsistent files"},
    {CMD_EXIT_OUTPUT, "the output cannot be written, or it exists and --force is not given"},
    {CMD_EXIT_DEVICE, "no usable device, or the device failed or ran out of memory"},
    {CMD_EXIT_EMPTY, "empty result, with --fail-if-empty; no fixel, or no streamline to weight"},
    {CMD_EXIT_UNSUPPORTED, "valid, but not supported by this version or device"},
    {CMD_EXIT_CONVERGENCE, "written, but an iteration did not converge"},
    {CMD_EXIT_INTERRUPTED, "interrupted by Ctrl-C; 143 by SIGTERM, 131 by SIGQUIT, 129 by SIGHUP, 152 by SIGXCPU"},
};

const char *cmd_exit_text(size_t i)
{
    return i < sizeof exit_codes / sizeof *exit_codes ? exit_codes[i].text : NULL;
}

int cmd_exit_code(size_t i)
{
    return exit_codes[i].code;
}

/* OSC 9;4 with state 0 removes the progress; state 1 shows a percentage. */
#define PROGRESS_END "\033]9;4;0\007"

/* whether the terminal shows a percentage in its tab; a signal handler must remove the percentage */
static volatile sig_atomic_t progress_shown;
/* the percentage that the terminal shows; -1: none */
static int last_percent = -1;

/* Whether standard error is a terminal that understands escape sequences. */
static bool is_terminal(void)
{
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) == 1 && term && *term && strcmp(term, "dumb") != 0;
}

/* Whether standard error is a terminal with colours and NO_COLOR is not set. */
static bool cmd_terminal_has_colour(void)
{
    const char *none = getenv("NO_COLOR");
    return (!none || !*none) && is_terminal();
}

/* Whether to send OSC 9;4: to a terminal that is no Linux console, tmux or screen, and not with GLSLINES_OSC=0. */
static bool takes_progress(void)
{
    const char *own = getenv("GLSLINES_OSC"), *term = getenv("TERM");
    return is_terminal() && term && strcmp(term, "linux") != 0 && !getenv("TMUX") && !getenv("STY") &&
           !(own && strcmp(own, "0") == 0);
}

void cmd_terminal_progress(double fraction)
{
    static int calls;
    int percent = fraction <= 0 ? 0 : fraction >= 1 ? 100 : (int)(100 * fraction);
    /* the progress line is drawn ten times a second: repeat an unchanged percentage every four seconds */
    if ((percent == last_percent && ++calls < 40) || !takes_progress()) return;
    calls = 0;
    last_percent = percent;
    progress_shown = 1;
    fprintf(stderr, "\033]9;4;1;%d\007", percent);
}

void cmd_terminal_progress_end(void)
{
    if (!progress_shown) return;
    fputs(PROGRESS_END, stderr);
    fflush(stderr);
    progress_shown = 0;
    last_percent = -1;
}

/* Settings of -q and -v, and whether a progress bar is shown. `lock` keeps lines of several threads apart. */
static struct {
    pthread_mutex_t lock;
    bool quiet;
    /* number of -v; 0 with -q */
    int verbose;
    /* true: a progress bar is the last line of the terminal */
    bool status_shown;
} messages = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Prints a line above the progress bar, unless standard error belongs to events. Call it with the lock held. */
static void print_line(const char *prefix, const char *line)
{
    if (events.fd == STDERR_FILENO) return;
    /* erase the progress bar; the next report of progress draws it again */
    if (messages.status_shown) fputs("\r\033[K", stderr);
    messages.status_shown = false;
    fprintf(stderr, "%s%s\n", prefix, line);
}

/* Prints a message of the library or the program with its prefix, if -q and -v admit its level; errors and warnings
 * also become events. Any thread may call it. */
static void emit(void *user, gls_log_level level, const char *line)
{
    (void)user;
    static const char *const prefix[][2] = {
        [GLS_LOG_ERROR] = {"glslines: ", "\033[1;31mglslines:\033[0m "},
        [GLS_LOG_WARNING] = {"glslines: warning: ", "glslines: \033[1;33mwarning:\033[0m "},
        [GLS_LOG_INFO] = {"", ""},
        [GLS_LOG_DETAIL] = {"", ""},
        [GLS_LOG_DEBUG] = {"debug: ", "debug: "}};
    pthread_mutex_lock(&messages.lock);
    /* -v admits GLS_LOG_DETAIL, -vv also GLS_LOG_DEBUG */
    const int max_level = messages.quiet ? GLS_LOG_WARNING : GLS_LOG_INFO + messages.verbose;
    if ((int)level <= max_level) print_line(prefix[level][cmd_terminal_has_colour()], line);
    pthread_mutex_unlock(&messages.lock);
    if (level <= GLS_LOG_WARNING) cmd_event_message(level == GLS_LOG_ERROR ? "error" : "warning", line);
}

void cmd_message_init(const cmd_common *common)
{
    messages.quiet = common->quiet;
    messages.verbose = common->quiet ? 0 : common->verbose;
    gls_log_set(emit, NULL, messages.verbose > 1 ? GLS_LOG_DEBUG : GLS_LOG_DETAIL);
}

/* Formats a message of the program itself and hands it to emit(). Control characters, which may come from file names,
 * are escaped so that they cannot drive the terminal. */
static void emit_v(gls_log_level level, const char *format, va_list args)
{
    char text[GLS_MESSAGE_BYTES], line[GLS_MESSAGE_BYTES];
    gls_vsnprintf(text, sizeof text, format, args);
    gls_escape(text, line, sizeof line);
    emit(NULL, level, line);
}

/* Whether errors are kept. */
static bool keeps;

void cmd_errors_keep(bool keep)
{
    keeps = keep;
}

int cmd_error(cmd_exit code, const char *format, ...)
{
    va_list args;
    char text[GLS_MESSAGE_BYTES];
    va_start(args, format);
    if (keeps) {
        /* the last error may be one of the arguments */
        gls_vsnprintf(text, sizeof text, format, args);
        gls_error_set("%s", text);
    } else {
        emit_v(GLS_LOG_ERROR, format, args);
    }
    va_end(args);
    return code;
}

int cmd_error_status(gls_status status)
{
    const char *text = gls_last_error();
    return cmd_error(cmd_exit_from_status(status), "%s", *text ? text : gls_status_name(status));
}

int cmd_finish(gls_status status)
{
    return status ? cmd_error_status(status) : CMD_EXIT_OK;
}

int cmd_print(char *text)
{
    gls_text shown = {0};
    if (text) gls_text_show_lines(&shown, text, "\n\t");
    char *all = text ? gls_text_take(&shown) : NULL;
    if (all) fputs(all, stdout);
    free(all);
    free(text);
    return all ? CMD_EXIT_OK : cmd_error(CMD_EXIT_INTERNAL, "out of memory");
}

int cmd_json_to(const char *path, bool force, char *text)
{
    if (!path) return CMD_EXIT_OK;
    if (!text) return cmd_error(CMD_EXIT_INTERNAL, "out of memory");
    if (!*path) {
        int code = cmd_print(text);
        putchar('\n');
        return code;
    }
    return cmd_finish(gls_json_write_text(text, path, force, NULL, "\n"));
}

void cmd_info(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    emit_v(GLS_LOG_INFO, format, args);
    va_end(args);
}

bool cmd_message_info_enabled(void)
{
    return !messages.quiet;
}

void cmd_message_status_line(const char *line)
{
    pthread_mutex_lock(&messages.lock);
    if (line)
        fprintf(stderr, "\r%s\033[K", line);
    else if (messages.status_shown)
        fputs("\r\033[K", stderr);
    messages.status_shown = line != NULL;
    fflush(stderr);
    pthread_mutex_unlock(&messages.lock);
}

/* --- Signals: ask the command to stop while unfinished files exist, and end the program otherwise. */

/* A signal less than this time, s, after the last signal that counted does not count: one request may bring several
 * signals, because a scheduler signals every process of a job, and a parent signals its child as well. */
#define SECONDS_OF_ONE_END 0.5

/* catching: depth of nested cmd_interrupt_catch(); done: outputs complete; signalled: first signal's number, or 0 */
static volatile sig_atomic_t catching, done, signalled;
static double first; /* time of the last signal that counts */

/* Writes text to a descriptor that is ready for it, else nothing: a signal handler must not block. */
static void write_at_once(int fd, const char *text, size_t n)
{
    struct pollfd ready = {.fd = fd, .events = POLLOUT};
    if (fd < 0 || poll(&ready, 1, 0) <= 0) return;
    ssize_t written = write(fd, text, n);
    (void)written;
}

/* For signal handlers: removes the progress, prints "glslines: interrupted", writes the event "end" with the code. */
static void end_by_signal(int code)
{
    /* no cJSON, malloc or lock in a signal handler: write the digits into a fixed line with an empty list of outputs */
    static const char message[] = "\r\033[Kglslines: interrupted\n";
    char end[] = "{\"event\":\"end\",\"status\":\"interrupted\",\"exit\":000,\"output\":[]}\n",
         *digits = strstr(end, "000");
    const size_t skip = messages.status_shown ? 0 : 4; /* without a progress bar skip the 4 bytes that remove it */
    for (int i = 2; i >= 0; i--, code /= 10) digits[i] = (char)('0' + code % 10);
    if (progress_shown) write_at_once(STDERR_FILENO, PROGRESS_END, sizeof PROGRESS_END - 1);
    if (events.fd != STDERR_FILENO) write_at_once(STDERR_FILENO, message + skip, sizeof message - 1 - skip);
    if (!events.broken) write_at_once(events.fd, end, sizeof end - 1);
}

/* Handler of SIGINT, SIGTERM and others. While a command catches signals or has complete outputs, stores the number of
 * the first signal; a second one that counts ends the process at once. At any other time the first signal ends the
 * process at once. Calls only functions that are safe in handlers. */
static void on_signal(int number)
{
    const double now = gls_clock_seconds();
    if (signalled && now - first < SECONDS_OF_ONE_END) return;
    first = now;
    /* end the program at the second signal, or at the first if no command catches signals or has complete outputs */
    if (signalled || (!catching && !done)) {
        end_by_signal(CMD_EXIT_SIGNAL + number);
        _exit(CMD_EXIT_SIGNAL + number);
    }
    signalled = number;
}

/* Called by the library while it waits for a pipe. Returns whether to go on waiting. */
static bool waits_on(void *user)
{
    (void)user;
    return cmd_goes_on();
}

void cmd_interrupt_init(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, old;
    static const int numbers[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGXCPU};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        /* A signal that is ignored at the start stays ignored: SIGHUP by nohup, SIGINT by some shells in background. */
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN) continue;
        sigaction(numbers[i], &action, NULL);
    }
    /* Undo an ignored SIGCHLD of the parent process, with which this program could not see how its children end. */
    signal(SIGCHLD, SIG_DFL);
    /* Ignore these signals: then writes to a closed pipe, or beyond the size limit of files, fail with a message. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    gls_set_wait(waits_on, NULL);
}

void cmd_interrupt_catch(void)
{
    if (catching++ == 0) signalled = 0;
}

void cmd_interrupt_release(void)
{
    catching--;
}

void cmd_interrupt_done(void)
{
    done = 1;
}

bool cmd_interrupted(void)
{
    return signalled != 0 && !done;
}

bool cmd_goes_on(void)
{
    return !cmd_interrupted();
}

int cmd_interrupt_code(void)
{
    return signalled ? CMD_EXIT_SIGNAL + (int)signalled : CMD_EXIT_INTERRUPTED;
}
