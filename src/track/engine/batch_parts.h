/* Tracks one batch of seeds after the other on one engine. Pass 1 finds the initial directions of the seeds, pass 2
 * tracks streamlines from these directions, pass 3 packs the points of finished streamlines. */
#ifndef GLS_TRACK_ENGINE_BATCH_PARTS_H
#define GLS_TRACK_ENGINE_BATCH_PARTS_H

#include <glslines/common.h>
#include <glslines/seeds.h>

#include "track/engine/batch_result.h"
#include "track/engine/engine.h"
#include "track/engine/outcomes.h"
#include "track/engine/schedule.h"
#include "track/engine/track_plan.h"
#include "track/shader/layout.h"

/* --- Streamlines that may be tracked more than once (retries): records kept until every streamline of the round is
 * decided. */

/* A streamline that may be tracked more than once. */
typedef struct gls_retry {
    gls_line_record line;
    gls_outcome outcome; /* outcome of the last attempt */
    uint64_t first;      /* index in gls_retries.found of its first point, if it was kept */
} gls_retry;

/* All streamlines of a round, which may be tracked more than once, and the points of those that were kept. */
typedef struct gls_retries {
    gls_retry *retry;
    uint32_t *pending; /* indices into retry of the streamlines that are not decided yet */
    uint32_t n, n_pending, capacity;
    uint32_t limit;    /* largest number of streamlines of the next pass; lowered after a pass in which no streamline
                          finished */
    float (*found)[3]; /* points of the kept streamlines among `retry`, in the order in which they were found */
    uint64_t n_found, found_capacity;
} gls_retries;

/* --- State of the batches of one engine. The batch reaches the run (progress, results, counts) only through
 * gls_batch_host. */

/* Callbacks through which a batch gets seeds and results from the run, and reports to it. */
typedef struct gls_batch_host {
    void *user;
    /* Called between dispatches. Returns GLS_ERR_CANCELLED if the run has been stopped. May be NULL. */
    gls_status (*poll)(void *user);
    /* Gives the seeds of the next batch, at most plan.batch_seeds. With `wait` it may wait for seeds that other workers
     * give back, so commit all finished seeds first; false: the run has no more seeds. Without `wait` it gives only
     * seeds behind those that were given before; false: there are none at the moment. */
    bool (*next)(void *user, bool wait, gls_seed_range *range);
    /* Lends an empty result for streamlines of seeds from `seed` on; *result is NULL if the run has no sink. *gave_way:
     * no result was lent and the batch must end, because an earlier seed is due that no worker tracks. */
    gls_status (*take)(void *user, uint64_t seed, gls_batch_result **result, bool *gave_way);
    /* Returns a result that take() lent, unused. */
    void (*drop)(void *user, gls_batch_result *result);
    /* Counts the outcomes of the seeds that commit() reports next, or copies them to *result, to be counted later. */
    gls_status (*count)(void *user, gls_batch_result *result, const gls_outcomes *outcomes);
    /* Reports that seeds end - n_seeds .. end - 1 are finished, and sends their result, which may be NULL. */
    gls_status (*commit)(void *user, uint64_t end, uint64_t n_seeds, gls_batch_result *result);
    /* Called after the last streamline of a batch was committed. May be NULL. */
    gls_status (*finished)(void *user);
} gls_batch_host;

/* Seeds of one batch and their initial directions from pass 1. begun: pass 1 is on the device; ended: the directions
 * have arrived. An engine numbers the batches of a run 0, 1, ...; gls_batch.seed_batch[k % GLS_SEED_BATCHES] holds
 * batch k. */
typedef struct gls_seed_batch {
    uint64_t first;
    uint32_t n;
    bool begun, ended;
    float (*seed)[3];    /* voxel coordinates; capacity batch_seeds */
    float (*along)[3];   /* directions of the seeds, along the voxel axes; NULL: they have none */
    uint32_t *direction; /* batch_seeds x gls_direction_words() words */
} gls_seed_batch;

/* Number of batches at work at a time: one whose streamlines are placed in the output, one in pass 2, one in pass 1. */
#define GLS_SEED_BATCHES 3

/* One round of pass 2: the streamlines of seeds from .. until - 1 of a seed batch, n_lines in all. */
typedef struct gls_round {
    bool any;        /* false: there is no round, and the other members mean nothing */
    uint64_t number; /* number of the seed batch */
    const gls_seed_batch *seed_batch;
    uint32_t from, until, n_lines;
    unsigned buffer_set; /* the buffers of the round, see gls_engine_use_buffer_set() */
    double begun;        /* time at which the host queued the round on the device, s */
} gls_round;

/* Finished seeds whose points are being transferred from the device. */
typedef struct gls_pending {
    bool any;
    uint64_t end;      /* the given seeds before seed `end` are finished */
    uint64_t n_points; /* points that pass 3 sends to the host */
    uint32_t n_placed;
    bool is_last;             /* the seeds are the last seeds of their batch */
    gls_batch_result *result; /* NULL: the run has no sink */
    gls_batch_result *points; /* receives the points: result or scratch; NULL: they are not kept */
    bool is_visited;          /* true: the counts of visited voxels also come from the device */
} gls_pending;

/* Which points of streamlines the device sends to the host. */
typedef enum gls_batch_points {
    GLS_POINTS_ALL,
    GLS_POINTS_ENDS,   /* first and last point of each streamline */
    GLS_POINTS_COUNTED /* first and last points, and all points of streamlines whose voxels the host must count */
} gls_batch_points;

/* The state of one engine's work on the seeds of a run. Owned by one worker thread; nothing in it is shared. */
typedef struct gls_batch {
    gls_engine *engine;
    const gls_seeds *seeds;
    const double (*space)[4]; /* affine map from voxel coordinates to the space of the output */
    gls_batch_host host;      /* all members may be NULL where only single passes run */
    bool counts_visits;       /* results carry the voxels that their streamlines visit */
    gls_batch_points points;
    gls_track_stats *stats; /* counts since the last commit; commit() takes them */
    gls_seed_batch seed_batch[GLS_SEED_BATCHES];
    uint32_t round_seeds; /* number of seeds of the round that was begun last */
    double ended;         /* share of its half-streamlines that have ended, as far as is known before it ends; or 0 */
    unsigned buffer_set;  /* buffer set of the next round, see gls_engine_use_buffer_set() */
    double last_end;      /* time at which the end of the previous round was seen, s */
    gls_pending pending;
    gls_gather_uniforms packing; /* parameters of pass 3, set by gls_gather_begin() */
    uint64_t n_given;            /* seed batches that host.next() gave since gls_batch_run() began */
    uint64_t delivered;          /* index in the run of the first seed that is not committed; only for traces */
    uint32_t *direction;         /* arrays `direction` and `seed`: those of the seed batch that the host works on */
    gls_seed_record *start;      /* seed records for pass 1 */
    gls_line_record *line;       /* input of pass 2: the streamlines of the round that the host works on, in lines[] */
    gls_line_record *lines[2];
    gls_placed_record *placed; /* input of pass 3: finished streamlines and where each begins in the output */
    gls_state_header *head;    /* what pass 2 returns: a header, then state */
    uint32_t *state;           /* the words, see gls_half_words(), of up to 2 x batch_lines half-streamlines */
    uint32_t *work;         /* staged plans: host copy of the first host_arrays arrays of the work buffer; else NULL */
    gls_order_entry *order; /* 2 x batch_lines entries if the plan orders streamlines; else NULL */
    float (*seed)[3];
    const float (*along)[3];  /* `along` of the seed batch that the host works on */
    gls_outcomes outcomes;    /* outcomes of the current round */
    gls_batch_result scratch; /* points of a round without a sink, if verdicts depend on them; with retries, of each
                               * pass */
    gls_retries retries;
    uint64_t steps;         /* steps tracked so far, also in rejected streamlines */
    bool pace_probed;       /* probe_pace() has run */
    double points_per_line; /* running estimate of the pool points that one streamline takes */
    gls_pace initial_pace;  /* limits the seeds of a dispatch of pass 1 */
    gls_pace track_pace;    /* limits a dispatch of pass 2: its streamlines; staged: half-streamlines x iterations */
} gls_batch;

/* --- The loop over batches and rounds. */

#define GLS_BATCHES_OUT (GLS_SEED_BATCHES + 1) /* largest number of seed batches given and not committed */

/* --- Pass 3: packs the points of kept streamlines into the output buffer. */

/* --- From the initial directions of seeds to streamlines: which seeds may start streamlines, and in which sense. */

/* Flags that gls_lines_choose() adds to a seed's number of directions. ONE_SIDED: track only the forward
 * half-streamline. NOT_ADMITTED: the guide rejects the seed. */
#define SEED_ONE_SIDED 0x80000000u
#define SEED_NOT_ADMITTED 0x40000000u

/* The word of a seed of the batch with its number of directions and the flags above. */
static inline uint32_t gls_lines_word(const gls_batch *batch, uint32_t seed)
{
    return batch->direction[seed * (size_t)gls_direction_words(&batch->engine->params) + DIRECTIONS_COUNT];
}

/* Number of streamlines of a seed of the batch. */
static inline uint32_t gls_lines_of_seed(const gls_batch *batch, uint32_t seed)
{
    return gls_lines_word(batch, seed) & ~(SEED_ONE_SIDED | SEED_NOT_ADMITTED);
}

/* Number of streamlines of a seed as gls_outcomes counts them: GLS_SEED_REJECTED if the guide rejects the seed. */
static inline uint32_t gls_lines_to_count(const gls_batch *batch, uint32_t seed)
{
    return gls_lines_word(batch, seed) & SEED_NOT_ADMITTED ? GLS_SEED_REJECTED : gls_lines_of_seed(batch, seed);
}

/* --- Passes 1 and 2 on the device: one kernel each that runs to the end, or staged, in many short dispatches. */

/* Fourth word of the random counter of one direction of a seed, see glsl/base/common.glsl. The direction takes five
 * bits; each retry adds DRAW_STREAM_RETRY, which lies above them. */
#define DRAW_STREAM_RETRY (1u << 21)

static inline uint32_t gls_draw_stream(uint64_t seed, uint32_t direction)
{
    return ((uint32_t)(seed >> 32) & 0xffffu) | direction << 16 | 0x80000000u;
}

/* --- From tracked half-streamlines to streamlines: each gets a verdict, and its points an index in the output. Without
 * rounds in flight the device is idle meanwhile, so keep this code fast. */

/* --- Retries: rejected streamlines are tracked again from the same seed with other random numbers. Kept streamlines
 * are stored until all are decided, because streamlines of earlier seeds may be kept later. */

#endif
