/* Inside of arrays, for the kernels that work on them. */
#ifndef GLS_COMPUTE_ARRAY_H
#define GLS_COMPUTE_ARRAY_H

#include <glslines/compute.h>

/* Elements are stored as 32-bit words of gls_type_stored(type), whatever `type` is; the buffer has space for whole
 * vectors of four. The device belongs to the caller. */
struct gls_array {
    gls_device *device;
    gls_buffer *buffer;
    gls_type type;
    size_t length; /* elements */
};

/* Returns GLS_ERR_ARGUMENT unless the array is alive, belongs to this device and is stored as this type. function,
 * name: for the message. */
gls_status gls_array_check(const char *function, const char *name, const gls_array *array, const gls_device *device,
                           gls_type stored);

/* Stores the outcome of a run in *result, which may be NULL. begun: value of gls_clock_seconds() when the run began.
 * Returns status. */
gls_status gls_result_fill(gls_run_result *result, gls_status status, double gpu_seconds, double begun);

#endif
