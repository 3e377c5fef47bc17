/* Inside of arrays, for the kernels that work on them, and the conversion of their types. */
#ifndef GLS_COMPUTE_ARRAY_H
#define GLS_COMPUTE_ARRAY_H

#include <glslines/compute.h>

/* --- Inside of arrays, for the kernels that work on them. */

struct gls_array {
    gls_device *device;
    gls_buffer *buffer;
    gls_type type;
    size_t length;
};

/* GLS_ERR_ARGUMENT, with the name, unless the array is alive, of this device and stored as this type. */
gls_status gls_array_check(const char *function, const char *name, const gls_array *array, const gls_device *device,
                           gls_type stored);

/* Fills in what became of a run that began at this time of gls_clock_seconds(); returns status. result may be NULL. */
gls_status gls_result_fill(gls_run_result *result, gls_status status, double gpu_seconds, double begun);

/* --- Conversion between the types of <glslines/compute.h>. */

/* gls_convert() in two steps, since what an array holds has to fit its own type too: from from_type over via to
 * to_type. first: number of the first element, for messages. */
gls_status gls_convert_via(size_t first, size_t n, const void *from, gls_type from_type, gls_type via, void *to,
                           gls_type to_type);

#endif
