/* Every object that a caller holds of a device is entered here from its creation to its destruction, so that a handle
 * that was freed, or is none, is told from a good one without looking at what it points to. An address that the
 * allocator has given to a newer object of the same kind cannot be told. */
#ifndef GLS_GPU_HANDLE_H
#define GLS_GPU_HANDLE_H

#include <glslines/device.h>

#include "util/status.h"

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

#endif
