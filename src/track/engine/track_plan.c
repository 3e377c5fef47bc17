/* Computes the plan of an engine: the mapping of streamlines to invocations, work groups, batch sizes and buffer sizes
 * that respect the device's limits. Pure functions of limits, parameters and input; no device is touched. */
#include "track/engine/track_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "track/getter/getter.h"
#include "track/getter/getters.h"
#include "track/guide/guide.h"
#include "track/guide/region_stop.h"
#include "track/guide/threshold_stop.h"
#include "track/guide/tissue_stop.h"
#include "track/shader/remainder.h"
#include "util/numbers.h"
#include "util/status.h"

/* --- One invocation for each streamline. */

/* Accepts every device: all can run one invocation for each streamline, and work groups without subgroups. */
static gls_status check_single(const gls_device_info *limits)
{
    (void)limits;
    return GLS_OK;
}

static uint32_t one(const gls_device_info *limits)
{
    (void)limits;
    return 1;
}

/* Size of work groups with one invocation for each streamline: 64 on a GPU; 8 on a CPU renderer; 1 where the driver
 * mixes up invocations of a group. Halved until the device allows it. */
static gls_group_plan group_of_single(const gls_device_info *limits, uint32_t n_streamlines)
{
    (void)n_streamlines;
    uint32_t size = !limits->apart ? 1 : limits->software ? 8 : 64;
    while (size > limits->max_work_group_size && size > 1) size /= 2;
    return (gls_group_plan){size, size};
}

/* A row whose shaders have loops, or source that is written out. */
#define SINGLE(has_loops)                                                                                         \
    {                                                                                                             \
        .mapping = GLS_MAPPING_SINGLE, .name = "single", .shader = "base/lanes_single.glsl", .looped = has_loops, \
        .check = check_single, .lanes = one, .group = group_of_single, .slots_each = one                          \
    }
static const gls_mapping_kind single = SINGLE(false);
const gls_mapping_kind gls_mapping_single_looped = SINGLE(true);

/* --- A subgroup for each streamline. */

/* Fails on a device whose compute shaders have no subgroups. */
static gls_status check_subgroup(const gls_device_info *limits)
{
    if (limits->subgroup_size > 0) return GLS_OK;
    return gls_fail(GLS_ERR_UNSUPPORTED,
                    "--mapping subgroup: needs KHR_shader_subgroup in compute shaders, which %.100s does not offer: "
                    "give --mapping auto",
                    limits->renderer);
}

/* Number of invocations of a subgroup, as the driver reports it. */
static uint32_t lanes_of_subgroup(const gls_device_info *limits)
{
    return limits->subgroup_size;
}

/* How many times more subgroups a group may have than the reported size suggests: Intel's compiler picks the width of
 * subgroups, at least 8. */
static uint32_t slots_of_subgroup(const gls_device_info *limits)
{
    return strstr(limits->vendor, "Intel") ? limits->subgroup_size / 8 : 1;
}

/* A group of n_streamlines subgroups; their number is halved until the device allows it, but is at least one. */
static gls_group_plan group_of_subgroups(const gls_device_info *limits, uint32_t n_streamlines)
{
    uint32_t lanes = limits->subgroup_size, size = n_streamlines * lanes;
    while (size > limits->max_work_group_size && size > lanes) size /= 2;
    return (gls_group_plan){size, strstr(limits->vendor, "Intel") ? size / 8 : size / lanes};
}

static const gls_mapping_kind subgroup = {
    .mapping = GLS_MAPPING_SUBGROUP,
    .name = "subgroup",
    .shader = "base/lanes_subgroup.glsl",
    .extension = true,
    .looped = true,
    .check = check_subgroup,
    .lanes = lanes_of_subgroup,
    .group = group_of_subgroups,
    .slots_each = slots_of_subgroup,
};

/* --- A work group for each streamline. */

/* Number of invocations for each streamline: 16 on Intel's GPUs and CPU renderers; elsewhere 32, the width of most
 * hardware subgroups, whose invocations need not wait for each other. */
static uint32_t lanes_of_group(const gls_device_info *limits)
{
    return limits->software || strstr(limits->vendor, "Intel") ? 16 : 32;
}

/* A work group of one streamline. */
static gls_group_plan group_of_one(const gls_device_info *limits, uint32_t n_streamlines)
{
    (void)n_streamlines;
    return (gls_group_plan){lanes_of_group(limits), 1};
}

static const gls_mapping_kind group = {
    .mapping = GLS_MAPPING_GROUP,
    .name = "group",
    .shader = "base/lanes_group.glsl",
    .alone = true,
    .looped = true,
    .check = check_single,
    .lanes = lanes_of_group,
    .group = group_of_one,
    .slots_each = one,
};

/* --- The table of mappings. */

static const gls_mapping_kind *const kinds[GLS_MAPPING_COUNT] = {
    [GLS_MAPPING_SINGLE] = &single,
    [GLS_MAPPING_SUBGROUP] = &subgroup,
    [GLS_MAPPING_GROUP] = &group,
};

const char *gls_mapping_name(gls_mapping mapping)
{
    if (mapping == GLS_MAPPING_AUTO) return "auto";
    return (unsigned)mapping < GLS_MAPPING_COUNT ? kinds[mapping]->name : "unknown";
}

gls_mapping gls_mapping_auto(const gls_device_info *device)
{
    /* a CPU renderer has no lanes to fill; a GPU is slow with one lane for each streamline */
    if (device->software) return GLS_MAPPING_SINGLE;
    return device->subgroup_size > 0 ? GLS_MAPPING_SUBGROUP : GLS_MAPPING_GROUP;
}

gls_mapping gls_mapping_meant(const gls_getter *getter, const gls_device_info *device)
{
    return getter->one_lane ? GLS_MAPPING_SINGLE : gls_mapping_auto(device);
}

uint32_t gls_mapping_lanes(gls_mapping mapping, const gls_device_info *device)
{
    if (mapping == GLS_MAPPING_AUTO) mapping = gls_mapping_auto(device);
    if ((unsigned)mapping >= GLS_MAPPING_COUNT || (mapping == GLS_MAPPING_SUBGROUP && device->subgroup_size == 0))
        return 0;
    return kinds[mapping]->lanes(device);
}

/* Sets *kind to the row of `mapping`. GLS_ERR_UNSUPPORTED: the device cannot run the mapping. */
static gls_status choose_mapping(gls_mapping mapping, const gls_getter *getter, const gls_device_info *limits,
                                 const gls_mapping_kind **kind)
{
    *kind = kinds[mapping == GLS_MAPPING_AUTO ? gls_mapping_meant(getter, limits) : mapping];
    return (*kind)->check(limits);
}

/* --- Sizes of batches and buffers. */

/* Seeds of a batch unless --chunk-size is given: on CPU renderers, on GPUs, and on GPUs with rounds in flight. */
#define DEFAULT_BATCH_SOFTWARE 25000u
#define DEFAULT_BATCH_HARDWARE 100000u
#define DEFAULT_BATCH_IN_FLIGHT 50000u
/* With rounds in flight and steps of many iterations, where the device has LARGE_MEMORY: the longest streamlines of a
 * round take so long that rounds must be long, too. */
#define DEFAULT_BATCH_LONG 100000u
#define LARGE_MEMORY ((uint64_t)16 << 30)
/* With rounds in flight a short range of seeds is cut into PIECES batches, each of at least MIN_PIECE seeds, because at
 * the end of a batch the device tracks only the longest streamlines. */
#define PIECES 4
#define MIN_PIECE 20000u
#define MAX_POOL_BYTES ((uint64_t)512 << 20)
#define MAX_POOL_BYTES_LONG ((uint64_t)1 << 30)
/* Most bytes that lie between the words of the slots and the coefficients in the work buffer: the coefficients begin at
 * a multiple of four words. */
#define WORK_FILLING 16u
/* voxels that a half-streamline crosses in a dispatch with runs of points; with more, lanes whose half-streamlines have
 * ended would stay idle for longer */
#define VOXELS_IN_TURN 12u
/* Most steps of a half-streamline that one lane makes in one dispatch: more may take a slow GPU longer than its driver
 * waits */
#define STEPS_OF_LANE 10000
/* Points of the pool for each seed: seeds in a brain give 1.5 directions and 60 points on average. A batch that needs
 * more is tracked in several rounds. */
#define TYPICAL_POINTS_PER_SEED 256u
#define TYPICAL_POINTS_PER_SEED_LONG 512u
/* Points of the pool for each seed if blocks hold runs of points: few, because the driver clears the pool, and a pool
 * that stays in the cache is read faster. */
#define RUN_POINTS_PER_SEED 64u

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Returns the number of subgroups of a work group of pass 2 for a getter with tables, and sets tables_shared if the
 * tables fit into shared memory. Drivers run only one or two such groups at a time, so large groups keep the device
 * busy. */
static uint32_t plan_shared(const gls_track_params *params, const gls_device_info *limits, const gls_sphere *sphere,
                            gls_track_plan *plan)
{
    static const uint32_t sizes[] = {24, 20, 16, 12, 8, 4};
    uint64_t tables, streamline, slots_each = plan->mapping->slots_each(limits) * plan->subgroup_parts;
    /* Take the largest group whose tables and streamlines fit. */
    plan->getter->shared_bytes(params, sphere, &tables, &streamline);
    plan->tables_shared = true;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i] * plan->lanes * plan->subgroup_parts <= limits->max_work_group_size &&
            tables + sizes[i] * slots_each * streamline <= limits->max_shared_bytes)
            return sizes[i];
    plan->tables_shared = false;
    return 4;
}

/* With batches of fewer seeds than this, each streamline has a whole subgroup: there are too few streamlines to fill a
 * large device with parts of subgroups, in which each takes longer. */
#define SEEDS_FOR_PARTS 25000u

/* Number of streamlines that share a subgroup: a power of two, such that each has the lanes that the getter asks for. 1
 * where the mapping is another, or the compiler chooses the width of subgroups. */
static uint32_t parts_of_subgroup(const gls_track_params *params, const gls_device_info *limits,
                                  const gls_track_plan *plan)
{
    const bool is_fixed = plan->mapping == &subgroup && slots_of_subgroup(limits) == 1;
    const bool is_few = params->batch_seeds > 0 && params->batch_seeds < SEEDS_FOR_PARTS && !limits->software;
    uint32_t parts = 1;
    if (!is_fixed || is_few || !plan->getter->lanes) return 1;
    while (limits->subgroup_size % (2 * parts) == 0 &&
           limits->subgroup_size / (2 * parts) >= plan->getter->lanes(params))
        parts *= 2;
    /* the lanes of a streamline lie in one word of a ballot */
    return limits->subgroup_size / parts <= 32 ? parts : 1;
}

/* Chooses the mapping and the sizes of work groups. */
static gls_status plan_groups(const gls_track_params *params, const gls_device_info *limits, const gls_sphere *sphere,
                              gls_track_plan *plan)
{
    gls_status status = choose_mapping(params->mapping, plan->getter, limits, &plan->mapping);
    if (status) return status;
    plan->subgroup_parts = parts_of_subgroup(params, limits, plan);
    plan->lanes = plan->mapping->lanes(limits) / plan->subgroup_parts;
    /* Tables are copied to shared memory once for each group, which pays for groups of several streamlines on a GPU. */
    bool tables = plan->mapping->looped && !plan->mapping->alone && !limits->software && plan->getter->shared_bytes;
    plan->lanes_in_step = strstr(limits->vendor, "NVIDIA") != NULL;
    /* give each subgroup a group of its own on lavapipe, where subgroups of one group see each other's shared memory
     * too early, and on NVIDIA, where one subgroup alone needs no costly barrier (see glsl/base/lanes_subgroup.glsl) */
    uint32_t n = limits->software || plan->lanes_in_step ? 1 : 4;
    plan->group = plan->mapping->group(limits, n);
    plan->track_group = plan->mapping->group(limits, tables ? plan_shared(params, limits, sphere, plan) : n);
    if (plan->group.size > limits->max_work_group_size)
        return gls_fail(GLS_ERR_UNSUPPORTED,
                        "a work group of %u invocations is over the device's limit of %u: give --mapping single",
                        plan->group.size, limits->max_work_group_size);
    plan->group.slots *= plan->subgroup_parts;
    plan->track_group.slots *= plan->subgroup_parts;
    plan->track_groups = (uint32_t)min_u64(limits->software ? 64 : 4096, limits->max_work_groups);
    return GLS_OK;
}

/* Whether a streamline of n_parts parts is too short. Where steps are arcs, the straight lines between stored points
 * are shorter than the steps, so a streamline exactly as long as the minimum is too short, unless the minimum is 0. */
static bool too_short(const gls_track_params *params, const gls_track_plan *p, double n_parts)
{
    double least = params->min_length, length = n_parts * params->step_size / p->parts;
    return least > 0 && p->getter->parts ? length <= least * (1 + 1e-9) : length < least * (1 - 1e-9);
}

/* Smallest number of parts of a streamline that is not too short. */
static uint32_t min_parts_of(const gls_track_params *params, const gls_track_plan *p)
{
    /* Start from the exact quotient, and correct the rounding in both directions. */
    double n = ceil(params->min_length / params->step_size * p->parts);
    if (!(n < UINT32_MAX)) return UINT32_MAX;
    while (n > 0 && !too_short(params, p, n - 1)) n--;
    while (too_short(params, p, n)) n++;
    return (uint32_t)n;
}

/* Whether the host works on one batch while the device works on the next batch. A CPU renderer would only compete for
 * the same cores; with retries or staged dispatches the host has to answer the device many times in a batch. Never on
 * GLES. The variable GLSLINES_IN_FLIGHT=0 turns rounds in flight off, for comparisons. */
static bool goes_in_flight(const gls_track_params *params, const gls_device_info *limits, bool staged)
{
    const char *text = gls_test_variable("GLSLINES_IN_FLIGHT");
    return !staged && params->retries == 0 && !limits->gles && !limits->software && !(text && strcmp(text, "0") == 0);
}

/* Number of points that a block of the pool usually holds: POOL_BLOCK; with runs the points in BLOCK_RUNS voxels, if
 * these are fewer. */
static uint32_t usual_points(const gls_track_plan *p, const gls_track_params *params, const gls_grid *grid)
{
    const double side = fmin(grid->voxel_size[0], fmin(grid->voxel_size[1], grid->voxel_size[2]));
    const double points = BLOCK_RUNS * fmax(1, side / params->step_size);
    return p->voxel_runs && points < POOL_BLOCK ? (uint32_t)points : POOL_BLOCK;
}

/* Plans the guide that the parameters and the input ask for. */
static gls_status plan_guide(const gls_track_params *params, const gls_device_info *limits,
                             const gls_track_input *input, gls_guide_plan *plan)
{
    *plan = (gls_guide_plan){.kind = input->tissue                           ? &gls_guide_tissue
                                     : gls_regions_count(input->regions) > 0 ? &gls_guide_regions
                                                                             : &gls_guide_threshold};
    gls_status status = plan->kind->plan(params, limits, input, plan);
    /* The record of a block holds what back-tracking or the loop check reads again, see glsl/layout/block.def. */
    plan->block_words = plan->backtracks     ? BLOCK_POINTS + POOL_BLOCK * (ARRIVAL_WORDS + plan->backtrack)
                        : params->loop_check ? BLOCK_BEFORE + 3
                                             : (uint32_t)BLOCK_WORDS;
    return status;
}

/* Makes the plan. runs: whether the pool may hold runs of points. */
static gls_status make(const gls_track_params *params, const gls_device_info *limits, const gls_track_input *input,
                       bool runs, gls_track_plan *plan)
{
    const gls_getter *getter = gls_getter_of(params);
    gls_track_plan p = {.getter = getter, .seeds_have_directions = input->seeds_have_directions};
    gls_status status = plan_guide(params, limits, input, &p.guide);
    if (!status) status = plan_groups(params, limits, getter->sphere(input), &p);
    if (status) return status;
    /* Which kernels run: split in two or whole, staged (short dispatches) or fused, and whether rounds overlap.
     * llvmpipe ends a kernel after 65536 loop iterations in all, so no kernel may run long there. A fused dispatch
     * tracks a half-streamline to its end, which takes one lane too long on boards (OpenGL ES), with many steps, and
     * where a step is work that lanes could share. */
    p.split = !p.mapping->looped && getter->handed_over;
    const bool is_long = limits->gles || !getter->one_lane || params->max_length / params->step_size > STEPS_OF_LANE;
    p.staged = p.split || limits->software || (!p.mapping->looped && is_long);
    p.in_flight = goes_in_flight(params, limits, p.staged);
    /* llvmpipe loads and stores one invocation at a time, so that a kernel takes ten times as long as the host to copy
     * a point */
    p.packs_on_host = limits->software;
    p.voxel_runs = runs && p.packs_on_host && p.staged && getter->by_voxel && p.guide.kind->by_voxel &&
                   !params->loop_check && !(params->step_noise > 0);
    p.remainder_unit = gls_remainder_unit(&input->stop_map->grid);
    p.iterations = p.split              ? (limits->software ? 1 : 8)
                   : p.voxel_runs       ? VOXELS_IN_TURN
                   : getter->iterations ? getter->iterations(params)
                                        : 8;
    p.ordered = p.staged || getter->ordered;
    /* Words of the work buffer for each half-streamline: the words that the host writes, then the coefficients of split
     * iterations. */
    p.coefficients = p.split ? getter->handed_over(input) : 0;
    p.host_arrays = p.staged ? WORK_GUIDE + p.guide.n_words : 0;
    p.work_arrays = p.host_arrays + p.coefficients;
    /* Lengths: iterations and parts of a step, and the limits of length in steps and parts. */
    p.substeps = getter->substeps ? getter->substeps(params) : 1;
    p.long_rounds = p.in_flight && p.substeps > 1 && limits->memory_bytes >= LARGE_MEMORY;
    p.parts = getter->parts ? getter->parts(params) : 1;
    p.max_steps = (uint32_t)floor(params->max_length / params->step_size * (1 + 1e-9));
    if (p.max_steps < 1) p.max_steps = 1;
    p.min_parts = min_parts_of(params, &p);

    /* Blocks of the pool: at most what one buffer holds, at least what the streamlines of one seed may need. */
    uint64_t storage = limits->max_storage_bytes, directions = (uint64_t)params->max_directions_per_seed;
    uint64_t pool_bytes = min_u64(storage, p.long_rounds ? MAX_POOL_BYTES_LONG : MAX_POOL_BYTES);
    /* leave a quarter: the output buffer holds the points of the pool and the seed of each line */
    uint64_t blocks = pool_bytes * 3 / 4 / (POOL_BLOCK * 12);
    p.block_points = usual_points(&p, params, &input->stop_map->grid);
    /* points that a block holds at least: a run may have a single point */
    const uint32_t fill = p.voxel_runs ? BLOCK_RUNS : POOL_BLOCK;
    uint64_t needed = 2 * directions * ((p.max_steps + fill - 1) / fill + p.guide.filter_blocks);
    /* Seeds of a batch: limited by each buffer with a record for each seed, and by the largest dispatch. */
    uint64_t batch = params->batch_seeds ? params->batch_seeds
                     : limits->software  ? DEFAULT_BATCH_SOFTWARE
                     : p.long_rounds     ? DEFAULT_BATCH_LONG
                     : p.in_flight       ? DEFAULT_BATCH_IN_FLIGHT
                                         : DEFAULT_BATCH_HARDWARE;
    batch = min_u64(batch, storage / (4ull * gls_direction_words(params)));
    batch = min_u64(batch, storage / sizeof(gls_seed_record));
    batch = min_u64(batch, 1u << 22);
    batch = min_u64(batch, (uint64_t)limits->max_work_groups * p.group.slots);
    /* Streamlines of a round: up to four for each seed, at least all streamlines of one seed. */
    uint64_t lines = min_u64(batch * 4 > directions ? batch * 4 : directions, storage / 4 / sizeof(gls_line_record));
    if (p.staged) {
        lines = min_u64(lines, (storage - WORK_FILLING) / (8 * (uint64_t)p.work_arrays));
        lines = min_u64(lines, (uint64_t)limits->max_work_groups * p.group.slots / 2);
        batch = min_u64(batch, 2 * lines);
    }
    if (batch < 1 || lines < directions || blocks < needed)
        return gls_fail(GLS_ERR_UNSUPPORTED,
                        "the streamlines of one seed (%llu directions of %u steps) do not fit the device's buffers of "
                        "%llu bytes: lower --max-length or --max-directions-per-seed",
                        (unsigned long long)directions, p.max_steps, (unsigned long long)storage);
    /* Do not make the pool larger than a typical batch needs, and leave space for its records in the state buffer. */
    const uint64_t typical = (p.voxel_runs    ? RUN_POINTS_PER_SEED
                              : p.long_rounds ? TYPICAL_POINTS_PER_SEED_LONG
                                              : TYPICAL_POINTS_PER_SEED) /
                             POOL_BLOCK;
    uint64_t wanted = batch * (typical + min_u64(p.guide.filter_blocks, typical));
    if (wanted < needed) wanted = needed;
    blocks = min_u64(blocks, wanted);
    uint64_t state_bytes = sizeof(gls_state_header) + 4 * gls_half_words(&p, 2 * lines);
    uint64_t record = 4ull * p.guide.block_words;
    if (state_bytes + record * blocks > storage) blocks = (storage - state_bytes) / record;
    if (blocks < needed)
        return gls_fail(GLS_ERR_UNSUPPORTED,
                        "the device's buffers of %llu bytes are too small for the streamlines of one seed: lower "
                        "--max-length or --max-directions-per-seed",
                        (unsigned long long)storage);
    p.batch_seeds = (uint32_t)batch;
    p.batch_lines = (uint32_t)lines;
    p.pool_blocks = (uint32_t)blocks;
    p.output_points = (uint32_t)min_u64(blocks * POOL_BLOCK + lines, storage / 12);
    *plan = p;
    return GLS_OK;
}

/* A block of the pool may hold fewer points as runs, so the streamlines of a seed may fit only without runs. */
gls_status gls_track_plan_make(const gls_track_params *params, const gls_device_info *limits,
                               const gls_track_input *input, gls_track_plan *plan)
{
    gls_status status = make(params, limits, input, true, plan);
    const bool may_fit = status == GLS_ERR_UNSUPPORTED && limits->software && gls_getter_of(params)->by_voxel;
    return may_fit ? make(params, limits, input, false, plan) : status;
}

uint32_t gls_track_plan_piece(const gls_track_plan *plan, uint64_t n)
{
    const uint32_t most = plan->batch_seeds;
    if (!plan->in_flight || plan->long_rounds || n >= (uint64_t)PIECES * most) return most;
    uint64_t piece = (n + PIECES - 1) / PIECES;
    if (piece < MIN_PIECE) piece = MIN_PIECE;
    return piece < most ? (uint32_t)piece : most;
}

/* The buffers of pass 2 that the host fills or reads have three copies, because a copy stays in use until the round
 * after its own has begun. The pool, which only the device uses, has two, because a copy is free once its round is
 * packed. Other buffers have one. */
unsigned gls_track_buffer_copies(const gls_track_plan *plan, gls_track_buffer buffer)
{
    if (!plan->in_flight) return 1;
    switch (buffer) {
    case GLS_TRACK_UNIFORMS:
    case GLS_TRACK_LINES:
    case GLS_TRACK_STATE: return 3;
    case GLS_TRACK_POOL: return 2;
    default: return 1;
    }
}

/* States have two copies, because two rounds may transfer them at a time. */
unsigned gls_track_fetch_copies(const gls_track_plan *plan, gls_track_fetch fetch)
{
    return plan->in_flight && fetch == GLS_FETCH_STATE ? 2 : 1;
}

uint64_t gls_track_buffer_bytes(const gls_track_params *params, const gls_track_plan *p,
                                uint64_t bytes[GLS_TRACK_BUFFERS])
{
    uint64_t sum = 0, n_halves = 2ull * p->batch_lines;
    bytes[GLS_TRACK_UNIFORMS] = sizeof(gls_track_uniforms);
    bytes[GLS_TRACK_INITIAL_UNIFORMS] = sizeof(gls_track_uniforms);
    bytes[GLS_TRACK_GATHER_UNIFORMS] = sizeof(gls_gather_uniforms);
    bytes[GLS_TRACK_SEEDS] = sizeof(gls_seed_record) * p->batch_seeds;
    bytes[GLS_TRACK_DIRECTIONS] = 4ull * p->batch_seeds * gls_direction_words(params);
    bytes[GLS_TRACK_WORK] = p->staged ? 4 * p->work_arrays * n_halves + WORK_FILLING : 4;
    bytes[GLS_TRACK_LINES] = sizeof(gls_line_record) * p->batch_lines;
    bytes[GLS_TRACK_PLACED] = sizeof(gls_placed_record) * p->batch_lines;
    bytes[GLS_TRACK_POOL] = 12ull * POOL_BLOCK * p->pool_blocks;
    bytes[GLS_TRACK_STATE] =
        sizeof(gls_state_header) + 4 * gls_half_words(p, n_halves) + 4ull * p->guide.block_words * p->pool_blocks;
    bytes[GLS_TRACK_OUTPUT] = p->packs_on_host ? 4 : 12ull * p->output_points;
    for (int i = 0; i < GLS_TRACK_BUFFERS; i++) sum += bytes[i] * gls_track_buffer_copies(p, (gls_track_buffer)i);
    return sum;
}

uint64_t gls_track_fetch_bytes(const gls_track_params *params, const gls_track_plan *p,
                               uint64_t bytes[GLS_TRACK_FETCHES])
{
    uint64_t sum = 0;
    bytes[GLS_FETCH_DIRECTIONS] = 4ull * p->batch_seeds * gls_direction_words(params);
    bytes[GLS_FETCH_STATE] = sizeof(gls_state_header) + 4 * gls_half_words(p, 2ull * p->batch_lines);
    bytes[GLS_FETCH_OUTPUT] = 12ull * p->output_points;
    for (int i = 0; i < GLS_TRACK_FETCHES; i++) {
        if (!p->in_flight) bytes[i] = 0;
        sum += bytes[i] * gls_track_fetch_copies(p, (gls_track_fetch)i);
    }
    return sum;
}
