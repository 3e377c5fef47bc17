/* Which devices and drivers may be used: probing in a child process, known renderers, GPUs left to this process. */
#ifndef GLS_GPU_DRIVERS_H
#define GLS_GPU_DRIVERS_H

#include <stdbool.h>
#include <stddef.h>

#include <glslines/device.h>

/* --- Drivers that crash or hang when a device is opened. Where there is a GPU, all devices are tried in a process of
 * its own before this one opens any; a driver that ends that process, or does not answer, is left out here. What was
 * found is kept in the user's cache folder until the machine is started anew or its drivers change, so that later runs
 * need no such process. */

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

/* --- Lists the renderers that are known to compute right, and tests any other renderer for mixed-up private arrays. */

/* Whether results of this renderer are taken as they are: it was tested, or its driver is used so widely that mistakes
 * would be known. What others compute is tested first. True for all with GLSLINES_SELF_TEST=0. */
bool gls_renderer_is_known(const gls_device_info *device);
/* Whether glslines has run on it, with results that were compared. */
bool gls_renderer_was_tested(const gls_device_info *device);
/* Sets info.apart of a device whose renderer is not known, by a kernel; false, with a warning, too where it fails. */
void gls_renderer_try(gls_device *device);

/* For tests: numbers of invocations and of words in the array of each, and the value that a word must have. */
enum { GLS_APART_INVOCATIONS = 16, GLS_APART_PLACES = 4 };
uint32_t gls_apart_expected(uint32_t invocation, uint32_t word);

/* --- Which GPUs a scheduler or user has left to this process, by the variables that CUDA, ROCm and Slurm use. */

/* Whether the GPU at this PCI address ("0000:3b:00.0") may be used; else *variable is the name of what forbids it. GPUs
 * that cannot be matched with a variable may be used. root: "" or, in tests, a folder with /proc, /sys and /dev. */
bool gls_visible_address(const char *root, const char *address, const char **variable);

/* The PCI address of a render node ("/dev/dri/renderD128"); false where it has none. */
bool gls_visible_address_of(const char *node, char *address, size_t size);
/* Whether the GPU of this render node ("": none is known) may be used. */
bool gls_visible_node(const char *node, const char **variable);

#endif
