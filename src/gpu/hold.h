/* Makes a device current on a thread. */
#ifndef GLS_GPU_HOLD_H
#define GLS_GPU_HOLD_H

#include <glslines/common.h>
#include <glslines/device.h>

/* Turns the oldest GL error, or a lost context, into a status. what: start of the message. The device must be held. */
gls_status gls_device_check(gls_device *device, const char *what);
/* Like gls_device_check(), and asks whether the driver was reset. Call it where the host waits for the device
 * anyway. */
gls_status gls_device_check_reset(gls_device *device, const char *what);
/* Marks the device as lost for good. why: a constant text for messages. */
void gls_device_mark_lost(gls_device *device, const char *why);
/* Holds the device, like gls_device_hold(). GLS_ERR_LOST if the device is lost; then it is not held. what: start of the
 * message. */
gls_status gls_device_enter(gls_device *device, const char *what);

#endif
