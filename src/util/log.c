/* Log messages for the callback of the host, and collections of warnings. */
#include "util/status.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/threads.h"
#include "util/text.h"

/* One callback for the process. The mutex is recursive because a callback may log, too. */
static struct {
    pthread_mutex_t lock;
    gls_log_callback callback;
    void *user;
    gls_log_level max_level;
    gls_warnings *collections;
} logger = {.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};

/* A message that is kept for later. */
typedef struct message {
    struct message *next;
    gls_log_level level;
    bool once;
    char line[];
} message;

/* Messages of the calling thread that are kept, in their order; depth: how many calls of gls_log_defer() are not undone
 * yet. */
static _Thread_local struct {
    int depth;
    message *first, *last;
} deferred;

/* In a child process the lock is renewed: in the parent another thread may have held it, waiting in the callback for
 * the thread that forks. */
static void renew(void)
{
    logger.lock = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
}
GLS_IN_COPIES(renew)

/* how many calls of gls_log_mute_info(true) by the calling thread are not undone yet */
static _Thread_local int muted;
/* the same of gls_log_mute_all(true) */
static _Thread_local int silenced;

void gls_log_set(gls_log_callback callback, void *user, gls_log_level max_level)
{
    pthread_mutex_lock(&logger.lock);
    logger.callback = callback;
    logger.user = user;
    logger.max_level = max_level;
    pthread_mutex_unlock(&logger.lock);
}

/* Whether a message of this level goes to the callback. Needs the lock. */
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

void gls_log_mute_all(bool mute)
{
    silenced += mute ? 1 : -1;
}

bool gls_log_info_muted(void)
{
    return muted > 0;
}

/* Adds a copy of a line to a collection; if memory runs out, the collection lacks this line. Returns false if it has
 * the same line already. */
static bool keep(gls_warnings *warnings, const char *line)
{
    for (size_t i = 0; i < warnings->n; i++)
        if (strcmp(warnings->line[i], line) == 0) return false;
    char **grown = realloc(warnings->line, (warnings->n + 1) * sizeof *grown);
    if (!grown) return true;
    warnings->line = grown;
    grown[warnings->n] = strdup(line);
    warnings->n += grown[warnings->n] != NULL;
    return true;
}

/* Hands a line to the callback if the host wants its level, and a warning also to the open collections. once: the
 * callback does not get a line that one of these has already. */
static void deliver(gls_log_level level, bool once, const char *line)
{
    bool again = false;
    pthread_mutex_lock(&logger.lock);
    /* collections get warnings even if the host did not ask for the level */
    for (gls_warnings *w = logger.collections; level == GLS_LOG_WARNING && w; w = w->next) again |= !keep(w, line);
    if (wanted(level) && !(once && again)) logger.callback(logger.user, level, line);
    pthread_mutex_unlock(&logger.lock);
}

/* Keeps a line for gls_log_deliver(). Returns false if memory ran out. */
static bool defer(gls_log_level level, bool once, const char *line)
{
    const size_t bytes = strlen(line) + 1;
    message *m = malloc(sizeof *m + bytes);
    if (!m) return false;
    *m = (message){.level = level, .once = once};
    memcpy(m->line, line, bytes);
    *(deferred.last ? &deferred.last->next : &deferred.first) = m;
    deferred.last = m;
    return true;
}

/* Delivers or keeps a message. */
static void log_text(gls_log_level level, bool once, const char *format, va_list args)
{
    char text[GLS_MESSAGE_BYTES], line[GLS_MESSAGE_BYTES];
    if (silenced > 0 || (level != GLS_LOG_WARNING && !gls_log_enabled(level))) return;
    gls_vsnprintf(text, sizeof text, format, args);
    for (size_t n = strlen(text); n > 0 && text[n - 1] == '\n'; n--) text[n - 1] = '\0';
    gls_escape(text, line, sizeof line);
    if (deferred.depth == 0 || !defer(level, once, line)) deliver(level, once, line);
}

void gls_log(gls_log_level level, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    log_text(level, false, format, args);
    va_end(args);
}

void gls_warn_of_file(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    log_text(GLS_LOG_WARNING, true, format, args);
    va_end(args);
}

void gls_log_defer(void)
{
    deferred.depth++;
}

void gls_log_deliver(void)
{
    if (--deferred.depth > 0) return;
    for (message *m = deferred.first, *next; m; m = next) {
        next = m->next;
        deliver(m->level, m->once, m->line);
        free(m);
    }
    deferred.first = deferred.last = NULL;
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
