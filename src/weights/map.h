/* Streamlines mapped to fixels by a device: the same bytes as on the CPU. */
#ifndef GLS_WEIGHTS_MAP_H
#define GLS_WEIGHTS_MAP_H

#include <glslines/device.h>
#include <glslines/streamlines.h>

#include "weights/fixels.h"
#include "weights/walk.h"

#define GLS_MAPPER_POINTS ((size_t)1 << 23) /* of a run, unless one streamline has more */

typedef struct gls_mapper gls_mapper;

/* What a streamline has become, as the kernel writes it; its entries begin at first of those of the run. */
typedef struct gls_mapped {
    uint32_t first, n;
    double contribution;
    uint32_t visits, unused;
} gls_mapped;

/* What it maps to, and how; all stays the caller's. */
typedef struct gls_mapper_source {
    gls_device *device;
    uint64_t device_bytes; /* of its memory that may be used; 0: all */
    const gls_fixels *fixels;
    const float *mask; /* of each voxel; NULL: 1 */
    const gls_walk_grid *grid;
} gls_mapper_source;

/* GLS_ERR_DEVICE_MEMORY: there is no room for the lobes of all voxels. GLS_ERR_UNSUPPORTED: no double precision. */
gls_status gls_mapper_create(const gls_mapper_source *source, gls_mapper **mapper);
/* What a run has made; borrowed until the second run behind it ends. */
typedef struct gls_mapper_result {
    size_t n;                 /* streamlines */
    const gls_mapped *mapped; /* of each */
    uint32_t *const *entries;
} gls_mapper_result;
/* Begins a run: streamlines first .. first + *n - 1 of s, of which *n may become fewer. The device works on. */
gls_status gls_mapper_start(gls_mapper *mapper, const gls_streamlines *s, size_t first, size_t *n);
/* Waits for the run that was begun last. */
gls_status gls_mapper_finish(gls_mapper *mapper, gls_mapper_result *result);
void gls_mapper_destroy(gls_mapper *mapper);

#endif
