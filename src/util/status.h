/* Errors and messages inside the library. */
#ifndef GLS_UTIL_STATUS_H
#define GLS_UTIL_STATUS_H

#include <stdbool.h>

#include <glslines/common.h>
#include <glslines/log.h>

/* --- Errors. The function that detects an error stores its message; callers pass the status on. */

/* Size of a message: enough for two file names of any length that the system allows, and a reason. */
#define GLS_MESSAGE_BYTES 9216

/* Stores a message of one line for gls_last_error(). */
void gls_error_set(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Stores a message as gls_error_set() does, and yields status. It is a macro, so that compilers and analysers see which
 * status a function returns. */
#define gls_fail(status, ...) (gls_error_set(__VA_ARGS__), (status))

/* Number of messages that gls_error_set() has stored on the calling thread: it shows whether a function has stored one.
 */
unsigned gls_failures(void);

/* Yields GLS_ERR_MEMORY with the message "out of memory". */
#define gls_no_memory() gls_fail(GLS_ERR_MEMORY, "out of memory")

/* Asks the caller of long work whether to go on. All zero: nobody is asked. */
typedef struct gls_go_on {
    bool (*ask)(void *user); /* false: stop */
    void *user;
} gls_go_on;
/* Asks, on the calling thread. GLS_ERR_CANCELLED: stop. */
gls_status gls_goes_on(const gls_go_on *go_on);

/* Whether memory of the host or of a device ran out, so that a smaller attempt may succeed. */
bool gls_status_is_memory(gls_status status);

/* Checks an argument of a public function: returns GLS_ERR_ARGUMENT from the calling function, with a message that
 * names the function and the condition. */
#define GLS_REQUIRE(condition)                                                                        \
    do {                                                                                              \
        if (!(condition)) return gls_fail(GLS_ERR_ARGUMENT, "%s: requires %s", __func__, #condition); \
    } while (0)

/* Checks an argument or member that is an enumerator; last: the largest one. */
#define GLS_REQUIRE_ENUMERATOR(value, last)                                                                  \
    do {                                                                                                     \
        if ((unsigned)(value) > (unsigned)(last))                                                            \
            return gls_fail(GLS_ERR_ARGUMENT, "%s: %d is no enumerator of " #value, __func__, (int)(value)); \
    } while (0)

/* Checks that a gradient table has all its arrays. */
#define GLS_REQUIRE_TABLE(gradients) GLS_REQUIRE((gradients)->bval && (gradients)->bvec && (gradients)->is_b0)

/* Checks that options are NULL or come from the default function of this version of the library. */
#define GLS_REQUIRE_SIZE(options)                                                                                    \
    do {                                                                                                             \
        if ((options) && (options)->size != sizeof *(options))                                                       \
            return gls_fail(GLS_ERR_ARGUMENT, "%s: " #options " were not made by their default function", __func__); \
    } while (0)

/* --- Log messages; see <glslines/log.h>. */

/* Sends one line to the callback of the host, if it asked for this level. */
void gls_log(gls_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Sends a warning about a file, which the text has to name. Runs read some files several times: while a collection of
 * warnings is open that has the same line already, the callback does not get it again. */
void gls_warn_of_file(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether anyone would receive a message of this level. Ask before composing a costly message. */
bool gls_log_enabled(gls_log_level level);

/* While muted, messages of the level info from the calling thread are dropped: for work on data that the library made
 * itself. Calls nest. */
void gls_log_mute_info(bool mute);
/* Whether messages of the level info from the calling thread are dropped. */
bool gls_log_info_muted(void);
/* While muted, all messages of the calling thread are dropped, and no collection gets its warnings: for work that is
 * done again later, with messages. Calls nest. */
void gls_log_mute_all(bool mute);

/* Between gls_log_defer() and gls_log_deliver(), messages of the calling thread are kept; then they are delivered in
 * their order. So messages of a thread beside the caller can come first without any thread waiting. Calls nest. */
void gls_log_defer(void);
void gls_log_deliver(void);

/* Warnings of all threads between gls_warnings_begin() and gls_warnings_end(), for files that record how they were
 * made. */
typedef struct gls_warnings {
    /* the warnings, owned */
    char **line;
    /* number of lines */
    size_t n;
    /* next open collection; a warning goes to all open collections */
    struct gls_warnings *next;
} gls_warnings;
/* Starts a collection. It must end before the memory of *warnings is freed. */
void gls_warnings_begin(gls_warnings *warnings);
/* Ends the collection and frees its lines. Does nothing if the collection was not begun. */
void gls_warnings_end(gls_warnings *warnings);

#endif
