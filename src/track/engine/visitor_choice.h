/* Whether the device counts the voxels that streamlines visit. */
#ifndef GLS_TRACK_ENGINE_VISITOR_CHOICE_H
#define GLS_TRACK_ENGINE_VISITOR_CHOICE_H

#include <glslines/device.h>
#include <glslines/image.h>

/* Whether it pays with this device and grid; GLSLINES_MAP=device or host decides it otherwise. */
bool gls_visitor_pays(const gls_device_info *device, const gls_grid *grid);
/* Lets the driver begin with the kernel. */
void gls_visitor_announce(gls_device *device, const gls_grid *grid);

#endif
