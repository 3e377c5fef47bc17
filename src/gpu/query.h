/* Names and limits of a device, read from the current context when the device is opened, and lowered on request for
 * tests. */
#ifndef GLS_GPU_QUERY_H
#define GLS_GPU_QUERY_H

#include <glslines/common.h>
#include <glslines/device.h>

/* Reads names and limits of the current context into info. */
void gls_device_query(gls_device_info *info);
/* Lowers limits and sets properties as the text of GLSLINES_FORCE_LIMITS says, for tests. text NULL: changes nothing.
 * GLS_ERR_ARGUMENT: invalid text. */
gls_status gls_limits_force(gls_device_info *info, const char *text);
/* Whether a device has double precision in hardware, judged by its vendor, or is a software renderer; drivers of other
 * vendors emulate doubles, slower than the CPU. False for OpenGL ES, which has no doubles. */
bool gls_device_has_doubles(const gls_device_info *info);

#endif
