#include "track/engine/mapping.h"

#include <string.h>

#include "util/status.h"

/* --- one invocation a streamline ------------------------------------------ */

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

static gls_group_plan group_of_single(const gls_device_info *limits, uint32_t n_streamlines)
{
    (void)n_streamlines;
    uint32_t size = limits->software ? 8 : 64;
    while (size > limits->max_work_group_size && size > 1) size /= 2;
    return (gls_group_plan){size, size};
}

static const gls_mapping_kind single = {
    .name = "single",
    .shader = "base/lanes_single.glsl",
    .looped = false,
    .check = check_single,
    .lanes = one,
    .group = group_of_single,
    .slots_each = one,
};

/* --- a subgroup a streamline ---------------------------------------------- */

static gls_status check_subgroup(const gls_device_info *limits)
{
    if (limits->subgroup_size > 0) return GLS_OK;
    return gls_fail(GLS_ERR_UNSUPPORTED,
                    "the subgroup mapping needs KHR_shader_subgroup in compute shaders, which %.100s does not offer",
                    limits->renderer);
}

static uint32_t lanes_of_subgroup(const gls_device_info *limits)
{
    return limits->subgroup_size;
}

/* Intel's compiler picks the subgroup's width, 8 at least: there may be more of them in a group than the reported size
 * says. */
static uint32_t slots_of_subgroup(const gls_device_info *limits)
{
    return strstr(limits->vendor, "Intel") ? limits->subgroup_size / 8 : 1;
}

static gls_group_plan group_of_subgroups(const gls_device_info *limits, uint32_t n_streamlines)
{
    uint32_t lanes = limits->subgroup_size, size = n_streamlines * lanes;
    while (size > limits->max_work_group_size && size > lanes) size /= 2;
    return (gls_group_plan){size, strstr(limits->vendor, "Intel") ? size / 8 : size / lanes};
}

static const gls_mapping_kind subgroup = {
    .name = "subgroup",
    .shader = "base/lanes_subgroup.glsl",
    .looped = true,
    .check = check_subgroup,
    .lanes = lanes_of_subgroup,
    .group = group_of_subgroups,
    .slots_each = slots_of_subgroup,
};

/* -------------------------------------------------------------------------- */

static const gls_mapping_kind *const kinds[] = {
    [GLS_MAPPING_SINGLE] = &single,
    [GLS_MAPPING_SUBGROUP] = &subgroup,
};

gls_status gls_mapping_choose(gls_mapping mapping, const gls_device_info *limits, const gls_mapping_kind **kind)
{
    /* a CPU renderer has no lanes to fill */
    if (mapping == GLS_MAPPING_AUTO)
        mapping = limits->subgroup_size > 0 && !limits->software ? GLS_MAPPING_SUBGROUP : GLS_MAPPING_SINGLE;
    *kind = kinds[mapping];
    return (*kind)->check(limits);
}
