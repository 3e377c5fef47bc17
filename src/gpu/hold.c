/* Makes a device current on a thread. Holds nest, for one device and for several, and the device or context that was
 * current before a hold is current again after it. Also collects what went wrong during a hold: errors of the driver, a
 * reset, a lost device. */
#include "gpu/hold.h"
#include "gpu/internal.h"
#include "util/status.h"

#include <assert.h>
#include <string.h>

/* Largest number of entries of the stack of holds of a thread. */
#define MAX_NESTED 16

/* An entry of the stack of holds: `count` nested holds of one device. */
typedef struct hold {
    gls_device *device;
    unsigned count;
} hold;

static _Thread_local hold holds[MAX_NESTED];
static _Thread_local unsigned n_holds;
/* The context that the calling application had made current before the first hold, to be restored after the last. */
static _Thread_local struct {
    EGLenum api;
    EGLDisplay display;
    EGLSurface draw, read;
    EGLContext context;
} outer;

/* Makes the context of a device current on this thread. If the driver refuses, the device counts as lost. */
static void make_current(gls_device *device)
{
    eglBindAPI(device->info.gles ? EGL_OPENGL_ES_API : EGL_OPENGL_API);
    if (!eglMakeCurrent(device->display->egl, EGL_NO_SURFACE, EGL_NO_SURFACE, device->context))
        gls_device_mark_lost(device, "its context cannot be made current");
}

void gls_device_hold(gls_device *device)
{
    pthread_mutex_lock(&device->lock);
    /* The device is already the current one of this thread: count one more hold. */
    if (n_holds > 0 && holds[n_holds - 1].device == device) {
        holds[n_holds - 1].count++;
        return;
    }
    assert(n_holds < MAX_NESTED);
    /* At the first hold of the thread remember the context of the calling program. */
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
    /* At the last hold of this device: if it was the current one, the device below it on the stack becomes current,
     * or, if the stack is empty, the context of the calling program. */
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

void gls_device_mark_lost(gls_device *device, const char *why)
{
    if (!device->lost) device->lost_why = why;
    device->lost = true;
}

/* Returns GLS_ERR_LOST, with the reason for the loss in the message. */
static gls_status fail_lost(const gls_device *device, const char *what)
{
    return gls_fail(GLS_ERR_LOST, "%s: the device was lost: %s", what, device->lost_why);
}

gls_status gls_device_enter(gls_device *device, const char *what)
{
    gls_device_hold(device);
    if (!device->lost) return GLS_OK;
    gls_status status = fail_lost(device, what);
    gls_device_release(device);
    return status;
}

gls_status gls_device_check(gls_device *device, const char *what)
{
    if (gls_inject(GLS_FAULT_RESET)) gls_device_mark_lost(device, "a fault was injected");
    if (device->lost) return fail_lost(device, what);
    GLenum error = device->injected != GL_NO_ERROR ? device->injected : glGetError();
    device->injected = GL_NO_ERROR;
    if (error == GL_NO_ERROR) return GLS_OK;
    /* read only a few errors, because a lost context repeats its error for ever */
    GLenum next = error;
    for (int i = 0; i < 8 && next != GL_NO_ERROR; i++, next = glGetError())
        if (next == GL_CONTEXT_LOST) gls_device_mark_lost(device, "the driver gives no reason");
    if (device->lost) return fail_lost(device, what);
    if (error == GL_OUT_OF_MEMORY) return gls_fail(GLS_ERR_DEVICE_MEMORY, "%s: the device is out of memory", what);
    return gls_fail(GLS_ERR_DEVICE, "%s: error of the graphics driver (0x%x)", what, error);
}

gls_status gls_device_check_reset(gls_device *device, const char *what)
{
    if (gls_inject_wait()) gls_device_mark_lost(device, "a kernel took longer than the driver waits");
    switch (device->lost || !device->reset_status ? GL_NO_ERROR : device->reset_status()) {
    case GL_NO_ERROR: break;
    case GL_GUILTY_CONTEXT_RESET:
        gls_device_mark_lost(device, "the driver was reset because of this program's work");
        break;
    case GL_INNOCENT_CONTEXT_RESET:
        gls_device_mark_lost(device, "the driver was reset because of another program's work");
        break;
    default: gls_device_mark_lost(device, "the driver was reset"); break;
    }
    return gls_device_check(device, what);
}
