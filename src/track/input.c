/* Checks the input of a tracker: the needs of all direction getters, then the needs of the chosen getter. */
#include <math.h>
#include <stdio.h>

#include "image/region_set.h"
#include "image/tissue_image.h"
#include "track/track_params.h"
#include "track/getter/getter.h"
#include "track/guide/guide.h"
#include "util/status.h"

/* Fails for options whose answer would depend on points that backtracking removes, and for getters without random
 * numbers, which would only repeat the same steps. */
static gls_status check_backtrack(const gls_track_params *params)
{
    const gls_getter *getter = gls_getter_of(params);
    if (getter->deterministic && !(params->step_noise > 0))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--backtrack: the direction getter %s is deterministic and would go the same way again: give "
                        "one with random steps, such as --dg ifod2",
                        getter->name);
    if (getter->no_backtrack) return gls_fail(GLS_ERR_UNSUPPORTED, "--backtrack: %s", getter->no_backtrack);
    if (params->stop_at_all)
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "--backtrack: not with --stop: a region that was met would be lost when a streamline is taken back");
    if (params->loop_check)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--backtrack: not with --loop-check, which looks at all points of a half-streamline");
    return GLS_OK;
}

/* Fails for getters without particles, and for options that particle filtering cannot keep. */
static gls_status check_pft(const gls_track_params *params)
{
    if (!gls_getter_of(params)->filters)
        return gls_fail(GLS_ERR_ARGUMENT, "--pft: the direction getter %s has no particles: give --dg prob or det",
                        gls_getter_of(params)->name);
    if (params->backtrack) return gls_fail(GLS_ERR_ARGUMENT, "--pft and --backtrack exclude each other");
    if (params->stop_at_all)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--pft: not with --stop: a region that was met would be lost when a streamline is taken back");
    return GLS_OK;
}

gls_status gls_track_tissue_check(const gls_track_params *params, bool tissue)
{
    if (params->region_rule != GLS_REGION_RULE_STREAMLINE && (tissue || params->stop_at_all))
        return gls_fail(GLS_ERR_ARGUMENT, "--region-rule: must be streamline with %s",
                        tissue ? "tissue, which judges both ends of a streamline" : "--stop");
    if (params->backtrack) return check_backtrack(params);
    return params->pft ? check_pft(params) : GLS_OK;
}

/* Particle filtering needs an image of tissue with another rule than ACT, and has space for a limited number of steps.
 */
static gls_status check_filter(const gls_track_params *params, const gls_tissue *tissue)
{
    const double steps =
        gls_filter_steps(params->pft_back, params->step_size) + gls_filter_steps(params->pft_front, params->step_size);
    if (!tissue || tissue->rule == GLS_TISSUE_RULE_ACT)
        return gls_fail(GLS_ERR_ARGUMENT, "--pft: needs tissue, such as --pve-wm, and --act-rule pve or cmc");
    if (steps > FILTER_MOST_STEPS)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--pft-back %g and --pft-front %g mm are %.0f steps of %g mm, but %u at most are possible: "
                        "give a longer --step-size, or shorten them",
                        params->pft_back, params->pft_front, steps, params->step_size, FILTER_MOST_STEPS);
    return GLS_OK;
}

/* GLS_ERR_INPUT if the stop map has no finite value at all. */
static gls_status check_stop_map(const gls_image *map)
{
    for (size_t i = 0, n = gls_grid_voxels(&map->grid); i < n; i++)
        if (isfinite(map->data[i])) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT, "the stop map has no finite value: every streamline would end at its seed");
}

gls_status gls_track_input_check(const gls_track_params *params, const gls_track_input *input)
{
    GLS_REQUIRE(input->stop_map);
    GLS_REQUIRE(input->stop_map->n_volumes == 1);
    GLS_REQUIRE(!input->regions || input->regions->complete);
    gls_status stop_map = check_stop_map(input->stop_map);
    if (stop_map) return stop_map;
    /* All inputs lie on the grid of the stop map. */
    if (input->regions) {
        gls_status status =
            gls_grid_require_equal(&input->regions->grid, "the regions", &input->stop_map->grid, "the stop map");
        if (status) return status;
    }
    if (input->tissue) {
        gls_status status =
            gls_grid_require_equal(&input->tissue->grid, "the tissue", &input->stop_map->grid, "the stop map");
        if (status) return status;
    }
    /* Combinations of options that contradict each other. */
    if (params->stop_at_all && !gls_regions_bits(input->regions, GLS_REGION_INCLUDE))
        return gls_fail(GLS_ERR_ARGUMENT, "--stop: needs --include regions to be met");
    gls_status tissue = gls_track_tissue_check(params, input->tissue);
    if (tissue) return tissue;
    if (params->step_noise > 0 && !gls_getter_has(params->dg, GLS_FOR_NOISE))
        return gls_fail(GLS_ERR_ARGUMENT, "--step-noise: only --dg fact has it");
    if (params->stop_by_fraction && !gls_getter_has(params->dg, GLS_FOR_FIBRES))
        return gls_fail(GLS_ERR_ARGUMENT, "--stop-by-fraction: only --dg bedpost has it");
    if (params->loop_check && !gls_getter_has(params->dg, GLS_FOR_FIBRES))
        return gls_fail(GLS_ERR_ARGUMENT, "--loop-check: only --dg bedpost has it");
    if (gls_regions_bits(input->regions, GLS_REGION_INCLUDE_ORDERED) && !params->seed_unidirectional)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--include-ordered: needs --seed-unidirectional: without it a streamline has no first end");
    /* Back-tracking needs tissue with the rule act; particle filtering needs tissue with another rule. */
    if (params->backtrack && (!input->tissue || input->tissue->rule != GLS_TISSUE_RULE_ACT))
        return gls_fail(GLS_ERR_ARGUMENT, "--backtrack: needs tissue, such as --act, and --act-rule act");
    if (params->pft) {
        gls_status status = check_filter(params, input->tissue);
        if (!status && gls_regions_bits(input->regions, GLS_REGION_STOP_LEAVING))
            status = gls_fail(GLS_ERR_ARGUMENT,
                              "--pft: not with --stop-leaving: particles do not remember in which regions they were");
        if (status) return status;
    }
    return gls_getter_of(params)->check(params, input);
}

/* --- Facts from the getters' rows. */

/* The row of a getter that is known to exist. */
static const gls_getter *row_of(gls_direction_getter dg)
{
    return gls_getter_of(&(gls_track_params){.dg = dg});
}

gls_getter_facts gls_getter_facts_of(gls_direction_getter dg)
{
    const gls_getter *row = (unsigned)dg < GLS_DG_COUNT ? row_of(dg) : NULL;
    if (!row) return (gls_getter_facts){.deterministic = false};
    return (gls_getter_facts){.deterministic = row->deterministic,
                              .mm_steps = row->mm_steps,
                              .one_point = row->one_point,
                              .curved = row->parts || row->substeps,
                              .n_peaks = row->n_peaks,
                              .act_cutoff = row->act_cutoff};
}

bool gls_getter_has(gls_direction_getter dg, gls_param_user user)
{
    return (unsigned)dg < GLS_DG_COUNT && row_of(dg)->has >> user & 1;
}

const char *gls_getters_with(gls_param_user user, char *text, size_t size)
{
    size_t used = 0;
    *text = '\0';
    for (int dg = 0; dg < GLS_DG_COUNT; dg++)
        if (gls_getter_has((gls_direction_getter)dg, user) && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     row_of((gls_direction_getter)dg)->name);
    if (user == GLS_FOR_CUTOFF && used < size) snprintf(text + used, size - used, ", and prob, det of FODs");
    return text;
}
