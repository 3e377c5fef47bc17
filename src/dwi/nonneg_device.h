/* The constrained fit of many voxels on a device in place of the CPU: glsl/fit/nonneg.comp. */
#ifndef GLS_DWI_NONNEG_DEVICE_H
#define GLS_DWI_NONNEG_DEVICE_H

#include <glslines/csd.h>
#include <glslines/device.h>

#include "dwi/nonneg.h"

typedef struct gls_nonneg_work {
    const gls_nonneg_plan *plan; /* of the active set method */
    const float *const *volume;  /* plan->n volumes of data */
    float *const *to;            /* plan->k volumes of coefficients */
    const size_t *index;         /* n voxels, ascending */
    size_t n;
    gls_csd_progress progress; /* or NULL */
    void *progress_user;
    size_t *left;    /* room for n; gets the voxels that the device leaves to the CPU, of which nothing is stored */
    size_t n_left;   /* so many */
    size_t n_broken; /* voxels with values that are not finite, fitted as zeros */
    double setup_seconds; /* of the host, until the first slice starts */
} gls_nonneg_work;

/* Whether this device can: it needs double precision, and shared memory. */
bool gls_nonneg_device_can(const gls_nonneg_plan *plan, gls_device *device);
gls_status gls_nonneg_device_run(gls_nonneg_work *work, gls_device *device);

#endif
