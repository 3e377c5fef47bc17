/* Objects on a device, for other folders of the library: handles, transfers, mapped buffers, kernels compiled early. */
#ifndef GLS_GPU_OBJECTS_H
#define GLS_GPU_OBJECTS_H

#include <glslines/device.h>

#include "util/status.h"

/* --- Handles. Every object that a caller holds is registered from creation to destruction, so that a freed or invalid
 * handle is recognised without reading the memory it points to. One case is not recognised: an address that the
 * allocator has reused for a newer object of the same kind. */

/* Kinds of objects in the register of handles. */
typedef enum gls_handle_kind {
    GLS_HANDLE_DEVICE,
    GLS_HANDLE_BUFFER,
    GLS_HANDLE_TEXTURE,
    GLS_HANDLE_KERNEL,
    GLS_HANDLE_PROGRAM,
    GLS_HANDLE_ARRAY,
    GLS_HANDLE_ELEMENTWISE,
    GLS_HANDLE_UNIFIED
} gls_handle_kind;

/* Frees the host memory of an object, including the object itself, when it outlives its device. */
typedef void (*gls_handle_drop)(void *object);

/* Registers an object. label: copied for reports, may be NULL. drop: not called for devices. GLS_ERR_MEMORY: out of
 * memory. */
gls_status gls_handle_add(void *object, gls_handle_kind kind, const gls_device *owner, const char *label,
                          gls_handle_drop drop);
/* Whether the handle belongs to an object of this kind that exists. */
bool gls_handle_alive(const void *object, gls_handle_kind kind);
/* Removes an object; first step of every destructor. Returns false if the handle is not alive; the error is then stored
 * and logged. */
bool gls_handle_remove(const void *object, gls_handle_kind kind);
/* Reports and drops every object that a device still has when it is closed. */
void gls_handle_drop_all(const gls_device *owner);

/* Keeps the memory of a device even if the user closes it: its handle is then no longer alive, but the struct stays
 * valid until gls_device_let_go() has been called as often as gls_device_keep(). */
void gls_device_keep(gls_device *device);
/* Ends one gls_device_keep(). The last call frees a device that was closed meanwhile. */
void gls_device_let_go(gls_device *device);
/* Information on a kept device, closed or not. */
const gls_device_info *gls_device_kept_info(const gls_device *device);
/* Whether calls wait for the work of the device; false with GLS_LISTEN_NEVER_WAIT. */
bool gls_device_waits(const gls_device *device);

/* Holds the device, like gls_device_hold(). GLS_ERR_LOST if the device is lost; then it is not held. what: start of the
 * message. */
gls_status gls_device_enter(gls_device *device, const char *what);

/* Waits for the device and adds its work so far to the timeline, if one is kept. */
void gls_device_trace(gls_device *device);

/* Error for a handle that is not alive; for GLS_REQUIRE_HANDLE. */
gls_status gls_handle_refuse(const char *function, const char *name, const void *object, gls_handle_kind kind);

/* Returns GLS_ERR_ARGUMENT from the calling function if the handle is not alive. */
#define GLS_REQUIRE_HANDLE(object, kind)                                                                \
    do {                                                                                                \
        if (!gls_handle_alive(object, kind)) return gls_handle_refuse(__func__, #object, object, kind); \
    } while (0)

/* --- Fetches: a part of a buffer is copied to the host while the device works on later commands. */

typedef struct gls_fetch gls_fetch;

/* Creates a fetch, with memory that host and device both see for a part of up to `bytes` bytes. If the driver has no
 * such memory, or a part is larger, no copy is made early: gls_fetch_end() then reads the part. */
gls_status gls_fetch_create(gls_device *device, size_t bytes, gls_fetch **fetch);
/* Frees `fetch`, which may be NULL. */
void gls_fetch_destroy(gls_fetch *fetch);
/* Starts copying a part of a buffer, as all earlier commands leave it. Nothing else may write to that part until
 * gls_fetch_end(). An unfinished earlier copy of this fetch is dropped. */
gls_status gls_fetch_begin(gls_fetch *fetch, gls_buffer *source, size_t offset, size_t bytes);
/* Stores in data the part that the last gls_fetch_begin() named: waits for its copy, or reads the part itself. Does
 * nothing if there was no gls_fetch_begin() since the last gls_fetch_end(). */
gls_status gls_fetch_end(gls_fetch *fetch, void *data);

/* Makes the device start on the commands so far; some drivers delay them until the host waits. */
void gls_device_flush(gls_device *device);

/* --- Mapped buffers: the buffers of a software renderer are memory of this process, so that the host can work on them
 * as arrays. */

enum { GLS_HOST_BUFFERS = 3 };

/* A buffer and, while it is mapped, its bytes. A buffer can be mapped once at a time. */
typedef struct gls_host_view {
    gls_buffer *buffer;
    uint64_t bytes; /* size of the mapped part, from the start of the buffer */
    bool written;   /* true: the host replaces the contents; false: it only reads them */
    void *data;     /* NULL: not mapped */
} gls_host_view;

/* Maps n views, at most GLS_HOST_BUFFERS, with the results of all earlier commands. The device must be held. Returns
 * false after a failure. Call gls_host_unmap() even then; it returns the error. */
bool gls_host_map(gls_device *device, gls_host_view *views, size_t n);
/* Unmaps the views. GLS_ERR_DEVICE if a view was not mapped or lost what was written. what: names the work in
 * messages. */
gls_status gls_host_unmap(gls_device *device, gls_host_view *views, size_t n, const char *what);

/* Maximum number of invocations of a work group along x (0), y (1) or z (2). The device must be held. */
uint32_t gls_device_group_limit(const gls_device *device, unsigned axis);

/* --- Kernels compiled early, on threads of the driver, while the host does other work. */

/* Announces that gls_kernel_load() will ask for this kernel. Does nothing unless the driver has compiler threads and
 * has not compiled the kernel before, because the threads cost a fifth of a second at the end of the process. */
void gls_kernel_announce(gls_device *device, const char *file, const gls_define *defines, size_t n_defines);

#endif
