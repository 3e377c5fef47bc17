/* Batches of seeds on one engine: pass 1 finds their initial directions, pass 2 tracks from there, round by round,
 * and pass 3 packs finished streamlines for the sink. What belongs to the whole run is behind the host's functions. */
#ifndef GLS_TRACK_ENGINE_BATCH_STATE_H
#define GLS_TRACK_ENGINE_BATCH_STATE_H

#include "track/engine/engine.h"
#include "track/engine/order.h"
#include "track/engine/pace.h"
#include "track/engine/parcel.h"
#include "track/engine/retry_state.h"
#include "track/engine/tally.h"

/* Those who want the batch's work. */
typedef struct gls_batch_host {
    void *user;
    /* Between dispatches: GLS_ERR_CANCELLED once the run is stopped. */
    gls_status (*poll)(void *user);
    /* An empty parcel for the streamlines of seeds from this one on. *parcel is NULL where nobody wants them, and
     * *gave_way says that the batch must end here, because earlier seeds wait for somebody. */
    gls_status (*take)(void *user, uint64_t seed, gls_parcel **parcel, bool *gave_way);
    /* Gives an empty parcel back. */
    void (*drop)(void *user, gls_parcel *parcel);
    /* All seeds before end are finished: counts them, and sends the parcel (NULL: none). */
    gls_status (*commit)(void *user, uint64_t end, gls_parcel *parcel, const gls_tally *tally);
    /* A batch is finished and committed. May be NULL. */
    gls_status (*finished)(void *user);
} gls_batch_host;

/* Seeds that pass 1 was, or is being, done for: a batch. */
typedef struct gls_crop {
    uint64_t first;
    uint32_t n;
    bool begun, ended;
    float (*seed)[3];    /* batch_seeds */
    uint32_t *direction; /* batch_seeds x gls_direction_words() */
} gls_crop;
#define GLS_CROPS 3 /* whose streamlines are placed, whose are tracked, and that of pass 1 */

/* Records for the device. */
typedef union gls_upload {
    gls_line_record *line;     /* of pass 2 */
    gls_placed_record *placed; /* in their place: of pass 3 */
} gls_upload;

/* Streamlines that pass 2 was told of: those of seeds from .. until - 1 of a crop. */
typedef struct gls_round {
    bool any;
    const gls_crop *crop;
    uint32_t from, until, n_lines;
    unsigned turn; /* of the engine's buffers */
    double begun;
} gls_round;

/* Whole seeds that are tracked, while their points come from the device. */
typedef struct gls_catch {
    bool any;
    uint64_t end;      /* seeds before it are finished */
    uint64_t n_points; /* that pass 3 sends */
    uint32_t n_placed;
    bool is_last;       /* of its batch */
    gls_parcel *parcel; /* NULL: nobody wants them */
    gls_parcel *points; /* the same, or scratch, or NULL */
    bool is_visited;    /* what they visit comes, too */
} gls_catch;

/* What of the points of streamlines comes from the device. */
typedef enum gls_batch_points {
    GLS_POINTS_ALL,
    GLS_POINTS_ENDS,   /* the first and the last point of each */
    GLS_POINTS_COUNTED /* these, and all of those whose visits it leaves to the host */
} gls_batch_points;

typedef struct gls_batch {
    gls_engine *engine;
    const gls_seeds *seeds;
    const double (*space)[4];
    gls_batch_host host; /* poll alone may be NULL, and the others where a pass runs by itself */
    bool counts_visits;  /* that is wanted of parcels */
    gls_batch_points points;
    gls_track_stats *stats; /* of the round, which commit() takes */
    gls_crop crop[GLS_CROPS];
    unsigned turn;   /* of the next round */
    double last_end; /* when the round before was seen to have ended */
    gls_catch caught;
    uint64_t first, end;    /* of the range */
    uint64_t delivered;     /* seeds before this one were committed */
    uint32_t piece;         /* seeds of a batch, at most */
    uint32_t *direction;    /* of the crop that the host works on, as is seed */
    gls_seed_record *start; /* records for the device, of pass 1 */
    gls_upload upload;      /* of the round that the host works on: in turn one of */
    gls_upload uploads[2];
    gls_state_header *head; /* what comes back of pass 2, and behind it: */
    uint32_t *state;        /* as gls_half_words() for 2 x batch_lines halves */
    uint32_t *work;         /* staged: what the host writes of the work buffer */
    gls_order_entry *order; /* 2 x batch_lines, where lines are ordered; else NULL */
    float (*seed)[3];
    gls_tally tally;    /* of the round */
    gls_parcel scratch; /* points of a round that nobody wants, where a verdict depends on them */
    gls_retries retries;
    uint64_t steps;         /* made so far, those of rejected streamlines too */
    double points_per_line; /* running estimate of what the pool must hold */
    gls_pace initial_pace;  /* seeds of pass 1 */
    gls_pace track_pace;    /* pass 2: lines; staged: halves, times their turns */
} gls_batch;

/* Bytes of these arrays for such a plan. */
uint64_t gls_batch_array_bytes(const gls_track_params *params, const gls_track_plan *plan);
/* The arrays as the plan of batch->engine wants them, in place of any before. */
gls_status gls_batch_make_arrays(gls_batch *batch);
void gls_batch_free_arrays(gls_batch *batch);

#endif
