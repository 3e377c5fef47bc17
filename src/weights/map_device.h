/* Maps streamlines to fixels with a kernel: uploads the lobes of all voxels once, then runs one batch of streamlines
 * after the other. A mapper returns the fixels of each streamline, or only sums over all streamlines. */
#ifndef GLS_WEIGHTS_MAP_DEVICE_H
#define GLS_WEIGHTS_MAP_DEVICE_H

#include <glslines/common.h>
#include <glslines/device.h>
#include <glslines/fixels.h>
#include <glslines/streamlines.h>

#include "weights/fixel_rows_parts.h"

typedef struct gls_mapper gls_mapper;

/* Result of the kernel for a streamline: n entries from `first` on among the entries of the run. */
typedef struct gls_mapped {
    uint32_t first, n;
    /* sum of lengths in fixels, mm, times mask */
    double contribution;
    /* visits: number of visits, see gls_visit; unused: pads the struct to the 24 bytes of the kernel's layout */
    uint32_t visits, unused;
} gls_mapped;

/* Inputs of the mapper. The caller keeps ownership, and the inputs must outlive the mapper. */
typedef struct gls_mapper_source {
    /* borrowed, and used by one thread at a time */
    gls_device *device;
    uint64_t device_bytes; /* device memory that may be used; 0: all */
    const gls_fixels *fixels;
    const float *mask; /* factor of the lengths inside each voxel; NULL: 1 */
    const gls_walk_grid *grid;
    bool sums_alone; /* the mapper serves gls_mapper_add() and gls_mapper_read_sums(); false: the other functions */
} gls_mapper_source;

/* Whether mapping on a device is faster than on the CPU: it is a GPU of which gls_device_has_doubles() is true. */
bool gls_mapper_suits(const gls_device_info *info);

/* Most bytes of the device that a mapper with sums_alone takes for n_fixels fixels in n_lobed of n_voxels voxels.
 * device_bytes: as in gls_mapper_source; 0 is returned where the lobes do not fit, so that gls_mapper_create() fails.
 */
uint64_t gls_mapper_sums_memory(uint64_t n_voxels, uint64_t n_lobed, uint64_t n_fixels, uint64_t device_bytes);
/* Makes a mapper. GLS_ERR_DEVICE_MEMORY: the lobes of all voxels do not fit; GLS_ERR_UNSUPPORTED: the device has no
 * double precision. */
gls_status gls_mapper_create(const gls_mapper_source *source, gls_mapper **mapper);

/* Result of a run. Valid until the run after the next ends. */
typedef struct gls_mapper_result {
    size_t n;                 /* streamlines */
    const gls_mapped *mapped; /* one for each streamline */
    /* *entries: entries of the run; the pointer moves when a later run needs more room */
    uint32_t *const *entries;
} gls_mapper_result;

/* Starts a run for streamlines first .. first + *n - 1 of s. Lowers *n to the streamlines that fit. The device works on
 * after the call. */
gls_status gls_mapper_start(gls_mapper *mapper, const gls_streamlines *s, size_t first, size_t *n);
/* Waits for the run that was started last. */
gls_status gls_mapper_finish(gls_mapper *mapper, gls_mapper_result *result);
/* Adds what the mapper has mapped to the totals of all fixels: sums of lengths in units, and numbers of entries. */
gls_status gls_mapper_add_totals(const gls_mapper *mapper, uint64_t *length, uint32_t *count);
/* Adds the lengths of streamlines to the sums of their fixels. The device works on after the call. *done: number of
 * streamlines that were handed to the device, all of them unless the result is a failure. */
gls_status gls_mapper_add(gls_mapper *mapper, const gls_streamlines *s, size_t *done);
/* Reads the sums of all fixels, in units of the grid, and the number of streamlines so far that met the grid, modulo
 * 2^32. */
gls_status gls_mapper_read_sums(const gls_mapper *mapper, uint64_t *length, uint32_t *met);
/* Frees `mapper`, which may be NULL. */
void gls_mapper_destroy(gls_mapper *mapper);

#endif
