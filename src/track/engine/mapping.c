/* The mappings of streamlines to invocations: one row each, and the choice for a device. The comments of the members
 * are in track_plan.h. Read-only tables; all functions may be called from any thread. */
#include "track/engine/track_plan.h"

#include <string.h>

#include "util/status.h"

/* --- One invocation for each streamline. */

/* Every device can run one invocation for each streamline, and work groups without subgroups. */
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
 * mixes up invocations of a group. */
static gls_group_plan group_of_single(const gls_device_info *limits, uint32_t n_streamlines)
{
    (void)n_streamlines;
    uint32_t size = !limits->apart ? 1 : limits->software ? 8 : 64;
    while (size > limits->max_work_group_size && size > 1) size /= 2;
    return (gls_group_plan){size, size};
}

static const gls_mapping_kind single = {
    .mapping = GLS_MAPPING_SINGLE,
    .name = "single",
    .shader = "base/lanes_single.glsl",
    .looped = false,
    .check = check_single,
    .lanes = one,
    .group = group_of_single,
    .slots_each = one,
};

/* --- A subgroup for each streamline. */

/* Fails on a device whose compute shaders have no subgroups. */
static gls_status check_subgroup(const gls_device_info *limits)
{
    if (limits->subgroup_size > 0) return GLS_OK;
    return gls_fail(GLS_ERR_UNSUPPORTED,
                    "the subgroup mapping needs KHR_shader_subgroup in compute shaders, which %.100s does not offer",
                    limits->renderer);
}

/* Number of invocations of a subgroup, as the driver reports it. */
static uint32_t lanes_of_subgroup(const gls_device_info *limits)
{
    return limits->subgroup_size;
}

/* Intel's compiler picks the width of subgroups, at least 8: a group may have more subgroups than the reported
 * size suggests. */
static uint32_t slots_of_subgroup(const gls_device_info *limits)
{
    return strstr(limits->vendor, "Intel") ? limits->subgroup_size / 8 : 1;
}

/* A group of n_streamlines subgroups, or of as many as the device allows, at least one. */
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

uint32_t gls_mapping_lanes(gls_mapping mapping, const gls_device_info *device)
{
    if (mapping == GLS_MAPPING_AUTO) mapping = gls_mapping_auto(device);
    if ((unsigned)mapping >= GLS_MAPPING_COUNT || (mapping == GLS_MAPPING_SUBGROUP && device->subgroup_size == 0))
        return 0;
    return kinds[mapping]->lanes(device);
}

gls_status gls_mapping_choose(gls_mapping mapping, const gls_device_info *limits, const gls_mapping_kind **kind)
{
    *kind = kinds[mapping == GLS_MAPPING_AUTO ? gls_mapping_auto(limits) : mapping];
    return (*kind)->check(limits);
}
