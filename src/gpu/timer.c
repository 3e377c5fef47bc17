/* Waits for the device, and notes in the timeline when each phase of its work begins and ends. */
#include "gpu/timer.h"
#include "gpu/internal.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "util/clock.h"

/* Pauses between two questions to the driver whether a fence is reached: yields the processor in the first 5 ms, then
 * sleeps 0.1 ms. A driver that is asked to wait sleeps longer than many kernels take. */
static void pause_after(double waited)
{
    const struct timespec pause = {0, 100000};
    if (waited < 0.005)
        sched_yield();
    else
        nanosleep(&pause, NULL);
}

bool gls_wait_for_fence(GLsync sync)
{
    bool reached = false;
    for (double start = gls_clock_seconds(), waited = 0; waited < 600; waited = gls_clock_seconds() - start) {
        GLenum answer = glClientWaitSync(sync, GL_SYNC_FLUSH_COMMANDS_BIT, 0);
        reached = answer == GL_ALREADY_SIGNALED || answer == GL_CONDITION_SATISFIED;
        if (reached || answer == GL_WAIT_FAILED) break;
        pause_after(waited);
    }
    glDeleteSync(sync);
    return reached;
}

/* A phase on the device. query: GL names of the queries that give the times of begin and end by the device's clock. */
typedef struct gls_span {
    GLuint query[2];
    char name[48];
} gls_span;

/* Whether phases are measured. They are not on software renderers, which work only while the host waits, and not in
 * OpenGL ES, which has no device clock. */
static bool is_traced(const gls_device *device)
{
    return gls_trace_is_on() && !device->info.software && !device->info.gles && !device->lost;
}

/* Names the device's row of the timeline, and finds by how much the host's clock is ahead of the device's clock. */
static void name_lane(gls_device *device)
{
    static atomic_uint n_named;
    GLint64 now = 0;
    snprintf(device->lane, sizeof device->lane, "%.80s, device %u", device->info.renderer,
             atomic_fetch_add(&n_named, 1) + 1);
    glGetInteger64v(GL_TIMESTAMP, &now);
    device->ahead = gls_clock_seconds() - 1e-9 * (double)now;
}

void gls_span_begin(gls_device *device, const char *name)
{
    if (!is_traced(device)) return;
    if (!*device->lane) name_lane(device);
    gls_span *grown = realloc(device->span, (device->n_spans + 1) * sizeof *grown);
    if (!grown) return;
    device->span = grown;
    gls_span *s = &grown[device->n_spans++];
    snprintf(s->name, sizeof s->name, "%s", name);
    glGenQueries(2, s->query);
    glQueryCounter(s->query[0], GL_TIMESTAMP);
}

void gls_span_end(gls_device *device)
{
    if (is_traced(device) && device->n_spans > 0)
        glQueryCounter(device->span[device->n_spans - 1].query[1], GL_TIMESTAMP);
}

void gls_spans_take(gls_device *device, bool all)
{
    size_t n = 0;
    GLuint64 at[2];
    for (; n < device->n_spans; n++) {
        /* phases end in their order, so stop at the first that has not ended; the phases of a lost device have no times
         */
        const gls_span *s = &device->span[n];
        GLint there = device->lost;
        if (!all && !there) glGetQueryObjectiv(s->query[1], GL_QUERY_RESULT_AVAILABLE, &there);
        if (!all && !there) break;
        if (device->lost) continue;
        for (int i = 0; i < 2; i++) glGetQueryObjectui64v(s->query[i], GL_QUERY_RESULT, &at[i]);
        glDeleteQueries(2, s->query);
        gls_trace_add(device->lane, s->name, device->ahead + 1e-9 * (double)at[0],
                      device->ahead + 1e-9 * (double)at[1]);
    }
    device->n_spans -= n;
    for (size_t i = 0; i < device->n_spans; i++) device->span[i] = device->span[n + i];
}

void gls_device_trace(gls_device *device)
{
    gls_device_hold(device);
    gls_spans_take(device, true);
    gls_device_release(device);
}
