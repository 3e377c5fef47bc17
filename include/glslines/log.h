/* Messages of the library: it never prints; it hands lines to the callback set here. */
#ifndef GLSLINES_LOG_H
#define GLSLINES_LOG_H

#include <glslines/common.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gls_log_level {
    GLS_LOG_ERROR = 0,
    GLS_LOG_WARNING, /* something the user should know: results may differ from what he expects */
    GLS_LOG_INFO,    /* anything that changes the numbers: flip rule, shells, device, batch size */
    GLS_LOG_DETAIL,  /* for those who ask for more */
    GLS_LOG_DEBUG    /* for developers: driver messages, shader sources, timings */
} gls_log_level;

/* Receives one line, no line end. May be called from any thread, one call at a time; it may log and set another
 * callback. */
typedef void (*gls_log_callback)(void *user, gls_log_level level, const char *line);

/* Sets the callback and the most verbose level handed to it; NULL silences the library (the default). Process-wide. */
GLS_API void gls_log_set(gls_log_callback callback, void *user, gls_log_level max_level);

#ifdef __cplusplus
}
#endif
#endif
