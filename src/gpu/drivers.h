/* Which devices and drivers may be used: probing in a child process, known renderers, GPUs left to this process. */
#ifndef GLS_GPU_DRIVERS_H
#define GLS_GPU_DRIVERS_H

#include <stdbool.h>
#include <stddef.h>

#include <glslines/device.h>

/* --- Probing. Some drivers crash or hang when a device is opened. If the machine has a GPU, a child process first
 * opens all devices; a driver that ends the child, or does not answer, is left out in this process. The result is kept
 * in the user's cache folder until the machine restarts or its drivers change, so that later runs need no child
 * process. */

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

/* A search tries several ways to a device. The name of a way, called a place, is the path of a render node, one of the
 * names below, or, for an EGL device without a node, "EGL device N" or "EGL software device". */
#define GLS_PLACE_EGL "EGL"
#define GLS_PLACE_DEVICES "EGL device enumeration"
#define GLS_PLACE_SURFACELESS "surfaceless platform"
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

/* --- Renderers that are known to compute correctly. Any other renderer is tested for mixed-up private arrays. */

/* Whether results of this renderer are trusted without a test: glslines has been tested on it, or its driver is so
 * widely used that errors would be known. Always true with GLSLINES_SELF_TEST=0, always false with
 * GLSLINES_SELF_TEST=1. */
bool gls_renderer_is_known(const gls_device_info *device);
/* Whether glslines has run on this renderer and its results were checked. */
bool gls_renderer_was_tested(const gls_device_info *device);
/* Tests with a kernel whether an unknown renderer keeps the private arrays of invocations apart, and stores the answer
 * in info.apart: false also if the test fails to run. */
void gls_renderer_try(gls_device *device);

/* For tests: number of invocations of the test kernel, and number of words in the private array of each. */
enum { GLS_APART_INVOCATIONS = 16, GLS_APART_PLACES = 4 };
/* For tests: value that the test kernel must give for this word of this invocation's private array. */
uint32_t gls_apart_expected(uint32_t invocation, uint32_t word);

/* --- GPUs that a scheduler or user has left to this process, by the variables of CUDA, ROCm and Slurm. */

/* Whether the GPU at this PCI address ("0000:3b:00.0") may be used; if not, *variable is the name of the variable that
 * excludes it. A GPU that cannot be matched with a variable may be used. root: "", or, in tests, a folder with copies
 * of /proc, /sys and /dev. */
bool gls_visible_address(const char *root, const char *address, const char **variable);

/* Like gls_visible_address(), for the GPU of a render node such as "/dev/dri/renderD128". An unknown node, "", may be
 * used.
 */
bool gls_visible_node(const char *node, const char **variable);

#endif
