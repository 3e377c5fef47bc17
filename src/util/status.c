/* Error messages by thread, log messages, and collections of warnings. */
#include "util/status.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"
#include "util/threads.h"

static _Thread_local char last_error[GLS_MESSAGE_BYTES];

gls_status gls_fail(gls_status status, const char *format, ...)
{
    char text[sizeof last_error];
    va_list args;
    va_start(args, format);
    gls_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (size_t n = strlen(text); n > 0 && gls_is_space((unsigned char)text[n - 1]); n--) text[n - 1] = '\0';
    gls_escape(text, last_error, sizeof last_error);
    return status;
}

const char *gls_last_error(void)
{
    return last_error;
}

const char *gls_status_name(gls_status status)
{
    switch (status) {
    case GLS_OK: return "success";
    case GLS_ERR_ARGUMENT: return "usage error";
    case GLS_ERR_INPUT: return "input error";
    case GLS_ERR_OUTPUT: return "output error";
    case GLS_ERR_MEMORY: return "out of memory";
    case GLS_ERR_DEVICE: return "device error";
    case GLS_ERR_UNSUPPORTED: return "not supported";
    case GLS_ERR_EMPTY: return "empty result";
    case GLS_ERR_CANCELLED: return "cancelled";
    case GLS_ERR_LOST: return "device lost";
    case GLS_ERR_DEVICE_MEMORY: return "out of device memory";
    case GLS_ERR_CONVERGENCE: return "no convergence";
    }
    return "unknown error";
}

bool gls_status_is_memory(gls_status status)
{
    return status == GLS_ERR_MEMORY || status == GLS_ERR_DEVICE_MEMORY;
}

void gls_free(void *array)
{
    free(array);
}

const char *gls_version(void)
{
    return GLS_VERSION;
}

static struct {
    pthread_mutex_t lock;
    gls_log_callback callback;
    void *user;
    gls_log_level max_level;
    gls_warnings *collections;
} logger = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};

/* In a child process: another thread of the parent may have held the lock, so it gets a new one. */
static void renew(void)
{
    logger.lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
}
GLS_IN_COPIES(renew)

static _Thread_local int muted;

void gls_log_set(gls_log_callback callback, void *user, gls_log_level max_level)
{
    pthread_mutex_lock(&logger.lock);
    logger.callback = callback;
    logger.user = user;
    logger.max_level = max_level;
    pthread_mutex_unlock(&logger.lock);
}

static bool wanted(gls_log_level level)
{
    return logger.callback && level <= logger.max_level && !(level == GLS_LOG_INFO && muted > 0);
}

bool gls_log_enabled(gls_log_level level)
{
    pthread_mutex_lock(&logger.lock);
    bool enabled = wanted(level);
    pthread_mutex_unlock(&logger.lock);
    return enabled;
}

void gls_log_mute_info(bool mute)
{
    muted += mute ? 1 : -1;
}

static void keep(gls_warnings *warnings, const char *line)
{
    char **grown = realloc(warnings->line, (warnings->n + 1) * sizeof *grown);
    if (!grown) return;
    warnings->line = grown;
    grown[warnings->n] = strdup(line);
    warnings->n += grown[warnings->n] != NULL;
}

void gls_log(gls_log_level level, const char *format, ...)
{
    char text[GLS_MESSAGE_BYTES], line[GLS_MESSAGE_BYTES];
    va_list args;
    va_start(args, format);
    gls_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (size_t n = strlen(text); n > 0 && text[n - 1] == '\n'; n--) text[n - 1] = '\0';
    gls_escape(text, line, sizeof line);
    pthread_mutex_lock(&logger.lock);
    for (gls_warnings *w = logger.collections; level == GLS_LOG_WARNING && w; w = w->next) keep(w, line);
    if (wanted(level)) logger.callback(logger.user, level, line);
    pthread_mutex_unlock(&logger.lock);
}

void gls_warnings_begin(gls_warnings *warnings)
{
    *warnings = (gls_warnings){.line = NULL};
    pthread_mutex_lock(&logger.lock);
    warnings->next = logger.collections;
    logger.collections = warnings;
    pthread_mutex_unlock(&logger.lock);
}

void gls_warnings_end(gls_warnings *warnings)
{
    pthread_mutex_lock(&logger.lock);
    for (gls_warnings **at = &logger.collections; *at; at = &(*at)->next) {
        if (*at != warnings) continue;
        *at = warnings->next;
        break;
    }
    pthread_mutex_unlock(&logger.lock);
    for (size_t i = 0; i < warnings->n; i++) free(warnings->line[i]);
    free(warnings->line);
    *warnings = (gls_warnings){.line = NULL};
}
