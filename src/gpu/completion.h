/* Counts finished work groups on the device, to notice kernels that the driver has dropped silently. */
#ifndef GLS_GPU_COMPLETION_H
#define GLS_GPU_COMPLETION_H

#include <glslines/common.h>
#include <glslines/device.h>

/* Creates the counter of a new device, if its driver offers one; otherwise nothing is counted. The device must be held
 * for all functions gls_completion_...(). */
void gls_completion_open(gls_device *device);
/* Adds the work groups of a kernel to the expected number. Call it for each kernel, also if the driver refuses it. */
void gls_completion_expect(gls_device *device, const uint32_t groups[3]);
/* Call it if the driver reported an error for the last kernel: subtracts the kernel's work groups from the expected
 * number, unless they ran after all. */
void gls_completion_forgive(gls_device *device, const uint32_t groups[3]);
/* Checks a copied counter. Returns GLS_OK if nothing is counted, if the counter is at least as large as expected, or if
 * a test kernel shows that the driver counts wrongly; in the last case nothing is counted from then on. Otherwise the
 * device is lost: GLS_ERR_LOST. what: start of the message. */
gls_status gls_completion_take(gls_device *device, uint32_t count, uint32_t expected, const char *what);
/* Waits for all kernels and checks the counter, as gls_completion_take() does, but also refuses a larger count. Does
 * nothing if the counter was checked after the last kernel, if nothing is counted, or if never_wait is set.
 * GLS_ERR_DEVICE: the device does not answer. Check first for errors that the driver itself reports. */
gls_status gls_completion_verify(gls_device *device, const char *what);

#endif
