#include "cmd/message.h"
#include "cmd/events.h"
#include "cmd/terminal.h"
#include "util/escape.h"
#include "util/plain.h"
#include "util/status.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static struct {
    pthread_mutex_t lock;
    bool quiet;
    int verbose;
    bool status_shown;
} messages = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Called with the lock held. */
static void print_line(const char *prefix, const char *line)
{
    if (cmd_events_own_stderr()) return;
    /* clears a progress bar, which is drawn again by the next step */
    if (messages.status_shown) fputs("\r\033[K", stderr);
    messages.status_shown = false;
    fprintf(stderr, "%s%s\n", prefix, line);
}

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
    const int most = messages.quiet ? GLS_LOG_WARNING : GLS_LOG_INFO + messages.verbose;
    if ((int)level <= most) print_line(prefix[level][cmd_terminal_has_colour()], line);
    pthread_mutex_unlock(&messages.lock);
    if (level <= GLS_LOG_WARNING) cmd_event_message(level == GLS_LOG_ERROR ? "error" : "warning", line);
}

void cmd_message_init(const cmd_common *common)
{
    messages.quiet = common->quiet;
    messages.verbose = common->quiet ? 0 : common->verbose;
    gls_log_set(emit, NULL, messages.verbose > 1 ? GLS_LOG_DEBUG : GLS_LOG_DETAIL);
}

static void emit_v(gls_log_level level, const char *format, va_list args)
{
    char text[GLS_MESSAGE_BYTES], line[GLS_MESSAGE_BYTES];
    gls_vsnprintf(text, sizeof text, format, args);
    gls_escape(text, line, sizeof line);
    emit(NULL, level, line);
}

int cmd_error(cmd_exit code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    emit_v(GLS_LOG_ERROR, format, args);
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

void cmd_warn(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    emit_v(GLS_LOG_WARNING, format, args);
    va_end(args);
}

void cmd_info(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    emit_v(GLS_LOG_INFO, format, args);
    va_end(args);
}

void cmd_detail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    emit_v(GLS_LOG_DETAIL, format, args);
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
