/* Batches of seeds on one engine: pass 1 finds initial directions, pass 2 tracks from them, pass 3 packs finished
 * streamlines. */
#ifndef GLS_TRACK_ENGINE_BATCH_H
#define GLS_TRACK_ENGINE_BATCH_H

#include "track/engine/batch_result.h"
#include "track/engine/engine.h"
#include "track/engine/outcomes.h"
#include "track/engine/schedule.h"
#include "track/engine/track_plan.h"
#include "track/shader/layout.h"

/* --- What is kept of streamlines that may be tracked more than once, until all of a round are decided. */

typedef struct gls_retry {
    gls_line_record line;
    gls_outcome outcome; /* of the last time */
    uint64_t first;      /* of its points in found */
} gls_retry;

typedef struct gls_retries {
    gls_retry *retry;
    uint32_t *pending; /* those that are not decided */
    uint32_t n, n_pending, capacity;
    uint32_t limit;    /* of a pass, after one in which none came to its end */
    float (*found)[3]; /* points of those that are kept, in the order in which they were found */
    uint64_t n_found, found_capacity;
} gls_retries;
void gls_retries_finish(gls_retries *retries);

/* --- Batches of seeds on one engine: pass 1 finds their initial directions, pass 2 tracks from there, round by round,
 * and pass 3 packs finished streamlines for the sink. What belongs to the whole run is behind the host's functions. */

/* Those who want the batch's work. */
typedef struct gls_batch_host {
    void *user;
    /* Between dispatches: GLS_ERR_CANCELLED once the run is stopped. */
    gls_status (*poll)(void *user);
    /* An empty result for the streamlines of seeds from this one on. *result is NULL where nobody wants them, and
     * *gave_way says that the batch must end here, because earlier seeds wait for somebody. */
    gls_status (*take)(void *user, uint64_t seed, gls_batch_result **result, bool *gave_way);
    /* Gives an empty result back. */
    void (*drop)(void *user, gls_batch_result *result);
    /* All seeds before end are finished: counts them, and sends the result (NULL: none). */
    gls_status (*commit)(void *user, uint64_t end, gls_batch_result *result, const gls_outcomes *outcomes);
    /* A batch is finished and committed. May be NULL. */
    gls_status (*finished)(void *user);
} gls_batch_host;

/* Seeds that pass 1 was, or is being, done for: a batch. */
typedef struct gls_seed_batch {
    uint64_t first;
    uint32_t n;
    bool begun, ended;
    float (*seed)[3];    /* batch_seeds */
    uint32_t *direction; /* batch_seeds x gls_direction_words() */
} gls_seed_batch;
#define GLS_SEED_BATCHES 3 /* whose streamlines are placed, whose are tracked, and that of pass 1 */

/* Records for the device. */
typedef union gls_upload {
    gls_line_record *line;     /* of pass 2 */
    gls_placed_record *placed; /* in their place: of pass 3 */
} gls_upload;

/* Streamlines that pass 2 was told of: those of seeds from .. until - 1 of a seed_batch. */
typedef struct gls_round {
    bool any;
    const gls_seed_batch *seed_batch;
    uint32_t from, until, n_lines;
    unsigned buffer_set; /* of the engine's buffers */
    double begun;
} gls_round;

/* Whole seeds that are tracked, while their points come from the device. */
typedef struct gls_pending {
    bool any;
    uint64_t end;      /* seeds before it are finished */
    uint64_t n_points; /* that pass 3 sends */
    uint32_t n_placed;
    bool is_last;             /* of its batch */
    gls_batch_result *result; /* NULL: nobody wants them */
    gls_batch_result *points; /* the same, or scratch, or NULL */
    bool is_visited;          /* what they visit comes, too */
} gls_pending;

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
    bool counts_visits;  /* that is wanted of results */
    gls_batch_points points;
    gls_track_stats *stats; /* of the round, which commit() takes */
    gls_seed_batch seed_batch[GLS_SEED_BATCHES];
    unsigned buffer_set; /* of the next round */
    double last_end;     /* when the round before was seen to have ended */
    gls_pending pending;
    uint64_t first, end;    /* of the range */
    uint64_t delivered;     /* seeds before this one were committed */
    uint32_t piece;         /* seeds of a batch, at most */
    uint32_t *direction;    /* of the seed_batch that the host works on, as is seed */
    gls_seed_record *start; /* records for the device, of pass 1 */
    gls_upload upload;      /* of the round that the host works on: in turn one of */
    gls_upload uploads[2];
    gls_state_header *head; /* what comes back of pass 2, and behind it: */
    uint32_t *state;        /* as gls_half_words() for 2 x batch_lines halves */
    uint32_t *work;         /* staged: what the host writes of the work buffer */
    gls_order_entry *order; /* 2 x batch_lines, where lines are ordered; else NULL */
    float (*seed)[3];
    gls_outcomes outcomes;    /* of the round */
    gls_batch_result scratch; /* points of a round that nobody wants, where a verdict depends on them */
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

/* --- One batch of seeds on one engine: pass 1 finds their initial directions, pass 2 tracks from there, round by
 * round, and pass 3 packs finished streamlines for the sink. What belongs to the whole run is behind the host's
 * functions. */

/* Tracks seeds first .. first + n - 1, batch by batch. *done seeds were finished and committed, after a failure too;
 * fewer than n without one where earlier seeds wait for somebody. Where the plan says so, the device has always the
 * next to do:
 *
 *     device   pass 2 of k-1 | pass 3 of k-2 | pass 1 of k+1 | pass 2 of k | pass 3 of k-1 | pass 1 of k+2 | ...
 *     host                     reads k-2, places k-1 | lists k+1 ...
 */
gls_status gls_batch_run(gls_batch *batch, uint64_t first, uint64_t n, uint64_t *done);

/* --- Pass 3: packs the points of the streamlines that have a place in the output. */

/* Packs the points of n_placed lines, of n_items halves, and sends the first n_points to the host, which gets them by
 * the second; with 0 they stay. */
gls_status gls_gather_begin(gls_batch *batch, uint32_t n_items, uint32_t n_placed, uint64_t n_points);
gls_status gls_gather_end(gls_batch *batch, gls_batch_result *result);

/* --- From the initial directions of seeds to streamlines that are tracked: which seeds are taken, and in which sense.
 */

/* What gls_lines_choose() notes of a seed beside the number of its directions. */
#define SEED_ONE_SIDED 0x80000000u
#define SEED_NOT_ADMITTED 0x40000000u

static inline uint32_t gls_lines_word(const gls_batch *batch, uint32_t seed)
{
    return batch->direction[seed * (size_t)gls_direction_words(&batch->engine->params) + DIRECTIONS_COUNT];
}

/* Streamlines of a seed of the batch. */
static inline uint32_t gls_lines_of_seed(const gls_batch *batch, uint32_t seed)
{
    return gls_lines_word(batch, seed) & ~(SEED_ONE_SIDED | SEED_NOT_ADMITTED);
}

/* The same for the outcomes: GLS_SEED_REJECTED where none may start. */
static inline uint32_t gls_lines_to_count(const gls_batch *batch, uint32_t seed)
{
    return gls_lines_word(batch, seed) & SEED_NOT_ADMITTED ? GLS_SEED_REJECTED : gls_lines_of_seed(batch, seed);
}

/* Goes through what pass 1 found for seeds first .. first + n - 1: none where the guide lets no streamline start, one
 * where a direction was given, turned round where only one sense is wanted. */
void gls_lines_choose(gls_batch *batch, uint64_t first, uint32_t n);
/* Lines of seeds from, from + 1 ... as far as they fit; returns the seed after the last, *n_lines their number. */
uint32_t gls_lines_list(gls_batch *batch, uint64_t first, uint32_t from, uint32_t n, uint32_t capacity,
                        uint32_t *n_lines);

/* --- The two passes of a batch that track, on the device: as one persistent kernel each, or staged. */

/* Pass 1: directions of seeds first .. first + n - 1 (positions in batch->seed) into batch->direction. */
gls_status gls_pass_initial(gls_batch *batch, uint64_t first, uint32_t n);
/* The same in two steps, for a seed_batch: between them the device can be told more. */
gls_status gls_pass_initial_begin(gls_batch *batch, gls_seed_batch *seed_batch, uint64_t first);
gls_status gls_pass_initial_end(gls_batch *batch, gls_seed_batch *seed_batch);
/* Pass 2: tracks n_lines streamlines of batch->upload.line; afterwards batch->state says how each half stands. */
gls_status gls_pass_track(gls_batch *batch, uint32_t n_lines);
/* The same in two steps. */
gls_status gls_pass_track_begin(gls_batch *batch, uint32_t n_lines);
gls_status gls_pass_track_end(gls_batch *batch);

/* The random stream of a seed's direction: the fourth word of its counters, see glsl/base/common.glsl. Directions have
 * five bits of it; those of retries come above. */
#define DRAW_STREAM_RETRY (1u << 21)
static inline uint32_t gls_draw_stream(uint64_t seed, uint32_t direction)
{
    return ((uint32_t)(seed >> 32) & 0xffffu) | direction << 16 | 0x80000000u;
}

/* The first direction of a forward half, from the word of its line. */
void gls_start_direction(const gls_engine *engine, uint32_t vertex, float direction[3]);

/* --- From halves that were tracked to streamlines: what becomes of each, and its place in the output. The device waits
 * while this is done, so that it is worth its speed. */

/* Whether both halves of a line have ended: others found the pool full, or did not begin for that reason. */
bool gls_line_is_finished(const gls_batch *batch, uint32_t line);
/* The result's next streamline: its points begin at first, its seed is at, voxels. */
void gls_place_seed(const gls_batch *batch, const float at[3], uint32_t seed_index, uint64_t first,
                    gls_batch_result *result);
/* Judges a line of a pass of n_lines, notes its outcome, and gives it the next place in the output, *points on, if it
 * is kept; in the result, too, unless that is NULL. at: its seed. */
void gls_place_line(gls_batch *batch, const float at[3], uint32_t seed_index, uint32_t n_lines, uint32_t line,
                    gls_batch_result *result, uint64_t *points);
/* The prefix sum between tracking and gathering. Goes through the n_lines lines of seeds from ... until - 1 in order,
 * gives each its place, and stops before the first seed with an unfinished half. Returns the number of lines placed;
 * *next_seed is the first seed not done, *n_points the points of all. */
uint32_t gls_place_lines(gls_batch *batch, uint64_t first, uint32_t from, uint32_t until, uint32_t n_lines,
                         gls_batch_result *result, uint32_t *next_seed, uint64_t *n_points);

/* --- Rounds in which streamlines that were rejected are tracked again from the same seed with other random numbers.
 * What is found waits here, since the streamlines of earlier seeds may be found later. */

/* Begins with the n_lines of batch->upload.line. */
gls_status gls_retries_begin(gls_batch *batch, uint32_t n_lines);
/* Tracks streamlines that are not yet decided, as many as the capacity; wants_points: somebody takes them. */
gls_status gls_retries_pass(gls_batch *batch, uint32_t capacity, bool wants_points);
/* Afterwards: the outcomes of seeds from .. until - 1 of the batch that begins with seed first, and their streamlines,
 * in order, into the result unless it is NULL. */
gls_status gls_retries_place(gls_batch *batch, uint64_t first, uint32_t from, uint32_t until, gls_batch_result *result);

#endif
