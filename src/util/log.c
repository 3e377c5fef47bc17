#include "util/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

static struct {
    pthread_mutex_t lock;
    gls_log_callback callback;
    void *user;
    gls_log_level max_level;
} logger = {.lock = PTHREAD_MUTEX_INITIALIZER};

void gls_log_set(gls_log_callback callback, void *user, gls_log_level max_level)
{
    pthread_mutex_lock(&logger.lock);
    logger.callback = callback;
    logger.user = user;
    logger.max_level = max_level;
    pthread_mutex_unlock(&logger.lock);
}

bool gls_log_enabled(gls_log_level level)
{
    pthread_mutex_lock(&logger.lock);
    bool enabled = logger.callback && level <= logger.max_level;
    pthread_mutex_unlock(&logger.lock);
    return enabled;
}

void gls_log(gls_log_level level, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    pthread_mutex_lock(&logger.lock);
    if (logger.callback && level <= logger.max_level) logger.callback(logger.user, level, line);
    pthread_mutex_unlock(&logger.lock);
}
