/* The check of a device: does its driver compile every getter's kernels, and does it compute right? */
#ifndef GLS_BENCH_DEVICE_CHECK_H
#define GLS_BENCH_DEVICE_CHECK_H

#include <glslines/track.h>

/* Options of the check, from the command line. */
typedef struct check_options {
    const char *device;
    gls_graphics api;
    bool compile_only;
    double seconds;   /* limit for one variant */
    const char *only; /* "boot4" or "boot4:group": check only this and keep no result; NULL: all */
} check_options;

/* Checks every variant in every mapping of the device, each in a process of its own, so that the check survives a
 * driver that crashes or hangs. GLS_ERR_DEVICE: a getter works in no mapping. GLS_ERR_ARGUMENT: unknown name in
 * options->only. */
gls_status check_device(const check_options *options);

/* Checks one variant in one mapping, such as "boot4:subgroup", in this process. Prints the result for check_device() to
 * standard output, as lines "kernel", "tracked", "batches" and "error" with tabs. "lines:boot4:single" prints the
 * streamlines. */
gls_status check_one(const check_options *options, const char *what);

#endif
