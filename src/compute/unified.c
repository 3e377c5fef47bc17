/* Arrays that exist on host and device: before one side is used, it is updated from the other side if that has changed.
 * Any thread may ask for either side; the lock guards the state, not the contents. */
#include <pthread.h>
#include <stdlib.h>

#include "compute/array.h"
#include "gpu/handle.h"
#include "util/status.h"

/* An array on the device and a host array of the same elements; both are owned. */
struct gls_unified {
    gls_array *array;
    void *host; /* elements of the array's type; from calloc */
    pthread_mutex_t lock;
    gls_unified_state state;
};

/* Frees the host memory; the array must have been destroyed, or its device closed. */
static void drop(void *object)
{
    gls_unified *unified = object;
    pthread_mutex_destroy(&unified->lock);
    free(unified->host);
    free(unified);
}

gls_status gls_unified_create(gls_device *device, gls_type type, size_t n, const char *label, gls_unified **out)
{
    GLS_REQUIRE_HANDLE(device, GLS_HANDLE_DEVICE);
    GLS_REQUIRE(out && n > 0 && gls_type_size(type) > 0);
    gls_unified *unified = calloc(1, sizeof *unified);
    if (!unified) return gls_fail(GLS_ERR_MEMORY, "out of memory for a unified buffer");
    pthread_mutex_init(&unified->lock, NULL);
    gls_status status = gls_array_create_zeroed(device, type, n, label, &unified->array);
    if (!status) {
        unified->host = calloc(n, gls_type_size(type));
        if (!unified->host) status = gls_fail(GLS_ERR_MEMORY, "out of memory for a unified buffer of %zu elements", n);
    }
    if (!status) status = gls_handle_add(unified, GLS_HANDLE_UNIFIED, device, label, drop);
    if (!status) {
        *out = unified;
    } else {
        gls_array_destroy(unified->array);
        drop(unified);
    }
    return status;
}

void gls_unified_destroy(gls_unified *unified)
{
    if (!unified || !gls_handle_remove(unified, GLS_HANDLE_UNIFIED)) return;
    gls_array_destroy(unified->array);
    drop(unified);
}

/* Whether the value is one of gls_access. */
static bool is_access(gls_access access)
{
    return access == GLS_ACCESS_READ || access == GLS_ACCESS_WRITE || access == GLS_ACCESS_READ_WRITE;
}

gls_status gls_unified_host(gls_unified *unified, gls_access access, void **data)
{
    GLS_REQUIRE_HANDLE(unified, GLS_HANDLE_UNIFIED);
    GLS_REQUIRE(data && is_access(access));
    gls_status status = GLS_OK;
    pthread_mutex_lock(&unified->lock);
    gls_unified_state *state = &unified->state;
    /* copy the device's changes to the host, unless the caller will overwrite all elements */
    if (state->device_dirty && access != GLS_ACCESS_WRITE) {
        status = gls_array_read(unified->array, 0, unified->array->length, unified->host, unified->array->type);
        state->to_host += !status;
    }
    if (!status) {
        state->device_dirty = false;
        state->host_dirty = state->host_dirty || access != GLS_ACCESS_READ;
        *data = unified->host;
    }
    pthread_mutex_unlock(&unified->lock);
    return status;
}

gls_status gls_unified_device(gls_unified *unified, gls_access access, gls_array **array)
{
    GLS_REQUIRE_HANDLE(unified, GLS_HANDLE_UNIFIED);
    GLS_REQUIRE(array && is_access(access));
    gls_status status = GLS_OK;
    pthread_mutex_lock(&unified->lock);
    gls_unified_state *state = &unified->state;
    /* copy the host's changes to the device, unless the caller will overwrite all elements */
    if (state->host_dirty && access != GLS_ACCESS_WRITE) {
        status = gls_array_write(unified->array, 0, unified->array->length, unified->host, unified->array->type);
        state->to_device += !status;
    }
    if (!status) {
        state->host_dirty = false;
        state->device_dirty = state->device_dirty || access != GLS_ACCESS_READ;
        *array = unified->array;
    }
    pthread_mutex_unlock(&unified->lock);
    return status;
}

gls_unified_state gls_unified_get_state(const gls_unified *unified)
{
    gls_unified_state state = {0};
    if (!gls_handle_alive(unified, GLS_HANDLE_UNIFIED)) return state;
    pthread_mutex_lock((pthread_mutex_t *)&unified->lock);
    state = unified->state;
    pthread_mutex_unlock((pthread_mutex_t *)&unified->lock);
    return state;
}
