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

/* A search tries several ways to a device. The name of a way, called a place, is the path of a render node, one of the
 * names below, or, for an EGL device without a node, "EGL device N" or "EGL software device". */
#define GLS_PLACE_EGL "EGL"
#define GLS_PLACE_DEVICES "EGL device enumeration"
#define GLS_PLACE_SURFACELESS "surfaceless platform"

/* --- Renderers that are known to compute correctly. Any other renderer is tested for mixed-up private arrays. */

/* For tests: number of invocations of the test kernel, and number of words in the private array of each. */
enum { GLS_APART_INVOCATIONS = 16, GLS_APART_PLACES = 4 };

#endif
