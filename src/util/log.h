/* Messages inside the library; see <glslines/log.h>. */
#ifndef GLS_UTIL_LOG_H
#define GLS_UTIL_LOG_H

#include <glslines/log.h>

void gls_log(gls_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether a line of this level would reach anyone: for text that is costly to make. */
bool gls_log_enabled(gls_log_level level);

#endif
