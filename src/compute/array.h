/* Inside of arrays, for the kernels that work on them. */
#ifndef GLS_COMPUTE_ARRAY_H
#define GLS_COMPUTE_ARRAY_H

#include <glslines/compute.h>

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

#endif
