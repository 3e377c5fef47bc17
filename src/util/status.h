/* Errors and messages inside the library. */
#ifndef GLS_UTIL_STATUS_H
#define GLS_UTIL_STATUS_H

#include <stdbool.h>

#include <glslines/common.h>
#include <glslines/log.h>

/* --- Errors inside the library: the layer that detects one stores its text. */

/* Of a message: room for two names of files of any length that the system allows, and what is the matter with them. */
#define GLS_MESSAGE_BYTES 9216

/* Stores a one-line message for gls_last_error() and returns status. */
gls_status gls_fail(gls_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether memory ran out, so that the same with less of it may do. */
bool gls_status_is_memory(gls_status status);

/* Validation of arguments at the public boundary: returns GLS_ERR_ARGUMENT from the calling function, naming it and the
 * condition. */
#define GLS_REQUIRE(condition)                                                                        \
    do {                                                                                              \
        if (!(condition)) return gls_fail(GLS_ERR_ARGUMENT, "%s: requires %s", __func__, #condition); \
    } while (0)

/* The same for what a gradient table has to point to. */
#define GLS_REQUIRE_TABLE(gradients) GLS_REQUIRE((gradients)->bval && (gradients)->bvec && (gradients)->is_b0)

/* The same for options: NULL, or what their default function of this version made. */
#define GLS_REQUIRE_SIZE(options)                                                                                    \
    do {                                                                                                             \
        if ((options) && (options)->size != sizeof *(options))                                                       \
            return gls_fail(GLS_ERR_ARGUMENT, "%s: " #options " were not made by their default function", __func__); \
    } while (0)

/* --- Messages inside the library; see <glslines/log.h>. */

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
