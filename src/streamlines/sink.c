/* Sinks: their life cycle, and one that feeds several. */
#include <glslines/streamlines.h>

#include <stdlib.h>
#include <string.h>

#include "util/status.h"

gls_status gls_sink_append(const gls_sink *sink, const gls_streamlines *streamlines)
{
    GLS_REQUIRE(sink && sink->append && streamlines);
    return sink->append(sink->user, streamlines);
}

gls_status gls_sink_finish(gls_sink *sink)
{
    GLS_REQUIRE(sink);
    gls_sink s = *sink;
    *sink = (gls_sink){0};
    return s.finish ? s.finish(s.user) : GLS_OK;
}

void gls_sink_abort(gls_sink *sink)
{
    gls_sink s = *sink;
    *sink = (gls_sink){0};
    void (*give_up)(void *user) = s.abort;
    if (give_up) give_up(s.user);
}

typedef struct tee {
    size_t n;
    gls_sink sink[];
} tee;

static gls_status tee_append(void *user, const gls_streamlines *streamlines)
{
    tee *t = user;
    gls_status status = GLS_OK;
    for (size_t i = 0; i < t->n && status == GLS_OK; i++) status = gls_sink_append(&t->sink[i], streamlines);
    return status;
}

static void tee_abort(void *user)
{
    tee *t = user;
    for (size_t i = 0; i < t->n; i++) gls_sink_abort(&t->sink[i]);
    free(t);
}

static gls_status tee_finish(void *user)
{
    tee *t = user;
    gls_status status = GLS_OK;
    for (size_t i = 0; i < t->n && status == GLS_OK; i++) status = gls_sink_finish(&t->sink[i]);
    tee_abort(t); /* those that are finished are empty by now */
    return status;
}

gls_status gls_sink_tee(const gls_sink *sinks, size_t n, gls_sink *out)
{
    GLS_REQUIRE(out && (sinks || n == 0));
    for (size_t i = 0; i < n; i++) GLS_REQUIRE(sinks[i].append);
    tee *t = malloc(sizeof *t + n * sizeof *sinks);
    if (!t) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu sinks", n);
    t->n = n;
    if (n > 0) memcpy(t->sink, sinks, n * sizeof *sinks);
    *out = (gls_sink){tee_append, tee_finish, tee_abort, t};
    return GLS_OK;
}
