/* Error messages of each thread, names of status codes, and the version of the library. */
#include "util/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"

/* Message of the calling thread; "" before its first failure. */
static _Thread_local char last_error[GLS_MESSAGE_BYTES];
/* Number of failures on the calling thread so far. */
static _Thread_local unsigned failures;

void gls_error_set(const char *format, ...)
{
    char text[sizeof last_error];
    va_list args;
    va_start(args, format);
    gls_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    /* escape control characters of names in the message, so that it is one line */
    for (size_t n = strlen(text); n > 0 && gls_is_space((unsigned char)text[n - 1]); n--) text[n - 1] = '\0';
    gls_escape(text, last_error, sizeof last_error);
    failures++;
}

unsigned gls_failures(void)
{
    return failures;
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

gls_status gls_goes_on(const gls_go_on *go_on)
{
    return !go_on->ask || go_on->ask(go_on->user) ? GLS_OK : gls_fail(GLS_ERR_CANCELLED, "interrupted");
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
