/* Judges streamlines from the states of their two half-streamlines, and stores where the points of each kept streamline
 * begin in the output. c->state holds a word for each half-streamline of the round (HALF_ in
 * glsl/layout/constants.def), the backward before the forward one of each streamline; then the guide's words of each
 * half-streamline. */

#include <omp.h>

#include "track/engine/place.h"
#include "track/engine/batch_parts.h"
#include "track/engine/batch_result.h"
#include "track/engine/engine.h"
#include "track/engine/outcomes.h"
#include "track/engine/track_plan.h"
#include "track/guide/guide.h"
#include "util/maths.h"
#include "util/threads.h"

/* Whether a half-streamline must be tracked again or further: the pool was full, or it is still running. */
static bool is_unfinished(uint32_t state)
{
    return state >= HALF_LOST;
}

/* Whether both half-streamlines have ended. */
static inline bool is_finished(const uint32_t *state)
{
    return !is_unfinished(state[0]) && !is_unfinished(state[1]);
}

bool gls_line_is_finished(const gls_batch *c, uint32_t line)
{
    return is_finished(c->state + 2 * (size_t)line);
}

/* Shortens a streamline of more than max_steps steps to max_steps: keeps the points nearest to the seed. */
static void cut(uint32_t max_steps, uint32_t *backward, uint32_t *forward)
{
    uint32_t half = max_steps / 2;
    if (*backward <= half)
        *forward = max_steps - *backward;
    else if (*forward <= max_steps - half)
        *backward = max_steps - *forward;
    else {
        *backward = half;
        *forward = max_steps - half;
    }
}

/* Why a half-streamline ended. A value out of range, from a failed kernel, counts as GLS_END_NO_DIRECTION. */
static inline gls_end end_of(uint32_t state)
{
    uint32_t end = state >> HALF_END_SHIFT;
    return end < GLS_END_COUNT ? (gls_end)end : GLS_END_NO_DIRECTION;
}

/* Number of points that a half-streamline of this many parts has stored. each: number of parts of a step; the last step
 * may have fewer. */
static inline uint32_t points_of(uint32_t parts, uint32_t each)
{
    return each == 1 ? parts : (parts + each - 1) / each;
}

static inline uint32_t lesser(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Fills half[] with the two half-streamlines of streamline i of n_lines, as the guide reads them. */
static inline void list_halves(const gls_batch *c, uint32_t n_lines, uint32_t i, const uint32_t parts[2],
                               const gls_outcome *o, gls_guide_half half[2])
{
    const size_t words = c->engine->plan.guide.n_words;
    const uint32_t *memory = c->state + 2 * (size_t)n_lines + 2 * i * words;
    for (uint32_t h = 0; h < 2; h++) half[h] = (gls_guide_half){parts[h], (gls_end)o->end[h], memory + h * words};
}

/* Returns the guide's verdict. The guide may shorten the half-streamlines. */
static gls_verdict ask_guide(const gls_batch *c, const float seed[3], uint32_t n_lines, uint32_t i, uint32_t parts[2],
                             gls_outcome *o)
{
    const gls_engine *t = c->engine;
    gls_guide_half half[2];
    list_halves(c, n_lines, i, parts, o, half);
    gls_verdict verdict = t->plan.guide.kind->judge(&t->guide, seed, t->plan.max_steps * t->plan.parts, half, &o->met);
    for (uint32_t h = 0; h < 2; h++) {
        parts[h] = half[h].parts;
        o->end[h] = (uint8_t)half[h].end;
    }
    return verdict;
}

/* Whether the end is one that the particle filter tries to avoid, as end_is_bad() of glsl/guide/tissue.glsl has it. */
static inline bool is_bad_end(uint8_t end)
{
    return end == GLS_END_CSF || end == GLS_END_NO_DIRECTION || end == GLS_END_STOP_MAP;
}

/* Adds to *o the runs of the particle filter in both half-streamlines of streamline i. */
static void note_filter(const gls_batch *c, uint32_t n_lines, uint32_t i, gls_outcome *o)
{
    const gls_guide_plan *guide = &c->engine->plan.guide;
    const uint32_t *memory = c->state + 2 * (size_t)n_lines + 2 * (size_t)i * guide->n_words;
    for (int h = 0; h < 2; h++) {
        const uint32_t word = memory[(uint32_t)h * guide->n_words + guide->backtrack + FILTER_RUNS],
                       runs = word & ((1u << FILTER_LOST_SHIFT) - 1);
        o->filter_runs = (uint16_t)(o->filter_runs + runs);
        o->filter_lost = (uint16_t)(o->filter_lost + (word >> FILTER_LOST_SHIFT));
        if (is_bad_end(o->end[h]) && runs == (uint32_t)c->engine->params.pft_trials) o->filter_ends++;
    }
}

/* Whether the streamline, after all cuts, misses a region that it must visit. */
static inline bool misses(const gls_batch *c, const float seed[3], uint32_t n_lines, uint32_t i,
                          const uint32_t parts[2], gls_outcome *o)
{
    const gls_engine *t = c->engine;
    gls_guide_half half[2];
    if (!t->plan.guide.kind->includes) return false;
    list_halves(c, n_lines, i, parts, o, half);
    return !t->plan.guide.kind->includes(&t->guide, seed, half, &o->met);
}

/* Whether a verdict of the guide overrides GLS_VERDICT_SINGLE_POINT and GLS_VERDICT_TOO_SHORT. */
static bool verdict_goes_first(gls_verdict verdict)
{
    static const bool goes_first[GLS_VERDICT_COUNT] = {
#define GLS_VERDICT_ROW(symbol, value, name, first, ...) [value] = first,
#include <glslines/verdicts.def>
#undef GLS_VERDICT_ROW
    };
    return goes_first[verdict];
}

/* Judges the finished streamline i of a round of n_lines: sets the verdict, kept points and ends in *o. */
static inline void judge(const gls_batch *c, const float seed[3], uint32_t n_lines, uint32_t i, gls_outcome *o)
{
    const gls_track_plan *plan = &c->engine->plan;
    /* parts: parts that each half-streamline passed; each: parts of a step; most: largest number of steps of a
     * streamline. */
    const uint32_t *state = c->state + 2 * (size_t)i, each = plan->parts, most = plan->max_steps;
    uint32_t parts[2] = {state[0] & HALF_POINTS, state[1] & HALF_POINTS};
    gls_verdict guided = GLS_VERDICT_KEPT, verdict;
    *o = (gls_outcome){.end = {(uint8_t)end_of(state[0]), (uint8_t)end_of(state[1])}};
    if (plan->guide.particles > 0) note_filter(c, n_lines, i, o);
    /* The guide judges first, because its cuts change the lengths. */
    if (plan->guide.kind->judge) guided = ask_guide(c, seed, n_lines, i, parts, o);
    /* Then the streamline is cut to the maximum length. */
    uint32_t backward = points_of(parts[0], each), forward = points_of(parts[1], each);
    o->truncated = o->end[0] == GLS_END_MAX_LENGTH || o->end[1] == GLS_END_MAX_LENGTH;
    if (backward + forward > most) {
        o->truncated = true;
        cut(most, &backward, &forward);
    }
    o->backward = backward;
    o->forward = forward;
    parts[0] = lesser(parts[0], backward * each);
    parts[1] = lesser(parts[1], forward * each);
    o->parts = parts[0] + parts[1];
    /* Include regions are tested on the points that are kept. */
    const bool missed = misses(c, seed, n_lines, i, parts, o);
    if (missed && (guided == GLS_VERDICT_KEPT || guided == GLS_VERDICT_WRONG_ORDER))
        guided = GLS_VERDICT_MISSED_INCLUDE;
    o->points = backward + forward + 1;
    /* One of several reasons for a rejection is reported, see verdict_goes_first(). */
    if (guided != GLS_VERDICT_KEPT && verdict_goes_first(guided))
        verdict = guided;
    else if (backward + forward == 0 && !c->engine->params.keep_single_points)
        verdict = GLS_VERDICT_SINGLE_POINT;
    else if (o->parts < plan->min_parts)
        verdict = GLS_VERDICT_TOO_SHORT;
    else
        verdict = guided;
    o->verdict = (uint8_t)verdict;
    o->met_counts = verdict == guided;
}

/* --- Where the points of each streamline begin in the output. */

/* Stores the seed of streamline n of the result, and where its points begin. */
static inline void store_seed(const gls_batch *c, const float at[3], uint32_t seed_index, uint64_t first, size_t n,
                              gls_batch_result *result)
{
    const double p[3] = {at[0], at[1], at[2]};
    double mapped[3];
    gls_affine_apply(c->space, p, mapped);
    result->offset[n] = first;
    result->seed_index[n] = seed_index;
    for (int a = 0; a < 3; a++) result->seed[n][a] = (float)mapped[a];
}

void gls_place_seed(const gls_batch *c, const float at[3], uint32_t seed_index, uint64_t first,
                    gls_batch_result *result)
{
    store_seed(c, at, seed_index, first, result->n++, result);
}

/* Number of points of a streamline in the output; 0: it is not kept. */
static inline uint32_t points_placed(const gls_batch *c, const gls_outcome *o)
{
    if (o->verdict != GLS_VERDICT_KEPT) return 0;
    return c->points == GLS_POINTS_ENDS && o->points > 2 ? 2 : o->points;
}

/* Stores in the record of a judged streamline where its points begin in the output: at index *points. Stores a kept
 * streamline at index *n of the result, unless result is NULL. Moves both indices behind a kept streamline. */
static inline void place(gls_batch *c, const float at[3], uint32_t seed_index, uint32_t line, gls_batch_result *result,
                         uint64_t *points, size_t *n)
{
    const gls_outcome *o = &c->outcomes.outcome[line];
    const uint32_t more = points_placed(c, o);
    c->placed[line] = (gls_placed_record){
        .x = at[0],
        .y = at[1],
        .z = at[2],
        .first = more > 0 ? (uint32_t)*points : NOT_PLACED,
        .backward = o->backward,
        .forward = o->forward,
    };
    if (more == 0) return;
    if (result) store_seed(c, at, seed_index, *points, *n, result);
    *points += more;
    ++*n;
}

/* Number of steps of both half-streamlines before any cut. */
static inline uint32_t steps_of(const gls_batch *c, uint32_t line)
{
    const uint32_t *state = c->state + 2 * (size_t)line, each = c->engine->plan.parts;
    return points_of(state[0] & HALF_POINTS, each) + points_of(state[1] & HALF_POINTS, each);
}

/* Whether the output has no space for `more` points behind the first `points`. That happens where the pool holds runs,
 * which stand for more points than they take space for. Without a result nothing is stored in the output. */
static bool overflows(const gls_batch *c, const gls_batch_result *result, uint64_t points, uint64_t more)
{
    return result && points + more > c->engine->plan.output_points;
}

bool gls_place_line(gls_batch *c, const float at[3], uint32_t seed_index, uint32_t n_lines, uint32_t line,
                    gls_batch_result *result, uint64_t *points)
{
    const gls_outcome *o = &c->outcomes.outcome[line];
    judge(c, at, n_lines, line, &c->outcomes.outcome[line]);
    if (o->verdict == GLS_VERDICT_KEPT && overflows(c, result, *points, o->points)) {
        c->state[2 * (size_t)line] = HALF_LOST;
        return false;
    }
    c->steps += steps_of(c, line);
    size_t n = result ? result->n : 0;
    place(c, at, seed_index, line, result, points, &n);
    if (result) result->n = n;
    return true;
}

/* --- All streamlines of a round, in parts that threads share. */

#define MAX_PARTS 64
#define MIN_PART 1024 /* streamlines */

/* Sums over the streamlines of a part of a round. */
typedef struct part {
    bool is_finished;    /* all streamlines of the part have ended; if not, the sums leave out those that have not */
    uint64_t steps;      /* steps before any cut */
    uint64_t all_points; /* points of all streamlines, also of rejected ones */
    uint64_t points;     /* number of points in the output; after begin_parts() the index of the first of them there */
    size_t n; /* number of kept streamlines; after begin_parts() the index of the first of them in the result */
} part;

/* A round whose streamlines are judged and placed by several threads. */
typedef struct placing {
    gls_batch *batch;
    gls_batch_result *result; /* may be NULL */
    uint32_t n_lines, part_lines;
    part part[MAX_PARTS];
} placing;

/* Judges the finished streamlines of the parts with lines from .. until - 1; called by gls_parallel(). */
static void judge_parts(void *user, int thread, size_t from, size_t until)
{
    placing *task = user;
    gls_batch *c = task->batch;
    (void)thread;
    for (size_t at = from; at < until; at += task->part_lines) {
        part sums = {.is_finished = true};
        for (size_t i = at; i < until && i < at + task->part_lines; i++) {
            const gls_line_record *line = &c->line[i];
            gls_outcome *o = &c->outcomes.outcome[i];
            if (!is_finished(c->state + 2 * i)) {
                sums.is_finished = false;
                continue;
            }
            judge(c, (const float[3]){line->x, line->y, line->z}, task->n_lines, (uint32_t)i, o);
            sums.steps += steps_of(c, (uint32_t)i);
            sums.all_points += o->points;
            sums.points += points_placed(c, o);
            sums.n += o->verdict == GLS_VERDICT_KEPT;
        }
        task->part[at / task->part_lines] = sums;
    }
}

/* Places the streamlines of the parts with lines from .. until - 1; called by gls_parallel(). */
static void place_parts(void *user, int thread, size_t from, size_t until)
{
    placing *task = user;
    gls_batch *c = task->batch;
    (void)thread;
    for (size_t at = from; at < until; at += task->part_lines) {
        part begin = task->part[at / task->part_lines];
        for (size_t i = at; i < until && i < at + task->part_lines; i++) {
            const gls_line_record *line = &c->line[i];
            place(c, (const float[3]){line->x, line->y, line->z}, line->seed, (uint32_t)i, task->result, &begin.points,
                  &begin.n);
        }
    }
}

/* Sets where each part begins, and the sums over all parts in *sums. Returns whether all streamlines have ended and the
 * output has space for them; only then adds their steps to the batch. */
static bool begin_parts(placing *task, part *sums)
{
    *sums = (part){.is_finished = true};
    for (uint32_t k = 0; k * task->part_lines < task->n_lines; k++) {
        part *p = &task->part[k];
        const part begin = *sums;
        sums->is_finished &= p->is_finished;
        sums->steps += p->steps;
        sums->all_points += p->all_points;
        sums->points += p->points;
        sums->n += p->n;
        p->points = begin.points;
        p->n = begin.n;
    }
    if (!sums->is_finished || overflows(task->batch, task->result, 0, sums->all_points)) return false;
    task->batch->steps += sums->steps;
    return true;
}

/* Places the streamlines of seeds from .. until - 1, seed by seed. Stops before a seed that has an unfinished
 * streamline or for which the output has no space. Returns the index of that seed, or `until`. *n_lines: number of
 * streamlines placed; sums: see begin_parts(). */
static uint32_t place_until(gls_batch *c, uint64_t first, uint32_t from, uint32_t until, gls_batch_result *result,
                            uint32_t *n_lines, part *sums)
{
    uint32_t s = 0, seed = from;
    sums->points = sums->n = 0;
    for (; seed < until; seed++) {
        /* a seed is placed whole */
        const uint32_t count = gls_lines_of_seed(c, seed);
        uint64_t more = 0;
        bool finished = true;
        for (uint32_t k = 0; k < count && finished; k++) {
            finished = gls_line_is_finished(c, s + k);
            more += c->outcomes.outcome[s + k].points;
        }
        if (!finished || overflows(c, result, sums->points, more)) break;
        for (uint32_t k = 0; k < count; k++, s++) {
            c->steps += steps_of(c, s);
            place(c, c->seed[seed], (uint32_t)(first + seed), s, result, &sums->points, &sums->n);
        }
    }
    *n_lines = s;
    return seed;
}

uint32_t gls_place_lines(gls_batch *c, uint64_t first, uint32_t from, uint32_t until, uint32_t n_lines,
                         gls_batch_result *result, uint32_t *next_seed, uint64_t *n_points)
{
    const uint32_t share = (n_lines + MAX_PARTS - 1) / MAX_PARTS;
    placing task = {
        .batch = c, .result = result, .n_lines = n_lines, .part_lines = share > MIN_PART ? share : MIN_PART};
    part sums;
    /* Judge all parts first: only then is it known where each part begins in the output. Then place them. */
    gls_parallel(n_lines, task.part_lines, omp_get_max_threads(), judge_parts, &task);
    *next_seed = until;
    if (begin_parts(&task, &sums))
        gls_parallel(n_lines, task.part_lines, omp_get_max_threads(), place_parts, &task);
    else
        *next_seed = place_until(c, first, from, until, result, &n_lines, &sums);
    for (uint32_t seed = from; seed < *next_seed; seed++) c->outcomes.lines[seed - from] = gls_lines_to_count(c, seed);
    if (result) {
        result->n = sums.n;
        result->offset[result->n] = sums.points;
    }
    c->outcomes.n_seeds = *next_seed - from;
    c->outcomes.n_outcomes = n_lines;
    *n_points = sums.points;
    return n_lines;
}
