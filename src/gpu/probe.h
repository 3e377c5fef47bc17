/* Tries all drivers in a child process, and remembers in a file which of them crash or hang. */
#ifndef GLS_GPU_PROBE_H
#define GLS_GPU_PROBE_H

#include <glslines/common.h>
#include <glslines/device.h>

/* Searches all devices. Stores at most capacity of them in list; returns their number. */
typedef size_t (*gls_probe_search)(gls_device_info *list, size_t capacity, gls_graphics api, gls_device_finding finding,
                                   void *user);

/* Finds out which drivers fail. Call it before the first EGL call. Nothing is probed if the result is known, if this
 * process has loaded a driver already, or if the time limit GLSLINES_PROBE is 0, as it is by default without a GPU.
 * GLS_ERR_ARGUMENT: invalid value of GLSLINES_PROBE. */
gls_status gls_probe_drivers(gls_graphics api, gls_probe_search search, size_t capacity);
/* Like gls_probe_drivers(), but probes even if the result is known. *done: whether a child process searched to the end;
 * list then holds the *n devices that it found. finding: receives failed drivers and findings of the child; or NULL. */
gls_status gls_probe_list(gls_graphics api, gls_probe_search search, gls_device_info *list, size_t capacity, size_t *n,
                          gls_device_finding finding, void *user, bool *done);
/* Call this in a search before you try the way `place`. Returns false if the driver of this way is known to fail; the
 * search must then leave the way out. */
bool gls_probe_step(const char *place);
/* Why the driver of a place fails; NULL: no failure is known. */
const char *gls_probe_failure(const char *place);
/* Whether the surfaceless platform may be used: neither the platform itself nor the driver of any render node is known
 * to fail. The platform may lead to any render node. */
bool gls_probe_surfaceless(void);
/* Logs a warning, once in a process, for each place that is left out because its driver fails. */
void gls_probe_warn(void);
/* Who reads a variable that changes which devices there are or what they offer, such as "Mesa". entry: the variable as
 * in environ, with its value or without. NULL: it changes neither. */
const char *gls_driver_variable(const char *entry);

#endif
