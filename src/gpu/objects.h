/* Objects on a device, for other folders of the library: handles, transfers, mapped buffers, kernels compiled early. */
#ifndef GLS_GPU_OBJECTS_H
#define GLS_GPU_OBJECTS_H

#include <glslines/device.h>

#include "util/status.h"

/* --- Fetches: a part of a buffer is copied to the host while the device works on later commands. */

typedef struct gls_fetch gls_fetch;

/* --- Mapped buffers: the buffers of a software renderer are memory of this process, so that the host can work on them
 * as arrays. */

enum { GLS_HOST_BUFFERS = 3 };

#endif
