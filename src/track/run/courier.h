/* Streamlines on their way to the sink: parcels of those of whole seeds, handed over on a thread of their own in the
 * order of seeds, whoever tracked them. */
#ifndef GLS_TRACK_RUN_COURIER_H
#define GLS_TRACK_RUN_COURIER_H

#include <glslines/track.h>

#include "track/engine/parcel.h"
#include "track/run/queue.h"

typedef struct gls_courier gls_courier;

/* Parcels that each of n workers may have. */
size_t gls_courier_parcels(size_t n_workers);
/* Hands parcels to the sink; the store lends them and must outlive the courier; the first is that of the queue's first
 * seed. A failure of the sink stops the queue. sink (NULL: nobody) gets select streamlines at most, 0: all; with the
 * last of them the queue is satisfied, and the tallies of the parcels are counted into stats up to there. */
gls_status gls_courier_create(gls_queue *queue, gls_parcel_store *store, const gls_sink *sink, uint64_t select,
                              gls_track_stats *stats, gls_courier **courier);
/* An empty parcel for the streamlines of seeds from first on. Waits for one: a worker that is ahead of the others has
 * to let them come up. *parcel is NULL where the worker must hand back its range instead, because nobody tracks what is
 * due. GLS_ERR_CANCELLED once the queue is stopped. */
gls_status gls_courier_take(gls_courier *courier, size_t worker, uint64_t first, gls_parcel **parcel);
/* Sends a parcel with all streamlines up to seed end; the queue's lock is held. */
void gls_courier_send(gls_courier *courier, gls_parcel *parcel, uint64_t end);
/* Gives an empty parcel back. */
void gls_courier_drop(gls_courier *courier, gls_parcel *parcel);
/* Waits until all that is complete is delivered, frees the courier and returns the sink's first failure with its
 * message. Accepts NULL. */
gls_status gls_courier_destroy(gls_courier *courier);

#endif
