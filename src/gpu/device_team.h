/* Lets several devices work at the same time, each on a thread of its own; one device works on the calling thread. */
#ifndef GLS_GPU_DEVICE_TEAM_H
#define GLS_GPU_DEVICE_TEAM_H

#include <glslines/common.h>
#include <glslines/device.h>

#include "gpu/devices.h"

/* Does the work of device i of the team. The thread that calls it holds the device. */
typedef gls_status (*gls_device_work)(void *user, size_t i);

/* Creates a team. devices: n distinct devices, borrowed until gls_device_team_destroy(). */
gls_status gls_device_team_create(gls_device *const *devices, size_t n, gls_device_team **team);
/* Begins work(user, i) for all devices. In a team of one device the work has ended when this returns. */
void gls_device_team_begin(gls_device_team *team, gls_device_work work, void *user);
/* Waits for the work of all devices. Returns the failure with the lowest i; GLS_OK: none failed. */
gls_status gls_device_team_end(gls_device_team *team);
/* Begins the work, and waits for it. Returns the same as gls_device_team_end(). */
gls_status gls_device_team_run(gls_device_team *team, gls_device_work work, void *user);
/* Returns the status of device i in the last run, and makes its message the last error. */
gls_status gls_device_team_status(const gls_device_team *team, size_t i);
/* Ends the threads. Accepts NULL. */
void gls_device_team_destroy(gls_device_team *team);

#endif
