/* Messages inside the library; see <glslines/log.h>. */
#ifndef GLS_UTIL_LOG_H
#define GLS_UTIL_LOG_H

#include <glslines/log.h>

void gls_log(gls_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether a line of this level would reach anyone: for text that is costly to make. */
bool gls_log_enabled(gls_log_level level);

/* While muted, info lines of the calling thread are dropped: for work on data that the library made itself. Calls nest.
 */
void gls_log_mute_info(bool mute);

/* Warnings of all threads, kept while a collection is open: for files that say how they were made. */
typedef struct gls_warnings {
    char **line;
    size_t n;
    struct gls_warnings *next;
} gls_warnings;
void gls_warnings_begin(gls_warnings *warnings);
/* Ends the collection and frees its lines; harmless where it was not begun. */
void gls_warnings_end(gls_warnings *warnings);

#endif
