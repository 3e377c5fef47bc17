#include "track/engine/plan.h"

#include <math.h>
#include <string.h>

#include "track/engine/sections.h"
#include "util/status.h"

#define DEFAULT_BATCH_SOFTWARE 25000u
#define DEFAULT_BATCH_HARDWARE 100000u
#define MAX_POOL_BYTES ((uint64_t)512 << 20)
/* seeds of a brain give 1.5 directions and 60 points each on average; a fuller batch is cut */
#define TYPICAL_POINTS_PER_SEED 256u

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

gls_track_shape gls_track_shape_of(const gls_track_params *params, const gls_track_input *input)
{
    const gls_sphere *sphere = params->dg == GLS_DG_BOOT ? input->sphere : input->odf->sphere;
    return (gls_track_shape){params->dg == GLS_DG_BOOT ? (uint32_t)input->qball->k : 0, sphere->antipodal};
}

/* Subgroups of a group for PTT, and whether they find the tables in shared memory. Drivers keep only a group or two at
 * a time whose tables are shared: large ones keep the device busy. */
static uint32_t plan_ptt(const gls_track_params *params, const gls_device_info *limits, const gls_track_shape *shape,
                         uint32_t slots_each, gls_track_plan *plan)
{
    static const uint32_t sizes[] = {24, 20, 16, 12, 8, 4};
    uint64_t tables = gls_section_ptt_bytes(shape->antipodal, params->probe_quality, params->probe_count > 1),
             slot = gls_section_ptt_slot_bytes(params->probe_quality);
    plan->tables_shared = true;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i] * plan->lanes <= limits->max_work_group_size &&
            tables + (uint64_t)sizes[i] * slots_each * slot <= limits->max_shared_bytes)
            return sizes[i];
    plan->tables_shared = false;
    return 4;
}

static gls_group_plan plan_group(const gls_device_info *limits, uint32_t subgroups, uint32_t lanes, uint32_t narrowest)
{
    uint32_t size = lanes > 1 ? subgroups * lanes : limits->software ? 8 : 64;
    while (size > limits->max_work_group_size && size > lanes) size /= 2;
    return (gls_group_plan){size, size / narrowest};
}

static gls_status plan_mapping(const gls_track_params *params, const gls_device_info *limits,
                               const gls_track_shape *shape, gls_track_plan *plan)
{
    bool subgroup = params->mapping == GLS_MAPPING_SUBGROUP ||
                    (params->mapping == GLS_MAPPING_AUTO && limits->subgroup_size > 0 && !limits->software);
    if (subgroup && limits->subgroup_size == 0)
        return gls_fail(
            GLS_ERR_UNSUPPORTED,
            "the subgroup mapping needs KHR_shader_subgroup in compute shaders, which %.100s does not offer",
            limits->renderer);
    plan->lanes = subgroup ? limits->subgroup_size : 1;
    /* Intel's compiler picks the subgroup's width, 8 at least: there may be more of them in a group than the reported
     * size says */
    uint32_t narrowest = subgroup && strstr(limits->vendor, "Intel") ? 8 : plan->lanes;
    bool tables = subgroup && !limits->software && params->dg == GLS_DG_PTT;
    /* lavapipe lets subgroups of one work group see each other's shared memory out of turn: there each has a group of
     * its own */
    uint32_t subgroups = limits->software ? 1 : 4;
    plan->group = plan_group(limits, subgroups, plan->lanes, narrowest);
    plan->track_group =
        plan_group(limits, tables ? plan_ptt(params, limits, shape, plan->lanes / narrowest, plan) : subgroups,
                   plan->lanes, narrowest);
    if (plan->group.size > limits->max_work_group_size)
        return gls_fail(GLS_ERR_UNSUPPORTED, "a work group of %u is over the device's limit of %u", plan->group.size,
                        limits->max_work_group_size);
    plan->lanes_in_step = strstr(limits->vendor, "NVIDIA") != NULL;
    plan->track_groups = (uint32_t)min_u64(limits->software ? 64 : 4096, limits->max_work_groups);
    return GLS_OK;
}

gls_status gls_track_plan_make(const gls_track_params *params, const gls_device_info *limits,
                               const gls_track_shape *shape, gls_track_plan *plan)
{
    gls_track_plan p = {0};
    gls_status status = plan_mapping(params, limits, shape, &p);
    if (status != GLS_OK) return status;
    /* llvmpipe ends every kernel after 65536 turns of all its loops together: nothing may run long there */
    p.staged = p.lanes == 1 || limits->software;
    p.split = p.lanes == 1 && shape->coefficients > 0;
    p.turns = p.split ? (limits->software ? 1 : 8) : 4;
    /* hardware that tracks by other getters is no faster for it */
    p.ordered = p.staged || params->dg == GLS_DG_PTT;
    p.work_words = p.staged ? 1 + GLS_WORK_FIELDS + (p.split ? shape->coefficients : 0) : 0;
    p.substeps = params->dg == GLS_DG_PTT ? (uint32_t)fmax(1, rint(params->step_size / params->ptt_substep)) : 1;
    p.max_steps = (uint32_t)floor(params->max_length / params->step_size * (1 + 1e-9));
    if (p.max_steps < 1) p.max_steps = 1;

    uint64_t storage = limits->max_storage_bytes, directions = (uint64_t)params->max_directions_per_seed;
    uint64_t pool_bytes = min_u64(storage, MAX_POOL_BYTES);
    /* the gathered points need a seed for each line besides the pool's */
    uint64_t blocks = pool_bytes * 3 / 4 / (GLS_POOL_BLOCK * 12);
    uint64_t needed = 2 * directions * ((p.max_steps + GLS_POOL_BLOCK - 1) / GLS_POOL_BLOCK);
    uint64_t batch = params->batch_seeds ? params->batch_seeds
                     : limits->software  ? DEFAULT_BATCH_SOFTWARE
                                         : DEFAULT_BATCH_HARDWARE;
    batch = min_u64(batch, storage / ((directions + 1) * 4));
    batch = min_u64(batch, storage / (GLS_SEED_WORDS * 4));
    batch = min_u64(batch, 1u << 22);
    batch = min_u64(batch, (uint64_t)limits->max_work_groups * p.group.slots);
    uint64_t lines = min_u64(batch * 4 > directions ? batch * 4 : directions, storage / 4 / (GLS_LINE_WORDS * 4));
    if (p.staged) {
        lines = min_u64(lines, storage / (8 * (uint64_t)p.work_words));
        lines = min_u64(lines, (uint64_t)limits->max_work_groups * p.group.slots / 2);
        batch = min_u64(batch, 2 * lines);
    }
    if (batch < 1 || lines < directions || blocks < needed)
        return gls_fail(GLS_ERR_UNSUPPORTED,
                        "one seed's streamlines (%llu directions of %u steps) do not fit a buffer of %llu bytes: lower "
                        "the maximum length",
                        (unsigned long long)directions, p.max_steps, (unsigned long long)storage);
    uint64_t wanted = batch * TYPICAL_POINTS_PER_SEED / GLS_POOL_BLOCK;
    if (wanted < needed) wanted = needed;
    blocks = min_u64(blocks, wanted);
    uint64_t state_words = GLS_STATE_HEADER + 2 * lines + 2 * blocks;
    if (state_words * 4 > storage) blocks = (storage / 4 - GLS_STATE_HEADER - 2 * lines) / 2;
    if (blocks < needed)
        return gls_fail(GLS_ERR_UNSUPPORTED, "the device's buffers of %llu bytes are too small for one streamline",
                        (unsigned long long)storage);
    p.batch_seeds = (uint32_t)batch;
    p.batch_lines = (uint32_t)lines;
    p.pool_blocks = (uint32_t)blocks;
    p.output_points = (uint32_t)min_u64(blocks * GLS_POOL_BLOCK + lines, storage / 12);
    *plan = p;
    return GLS_OK;
}
