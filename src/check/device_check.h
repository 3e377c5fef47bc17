/* The check of a device: runs each getter with each gls_mapping in a process of its own and reads the output of that
 * process. */
#ifndef GLS_BENCH_DEVICE_CHECK_H
#define GLS_BENCH_DEVICE_CHECK_H

#include <glslines/common.h>

#include "bench/bench.h"

/* Checks every variant with every gls_mapping that the device has, each in a process of its own, so that the check
 * survives a driver that crashes or hangs. A variant, such as boot4, is a getter with an order of its model.
 * GLS_MAPPING_SINGLE is checked on software renderers only. GLS_ERR_DEVICE: a variant works with no mapping.
 * GLS_ERR_ARGUMENT: unknown name in options->only. */
gls_status check_device(const check_options *options);

#endif
