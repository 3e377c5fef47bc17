/* Sinks: how they are fed, finished and aborted, and a sink that feeds several others. Also finds columns by name and
 * reads their values. */
#include <stdlib.h>
#include <string.h>

#include <glslines/streamlines.h>

#include "util/maths.h"
#include "util/status.h"

/* Stores a message for a status that a function of a sink returned, unless the function has stored one. A sink of the
 * calling program has no way to store one, and gls_last_error() would be the text of an older failure. before:
 * gls_failures() before the call. */
static gls_status name_failure(gls_status status, unsigned before)
{
    if (!status || gls_failures() != before) return status;
    return gls_fail(status, "the sink of the calling program failed: %s", gls_status_name(status));
}

gls_status gls_sink_append(const gls_sink *sink, const gls_streamlines *streamlines)
{
    GLS_REQUIRE(sink && sink->append && streamlines);
    const unsigned before = gls_failures();
    return name_failure(sink->append(sink->user, streamlines), before);
}

gls_status gls_sink_finish(gls_sink *sink)
{
    /* the sink is cleared first, so that a second finish or abort does nothing */
    GLS_REQUIRE(sink);
    gls_sink s = *sink;
    *sink = (gls_sink){0};
    const unsigned before = gls_failures();
    return s.finish ? name_failure(s.finish(s.user), before) : GLS_OK;
}

void gls_sink_abort(gls_sink *sink)
{
    gls_sink s = *sink;
    *sink = (gls_sink){0};
    void (*give_up)(void *user) = s.abort;
    if (give_up) give_up(s.user);
}

/* Sinks that all receive each block, one sink after the other. */
typedef struct tee {
    /* number of sinks */
    size_t n;
    /* the n sinks, owned */
    gls_sink sink[];
} tee;

/* Function `append` of the tee. The first sink that fails ends the block. */
static gls_status tee_append(void *user, const gls_streamlines *streamlines)
{
    tee *t = user;
    gls_status status = GLS_OK;
    for (size_t i = 0; i < t->n && !status; i++) status = gls_sink_append(&t->sink[i], streamlines);
    return status;
}

/* Function `abort` of the tee. tee_finish() calls it, too, to free the tee. */
static void tee_abort(void *user)
{
    tee *t = user;
    for (size_t i = 0; i < t->n; i++) gls_sink_abort(&t->sink[i]);
    free(t);
}

/* Finishes the sinks in their order; after a failure aborts the sinks that are left. */
static gls_status tee_finish(void *user)
{
    tee *t = user;
    gls_status status = GLS_OK;
    for (size_t i = 0; i < t->n && !status; i++) status = gls_sink_finish(&t->sink[i]);
    tee_abort(t); /* sinks that were finished are cleared and are not aborted */
    return status;
}

gls_status gls_sink_tee(const gls_sink *sinks, size_t n, gls_sink *out)
{
    GLS_REQUIRE(out && (sinks || n == 0));
    for (size_t i = 0; i < n; i++) GLS_REQUIRE(sinks[i].append);
    tee *t = malloc(sizeof *t + n * sizeof *sinks);
    if (!t) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu outputs", n);
    t->n = n;
    if (n > 0) memcpy(t->sink, sinks, n * sizeof *sinks);
    *out = (gls_sink){tee_append, tee_finish, tee_abort, t};
    return GLS_OK;
}

/* --- Named columns. */

const gls_column *gls_column_find(const gls_column *columns, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(columns[i].name, name) == 0) return &columns[i];
    return NULL;
}

size_t gls_column_row_bytes(const gls_column *column)
{
    return column->components * gls_type_size(column->type);
}

/* Returns the value of type c_type at byte `at` of a column as a double. The value need not be aligned. */
#define VALUE(c_type)                                             \
    {                                                             \
        c_type value;                                             \
        memcpy(&value, (const char *)c->data + at, sizeof value); \
        return (double)value;                                     \
    }

double gls_column_value(const gls_column *c, uint64_t i)
{
    const size_t at = (size_t)i * gls_type_size(c->type);
    uint16_t half;
    switch (c->type) {
    case GLS_TYPE_BOOL: return ((const unsigned char *)c->data)[at] != 0;
    case GLS_TYPE_INT8: VALUE(int8_t)
    case GLS_TYPE_UINT8: VALUE(uint8_t)
    case GLS_TYPE_INT16: VALUE(int16_t)
    case GLS_TYPE_UINT16: VALUE(uint16_t)
    case GLS_TYPE_INT32: VALUE(int32_t)
    case GLS_TYPE_UINT32: VALUE(uint32_t)
    case GLS_TYPE_INT64: VALUE(int64_t)
    case GLS_TYPE_UINT64: VALUE(uint64_t)
    case GLS_TYPE_FLOAT16: memcpy(&half, (const char *)c->data + at, sizeof half); return gls_half_value(half);
    case GLS_TYPE_FLOAT32: VALUE(float)
    case GLS_TYPE_FLOAT64: VALUE(double)
    default: return 0;
    }
}
