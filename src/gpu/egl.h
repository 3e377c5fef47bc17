/* EGL displays and contexts without a window system: GBM render nodes, EGL devices, Mesa's surfaceless platform. */
#ifndef GLS_GPU_EGL_H
#define GLS_GPU_EGL_H

#include <epoxy/egl.h>

#include <glslines/common.h>
#include <glslines/device.h>

#include "gpu/internal.h"

/* A way to a device that a search tries. Its name is called a place, see gpu/drivers.h. */
typedef struct gls_candidate {
    gls_platform platform;
    char node[64];
    EGLDeviceEXT egl_device;
    char place[64];   /* name of this way, see gpu/drivers.h */
    bool last_resort; /* true: a renderer on the CPU, which is tried only if no other candidate gives a device */
} gls_candidate;

/* Whether libEGL, and the library of OpenGL or of OpenGL ES, can be loaded. Ask before any EGL call: libepoxy ends the
 * process where a library is missing. */
bool gls_egl_available(void);
/* Checks, before a device is searched, that this process may use EGL: drivers do not survive fork(). */
gls_status gls_egl_check_process(void);
/* Lists the candidates of a search, the preferred ones first, at most capacity of them. Returns their number. finding
 * (may be NULL) gets a line for each obstacle, such as a render node that this user may not open. */
size_t gls_egl_candidates(gls_candidate *candidates, size_t capacity, gls_device_finding finding, void *user);
/* Lists the candidates that may lead to Mesa's software renderer. Returns their number, 0 to 2. */
size_t gls_egl_software(gls_candidate candidates[2]);
/* Opens the display of a candidate, or adds a reference if it is open, and creates a context without a surface on it,
 * with OpenGL 4.3, or with OpenGL ES 3.1 if gles. GLS_ERR_DEVICE gives the reason of a failure; if *display is not NULL
 * then, the caller closes it. */
gls_status gls_egl_open(const gls_candidate *candidate, bool gles, gls_display **display, EGLContext *context);
/* Drops a reference; the last one closes the display. */
void gls_display_close(gls_display *display);

#endif
