/* Waiting for the device, and how long it works: by its own clock where the driver can ask it, else by the host's. */
#include "gpu/internal.h"

#include <sched.h>
#include <time.h>

#include "util/clock.h"

/* Between two questions: a driver that is told to wait sleeps for part of a millisecond, longer than many kernels take.
 */
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

void gls_timer_start(const gls_device *device, gls_timer *timer)
{
    *timer = (gls_timer){0};
    /* software renderers time the drawing of triangles only */
    if (!device->info.software && (!device->info.gles || epoxy_has_gl_extension("GL_EXT_disjoint_timer_query"))) {
        GLint disjoint;
        if (device->info.gles) glGetIntegerv(GL_GPU_DISJOINT_EXT, &disjoint); /* clears what was before */
        glGenQueries(1, &timer->query);
        glBeginQuery(GL_TIME_ELAPSED, timer->query);
    } else {
        glFinish();
    }
    timer->start = gls_clock_seconds();
}

double gls_timer_stop(const gls_device *device, const gls_timer *timer)
{
    if (!timer->query) {
        glFinish();
        return gls_clock_seconds() - timer->start;
    }
    GLuint64 nanoseconds = 0;
    GLint disjoint = 0;
    glEndQuery(GL_TIME_ELAPSED);
    gls_wait_for_fence(glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0));
    if (device->info.gles) {
        glGetQueryObjectui64vEXT(timer->query, GL_QUERY_RESULT, &nanoseconds);
        glGetIntegerv(GL_GPU_DISJOINT_EXT, &disjoint);
    } else {
        glGetQueryObjectui64v(timer->query, GL_QUERY_RESULT, &nanoseconds);
    }
    glDeleteQueries(1, &timer->query);
    /* the device changed its clock on the way */
    return disjoint ? gls_clock_seconds() - timer->start : 1e-9 * (double)nanoseconds;
}
