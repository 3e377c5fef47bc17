/* Objects on a device, for other folders of the library: handles, transfers, mapped buffers, kernels compiled early. */
#ifndef GLS_GPU_OBJECTS_H
#define GLS_GPU_OBJECTS_H

#include <glslines/device.h>

#include "util/status.h"

/* --- Every object that a caller holds of a device is entered here from its creation to its destruction, so that a
 * handle that was freed, or is none, is told from a good one without looking at what it points to. An address that the
 * allocator has given to a newer object of the same kind cannot be told. */

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

/* Frees what an object holds on the host, and itself: for objects that outlive their device. */
typedef void (*gls_handle_drop)(void *object);

/* label: a copy is kept for reports, may be NULL. drop is not called for devices. GLS_ERR_MEMORY if there is no room.
 */
gls_status gls_handle_add(void *object, gls_handle_kind kind, const gls_device *owner, const char *label,
                          gls_handle_drop drop);
bool gls_handle_alive(const void *object, gls_handle_kind kind);
/* First step of every destructor. If the handle is not alive: false, and the error is stored and logged. */
bool gls_handle_remove(const void *object, gls_handle_kind kind);
/* Reports and drops every object that a device still has. */
void gls_handle_drop_all(const gls_device *owner);

/* For what works with a device from one call of its owner to the next: a device that is closed meanwhile is no live
 * handle any more, but stays as it is until it was let go as often as it was kept. */
void gls_device_keep(gls_device *device);
void gls_device_let_go(gls_device *device);
/* Of a device that is kept, closed or not. */
const gls_device_info *gls_device_kept_info(const gls_device *device);

/* What the device worked on so far is in the timeline, where one is kept: waits for that. */
void gls_device_trace(gls_device *device);

gls_status gls_handle_refuse(const char *function, const char *name, const void *object, gls_handle_kind kind);

/* Returns GLS_ERR_ARGUMENT from the calling function unless the handle is alive. */
#define GLS_REQUIRE_HANDLE(object, kind)                                                                \
    do {                                                                                                \
        if (!gls_handle_alive(object, kind)) return gls_handle_refuse(__func__, #object, object, kind); \
    } while (0)

/* --- A part of a buffer on its way to the host, while the device goes on with what it is told afterwards. */

typedef struct gls_fetch gls_fetch;

/* For so many bytes at most, of which the host gets memory that the device reaches. 0, or where the driver does not
 * offer it: the part is read when gls_fetch_end() asks for it, and so it may be read late. */
gls_status gls_fetch_create(gls_device *device, size_t bytes, gls_fetch **fetch);
/* Accepts NULL. */
void gls_fetch_destroy(gls_fetch *fetch);
/* Sends the part off, as the commands so far leave it. Until gls_fetch_end() nothing else may be written there. One
 * that was never ended is forgotten. */
gls_status gls_fetch_begin(gls_fetch *fetch, gls_buffer *source, size_t offset, size_t bytes);
/* Waits for it. */
gls_status gls_fetch_end(gls_fetch *fetch, void *data);

/* Lets the device begin with the commands so far, which some drivers keep until somebody waits for them. */
void gls_device_flush(gls_device *device);

/* --- Storage of a software renderer is memory of this process: a few buffers at a time as arrays, for work that the
 * host does faster. */

enum { GLS_HOST_BUFFERS = 3 };

/* One buffer and, while it is mapped, where its bytes are. A buffer is mapped once at most. */
typedef struct gls_host_view {
    gls_buffer *buffer;
    uint64_t bytes; /* from its start */
    bool written;   /* its contents are replaced; else they are only read */
    void *data;     /* NULL: it could not be mapped */
} gls_host_view;

/* Maps n views, up to GLS_HOST_BUFFERS, for what earlier commands left in them. The device must be held. True if all
 * could be. */
bool gls_host_map(gls_device *device, gls_host_view *views, size_t n);
/* Ends that, after a failure too; GLS_ERR_DEVICE if any was not mapped or lost what was written. what: names the work
 * in messages. */
gls_status gls_host_unmap(gls_device *device, gls_host_view *views, size_t n, const char *what);

/* The most invocations that a work group may have along x (0), y or z. The device must be held. */
uint32_t gls_device_group_limit(const gls_device *device, unsigned axis);

/* --- Kernels that a driver compiles on threads of its own while the host does other things. */

/* Says that gls_kernel_load() will be asked for this kernel. Worth it, and done, only where the driver has such threads
 * and has not compiled the kernel before: they cost it a fifth of a second at the end of the process. */
void gls_kernel_announce(gls_device *device, const char *file, const gls_define *defines, size_t n_defines);

#endif
