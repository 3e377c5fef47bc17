/* Which device is current on a thread: holds nest, of one device and of several, and what was current before a hold is current again after it. */
#include "gpu/internal.h"

#include <assert.h>
#include <string.h>

#define MAX_NESTED 16

/* Consecutive holds of one device. */
typedef struct hold {
    gls_device *device;
    unsigned count;
} hold;

static _Thread_local hold holds[MAX_NESTED];
static _Thread_local unsigned n_holds;
/* what the application had, if it uses EGL itself */
static _Thread_local struct {
    EGLenum api;
    EGLDisplay display;
    EGLSurface draw, read;
    EGLContext context;
} outer;

static void make_current(gls_device *device)
{
    eglBindAPI(device->info.gles ? EGL_OPENGL_ES_API : EGL_OPENGL_API);
    if (!eglMakeCurrent(device->display->egl, EGL_NO_SURFACE, EGL_NO_SURFACE, device->context)) gls_device_mark_lost(device, "its context cannot be made current");
}

void gls_device_hold(gls_device *device)
{
    pthread_mutex_lock(&device->lock);
    if (n_holds > 0 && holds[n_holds - 1].device == device) {
        holds[n_holds - 1].count++;
        return;
    }
    assert(n_holds < MAX_NESTED);
    if (n_holds == 0) {
        outer.api = eglQueryAPI();
        outer.display = eglGetCurrentDisplay();
        outer.draw = eglGetCurrentSurface(EGL_DRAW);
        outer.read = eglGetCurrentSurface(EGL_READ);
        outer.context = eglGetCurrentContext();
    }
    holds[n_holds++] = (hold){device, 1};
    make_current(device);
}

void gls_device_release(gls_device *device)
{
    hold *top = n_holds > 0 ? &holds[n_holds - 1] : NULL, *h = top;
    while (h && h->device != device) h = h > holds ? h - 1 : NULL;
    assert(h);
    if (--h->count == 0) {
        n_holds--;
        memmove(h, h + 1, (size_t)(top - h) * sizeof *h);
        if (n_holds == 0) {
            eglMakeCurrent(device->display->egl, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
            eglBindAPI(outer.api);
            if (outer.context != EGL_NO_CONTEXT) eglMakeCurrent(outer.display, outer.draw, outer.read, outer.context);
        } else if (h == top) {
            make_current(holds[n_holds - 1].device);
        }
    }
    pthread_mutex_unlock(&device->lock);
}
