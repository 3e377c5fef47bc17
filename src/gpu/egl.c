/* EGL displays and contexts without a window system: GBM render nodes, EGL devices, Mesa's surfaceless platform.
 * Displays are shared by all devices on them, under displays_lock. */
#include "gpu/egl.h"
#include "gpu/drivers.h"
#include "gpu/internal.h"
#include "gpu/probe.h"
#include "gpu/visible.h"

#include <dlfcn.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <gbm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "util/status.h"
#include "util/text.h"
#include "util/threads.h"

/* Mesa keeps an allocation about processors until the process ends. LeakSanitizer cannot suppress it by name, because
 * the driver is unloaded when LeakSanitizer looks. */
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#else
#define __lsan_disable() ((void)0)
#define __lsan_enable() ((void)0)
#endif

#ifndef EGL_DRM_RENDER_NODE_FILE_EXT
#define EGL_DRM_RENDER_NODE_FILE_EXT 0x3377
#endif

#define DRM_MAJOR 226 /* major number of Linux's graphics devices */

static pthread_mutex_t displays_lock = PTHREAD_MUTEX_INITIALIZER;
static gls_display *displays;
static _Atomic pid_t process; /* id of the process in which drivers have been loaded; 0: none */

/* Gives a copy made by fork() a new lock: a thread that does not exist in the copy may hold the old one. */
static void renew(void)
{
    displays_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}
GLS_IN_COPIES(renew)

gls_status gls_egl_check_process(void)
{
    if (process == 0 || process == getpid()) return GLS_OK;
    return gls_fail(GLS_ERR_DEVICE, "no device: this process is a copy, made by fork(), of one that has used a device, "
                                    "and drivers do not work in a copy: start a new process (Python: multiprocessing "
                                    "with 'spawn' or 'forkserver')");
}

/* The shared libraries that can be loaded. libepoxy opens a library at the first call that needs it and ends the
 * process if that fails, so the libraries are tried before. */
static struct {
    bool egl, gl, gles;
    /* libgbm is loaded at run time, so that the program starts without it */
    __typeof__(&gbm_create_device) gbm_create;
    __typeof__(&gbm_device_destroy) gbm_destroy;
} libraries;
static pthread_once_t libraries_known = PTHREAD_ONCE_INIT;

/* Loads EGL, GL, GLES and GBM at run time, so that the program starts, and can say what is missing, without them. */
static void look_for_libraries(void)
{
    libraries.egl = dlopen("libEGL.so.1", RTLD_LAZY | RTLD_GLOBAL);
    bool gl = dlopen("libGL.so.1", RTLD_LAZY);
    libraries.gl = gl || (!GLS_NEEDS_LIBGL && dlopen("libOpenGL.so.0", RTLD_LAZY));
    libraries.gles = dlopen("libGLESv2.so.2", RTLD_LAZY);
    void *gbm = dlopen("libgbm.so.1", RTLD_LAZY);
    if (!gbm) return;
    libraries.gbm_create = (__typeof__(&gbm_create_device))dlsym(gbm, "gbm_create_device");
    libraries.gbm_destroy = (__typeof__(&gbm_device_destroy))dlsym(gbm, "gbm_device_destroy");
}

bool gls_egl_available(void)
{
    pthread_once(&libraries_known, look_for_libraries);
    return libraries.egl && (libraries.gl || libraries.gles);
}

/* Passes a finding on as one line, unless `finding` is NULL. a, b: arguments of format. */
static void report(gls_device_finding finding, void *user, bool usable, const char *format, const char *a,
                   const char *b)
{
    char line[256];
    if (!finding) return;
    gls_snprintf(line, sizeof line, format, a, b);
    finding(user, usable, line);
}

/* Orders candidates by node, for qsort(). */
static int by_name(const void *a, const void *b)
{
    return strcmp(((const gls_candidate *)a)->node, ((const gls_candidate *)b)->node);
}

/* Adds Linux's render nodes, /dev/dri/renderD*, and reports those that this user may not open. */
static size_t add_render_nodes(gls_candidate *out, size_t capacity, gls_device_finding finding, void *user)
{
    size_t n = 0;
    DIR *dir = opendir("/dev/dri");
    if (!dir) {
        report(finding, user, false,
               "%s: %s (no kernel graphics driver is loaded, or the container does not pass it on)", "/dev/dri",
               strerror(errno));
        return 0;
    }
    bool seen = false;
    for (struct dirent *entry; (entry = readdir(dir)) && n < capacity;) {
        if (strncmp(entry->d_name, "renderD", 7) != 0) continue;
        seen = true;
        gls_candidate candidate = {.platform = GLS_PLATFORM_GBM, .egl_device = EGL_NO_DEVICE_EXT};
        snprintf(candidate.node, sizeof candidate.node, "/dev/dri/%.48s", entry->d_name);
        int fd = open(candidate.node, O_RDWR | O_CLOEXEC);
        if (fd < 0) {
            report(finding, user, false, "%s: %s (join the group that owns it, usually 'render' or 'video')",
                   candidate.node, strerror(errno));
            continue;
        }
        close(fd);
        memcpy(candidate.place, candidate.node, sizeof candidate.place);
        out[n++] = candidate;
    }
    closedir(dir);
    if (!seen) report(finding, user, false, "%s: %s", "/dev/dri", "no render node");
    qsort(out, n, sizeof *out, by_name);
    return n;
}

/* Adds the devices that EGL lists, except the software device. Drivers without a render node are found only here. */
static size_t add_egl_devices(gls_candidate *out, size_t capacity, gls_device_finding finding, void *user)
{
    EGLDeviceEXT devices[32];
    EGLint found = 0;
    if (!gls_probe_step(GLS_PLACE_DEVICES)) return 0;
    if (!epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_device_enumeration") &&
        !epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_device_base")) {
        report(finding, user, false, "%s: %s", "EGL device enumeration", "not offered by libEGL");
        return 0;
    }
    if (!eglQueryDevicesEXT(32, devices, &found)) found = 0;
    size_t n = 0;
    for (EGLint i = 0; i < found && n < capacity; i++) {
        const char *extensions = eglQueryDeviceStringEXT(devices[i], EGL_EXTENSIONS);
        if (extensions && strstr(extensions, "EGL_MESA_device_software"))
            continue; /* gls_egl_software() adds the software device behind all others */
        gls_candidate candidate = {.platform = GLS_PLATFORM_EGL_DEVICE, .egl_device = devices[i]};
        const char *node = extensions && strstr(extensions, "EGL_EXT_device_drm_render_node")
                               ? eglQueryDeviceStringEXT(devices[i], EGL_DRM_RENDER_NODE_FILE_EXT)
                               : NULL;
        if (node) snprintf(candidate.node, sizeof candidate.node, "%.63s", node);
        if (node)
            memcpy(candidate.place, candidate.node, sizeof candidate.place);
        else
            snprintf(candidate.place, sizeof candidate.place, "EGL device %d", (int)i);
        out[n++] = candidate;
    }
    if (n == 0)
        report(finding, user, false, "%s: %s", "EGL device enumeration",
               "no hardware device (is the GPU driver's EGL vendor library installed?)");
    return n;
}

/* Adds Mesa's software device; returns 1 if it exists, else 0. */
static size_t add_software_device(gls_candidate *candidate)
{
    EGLDeviceEXT devices[32];
    EGLint found = 0;
    if (!gls_probe_step(GLS_PLACE_DEVICES)) return 0;
    if (!epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_device_enumeration") &&
        !epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_device_base"))
        return 0;
    if (!eglQueryDevicesEXT(32, devices, &found)) found = 0;
    for (EGLint i = 0; i < found; i++) {
        const char *extensions = eglQueryDeviceStringEXT(devices[i], EGL_EXTENSIONS);
        if (!extensions || !strstr(extensions, "EGL_MESA_device_software")) continue;
        *candidate = (gls_candidate){.platform = GLS_PLATFORM_EGL_DEVICE, .egl_device = devices[i]};
        strcpy(candidate->place, "EGL software device");
        candidate->last_resort = true;
        return 1;
    }
    return 0;
}

/* Mesa's software renderer is reached through the surfaceless platform, which may lead to the machine's GPU instead,
 * and as a software device among the EGL devices. */
size_t gls_egl_software(gls_candidate candidates[2])
{
    size_t n = 0;
    if (gls_probe_surfaceless() && epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_MESA_platform_surfaceless"))
        candidates[n++] = (gls_candidate){
            .platform = GLS_PLATFORM_SURFACELESS, .egl_device = EGL_NO_DEVICE_EXT, .place = GLS_PLACE_SURFACELESS};
    return n + add_software_device(&candidates[n]);
}

/* Removes GPUs that environment variables exclude. Returns how many candidates remain. */
static size_t keep_visible(gls_candidate *candidates, size_t n, gls_device_finding finding, void *user)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        const char *variable;
        if (!gls_visible_node(candidates[i].node, &variable)) {
            report(finding, user, false, "%s: left out by %s", candidates[i].node, variable);
            continue;
        }
        candidates[k++] = candidates[i];
    }
    return k;
}

size_t gls_egl_candidates(gls_candidate *candidates, size_t capacity, gls_device_finding finding, void *user)
{
    size_t n = 0;
    gls_candidate software[2];
    if (!gls_probe_step(GLS_PLACE_EGL)) return 0;
    if (!gls_egl_available()) {
        report(finding, user, false, "%s: %s", "libEGL.so.1, or both " GLS_GL_LIBRARY " and libGLESv2.so.2",
               "cannot be loaded (packages libegl1, " GLS_GL_PACKAGE " and libgles2)");
        return 0;
    }
    if (!epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_platform_base")) {
        report(finding, user, false, "%s: %s", "EGL_EXT_platform_base",
               "no EGL vendor library (package libegl-mesa0, or the GPU driver's)");
        return 0;
    }
    n += add_render_nodes(candidates, capacity, finding, user);
    n += add_egl_devices(candidates + n, capacity - n, finding, user);
    n = keep_visible(candidates, n, finding, user);
    size_t n_software = gls_egl_software(software);
    for (size_t i = 0; i < n_software && n < capacity; i++) candidates[n++] = software[i];
    if (n_software == 0)
        report(finding, user, false, "%s: %s", "surfaceless platform",
               "no Mesa (packages libegl-mesa0 and libgl1-mesa-dri)");
    return n;
}

/* Finds the render node of the GPU behind a display: one GPU may be reached as a render node, as an EGL device and
 * through the surfaceless platform. */
static void find_gpu(gls_display *display)
{
    EGLAttrib attribute = 0;
    memcpy(display->gpu, display->node, sizeof display->gpu);
    if (*display->gpu || !(epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_device_query") ||
                           epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_device_base")))
        return;
    if (!eglQueryDisplayAttribEXT(display->egl, EGL_DEVICE_EXT, &attribute) || !attribute) return;
    EGLDeviceEXT device = (EGLDeviceEXT)attribute;
    const char *extensions = eglQueryDeviceStringEXT(device, EGL_EXTENSIONS), *node = NULL;
    if (extensions && strstr(extensions, "EGL_EXT_device_drm_render_node"))
        node = eglQueryDeviceStringEXT(device, EGL_DRM_RENDER_NODE_FILE_EXT);
    if (node) snprintf(display->gpu, sizeof display->gpu, "%.63s", node);
}

/* Connects to the display of a candidate and initialises it. */
static gls_status display_connect(gls_display *display)
{
    struct stat file;
    switch (display->platform) {
    case GLS_PLATFORM_GBM:
        display->fd = open(display->node, O_RDWR | O_CLOEXEC);
        if (display->fd < 0) return gls_fail(GLS_ERR_DEVICE, "%s: %s", display->node, strerror(errno));
        /* Mesa would render on the CPU for any other kind of file */
        if (fstat(display->fd, &file) != 0 || !S_ISCHR(file.st_mode) || major(file.st_rdev) != DRM_MAJOR)
            return gls_fail(GLS_ERR_DEVICE, "%s: is not a graphics device", display->node);
        if (!libraries.gbm_create || !libraries.gbm_destroy)
            return gls_fail(GLS_ERR_DEVICE, "%s: libgbm.so.1 cannot be loaded (package libgbm1)", display->node);
        display->gbm = libraries.gbm_create(display->fd);
        if (!display->gbm) return gls_fail(GLS_ERR_DEVICE, "%s: the driver makes no GBM device", display->node);
        display->egl = eglGetPlatformDisplayEXT(EGL_PLATFORM_GBM_KHR, display->gbm, NULL);
        break;
    case GLS_PLATFORM_EGL_DEVICE:
        display->egl = eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, display->egl_device, NULL);
        break;
    case GLS_PLATFORM_SURFACELESS:
        display->egl = eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL);
        break;
    }
    if (display->egl == EGL_NO_DISPLAY)
        return gls_fail(GLS_ERR_DEVICE, "EGL: the driver offers no display (error 0x%x)", eglGetError());
    __lsan_disable();
    const bool is_open = eglInitialize(display->egl, NULL, NULL);
    __lsan_enable();
    if (!is_open) {
        display->egl = EGL_NO_DISPLAY;
        return gls_fail(GLS_ERR_DEVICE, "EGL: the display cannot be initialised (error 0x%x)", eglGetError());
    }
    if (!epoxy_has_egl_extension(display->egl, "EGL_KHR_surfaceless_context"))
        return gls_fail(GLS_ERR_DEVICE, "EGL: the driver makes no contexts without a surface");
    find_gpu(display);
    return GLS_OK;
}

/* Closes what display_connect() has opened so far. */
static void display_free(gls_display *display)
{
    if (display->egl != EGL_NO_DISPLAY) eglTerminate(display->egl);
    if (display->gbm) libraries.gbm_destroy(display->gbm);
    if (display->fd >= 0) close(display->fd);
    free(display);
}

/* Displays are shared: EGL returns the same display for the same platform and device, and terminating a display would
 * end the contexts of all devices on it. The list counts the users of each display. */
static gls_status open_display(const gls_candidate *candidate, gls_display **out)
{
    gls_status status = GLS_OK;
    pthread_mutex_lock(&displays_lock);
    for (gls_display *d = displays; d; d = d->next)
        if (d->platform == candidate->platform && d->egl_device == candidate->egl_device &&
            strcmp(d->node, candidate->node) == 0) {
            d->references++;
            *out = d;
            goto done;
        }
    gls_display *display = calloc(1, sizeof *display);
    if (!display) {
        status = gls_fail(GLS_ERR_MEMORY, "out of memory for a display");
        goto done;
    }
    *display = (gls_display){.platform = candidate->platform,
                             .egl_device = candidate->egl_device,
                             .fd = -1,
                             .egl = EGL_NO_DISPLAY,
                             .references = 1};
    memcpy(display->node, candidate->node, sizeof display->node);
    process = getpid();
    status = display_connect(display);
    if (status) {
        display_free(display);
        goto done;
    }
    display->next = displays;
    displays = display;
    *out = display;
done:
    pthread_mutex_unlock(&displays_lock);
    return status;
}

void gls_display_close(gls_display *display)
{
    pthread_mutex_lock(&displays_lock);
    if (--display->references == 0) {
        gls_display **link = &displays;
        while (*link != display) link = &(*link)->next;
        *link = display->next;
        display_free(display);
    }
    pthread_mutex_unlock(&displays_lock);
}

/* A configuration for a context without a surface. NULL: the driver has none, or needs none, because it offers
 * EGL_KHR_no_config_context. */
static EGLConfig any_config(const gls_display *display, bool gles)
{
    if (epoxy_has_egl_extension(display->egl, "EGL_KHR_no_config_context")) return EGL_NO_CONFIG_KHR;
    const EGLint wanted[] = {EGL_RENDERABLE_TYPE, gles ? EGL_OPENGL_ES3_BIT_KHR : EGL_OPENGL_BIT, EGL_SURFACE_TYPE, 0,
                             EGL_NONE};
    EGLConfig config = NULL;
    EGLint n = 0;
    return eglChooseConfig(display->egl, wanted, &config, 1, &n) && n == 1 ? config : NULL;
}

/* Asks for a context of OpenGL 4.3 core or, if gles, of OpenGL ES 3.1; the driver may give a later version. */
static gls_status create_context(const gls_display *display, bool gles, EGLContext *context)
{
    if (!eglBindAPI(gles ? EGL_OPENGL_ES_API : EGL_OPENGL_API))
        return gls_fail(GLS_ERR_DEVICE, "EGL: %s is not offered", gles ? "OpenGL ES" : "OpenGL");
    if (gles ? !libraries.gles : !libraries.gl)
        return gls_fail(GLS_ERR_DEVICE, "%s cannot be loaded (package %s)", gles ? "libGLESv2.so.2" : GLS_GL_LIBRARY,
                        gles ? "libgles2" : GLS_GL_PACKAGE);
    EGLConfig config = any_config(display, gles);
    /* ask the driver to report resets: by the attribute of EGL 1.5, or by the older extension for OpenGL ES */
    const EGLint notification[] = {EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY,
                                   EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY_EXT, EGL_NONE};
    for (size_t i = 0; i < sizeof notification / sizeof *notification; i++) {
        EGLint attributes[16], n = 0;
        if (notification[i] == EGL_CONTEXT_OPENGL_RESET_NOTIFICATION_STRATEGY_EXT &&
            !epoxy_has_egl_extension(display->egl, "EGL_EXT_create_context_robustness"))
            continue;
        /* Version and profile, then the notification of resets; the last attempt asks for no notification. */
        attributes[n++] = EGL_CONTEXT_MAJOR_VERSION;
        attributes[n++] = gles ? 3 : 4;
        attributes[n++] = EGL_CONTEXT_MINOR_VERSION;
        attributes[n++] = gles ? 1 : 3;
        if (!gles) {
            attributes[n++] = EGL_CONTEXT_OPENGL_PROFILE_MASK;
            attributes[n++] = EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT;
        }
        if (notification[i] != EGL_NONE) {
            attributes[n++] = notification[i];
            attributes[n++] = EGL_LOSE_CONTEXT_ON_RESET;
        }
        attributes[n] = EGL_NONE;
        *context = eglCreateContext(display->egl, config, EGL_NO_CONTEXT, attributes);
        if (*context != EGL_NO_CONTEXT) return GLS_OK;
    }
    return gls_fail(GLS_ERR_DEVICE, "EGL: the driver makes no %s context (error 0x%x)",
                    gles ? "OpenGL ES 3.1" : "OpenGL 4.3", eglGetError());
}

gls_status gls_egl_open(const gls_candidate *candidate, bool gles, gls_display **display, EGLContext *context)
{
    gls_status status = open_display(candidate, display);
    return status ? status : create_context(*display, gles, context);
}
