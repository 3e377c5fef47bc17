/* Streamlines mapped to fixels by a device: the same bytes as on the CPU. */
#ifndef GLS_WEIGHTS_MAP_H
#define GLS_WEIGHTS_MAP_H

#include <glslines/device.h>
#include <glslines/streamlines.h>

#include "weights/rows.h"

typedef struct gls_mapper gls_mapper;

/* What a streamline has become; its entries begin at first of gls_mapper_entries(). */
typedef struct gls_mapped {
    uint32_t first, n;
    float contribution;
    uint32_t visits;
} gls_mapped;

/* rows: with its walk and its mask; they and the device stay the caller's. GLS_ERR_DEVICE_MEMORY: there is no room for
 * the lobes of all voxels. */
gls_status gls_mapper_create(gls_device *device, const gls_rows *rows, gls_mapper **mapper);
/* Streamlines first .. first + *n - 1 of s, of which *n may become fewer; mapped: room for all. */
gls_status gls_mapper_run(gls_mapper *mapper, const gls_streamlines *s, size_t first, size_t *n, gls_mapped *mapped);
/* Borrowed until the next run. */
const uint32_t *gls_mapper_entries(const gls_mapper *mapper);
void gls_mapper_destroy(gls_mapper *mapper);

#endif
