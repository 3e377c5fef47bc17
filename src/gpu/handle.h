/* The register of live handles: a hash table of addresses, open addressing with linear probing. */
#ifndef GLS_GPU_HANDLE_H
#define GLS_GPU_HANDLE_H

#include <glslines/common.h>
#include <glslines/device.h>

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
/* Whether the list has this object of this kind; for gls_handle_alive(). */
bool gls_handle_listed(const void *object, gls_handle_kind kind);
/* Whether the handle belongs to an object of this kind that exists. NULL does not. */
static inline bool gls_handle_alive(const void *object, gls_handle_kind kind)
{
    return object && gls_handle_listed(object, kind);
}
/* Removes an object; first step of every destructor. Returns false if the handle is not alive; the error is then stored
 * and logged. */
bool gls_handle_remove(const void *object, gls_handle_kind kind);
/* Reports and drops every object that a device still has when it is closed. */
void gls_handle_drop_all(const gls_device *owner);
/* Error for a handle that is not alive; for GLS_REQUIRE_HANDLE. */
gls_status gls_handle_refuse(const char *function, const char *name, const void *object, gls_handle_kind kind);
/* Returns GLS_ERR_ARGUMENT from the calling function if the handle is not alive. */
#define GLS_REQUIRE_HANDLE(object, kind)                                                                \
    do {                                                                                                \
        if (!gls_handle_alive(object, kind)) return gls_handle_refuse(__func__, #object, object, kind); \
    } while (0)

#endif
