/* One part of the check of a device: compiles the kernels of a getter for a gls_mapping, compares streamlines with
 * known ones, times a run, and tests whether batches in flight stay apart. */
#ifndef GLS_CHECK_CHECK_SCENE_H
#define GLS_CHECK_CHECK_SCENE_H

#include <glslines/common.h>

#include "check/device_check.h"

/* Checks one variant with one gls_mapping, such as "boot4:subgroup", in this process. Prints the result for
 * check_device() to standard output, as lines "kernel", "tracked", "batches" and "error" with tabs.
 * "lines:boot4:single" prints the streamlines. */
gls_status check_one(const check_options *options, const char *what);

#endif
