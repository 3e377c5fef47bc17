/* Drivers that crash or hang when a device is opened. Where there is a GPU, all devices are tried in a process of its
 * own before this one opens any; a driver that ends that process, or does not answer, is left out here. What was found
 * is kept in the user's cache folder until the machine is started anew or its drivers change, so that later runs need
 * no such process. */
#ifndef GLS_GPU_PROBE_H
#define GLS_GPU_PROBE_H

#include "gpu/internal.h"

/* Searches all devices: list has room for capacity; returns how many there are. */
typedef size_t (*gls_probe_search)(gls_device_info *list, size_t capacity, gls_graphics api, gls_device_finding finding,
                                   void *user);

/* Before the first EGL call: finds out which drivers fail, unless that is known, cannot be found out because this
 * process uses EGL already, or need not be because there is no GPU. GLS_ERR_ARGUMENT: GLSLINES_PROBE cannot be read. */
gls_status gls_probe_drivers(gls_graphics api, gls_probe_search search, size_t capacity);
/* The same anew, whatever is known; where it is done, list is what was found. */
gls_status gls_probe_list(gls_graphics api, gls_probe_search search, gls_device_info *list, size_t capacity, size_t *n,
                          gls_device_finding finding, void *user, bool *done);

/* Places by what names them: a render node's path, or these. */
#define GLS_PLACE_EGL "EGL"
#define GLS_PLACE_DEVICES "EGL device enumeration"
#define GLS_PLACE_SURFACELESS "surfaceless platform"
/* In a search, before a place is looked at: false if its driver fails, and it must be left alone. */
bool gls_probe_step(const char *place);
/* Why it does; NULL: it does not, as far as anybody knows. */
const char *gls_probe_failure(const char *place);
/* Whether the surfaceless platform can be used: it may lead to any render node. */
bool gls_probe_surfaceless(void);
/* Tells the log what is left out, once. */
void gls_probe_warn(void);

#endif
