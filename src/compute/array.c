/* Typed arrays on a device: creation, clearing, copies. An array stores each element as 32 bits (float, int or uint);
 * copies convert between this form and the types of the host. */
#include "compute/array.h"

#include <stdio.h>
#include <stdlib.h>

#include "gpu/objects.h"
#include "util/clock.h"

bool gls_device_available(void)
{
    size_t n = 0;
    return gls_device_count(GLS_GRAPHICS_AUTO, &n) == GLS_OK && n > 0;
}

gls_status gls_device_count(gls_graphics api, size_t *n)
{
    GLS_REQUIRE(n);
    gls_device_info *list = NULL;
    gls_status status = gls_device_list(api, &list, n, NULL, NULL);
    if (!status) free(list);
    return status;
}

gls_status gls_result_fill(gls_run_result *result, gls_status status, double gpu_seconds, double begun)
{
    if (!result) return status;
    *result =
        (gls_run_result){.status = status, .gpu_seconds = gpu_seconds, .wall_seconds = gls_clock_seconds() - begun};
    if (status) snprintf(result->message, sizeof result->message, "%s", gls_last_error());
    return status;
}

/* --- creation ------------------------------------------------------------- */

/* Creates an array of n elements with space for whole vectors of four. */
static gls_status create(gls_device *device, gls_type type, size_t n, const char *label, bool zeroed, gls_array **out)
{
    if (n > SIZE_MAX / 8)
        return gls_fail(GLS_ERR_UNSUPPORTED, "array '%s' of %zu elements is larger than any device's memory",
                        label ? label : "", n);
    gls_array *array = calloc(1, sizeof *array);
    if (!array) return gls_fail(GLS_ERR_MEMORY, "out of memory for an array");
    *array = (gls_array){.device = device, .type = type, .length = n};
    /* allocate whole vectors of four elements, for kernels that load vectors */
    gls_status status =
        gls_buffer_create(device, GLS_BUFFER_STORAGE, (4 * n + 15) / 16 * 16, label ? label : "array", &array->buffer);
    if (!status && zeroed) status = gls_buffer_clear(array->buffer);
    if (!status) status = gls_handle_add(array, GLS_HANDLE_ARRAY, device, label, free);
    if (!status) {
        *out = array;
    } else {
        gls_buffer_destroy(array->buffer);
        free(array);
    }
    return status;
}

gls_status gls_array_create(gls_device *device, gls_type type, size_t n, const char *label, gls_array **array)
{
    GLS_REQUIRE_HANDLE(device, GLS_HANDLE_DEVICE);
    GLS_REQUIRE(array && n > 0 && gls_type_size(type) > 0);
    return create(device, type, n, label, false, array);
}

gls_status gls_array_create_zeroed(gls_device *device, gls_type type, size_t n, const char *label, gls_array **array)
{
    GLS_REQUIRE_HANDLE(device, GLS_HANDLE_DEVICE);
    GLS_REQUIRE(array && n > 0 && gls_type_size(type) > 0);
    return create(device, type, n, label, true, array);
}

void gls_array_destroy(gls_array *array)
{
    if (!array || !gls_handle_remove(array, GLS_HANDLE_ARRAY)) return;
    gls_buffer_destroy(array->buffer);
    free(array);
}

/* --- properties ----------------------------------------------------------- */

size_t gls_array_length(const gls_array *array)
{
    return gls_handle_alive(array, GLS_HANDLE_ARRAY) ? array->length : 0;
}

gls_type gls_array_type(const gls_array *array)
{
    return gls_handle_alive(array, GLS_HANDLE_ARRAY) ? array->type : (gls_type)-1;
}

gls_buffer *gls_array_buffer(gls_array *array)
{
    return gls_handle_alive(array, GLS_HANDLE_ARRAY) ? array->buffer : NULL;
}

gls_status gls_array_check(const char *function, const char *name, const gls_array *array, const gls_device *device,
                           gls_type stored)
{
    if (!gls_handle_alive(array, GLS_HANDLE_ARRAY)) return gls_handle_refuse(function, name, array, GLS_HANDLE_ARRAY);
    if (array->device != device) return gls_fail(GLS_ERR_ARGUMENT, "%s: array %s is of another device", function, name);
    if (gls_type_stored(array->type) != stored)
        return gls_fail(GLS_ERR_ARGUMENT, "%s: array %s of %s is stored as %s, but must be stored as %s", function,
                        name, gls_type_name(array->type), gls_type_name(gls_type_stored(array->type)),
                        gls_type_name(stored));
    return GLS_OK;
}

/* --- copies --------------------------------------------------------------- */

gls_status gls_array_clear(gls_array *array)
{
    GLS_REQUIRE_HANDLE(array, GLS_HANDLE_ARRAY);
    return gls_buffer_clear(array->buffer);
}

/* GLS_ERR_ARGUMENT unless elements first .. first + n - 1 exist. */
static gls_status check_range(const char *function, const gls_array *array, size_t first, size_t n)
{
    if (first <= array->length && n <= array->length - first) return GLS_OK;
    return gls_fail(GLS_ERR_ARGUMENT, "%s: elements %zu to %zu + %zu - 1 are not all within an array of %zu elements",
                    function, first, first, n, array->length);
}

/* Whether the elements have the same bytes on host and device, so that copying needs no conversion. */
static bool same_bytes(const gls_array *array, gls_type type)
{
    return type == array->type && type == gls_type_stored(type);
}

gls_status gls_array_write(gls_array *array, size_t first, size_t n, const void *data, gls_type type)
{
    GLS_REQUIRE_HANDLE(array, GLS_HANDLE_ARRAY);
    GLS_REQUIRE((data || n == 0) && gls_type_size(type) > 0);
    gls_status status = check_range(__func__, array, first, n);
    if (status || n == 0) return status;
    if (same_bytes(array, type)) return gls_buffer_write(array->buffer, 4 * first, 4 * n, data);
    /* convert first to the array's type, so that values that this type cannot hold are refused, then to the stored type
     */
    void *stored = malloc(4 * n);
    if (!stored) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu elements", n);
    status = gls_convert_via(first, n, data, type, array->type, stored, gls_type_stored(array->type));
    if (!status) status = gls_buffer_write(array->buffer, 4 * first, 4 * n, stored);
    free(stored);
    return status;
}

gls_status gls_array_read(gls_array *array, size_t first, size_t n, void *data, gls_type type)
{
    GLS_REQUIRE_HANDLE(array, GLS_HANDLE_ARRAY);
    GLS_REQUIRE((data || n == 0) && gls_type_size(type) > 0);
    gls_status status = check_range(__func__, array, first, n);
    if (status || n == 0) return status;
    if (same_bytes(array, type)) return gls_buffer_read(array->buffer, 4 * first, 4 * n, data);
    void *stored = malloc(4 * n);
    if (!stored) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu elements", n);
    status = gls_buffer_read(array->buffer, 4 * first, 4 * n, stored);
    if (!status) status = gls_convert_via(first, n, stored, gls_type_stored(array->type), array->type, data, type);
    free(stored);
    return status;
}
