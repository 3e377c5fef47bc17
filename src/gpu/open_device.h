/* Devices: listing, opening, closing, and limits. */
#ifndef GLS_GPU_OPEN_DEVICE_H
#define GLS_GPU_OPEN_DEVICE_H

#include <glslines/device.h>

/* Keeps the memory of a device even if the user closes it: its handle is then no longer alive, but the struct stays
 * valid until gls_device_let_go() has been called as often as gls_device_keep(). */
void gls_device_keep(gls_device *device);
/* Ends one gls_device_keep(). The last call frees a device that was closed meanwhile. */
void gls_device_let_go(gls_device *device);
/* Information on a kept device, closed or not. */
const gls_device_info *gls_device_kept_info(const gls_device *device);
/* Whether calls wait for the work of the device; false with GLS_LISTEN_NEVER_WAIT. */
bool gls_device_waits(const gls_device *device);

#endif
