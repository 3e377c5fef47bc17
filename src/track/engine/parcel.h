/* Streamlines of whole seeds, from the batch that tracks them to the sink. */
#ifndef GLS_TRACK_ENGINE_PARCEL_H
#define GLS_TRACK_ENGINE_PARCEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glslines/common.h>

#include "track/engine/tally.h"
#include "track/engine/visited.h"

typedef enum gls_parcel_state { GLS_PARCEL_FREE, GLS_PARCEL_TAKEN, GLS_PARCEL_SENT } gls_parcel_state;

typedef struct gls_parcel {
    gls_parcel_state state;
    uint64_t first, end; /* seeds */
    size_t n, capacity;
    uint64_t *offset;
    uint32_t *seed_index;
    float (*seed)[3];
    float (*point)[3];
    size_t point_capacity;
    uint64_t bytes;  /* when it was sent */
    gls_tally tally; /* where it is counted in the order of seeds */
    bool journaled;  /* it comes from the journal */
    gls_visited visited;
} gls_parcel;
gls_status gls_parcel_reserve(gls_parcel *parcel, size_t n, size_t n_points);
void gls_parcel_finish(gls_parcel *parcel);
/* Of its points and streamlines. */
uint64_t gls_parcel_bytes(const gls_parcel *parcel);
/* Of one with room for so many. */
uint64_t gls_parcel_capacity_bytes(uint64_t n, uint64_t n_points);

/* The parcels of a tracker; their memory outlives a run. */
typedef struct gls_parcel_store {
    size_t n;
    gls_parcel *parcel;
} gls_parcel_store;
/* n parcels, all free; NULL if memory ran out. */
gls_parcel *gls_parcel_store_lend(gls_parcel_store *store, size_t n);
void gls_parcel_store_finish(gls_parcel_store *store);

#endif
