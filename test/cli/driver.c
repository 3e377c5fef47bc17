/* A driver that fails, for test/cli/drivers.sh: an EGL vendor library with one GPU, whose display crashes, hangs, ends
 * the process or is refused when it is initialised, or when the GPUs are counted, as GLS_TEST_DRIVER says. */
#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <glvnd/libeglabi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef EGL_DRM_RENDER_NODE_FILE_EXT
#define EGL_DRM_RENDER_NODE_FILE_EXT 0x3377
#endif

static int gpu, display; /* handles are their addresses */

static void fail(const char *where)
{
    const char *how = getenv("GLS_TEST_DRIVER");
    size_t n = strlen(where);
    if (!how || strncmp(how, where, n) != 0 || how[n] != '-') return;
    if (strcmp(how + n, "-crash") == 0) raise(SIGSEGV);
    if (strcmp(how + n, "-exit") == 0) exit(3);
    while (strcmp(how + n, "-hang") == 0) pause();
}

static EGLBoolean initialise(EGLDisplay d, EGLint *major, EGLint *minor)
{
    (void)d, (void)major, (void)minor;
    fail("open");
    return EGL_FALSE;
}

static const char *text(EGLDisplay d, EGLint name)
{
    (void)d;
    return name == EGL_EXTENSIONS ? "EGL_EXT_device_base EGL_EXT_platform_device" : "stand-in";
}

static EGLBoolean devices(EGLint capacity, EGLDeviceEXT *list, EGLint *n)
{
    fail("count");
    if (list && capacity > 0) list[0] = &gpu;
    *n = 1;
    return EGL_TRUE;
}

static const char *device_text(EGLDeviceEXT device, EGLint name)
{
    (void)device;
    return name == EGL_DRM_RENDER_NODE_FILE_EXT ? "/dev/dri/renderD255"
           : name == EGL_EXTENSIONS             ? "EGL_EXT_device_drm_render_node"
                                                : NULL;
}

/* This function stands for all other functions, which are never called. */
static EGLBoolean nothing(void)
{
    return EGL_FALSE;
}

static void *function(const char *name)
{
    static const struct {
        const char *name;
        void *function;
    } own[] = {{"eglInitialize", (void *)initialise},        {"eglQueryString", (void *)text},
               {"eglQueryDevicesEXT", (void *)devices},      {"eglQueryDeviceStringEXT", (void *)device_text},
               {"eglQueryDeviceAttribEXT", (void *)nothing}, {"eglQueryDisplayAttribEXT", (void *)nothing}};
    size_t n = strlen(name);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(own[i].name, name) == 0) return own[i].function;
    bool extension = n > 3 && (strcmp(name + n - 3, "EXT") == 0 || strcmp(name + n - 3, "KHR") == 0);
    return strncmp(name, "egl", 3) == 0 && !extension ? (void *)nothing : NULL;
}

static EGLDisplay platform_display(EGLenum platform, void *native, const EGLAttrib *attributes)
{
    (void)attributes;
    return platform == EGL_PLATFORM_DEVICE_EXT && native == &gpu ? (EGLDisplay)&display : EGL_NO_DISPLAY;
}

static EGLBoolean supports(EGLenum api)
{
    return api == EGL_OPENGL_API || api == EGL_OPENGL_ES_API;
}

static const char *vendor_text(int name)
{
    return name == __EGL_VENDOR_STRING_PLATFORM_EXTENSIONS ? "EGL_EXT_platform_device" : NULL;
}

static void *dispatch_address(const char *name)
{
    (void)name;
    return NULL;
}

static void dispatch_index(const char *name, int index)
{
    (void)name, (void)index;
}

__attribute__((visibility("default"))) EGLBoolean __egl_Main(uint32_t version, const __EGLapiExports *exports,
                                                             __EGLvendorInfo *vendor, __EGLapiImports *imports)
{
    (void)exports, (void)vendor;
    if (EGL_VENDOR_ABI_GET_MAJOR_VERSION(version) != EGL_VENDOR_ABI_MAJOR_VERSION) return EGL_FALSE;
    imports->getPlatformDisplay = platform_display;
    imports->getSupportsAPI = supports;
    imports->getVendorString = vendor_text;
    imports->getProcAddress = function;
    imports->getDispatchAddress = dispatch_address;
    imports->setDispatchIndex = dispatch_index;
    return EGL_TRUE;
}
