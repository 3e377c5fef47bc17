/* The check of a device: what its driver makes of every getter's kernels, and whether they compute right. */
#ifndef GLS_BENCH_DEVICE_CHECK_H
#define GLS_BENCH_DEVICE_CHECK_H

#include <glslines/track.h>

/* --- The check of a device: what its driver makes of the kernels of every getter, and whether it computes right. */

typedef struct check_options {
    const char *device;
    gls_graphics api;
    bool compile_only;
    double seconds;   /* that a variant may take */
    const char *only; /* "boot4" or "boot4:group": the rest is left out, and nothing is kept; NULL: all */
} check_options;

/* Every variant in every mapping of the device, each in a process of its own, so that a driver that crashes or hangs is
 * told of. GLS_ERR_DEVICE: a getter works in no mapping; GLS_ERR_ARGUMENT: there is nothing of that name. */
gls_status check_device(const check_options *options);

/* One of them in this process, "boot4:subgroup"; what is found goes to standard output, for check_device(): "kernel",
 * "tracked", "batches" and "error" lines, with tabs. "lines:boot4:single" prints the streamlines themselves. */
gls_status check_one(const check_options *options, const char *what);

#endif
