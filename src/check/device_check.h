/* The check of a device: runs each getter with each gls_mapping in a process of its own and reads the output of that
 * process. */
#ifndef GLS_CHECK_DEVICE_CHECK_H
#define GLS_CHECK_DEVICE_CHECK_H

#include <glslines/common.h>
#include <glslines/device.h>

/* Options of the check, from the command line. */
typedef struct check_options {
    const char *device;
    gls_graphics api;
    bool compile_only;
    double seconds;   /* time limit for one variant with one gls_mapping */
    const char *only; /* "boot4" or "boot4:group": check only this and keep no result; NULL: all */
} check_options;

/* Checks every variant with every gls_mapping that the device has, each in a process of its own, so that the check
 * survives a driver that crashes or hangs. A variant, such as boot4, is a getter with an order of its model.
 * GLS_MAPPING_SINGLE is checked on software renderers only. GLS_ERR_DEVICE: a variant works with no mapping.
 * GLS_ERR_ARGUMENT: unknown name in options->only. */
gls_status check_device(const check_options *options);

#endif
