/* Joint histograms of two images on a device, for many maps at once. */
#ifndef GLS_REGISTRATION_NMI_DEVICE_H
#define GLS_REGISTRATION_NMI_DEVICE_H

#include <glslines/device.h>

#include "registration/nmi.h"

/* Compiles the kernel. The device must outlive what is made; gls_nmi_device_destroy() frees it, and accepts NULL. */
gls_status gls_nmi_device_create(gls_device *device, gls_nmi_device **made);
void gls_nmi_device_destroy(gls_nmi_device *d);
/* Copies two levels to the device, in place of those before. */
gls_status gls_nmi_device_fill(gls_nmi_device *d, const gls_nmi *nmi);
/* Adds to n histograms, each of GLS_NMI_CELLS, one for each map from voxels of the fixed to voxels of the moving
 * level. */
gls_status gls_nmi_device_add(gls_nmi_device *d, const double (*map)[3][4], size_t n, uint64_t *histogram);

#endif
