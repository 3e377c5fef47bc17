/* The list of devices, as text and as JSON. */
#ifndef GLS_CHECK_DEVICE_LIST_H
#define GLS_CHECK_DEVICE_LIST_H

#include <glslines/device.h>
#include <glslines/track.h>

/* Lists n devices with their limits, and the drivers that failed, as lines of text. From malloc; NULL: out of memory.
 */
char *gls_devices_text(const gls_device_info *list, size_t n);
/* Like gls_devices_text(), as JSON, with sizes in bytes. */
char *gls_devices_json(const gls_device_info *list, size_t n);

#endif
