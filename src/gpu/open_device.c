/* Devices: listing, opening, closing, and limits. A device is a context on an EGL display. Searches open each candidate
 * in turn, after gls_probe_drivers() has found out which drivers may be opened. */
#include "gpu/open_device.h"
#include "gpu/completion.h"
#include "gpu/egl.h"
#include "gpu/handle.h"
#include "gpu/hold.h"
#include "gpu/internal.h"
#include "gpu/probe.h"
#include "gpu/query.h"
#include "gpu/renderers.h"
#include "gpu/timer.h"
#include "gpu/visible.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/device_cache.h"
#include "gpu/drivers.h"
#include "util/allocation.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"

/* Largest number of candidates of a search. */
#define MAX_CANDIDATES 64

/* Receives messages of the driver; messages about the kernel that is being compiled are kept for the device's listener.
 */
static void GLAPIENTRY debug_message(GLenum source, GLenum type, GLuint id, GLenum severity, GLsizei length,
                                     const GLchar *text, const void *user)
{
    gls_device *device = (gls_device *)user;
    (void)source, (void)id, (void)length;
    if (device->compiling) {
        gls_text_puts(&device->messages, text);
        gls_text_puts(&device->messages, "\n");
    }
    if (severity == GL_DEBUG_SEVERITY_NOTIFICATION) return;
    gls_log(GLS_LOG_DEBUG, "driver: %s%s", type == GL_DEBUG_TYPE_ERROR ? "error: " : "", text);
}

/* Asks the driver for messages. With a listener: for all messages, each on the thread that compiles. */
static void enable_debug_output(gls_device *device)
{
    if (device->info.gles && !epoxy_has_gl_extension("GL_KHR_debug")) return;
    glEnable(GL_DEBUG_OUTPUT);
    if (device->listener) {
        glEnable(GL_DEBUG_OUTPUT_SYNCHRONOUS);
        glDebugMessageControl(GL_DONT_CARE, GL_DONT_CARE, GL_DONT_CARE, 0, NULL, GL_TRUE);
    }
    glDebugMessageCallback(debug_message, device);
    device->debug_output = true;
}

gls_status gls_device_listen(gls_device *device, gls_kernel_listener listener, void *user, gls_listen_wait wait)
{
    GLS_REQUIRE_HANDLE(device, GLS_HANDLE_DEVICE);
    GLS_REQUIRE(listener);
    gls_status status = gls_device_enter(device, "listening");
    if (status) return status;
    device->listener = listener;
    device->listener_user = user;
    device->never_wait = wait == GLS_LISTEN_NEVER_WAIT;
    if (device->never_wait) device->reset_status = NULL;
    enable_debug_output(device);
    gls_device_release(device);
    return GLS_OK;
}

/* Finds the function that reports resets. Only a context created with reset notification reports them. */
static void find_reset_status(gls_device *device)
{
    int version = epoxy_gl_version();
    bool core = version >= (device->info.gles ? 32 : 45) || epoxy_has_gl_extension("GL_KHR_robustness") ||
                epoxy_has_gl_extension("GL_EXT_robustness");
    if (!core && !epoxy_has_gl_extension("GL_ARB_robustness")) return;
    GLint strategy = GL_NO_RESET_NOTIFICATION;
    glGetIntegerv(GL_RESET_NOTIFICATION_STRATEGY, &strategy);
    if (strategy == GL_LOSE_CONTEXT_ON_RESET)
        device->reset_status = core ? glGetGraphicsResetStatus : glGetGraphicsResetStatusARB;
    else
        gls_log(GLS_LOG_DEBUG, "the driver does not report resets");
}

static void device_free(gls_device *device);

/* Opens display and context of a candidate, and reads its limits. The lock is recursive, because functions of the
 * library call each other with it held. */
static gls_status device_create(const gls_candidate *candidate, bool gles, int index, gls_device **out)
{
    gls_device *device = calloc(1, sizeof *device);
    if (!device) return gls_fail(GLS_ERR_MEMORY, "out of memory for a device");
    device->context = EGL_NO_CONTEXT;
    atomic_init(&device->users, 1);
    gls_status status = GLS_OK;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&device->lock, &attributes);
    pthread_mutexattr_destroy(&attributes);

    status = gls_egl_open(candidate, gles, &device->display, &device->context);
    if (status) goto fail;
    device->info.index = index;
    device->info.platform = candidate->platform;
    device->info.gles = gles;
    memcpy(device->info.node, device->display->gpu, sizeof device->info.node);
    gls_device_hold(device);
    if (!device->lost) {
        gls_device_query(&device->info);
        if (gls_log_enabled(GLS_LOG_DEBUG)) enable_debug_output(device);
        find_reset_status(device);
        gls_completion_open(device);
    }
    gls_device_release(device);
    if (device->lost) {
        status = gls_fail(GLS_ERR_DEVICE, "EGL: the context cannot be made current");
        goto fail;
    }
    status = gls_handle_add(device, GLS_HANDLE_DEVICE, device, device->info.renderer, NULL);
    if (status) goto fail;
    gls_renderer_try(device);
    *out = device;
    return GLS_OK;
fail:
    device_free(device);
    return status;
}

void gls_device_close(gls_device *device)
{
    if (!device || !gls_handle_remove(device, GLS_HANDLE_DEVICE)) return;
    gls_device_let_go(device);
}

void gls_device_keep(gls_device *device)
{
    atomic_fetch_add(&device->users, 1);
}

void gls_device_let_go(gls_device *device)
{
    if (atomic_fetch_sub(&device->users, 1) > 1) return;
    gls_handle_drop_all(device);
    device_free(device);
}

/* Frees a device and all that belongs to it; also a device whose opening failed half-way. */
static void device_free(gls_device *device)
{
    if (device->context != EGL_NO_CONTEXT) eglDestroyContext(device->display->egl, device->context);
    device->context = EGL_NO_CONTEXT;
    gls_cache_finish(device); /* the context no longer exists, and with it all objects on the device */
    gls_text_finish(&device->messages);
    free(device->span);
    if (device->display) gls_display_close(device->display);
    pthread_mutex_destroy(&device->lock);
    free(device);
}

const gls_device_info *gls_device_get_info(const gls_device *device)
{
    if (!gls_handle_alive(device, GLS_HANDLE_DEVICE)) return NULL;
    return &device->info;
}

const gls_device_info *gls_device_kept_info(const gls_device *device)
{
    return &device->info;
}

bool gls_device_waits(const gls_device *device)
{
    return !device->never_wait;
}

/* Returns GLS_ERR_ARGUMENT unless the value is one of gls_graphics. */
static gls_status check_graphics(gls_graphics api)
{
    if (api >= GLS_GRAPHICS_AUTO && api <= GLS_GRAPHICS_GLES) return GLS_OK;
    return gls_fail(GLS_ERR_ARGUMENT, "api: %d is no graphics interface", (int)api);
}

/* Opens a candidate by OpenGL, or where that fails by OpenGL ES, as `api` allows. */
static gls_status create_by(gls_graphics api, const gls_candidate *candidate, int index, gls_device **out)
{
    gls_status status = GLS_ERR_DEVICE;
    if (api != GLS_GRAPHICS_GLES) status = device_create(candidate, false, index, out);
    if (status == GLS_ERR_DEVICE && api != GLS_GRAPHICS_GL) status = device_create(candidate, true, index, out);
    return status;
}

/* Whether two entries are the same device. A GPU is known by its render node, if the driver names it; otherwise a GPU
 * found again through the surfaceless platform is recognised by its name. Two equal GPUs on distinct EGL devices are
 * two devices. The software renderer is one device. */
static bool same_device(const gls_device_info *a, const gls_device_info *b)
{
    if (a->software && b->software) return true;
    if (a->node[0] && b->node[0]) return strcmp(a->node, b->node) == 0;
    bool surfaceless = a->platform == GLS_PLATFORM_SURFACELESS || b->platform == GLS_PLATFORM_SURFACELESS;
    return surfaceless && strcmp(a->renderer, b->renderer) == 0;
}

/* Opens the candidates of a search one after another and lists the distinct devices among them, software renderers
 * last. first: NULL, or gets the first device of the list, still open; the search then ends there. */
static size_t list_devices(gls_device_info *out, gls_candidate *where, gls_graphics api, gls_device_finding finding,
                           void *user, gls_device **first)
{
    gls_candidate candidates[MAX_CANDIDATES];
    size_t n_candidates = gls_egl_candidates(candidates, MAX_CANDIDATES, finding, user), n = 0;
    bool is_software[MAX_CANDIDATES] = {false}, any_software = false;
    for (int software = 0; software <= 1; software++)
        for (size_t i = 0; i < n_candidates; i++) {
            gls_device *device = NULL;
            char line[512];
            /* In the first pass of the outer loop list hardware; try the last resort only if nothing else was found. In
             * the second pass list the software renderers that the first pass met. */
            if (software ? !is_software[i] : candidates[i].last_resort && (any_software || n > 0)) continue;
            if (!gls_probe_step(candidates[i].place)) continue;
            if (create_by(api, &candidates[i], 0, &device) != GLS_OK) {
                if (finding && !software) {
                    snprintf(line, sizeof line, "%s: %.400s", candidates[i].node[0] ? candidates[i].node : "EGL device",
                             gls_last_error());
                    finding(user, false, line);
                }
                continue;
            }
            is_software[i] = device->info.software;
            any_software = any_software || is_software[i];
            bool keep = device->info.software == (software == 1);
            const char *variable;
            keep = keep && (software || gls_visible_node(device->info.node, &variable));
            for (size_t k = 0; k < n && keep; k++) keep = !same_device(&out[k], &device->info);
            if (keep) {
                out[n] = device->info;
                out[n].index = (int)n;
                where[n] = candidates[i];
                n++;
                if (finding) {
                    snprintf(line, sizeof line, "%s: usable%s", device->info.renderer,
                             device->info.software ? " (software renderer on the CPU)" : "");
                    finding(user, true, line);
                }
                if (first) {
                    *first = device;
                    return n;
                }
            }
            gls_device_close(device);
        }
    return n;
}

/* The search that the child process of gls_probe_drivers() and gls_probe_list() makes; capacity: MAX_CANDIDATES. */
static size_t search_on_trial(gls_device_info *list, size_t capacity, gls_graphics api, gls_device_finding finding,
                              void *user)
{
    gls_candidate where[MAX_CANDIDATES];
    return capacity < MAX_CANDIDATES ? 0 : list_devices(list, where, api, finding, user, NULL);
}

gls_status gls_device_list(gls_graphics api, gls_device_info **list, size_t *n, gls_device_finding finding, void *user)
{
    GLS_REQUIRE(list && n);
    gls_status status = check_graphics(api);
    if (!status) status = gls_egl_check_process();
    if (status) return status;
    gls_candidate where[MAX_CANDIDATES];
    gls_device_info *found = calloc(MAX_CANDIDATES, sizeof *found);
    bool done;
    if (!found) return gls_fail(GLS_ERR_MEMORY, "out of memory for the list of devices");
    status = gls_probe_list(api, search_on_trial, found, MAX_CANDIDATES, n, finding, user, &done);
    if (status) {
        free(found);
        return status;
    }
    if (!done) *n = list_devices(found, where, api, finding, user, NULL);
    *list = found;
    return GLS_OK;
}

/* Whether a device has this name: an index in the list, a node, "gpu", or a part of the renderer's name. */
static bool device_matches(const gls_device_info *info, const char *name)
{
    char *end;
    long index = strtol(name, &end, 10);
    if (end != name && *end == '\0') return index == info->index;
    if (name[0] == '/') return strcmp(name, info->node) == 0;
    if (strcmp(name, "gpu") == 0) return !info->software;
    return *name && gls_case_find(info->renderer, name) != NULL;
}

/* Opens the software renderer of Mesa. */
static gls_status open_software(gls_graphics api, gls_device **out)
{
    gls_candidate candidates[2];
    size_t n = gls_egl_software(candidates);
    for (size_t i = 0; i < n; i++) {
        gls_device *device = NULL;
        gls_status status = create_by(api, &candidates[i], 0, &device);
        if (!status && device->info.software) {
            *out = device;
            return GLS_OK;
        }
        if (!status)
            gls_device_close(device);
        else if (i + 1 == n)
            return status;
    }
    return gls_fail(GLS_ERR_DEVICE,
                    "no software renderer was found: install Mesa's llvmpipe (package libgl1-mesa-dri)");
}

/* Opens the device of this name; without a name, or by "auto", the first device of the list. GLS_ERR_DEVICE says what
 * is missing. */
static gls_status open_first(const char *name, gls_graphics api, gls_device **device)
{
    gls_status status = check_graphics(api);
    if (!status) status = gls_egl_check_process();
    if (!status) status = gls_inject_begin();
    if (!status) status = gls_limits_force(&(gls_device_info){0}, gls_test_variable("GLSLINES_FORCE_LIMITS"));
    if (!status) status = gls_probe_drivers(api, search_on_trial, MAX_CANDIDATES);
    if (status) return status;
    static const char *const offers[] = {[GLS_GRAPHICS_AUTO] = "OpenGL 4.3 or OpenGL ES 3.1",
                                         [GLS_GRAPHICS_GL] = "OpenGL 4.3",
                                         [GLS_GRAPHICS_GLES] = "OpenGL ES 3.1"};
    const char *offer = offers[api];
    bool any = !name || strcmp(name, "auto") == 0;
    if (gls_inject(GLS_FAULT_OPEN))
        return gls_fail(GLS_ERR_DEVICE, "EGL: the driver makes no %s context (error 0x%x)", offer, EGL_BAD_ALLOC);
    if (!gls_egl_available())
        return gls_fail(GLS_ERR_DEVICE,
                        "no device: libEGL.so.1, or both " GLS_GL_LIBRARY
                        " and libGLESv2.so.2 cannot be loaded (packages libegl1, " GLS_GL_PACKAGE " and libgles2)");
    if (gls_probe_failure(GLS_PLACE_EGL))
        return gls_fail(GLS_ERR_DEVICE, "no device: EGL: %s", gls_probe_failure(GLS_PLACE_EGL));
    /* Open the device by its name: a node, the software renderer, or an entry of the list. */
    if (name && name[0] == '/') {
        /* open the node itself, although the list may show the same GPU under another name */
        gls_candidate node = {.platform = GLS_PLATFORM_GBM, .egl_device = EGL_NO_DEVICE_EXT};
        if (strlen(name) >= sizeof node.node) return gls_fail(GLS_ERR_DEVICE, "%s: is not a graphics device", name);
        strcpy(node.node, name);
        if (gls_probe_failure(name)) return gls_fail(GLS_ERR_DEVICE, "%s: %s", name, gls_probe_failure(name));
        return create_by(api, &node, 0, device);
    }
    if (name && (strcmp(name, "cpu") == 0 || strcmp(name, "llvmpipe") == 0)) return open_software(api, device);
    gls_probe_warn();
    gls_device_info *found = calloc(MAX_CANDIDATES, sizeof *found);
    gls_candidate where[MAX_CANDIDATES];
    if (!found) return gls_fail(GLS_ERR_MEMORY, "out of memory for the list of devices");
    size_t n = list_devices(found, where, api, NULL, NULL, any ? device : NULL), pick = n;
    for (size_t i = 0; i < n && pick == n; i++)
        if (!any && device_matches(&found[i], name)) pick = i;
    if (any && n > 0)
        status = GLS_OK;
    else if (pick < n)
        status = create_by(api, &where[pick], (int)pick, device);
    else if (any && gls_address_limit() > 0)
        status =
            gls_fail(GLS_ERR_DEVICE,
                     "no device offers compute shaders of %s; the limit on the address space (ulimit -v, %llu MiB) "
                     "may leave drivers too little",
                     offer, (unsigned long long)gls_address_limit());
    else if (any)
        status =
            gls_fail(GLS_ERR_DEVICE,
                     "no device offers compute shaders of %s; 'glslines devices --doctor' says what is missing", offer);
    else if (strcmp(name, "gpu") == 0)
        status = gls_fail(GLS_ERR_DEVICE,
                          "no GPU offers compute shaders of %s%s; 'glslines devices --doctor' says what is missing",
                          offer, n > 0 ? "; --device cpu tracks on the processor" : "");
    else
        status = gls_fail(GLS_ERR_DEVICE, "no device matches '%s' (%zu found; 'glslines devices' lists them)", name, n);
    free(found);
    return status;
}

gls_status gls_device_open(const char *name, gls_graphics api, gls_device **device)
{
    GLS_REQUIRE(device);
    gls_status status = open_first(name, api, device);
    if (!status && !(*device)->info.apart)
        gls_log(GLS_LOG_WARNING,
                "%s: this renderer mixes up what invocations of a work group write to arrays of their own: tracking "
                "uses work groups of one invocation, and kernels of your own may come out wrong",
                (*device)->info.renderer);
    return status;
}

/* Opens devices until there are n: further contexts if the first device is a software renderer, else further GPUs,
 * which must have the name of the first device unless `any`. *n_open: number of open devices, before and after. */
static gls_status open_more(gls_graphics api, bool any, size_t n, gls_device **devices, size_t *n_open)
{
    const gls_device_info *first = &devices[0]->info;
    gls_status status = GLS_OK;
    while (first->software && *n_open < n && !status) {
        status = gls_device_reopen(devices[0], &devices[*n_open]);
        *n_open += !status;
    }
    if (first->software || *n_open == n) return status;
    gls_candidate where[MAX_CANDIDATES];
    gls_device_info *found = calloc(MAX_CANDIDATES, sizeof *found);
    if (!found) return gls_fail(GLS_ERR_MEMORY, "out of memory for the list of devices");
    size_t n_found = list_devices(found, where, api, NULL, NULL, NULL);
    for (size_t i = 0; i < n_found && *n_open < n && !status; i++) {
        if (same_device(first, &found[i]) || (!*first->node && first->index == found[i].index)) continue;
        if (found[i].software || (!any && strcmp(first->renderer, found[i].renderer) != 0)) continue;
        status = create_by(api, &where[i], (int)i, &devices[*n_open]);
        *n_open += !status;
    }
    free(found);
    if (!status && *n_open < n)
        status = gls_fail(GLS_ERR_DEVICE, "%zu devices are wanted, but there are only %zu%s%s", n, *n_open,
                          any ? "" : " of the name ", any ? "" : first->renderer);
    return status;
}

gls_status gls_device_open_several(const char *name, gls_graphics api, size_t n, gls_device **devices)
{
    GLS_REQUIRE(devices && n > 0);
    size_t n_open = 0;
    gls_status status = gls_device_open(name, api, &devices[0]);
    if (status) return status;
    n_open = 1;
    status = open_more(api, !name || strcmp(name, "auto") == 0 || strcmp(name, "gpu") == 0, n, devices, &n_open);
    if (!status) return GLS_OK;
    while (n_open > 0) {
        gls_device_close(devices[--n_open]);
        devices[n_open] = NULL;
    }
    return status;
}

gls_status gls_device_reopen(const gls_device *device, gls_device **another)
{
    GLS_REQUIRE_HANDLE(device, GLS_HANDLE_DEVICE);
    GLS_REQUIRE(another);
    const gls_display *display = device->display;
    const char *offer = device->info.gles ? "OpenGL ES 3.1" : "OpenGL 4.3";
    if (gls_inject(GLS_FAULT_OPEN))
        return gls_fail(GLS_ERR_DEVICE, "EGL: the driver makes no %s context (error 0x%x)", offer, EGL_BAD_ALLOC);
    gls_candidate where = {.platform = display->platform, .egl_device = display->egl_device};
    memcpy(where.node, display->node, sizeof where.node);
    gls_device *made = NULL;
    gls_status status = device_create(&where, device->info.gles, device->info.index, &made);
    if (status) return status;
    made->info = device->info;
    made->memory_limit = device->memory_limit;
    *another = made;
    return GLS_OK;
}

gls_status gls_device_synchronize(gls_device *device)
{
    GLS_REQUIRE_HANDLE(device, GLS_HANDLE_DEVICE);
    gls_status status = gls_device_enter(device, "synchronisation");
    if (status) return status;
    if (!device->info.software && !device->never_wait)
        gls_wait_for_fence(glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0));
    if (!device->never_wait) glFinish();
    if (!device->never_wait) device->n_ended = device->n_runs;
    status = gls_device_check_reset(device, "synchronisation");
    gls_device_release(device);
    return status;
}

gls_status gls_device_limit_memory(gls_device *device, uint64_t bytes)
{
    GLS_REQUIRE_HANDLE(device, GLS_HANDLE_DEVICE);
    pthread_mutex_lock(&device->lock);
    device->memory_limit = bytes;
    /* lower the memory that the device reports, so that plans keep to the limit */
    uint64_t *known = &device->info.memory_bytes;
    if (bytes > 0 && (*known == 0 || *known > bytes)) *known = bytes;
    pthread_mutex_unlock(&device->lock);
    return GLS_OK;
}

gls_device_memory gls_device_get_memory(const gls_device *device)
{
    gls_device_memory none = {0};
    if (!gls_handle_alive(device, GLS_HANDLE_DEVICE)) return none;
    pthread_mutex_lock((pthread_mutex_t *)&device->lock);
    none = device->memory;
    pthread_mutex_unlock((pthread_mutex_t *)&device->lock);
    return none;
}
