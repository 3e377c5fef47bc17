/* The arithmetic of nonlinear registration on a device. */
#ifndef GLS_REGISTRATION_VELOCITY_DEVICE_H
#define GLS_REGISTRATION_VELOCITY_DEVICE_H

#include <glslines/device.h>

#include "registration/velocity_parts.h"

/* Makes a solver on a device. begin() returns GLS_ERR_UNSUPPORTED if the device cannot bind buffers as large as the
 * level needs. */
gls_status gls_velocity_device_create(const gls_velocity_options *options, gls_device *device,
                                      gls_velocity_solver **solver);

#endif
