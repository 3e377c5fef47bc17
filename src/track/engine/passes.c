/* Passes 1 and 2 on the device: uploads seeds or streamlines, dispatches the kernels in pieces that stay short, and
 * validates what comes back. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "track/engine/passes.h"
#include "gpu/fetch.h"
#include "gpu/objects.h"
#include "gpu/open_device.h"
#include "track/engine/batch_parts.h"
#include "track/engine/pace.h"
#include "track/engine/pass_arguments.h"
#include "track/engine/schedule.h"
#include "track/shader/packed.h"
#include "util/clock.h"
#include "util/status.h"

/* --- Sorts the streamlines of a round along a Morton curve, so that neighbours in the list read the same part of a
 * field. */

/* A Morton code has ten bits for each axis. Voxel coordinates above LAST_VOXEL count as LAST_VOXEL. */
#define LAST_VOXEL 1023
#define DIGITS 1024

/* Spreads the ten lowest bits: bit i moves to bit 3 i. */
static uint32_t spread(uint32_t x)
{
    x = (x | x << 16) & 0x030000ffu;
    x = (x | x << 8) & 0x0300f00fu;
    x = (x | x << 4) & 0x030c30c3u;
    return (x | x << 2) & 0x09249249u;
}

/* Voxel of a coordinate along one axis, limited to 0 .. LAST_VOXEL. */
static uint32_t voxel_of(float p)
{
    return p < 0.5f ? 0 : p < LAST_VOXEL ? (uint32_t)(p + 0.5f) : LAST_VOXEL;
}

/* Morton code of the voxel of a line's seed: 30 bits. */
static uint32_t key_of(const gls_line_record *line)
{
    return spread(voxel_of(line->x)) | spread(voxel_of(line->y)) << 1 | spread(voxel_of(line->z)) << 2;
}

/* One pass of a radix sort: stable, by the digit of the key that begins at bit `shift`. */
static void sort_by_digit(const gls_order_entry *from, size_t n, int shift, gls_order_entry *to)
{
    size_t start[DIGITS + 1] = {0};
    for (size_t i = 0; i < n; i++) start[(from[i].key >> shift & (DIGITS - 1)) + 1]++;
    for (size_t d = 0; d < DIGITS; d++) start[d + 1] += start[d];
    for (size_t i = 0; i < n; i++) to[start[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

void gls_order_lines(const gls_line_record *line, size_t n, gls_order_entry *entry)
{
    /* Three passes of ten bits each; the last pass writes the result to entry[0 .. n - 1]. */
    gls_order_entry *other = entry + n;
    for (size_t i = 0; i < n; i++) other[i] = (gls_order_entry){key_of(&line[i]), (uint32_t)i};
    sort_by_digit(other, n, 0, entry);
    sort_by_digit(entry, n, 10, other);
    sort_by_digit(other, n, 20, entry);
}

/* Runs a kernel for `items` items, per_group of them in a work group, with at most max_groups groups. If these are too
 * few for all items at once, the kernel strides over the items or takes them from a queue. */
static gls_status run(gls_engine *t, gls_kernel *kernel, gls_engine_time time, uint32_t items, uint32_t per_group,
                      uint32_t max_groups, const gls_arg *args, size_t n_args)
{
    uint32_t groups = (items + per_group - 1) / per_group;
    return gls_engine_run(t, kernel, time, groups < max_groups ? groups : max_groups, args, n_args);
}

/* Marks all half-streamlines on the device as running, except the backward half-streamlines of one-sided streamlines,
 * and empties queue and pool. */
static gls_status reset_state(gls_batch *c, uint32_t n_items)
{
    const gls_line_record *line = c->line;
    const uint32_t absent = (uint32_t)GLS_END_NOT_TRACKED << HALF_END_SHIFT;
    *c->head = (gls_state_header){0};
    for (uint32_t i = 0; i < n_items / 2; i++) {
        c->state[2 * i] = line[i].one_sided ? absent : HALF_RUNNING;
        c->state[2 * i + 1] = HALF_RUNNING;
    }
    return gls_buffer_write(c->engine->buffer[GLS_TRACK_STATE], 0, sizeof *c->head + 4ull * n_items, c->head);
}

/* Starts to fetch the header, the state of each half-streamline, and the words that the guide keeps of each. */
static gls_status read_state(gls_batch *c, uint32_t n_items)
{
    gls_fetch *fetch = c->engine->fetch[GLS_FETCH_STATE];
    return gls_fetch_begin(fetch, c->engine->buffer[GLS_TRACK_STATE], 0,
                           sizeof *c->head + 4 * gls_half_words(&c->engine->plan, n_items));
}

/* --- One kernel for each pass. */

/* Number of seeds or half-streamlines that a work group works on at a time, `lanes` invocations on each. */
static uint32_t slots_per_group(const gls_group_plan *group, uint32_t lanes)
{
    return group->size / lanes;
}

/* Number of words of one seed in the buffer of directions. */
static size_t direction_words(const gls_engine *t)
{
    return gls_direction_words(&t->params);
}

/* Starts pass 1 for n seeds of a batch, from the seed with index `at` in the batch on. first: index in the run of the
 * batch's first seed. */
static gls_status initial_piece(gls_batch *c, const gls_seed_batch *seed_batch, uint64_t first, uint32_t at, uint32_t n)
{
    gls_engine *t = c->engine;
    gls_arg args[GLS_PASS_ARGUMENTS];
    for (uint32_t i = 0; i < n; i++) {
        const float *p = seed_batch->seed[at + i];
        c->start[i] = (gls_seed_record){
            .x = p[0],
            .y = p[1],
            .z = p[2],
            .index = (uint32_t)(first + at + i),
            .direction = seed_batch->along ? gls_direction_pack(seed_batch->along[at + i]) : 0,
        };
    }
    gls_status status = gls_pass_uniforms(t, n, n, 1, true);
    if (!status) status = gls_buffer_write(t->buffer[GLS_TRACK_SEEDS], 0, n * sizeof *c->start, c->start);
    if (status) return status;
    const size_t n_args = gls_initial_arguments(t, first, args);
    status = run(t, t->kernels.initial, GLS_TIME_INITIAL, n, slots_per_group(&t->plan.group, t->plan.lanes),
                 gls_device_kept_info(t->device)->max_work_groups, args, n_args);
    if (!status)
        status = gls_fetch_begin(t->fetch[GLS_FETCH_DIRECTIONS], t->buffer[GLS_TRACK_DIRECTIONS], 0,
                                 4 * n * direction_words(t));
    return status;
}

/* Reports progress between dispatches. GLS_ERR_CANCELLED if the run was stopped. */
static gls_status poll(gls_batch *c)
{
    return c->host.poll ? c->host.poll(c->host.user) : GLS_OK;
}

/* Pass 1 of a seed batch: in one dispatch if the pace allows it, else in pieces. */
static gls_status initial_whole(gls_batch *c, const gls_seed_batch *seed_batch, uint64_t first)
{
    const uint32_t n = seed_batch->n;
    gls_status status = GLS_OK;
    if (gls_pace_items(&c->initial_pace, n) == n) {
        status = initial_piece(c, seed_batch, first, 0, n);
        return !status ? poll(c) : status;
    }
    /* Pieces are fetched one by one, so that the time of each is known; the directions of each go to
     * the offset of its first seed. */
    for (uint32_t at = 0, piece; at < n && !status; at += piece) {
        double start = gls_clock_seconds();
        piece = gls_pace_items(&c->initial_pace, n - at);
        status = initial_piece(c, seed_batch, first, at, piece);
        if (!status)
            status = gls_fetch_end(c->engine->fetch[GLS_FETCH_DIRECTIONS],
                                   seed_batch->direction + at * direction_words(c->engine));
        gls_pace_note(&c->initial_pace, piece, gls_clock_seconds() - start);
        if (!status) status = poll(c);
    }
    return status;
}

/* Index of the line that is tracked i-th. */
static uint32_t line_at(const gls_batch *c, uint32_t i)
{
    return c->order ? c->order[i].line : i;
}

/* Pass 2 as one dispatch that tracks all streamlines to their ends. */
static gls_status track_fused(gls_batch *c, uint32_t n_lines)
{
    gls_engine *t = c->engine;
    gls_arg args[GLS_PASS_ARGUMENTS];
    for (uint32_t i = 0; i < n_lines; i++) c->line[i].turn = line_at(c, i);
    gls_status status = gls_pass_uniforms(t, 2 * n_lines, 2 * n_lines, 1, false);
    if (!status) status = gls_buffer_write(t->buffer[GLS_TRACK_LINES], 0, n_lines * sizeof *c->line, c->line);
    if (!status) status = reset_state(c, 2 * n_lines);
    if (status) return status;
    const size_t n_args = gls_track_arguments(t, args);
    status = run(t, t->kernels.track, GLS_TIME_TRACK, 2 * n_lines, slots_per_group(&t->plan.track_group, t->plan.lanes),
                 t->plan.track_groups, args, n_args);
    if (!status) status = read_state(c, 2 * n_lines);
    return status;
}

/* --- Staged: many short dispatches; the host keeps the list of running half-streamlines. */

/* Address of a word of a slot, which holds a half-streamline or a seed, in the host's copy of the work buffer, see
 * layout/work.def. */
static uint32_t *work_of(const gls_batch *c, uint32_t n_items, uint32_t word, uint32_t slot)
{
    size_t words = c->engine->plan.host_arrays - 1;
    return &c->work[n_items + slot * words + word - 1];
}

/* Stores a vector in three neighbouring words of a slot; `word` is the first word. */
static void store_vector(const gls_batch *c, uint32_t n_items, uint32_t word, uint32_t slot, const float v[3])
{
    for (uint32_t a = 0; a < 3; a++) memcpy(work_of(c, n_items, word + a, slot), &v[a], sizeof v[a]);
}

/* Sends the list and the words of all slots to the device. */
static gls_status upload_work(gls_batch *c, uint32_t n_items)
{
    return gls_buffer_write(c->engine->buffer[GLS_TRACK_WORK], 0, 4ull * c->engine->plan.host_arrays * n_items,
                            c->work);
}

/* Starts `iterations` iterations for the first n_active slots of the device's list. */
static gls_status run_iterations(gls_engine *t, uint32_t n_active, uint32_t iterations, bool initial)
{
    gls_arg args[GLS_PASS_ARGUMENTS];
    uint32_t limit = gls_device_kept_info(t->device)->max_work_groups;
    size_t n_args = gls_pass_arguments(t, initial, args);
    args[n_args++] = gls_arg_buffer(0, t->buffer[GLS_TRACK_WORK]);
    args[n_args++] = gls_arg_buffer(1, t->buffer[initial ? GLS_TRACK_DIRECTIONS : GLS_TRACK_POOL]);
    args[n_args++] = gls_arg_buffer(2, t->buffer[GLS_TRACK_STATE]);
    /* In split plans each iteration runs two kernels; in other plans one kernel loops over the iterations. */
    uint32_t slots = slots_per_group(&t->plan.group, t->plan.lanes);
    const gls_engine_time time = initial ? GLS_TIME_INITIAL : GLS_TIME_TRACK;
    if (!t->plan.split) return run(t, t->kernels.step, time, n_active, slots, limit, args, n_args);
    gls_status status = GLS_OK;
    for (uint32_t i = 0; i < iterations && !status; i++) {
        status = run(t, initial && t->kernels.first_sample ? t->kernels.first_sample : t->kernels.sample, time,
                     n_active, slots, limit, args, n_args);
        if (!status) status = run(t, t->kernels.turn, time, n_active, slots, limit, args, n_args);
    }
    return status;
}

/* On a slow device, dispatches of fewer half-streamlines than this are inefficient: lower the iterations first. */
#define FEW_HALVES 4096u

/* Runs iterations for the first n_active entries of the host's list, in pieces that the pace allows. Adds to
 * *all_iterations the iterations that each entry got. */
static gls_status run_pieces(gls_batch *c, uint32_t n_items, uint32_t n_active, bool initial, double *all_iterations)
{
    gls_engine *t = c->engine;
    gls_pace *pace = initial ? &c->initial_pace : &c->track_pace;
    gls_status status = GLS_OK;
    /* An item is one iteration of one half-streamline, or of one seed in pass 1. On a slow device first the iterations,
     * then the half-streamlines of a dispatch become fewer. */
    uint32_t most = initial ? 1 : t->plan.iterations, few = n_active < FEW_HALVES ? n_active : FEW_HALVES;
    uint32_t iterations = (gls_pace_items(pace, most * few) + few - 1) / few;
    *all_iterations += iterations;
    for (uint32_t at = 0, n; at < n_active && !status; at += n) {
        double start = gls_clock_seconds();
        const uint64_t all = (uint64_t)(n_active - at) * iterations;
        n = gls_pace_items(pace, all < UINT32_MAX ? (uint32_t)all : UINT32_MAX) / iterations;
        if (n == 0) n = 1;
        /* Each piece overwrites the first n words of the device's list. */
        status = gls_pass_uniforms(t, n_items, n, iterations, initial);
        if (!status) status = gls_buffer_write(t->buffer[GLS_TRACK_WORK], 0, 4ull * n, c->work + at);
        if (!status) status = run_iterations(t, n, iterations, initial);
        if (!status) status = gls_device_synchronize(t->device);
        gls_pace_note(pace, n * iterations, gls_clock_seconds() - start);
        if (!status) status = poll(c);
    }
    return status;
}

/* Pass 1 of split plans: one iteration for each seed, by the kernels that gls_kernels names. */
static gls_status initial_split(gls_batch *c, const gls_seed_batch *seed_batch, uint64_t first)
{
    const uint32_t n = seed_batch->n;
    memset(c->work, 0, 4ull * c->engine->plan.host_arrays * n);
    for (uint32_t i = 0; i < n; i++) {
        c->work[i] = i;
        store_vector(c, n, WORK_POSITION, i, seed_batch->seed[i]);
        *work_of(c, n, WORK_SEED, i) = (uint32_t)(first + i);
        *work_of(c, n, WORK_STREAM, i) = gls_draw_stream(first + i, 0);
    }
    double iterations = 0;
    gls_status status = upload_work(c, n);
    if (!status) status = run_pieces(c, n, n, true, &iterations);
    if (!status)
        status = gls_fetch_begin(c->engine->fetch[GLS_FETCH_DIRECTIONS], c->engine->buffer[GLS_TRACK_DIRECTIONS], 0,
                                 4 * n * direction_words(c->engine));
    return status;
}

void gls_start_direction(const gls_engine *t, uint32_t vertex, float out[3])
{
    if (t->plan.getter->own_start) {
        gls_direction_unpack(vertex, out);
        return;
    }
    const float *v = t->vertex[vertex & ~VERTEX_FLIPPED];
    for (int a = 0; a < 3; a++) out[a] = vertex & VERTEX_FLIPPED ? -v[a] : v[a];
}

/* Fills the words of n slots with half-streamlines at their start, as half_start() in glsl/kernel/half.glsl does if
 * pass 2 is one kernel. */
static void fill_halves(gls_batch *c, uint32_t n)
{
    bool framed = c->engine->plan.getter->framed, own_start = c->engine->plan.getter->own_start;
    memset(c->work, 0, 4ull * c->engine->plan.host_arrays * n);
    for (uint32_t i = 0; i < n; i++) {
        const gls_line_record *line = &c->line[i / 2];
        bool backward = i % 2 == 0;
        store_vector(c, n, WORK_POSITION, i, (const float[3]){line->x, line->y, line->z});
        float direction[3];
        gls_start_direction(c->engine, line->vertex, direction);
        store_vector(c, n, WORK_DIRECTION, i, direction);
        *work_of(c, n, WORK_SEED, i) = line->seed;
        *work_of(c, n, WORK_STREAM, i) = line->stream;
        *work_of(c, n, WORK_STEP, i) = framed && backward ? STEP_BACKWARD | 1 : 1;
        *work_of(c, n, WORK_AUX, i) = framed ? 0 : own_start ? line->vertex : line->vertex & ~VERTEX_FLIPPED;
        *work_of(c, n, WORK_FLAGS, i) = !framed && backward ? FLAG_JOINT : 0;
    }
}

/* Keeps the running half-streamlines among the first n entries of the host's list, sorted by the number of steps that
 * they will probably take before they leave their cell of the grid (HALF_RUNNING). Returns how many it keeps. Sorts in
 * the memory behind the list, whose words the device has already. */
static uint32_t keep_running(gls_batch *c, uint32_t n_items, uint32_t n)
{
    enum { STATES = 16 }; /* number of states from HALF_RUNNING to the largest 32-bit number */
    uint32_t start[STATES + 1] = {0}, *sorted = c->work + n_items;
    for (uint32_t i = 0; i < n; i++)
        if (c->state[c->work[i]] >= HALF_RUNNING) start[c->state[c->work[i]] - HALF_RUNNING + 1]++;
    for (uint32_t s = 0; s < STATES; s++) start[s + 1] += start[s];
    for (uint32_t i = 0; i < n; i++)
        if (c->state[c->work[i]] >= HALF_RUNNING) sorted[start[c->state[c->work[i]] - HALF_RUNNING]++] = c->work[i];
    const uint32_t kept = start[STATES - 1];
    memcpy(c->work, sorted, kept * sizeof *sorted);
    return kept;
}

/* Upper bound of the directions that a getter tries in one step, in addition to params.fod_trials. */
#define MAX_CANDIDATES 8192.0

/* Upper bound of the iterations in which at least one running half-streamline ends or fills a block. With backtracking
 * a half-streamline draws at most BACKTRACK_DRAWS directions for each of its steps. With particle filtering a
 * half-streamline makes at most max_steps steps, and its particles make theirs, before the first run of the filter and
 * after each run. */
static double max_iterations(const gls_engine *t)
{
    const gls_track_plan *plan = &t->plan;
    const gls_guide_plan *g = &plan->guide;
    const double run = plan->max_steps + (double)g->particles * (g->filter_back + g->filter_front),
                 steps = g->particles > 0 ? (t->params.pft_trials + 1.0) * run
                         : g->backtracks  ? (BACKTRACK_DRAWS + 1.0) * plan->max_steps
                                          : POOL_BLOCK;
    return (steps + 1) * plan->substeps * (MAX_CANDIDATES + t->params.fod_trials);
}

/* Pass 2 in short dispatches until no half-streamline is running. Fails if the device makes no progress. */
static gls_status track_staged(gls_batch *c, uint32_t n_lines)
{
    uint32_t n_items = 2 * n_lines, n_active = n_items;
    double iterations = 0;
    gls_pace_guess(&c->track_pace, &c->initial_pace, c->engine->iteration_cost);
    fill_halves(c, n_items);
    /* The list of active half-streamlines: both half-streamlines of a streamline side by side, in the order of the
     * Morton curve. */
    for (uint32_t i = 0; i < n_items; i++) c->work[i] = 2 * line_at(c, i / 2) + i % 2;
    gls_status status = upload_work(c, n_items);
    if (!status) status = reset_state(c, n_items);
    if (!status) n_active = keep_running(c, n_items, n_active);
    while (!status && n_active > 0) {
        /* Progress is a half-streamline that ended or a block that was taken. */
        const uint32_t active_before = n_active, blocks_before = c->head->pool_head;
        if (iterations > max_iterations(c->engine))
            return gls_fail(GLS_ERR_DEVICE,
                            "the device makes no progress with %" PRIu32
                            " half-streamlines; 'glslines devices --check' tests the device",
                            n_active);
        status = run_pieces(c, n_items, n_active, false, &iterations);
        if (!status) status = read_state(c, n_items);
        if (!status) status = gls_pass_track_end(c);
        if (!status) n_active = keep_running(c, n_items, n_active);
        c->ended = 1 - (double)n_active / n_items;
        if (n_active < active_before || c->head->pool_head != blocks_before) iterations = 0;
    }
    return status;
}

gls_status gls_pass_initial_begin(gls_batch *c, gls_seed_batch *seed_batch, uint64_t first)
{
    gls_status status =
        c->engine->plan.split ? initial_split(c, seed_batch, first) : initial_whole(c, seed_batch, first);
    seed_batch->begun = !status;
    return status;
}

/* Validates counts and vertex numbers: a kernel that the driver killed leaves garbage. */
static gls_status check_directions(const gls_engine *t, const gls_seed_batch *seed_batch)
{
    const bool vertices = !t->plan.getter->own_start;
    for (uint32_t i = 0; i < seed_batch->n; i++) {
        const uint32_t *word = seed_batch->direction + i * direction_words(t), n = word[DIRECTIONS_COUNT];
        bool sound = n <= (uint32_t)t->params.max_directions_per_seed;
        for (uint32_t k = 0; sound && vertices && k < n; k++) sound = word[DIRECTIONS_VERTEX + k] < t->n_vertices;
        if (!sound)
            return gls_fail(GLS_ERR_DEVICE, "the device did not finish the initial directions of a seed; 'glslines "
                                            "devices --check' tests the device");
    }
    return GLS_OK;
}

gls_status gls_pass_initial_end(gls_batch *c, gls_seed_batch *seed_batch)
{
    gls_status status = gls_fetch_end(c->engine->fetch[GLS_FETCH_DIRECTIONS], seed_batch->direction);
    seed_batch->begun = false;
    seed_batch->ended = !status;
    return !status ? check_directions(c->engine, seed_batch) : status;
}

gls_status gls_pass_track_begin(gls_batch *c, uint32_t n_lines)
{
    if (c->order) gls_order_lines(c->line, n_lines, c->order);
    return c->engine->plan.staged ? track_staged(c, n_lines) : track_fused(c, n_lines);
}

gls_status gls_pass_track_end(gls_batch *c)
{
    return gls_fetch_end(c->engine->fetch[GLS_FETCH_STATE], c->head);
}
