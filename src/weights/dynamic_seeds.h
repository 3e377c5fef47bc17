/* Seeds that follow the densities of streamlines: a fixel that has fewer streamlines than its FOD asks for gets more
 * seeds (Smith et al. 2015; the rule of tckgen -seed_dynamic). */
#ifndef GLS_WEIGHTS_DYNAMIC_SEEDS_H
#define GLS_WEIGHTS_DYNAMIC_SEEDS_H

#include <glslines/device.h>
#include <glslines/seeds.h>
#include <glslines/streamlines.h>
#include <glslines/tissue.h>

#include "weights/fod.h"

/* Streamlines are mapped and seeds drawn in rounds. A round depends on the streamlines of the rounds before it, but not
 * on devices, threads or batches, so that the same seeds come with any of them. */
typedef struct gls_dynamic_seeds gls_dynamic_seeds;

struct cJSON;

/* The run that needs the seeds. All pointers are borrowed and must outlive the dynamic seeds. */
typedef struct gls_dynamic_options {
    gls_device *device;       /* a second context on it maps streamlines if it has doubles; NULL: threads map */
    uint64_t device_bytes;    /* memory of the device that mapping may take; 0: all */
    const gls_grid *grid;     /* of tracking */
    const gls_tissue *tissue; /* on this grid; NULL: none. Seeds then lie in white matter, or on its interface */
    gls_seeds *seeds;         /* in rounds, without a round: gets the rounds */
    double step_size;         /* distance of the points of streamlines, mm */
    uint64_t select;          /* number of streamlines wanted */
    uint64_t rng_seed;
    uint64_t round_seeds; /* most seeds of a round, at least 1. Belongs to the result */
} gls_dynamic_options;

/* Memory that dynamic seeds take, bytes. */
typedef struct gls_dynamic_memory {
    uint64_t host, device;
} gls_dynamic_memory;
/* Estimates the memory for FODs in n_lobed of n_voxels voxels. device: the properties of options->device; NULL: threads
 * map. Of the options only device_bytes and round_seeds are read. */
gls_dynamic_memory gls_dynamic_seeds_memory(uint64_t n_voxels, uint64_t n_lobed, const gls_device_info *device,
                                            const gls_dynamic_options *options);
/* Makes dynamic seeds and draws the first round. fod: fixels of the FODs, from gls_fod_options.all_voxels; is emptied.
 */
gls_status gls_dynamic_seeds_create(gls_fod *fod, const gls_dynamic_options *options, gls_dynamic_seeds **dynamic);
/* Adds the accepted streamlines of the last round, in the order of seeds, in world mm. */
gls_status gls_dynamic_seeds_append(gls_dynamic_seeds *dynamic, const gls_streamlines *streamlines);
/* Draws the next round from what has been added. `dynamic`: a gls_dynamic_seeds. */
gls_status gls_dynamic_seeds_draw(void *dynamic);
/* Completes the densities after the last streamline. */
gls_status gls_dynamic_seeds_end(gls_dynamic_seeds *dynamic);
/* Adds counts and the fit of densities to an object of JSON. Call gls_dynamic_seeds_end() before. */
void gls_dynamic_seeds_describe(gls_dynamic_seeds *dynamic, struct cJSON *object);
/* Frees `dynamic`, which may be NULL. */
void gls_dynamic_seeds_destroy(gls_dynamic_seeds *dynamic);

#endif
