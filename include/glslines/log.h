/* Messages of the library, which never prints, but passes each line to a callback. */
#ifndef GLSLINES_LOG_H
#define GLSLINES_LOG_H

#include <glslines/common.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum gls_log_level {
    GLS_LOG_ERROR = 0,
    GLS_LOG_WARNING, /* results may differ from what the user expects */
    GLS_LOG_INFO,    /* what the results depend on: frame of b-vectors, shells, device, batch size */
    GLS_LOG_DETAIL,  /* more about the run, which the program prints with --verbose */
    GLS_LOG_DEBUG    /* for developers: driver messages, shader sources, timings */
} gls_log_level;

/* Receives one line without a line end, which can be printed as it is: see gls_last_error(). Calls come from any
 * thread, but only one at a time. The callback may log, and set another callback. */
typedef void (*gls_log_callback)(void *user, gls_log_level level, const char *line);

/* Sets the callback, and the highest level that it receives. NULL, the default, drops all messages. There is one
 * callback for the whole process. */
GLS_API void gls_log_set(gls_log_callback callback, void *user, gls_log_level max_level);

#ifdef __cplusplus
}
#endif
#endif
