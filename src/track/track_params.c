/* Defaults of the parameters of tracking, from the rows of params.def, the checks of parameters and input before a
 * tracker is made, and facts from the rows of getters. */
#include "track/track_params.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "image/region_set.h"
#include "image/tissue_image.h"
#include "track/getter/getter.h"
#include "track/getter/getters.h"
#include "track/guide/guide.h"
#include "util/numbers.h"
#include "util/status.h"

/* Each use of params.def below defines TRACK_ROW(type, field, name, unit, range, default, choices, user), which is
 * expanded for the rows of gls_track_params alone. */
#define GLS_PARAM(owner, group, type, field, name, letter, metavar, unit, range, default_, default_text, choices, \
                  user, role, ...)                                                                                \
    OWNER_##owner(type, field, name, unit, range, default_, choices, user)
#define OWNER_TRACK TRACK_ROW
#define OWNER_JOB(...)
#define OWNER_GRADIENTS(...)
#define OWNER_MODEL(...)
#define OWNER_BASIS(...)
#define OWNER_COMMAND(...)

gls_track_params gls_track_params_default(void)
{
    return (gls_track_params){
        .size = sizeof(gls_track_params),
#define TRACK_ROW(type, field, name, unit, range, default_, choices, user) .field = (default_),
#include <glslines/params.def>
#undef TRACK_ROW
    };
}

void gls_track_params_lengths(gls_track_params *p, double voxel)
{
    if (p->step_size < 0) p->step_size *= -voxel;
    if (p->min_length < 0) p->min_length *= -voxel;
    if (p->max_length < 0) p->max_length *= -voxel;
}

void gls_track_params_scale(gls_track_params *p, double voxel)
{
    if (p->step_size > 0 && !gls_getter_of(p)->mm_steps) p->step_size *= voxel;
    gls_track_params_lengths(p, voxel);
    p->probe_length *= voxel;
    p->ptt_substep *= voxel;
}

/* Fails if the range does not have the value: "max-angle is 100, but must be more than 0 and at most 90 degrees". */
static gls_status require_range(const char *name, double value, const gls_range *range, const char *unit)
{
    char text[128];
    if (gls_range_has(range, value)) return GLS_OK;
    gls_range_text(range, unit, text, sizeof text);
    return gls_fail(GLS_ERR_ARGUMENT, "%s is %g, but must be %s", name, value,
                    gls_is_single(value) ? text : GLS_SINGLE_TEXT);
}

/* Accepts 0 0 0, and vectors whose squared length neither underflows nor overflows. */
static gls_status check_seed_direction(const double d[3])
{
    double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    if ((d[0] == 0 && d[1] == 0 && d[2] == 0) || (square > 1e-100 && square < 1e100)) return GLS_OK;
    return gls_fail(GLS_ERR_ARGUMENT, "--seed-direction: the vector %g %g %g is too short, too long or not finite",
                    d[0], d[1], d[2]);
}

/* The rows of gls_track_params. */
static const gls_option rows[] = {
#define TRACK_ROW(type, field, name_, unit, range, default_, choices, user_)                                     \
    {GLS_OPTION_AT(offsetof(gls_track_params, field), 0, NULL, type, name_, 0, NULL, unit, range, NULL, choices, \
                   NULL),                                                                                        \
     .user = GLS_FOR_##user_},
#include <glslines/params.def>
#undef TRACK_ROW
    {.name = NULL}};

gls_status gls_track_params_check_getter(const gls_track_params *p)
{
    const gls_track_params unset = gls_track_params_default();
    gls_status status = GLS_OK;
    for (const gls_option *row = rows; row->name && !status; row++) {
        /* a value other than 0 switches on what is off by default */
        const bool is_on = gls_option_get_number(row, &unset).value == 0 && gls_option_get_number(row, p).value != 0;
        if (is_on && gls_user_is_getter(row->user))
            status = gls_getter_require(gls_getter_of(p), (gls_param_user)row->user, row->name, "");
    }
    return status;
}

gls_status gls_track_params_check(const gls_track_params *p)
{
    /* Single numbers: each row has its range. A value equal to the default needs no check, because some defaults, such
     * as lengths in voxels, lie outside the range. */
    const gls_track_params unset = gls_track_params_default();
    gls_status status = gls_options_check_values(rows, p);
    for (size_t i = 0; rows[i].name && !status; i++) {
        const double value = gls_option_get_number(&rows[i], p).value;
        const bool is_length = rows[i].kind == GLS_KIND_LENGTH;
        if (!gls_option_is_number(&rows[i]) || value == gls_option_get_number(&rows[i], &unset).value) continue;
        status = require_range(rows[i].name, value, &rows[i].range, is_length ? "mm" : rows[i].unit);
    }
    if (!status) status = gls_track_params_check_getter(p);
    if (status) return status;
    /* Combinations of numbers. */
    if (p->downsample > 1 && p->compress > 0)
        return gls_fail(GLS_ERR_ARGUMENT, "--downsample and --compress exclude each other: leave out one of them");
    if (p->min_length > p->max_length)
        return gls_fail(GLS_ERR_ARGUMENT, "--min-length: %g mm is more than --max-length %g mm", p->min_length,
                        p->max_length);
    if (p->max_length < p->step_size)
        return gls_fail(GLS_ERR_ARGUMENT, "--max-length of %g mm is less than one step (--step-size) of %g mm",
                        p->max_length, p->step_size);
    if (p->max_length / p->step_size > GLS_MAX_STEPS)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--max-length of %g mm is more than %d steps of %g mm: give a longer --step-size",
                        p->max_length, GLS_MAX_STEPS, p->step_size);
    if (gls_getter_uses(gls_getter_of(p), GLS_FOR_ptt) && p->max_length / p->ptt_substep > GLS_MAX_ITERATIONS)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--max-length of %g mm is more than %d substeps of %g mm: give a longer --ptt-substep",
                        p->max_length, GLS_MAX_ITERATIONS, p->ptt_substep);
    return check_seed_direction(p->seed_direction);
}

/* --- The input: the needs of all direction getters, then the needs of the chosen getter. */

/* Fails for getters without random numbers, which would only repeat the same steps, for getters that cannot go back,
 * and for options that need points that backtracking removes. */
static gls_status check_backtrack(const gls_track_params *params)
{
    const gls_getter *getter = gls_getter_of(params);
    if (getter->deterministic && !(params->step_noise > 0))
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--backtrack: --dg %s is deterministic and would go the same way again: give a --dg with "
                        "random steps, such as ifod2",
                        getter->name);
    if (getter->no_backtrack) return gls_fail(GLS_ERR_UNSUPPORTED, "--backtrack: %s", getter->no_backtrack);
    if (params->stop_at_all)
        return gls_fail(GLS_ERR_ARGUMENT, "--backtrack: cannot be used with --stop, because a streamline that is "
                                          "shortened again forgets which regions were met");
    if (params->loop_check)
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "--backtrack: cannot be used with --loop-check, which looks at all points of a half-streamline");
    return GLS_OK;
}

/* Fails for getters without particles, and for options that cannot be combined with particle filtering. */
static gls_status check_pft(const gls_track_params *params)
{
    gls_status status = gls_getter_require(gls_getter_of(params), GLS_FOR_PROB_DET, "pft", "");
    if (status) return status;
    if (params->backtrack)
        return gls_fail(GLS_ERR_ARGUMENT, "--pft and --backtrack exclude each other: leave out one of them");
    if (params->stop_at_all)
        return gls_fail(GLS_ERR_ARGUMENT, "--pft: cannot be used with --stop, because a streamline that is shortened "
                                          "again forgets which regions were met");
    return GLS_OK;
}

gls_status gls_track_tissue_check(const gls_track_params *params, bool tissue)
{
    if (params->region_rule != GLS_REGION_RULE_STREAMLINE && (tissue || params->stop_at_all))
        return gls_fail(GLS_ERR_ARGUMENT, "--region-rule: must be streamline with %s",
                        tissue ? "tissue, whose rules judge both ends of a streamline together" : "--stop");
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
        return gls_fail(GLS_ERR_ARGUMENT, "--pft: needs tissue, such as --act FILE, and --act-rule cmc or pve");
    if (steps > FILTER_MOST_STEPS)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--pft-back %g and --pft-front %g mm are %.0f steps of %g mm, but %u at most are possible: "
                        "give a longer --step-size, or shorter --pft-back and --pft-front",
                        params->pft_back, params->pft_front, steps, params->step_size, FILTER_MOST_STEPS);
    return GLS_OK;
}

/* GLS_ERR_INPUT if the stop map has no finite value at all. */
static gls_status check_stop_map(const gls_image *map)
{
    for (size_t i = 0, n = gls_grid_voxels(&map->grid); i < n; i++)
        if (isfinite(map->data[i])) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT, "the stop map has no finite value, so that every streamline would end at its seed");
}

gls_status gls_track_input_check(const gls_track_params *params, const gls_track_input *input)
{
    GLS_REQUIRE(input->stop_map);
    GLS_REQUIRE(input->stop_map->n_volumes == 1);
    GLS_REQUIRE(!input->regions || input->regions->complete);
    gls_status stop_map = check_stop_map(input->stop_map);
    if (stop_map) return stop_map;
    /* Regions and tissue must lie on the grid of the stop map. */
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
    if (params->stop_at_all && !gls_regions_bits(input->regions, GLS_REGION_INCLUDE) &&
        !gls_regions_bits(input->regions, GLS_REGION_INCLUDE_ANY))
        return gls_fail(GLS_ERR_ARGUMENT, "--stop: needs --include or --include-any, the regions to be met");
    gls_status tissue = gls_track_tissue_check(params, input->tissue);
    if (tissue) return tissue;
    if (gls_regions_bits(input->regions, GLS_REGION_INCLUDE_ORDERED) && !params->seed_unidirectional)
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "--include-ordered: needs --seed-unidirectional, because a streamline tracked both ways has no first end");
    /* Back-tracking needs tissue with the rule act; particle filtering needs tissue with another rule. */
    if (params->backtrack && (!input->tissue || input->tissue->rule != GLS_TISSUE_RULE_ACT))
        return gls_fail(GLS_ERR_ARGUMENT, "--backtrack: needs tissue, such as --act, and --act-rule act");
    if (params->pft) {
        gls_status status = check_filter(params, input->tissue);
        if (!status && gls_regions_bits(input->regions, GLS_REGION_STOP_LEAVING))
            status = gls_fail(GLS_ERR_ARGUMENT, "--pft: cannot be used with --stop-leaving, because particles do not "
                                                "remember in which regions they were");
        if (status) return status;
    }
    return gls_getter_of(params)->check(params, input);
}

/* --- Facts from the getters' rows. */

const char *gls_getter_name(gls_direction_getter dg)
{
    return gls_getter_row(dg)->name;
}

const char *gls_getter_words(gls_direction_getter dg, const char **paper)
{
    const gls_getter *row = gls_getter_row(dg);
    *paper = row ? row->paper : NULL;
    return row ? row->words : NULL;
}

gls_direction_getter gls_getter_named(const char *name)
{
    int dg = 0;
    while (dg < GLS_DG_COUNT && strcmp(name, gls_getter_name((gls_direction_getter)dg)) != 0) dg++;
    return (gls_direction_getter)dg;
}

const char *gls_getters_with(gls_param_user user, char *text, size_t size)
{
    size_t used = 0;
    *text = '\0';
    for (int dg = 0; dg < GLS_DG_COUNT; dg++)
        if (gls_getter_uses(gls_getter_row((gls_direction_getter)dg), user) && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     gls_getter_row((gls_direction_getter)dg)->name);
    if (user == GLS_FOR_CUTOFF && used < size) snprintf(text + used, size - used, ", and prob, det of FODs");
    return text;
}

gls_status gls_getter_require(const gls_getter *getter, gls_param_user user, const char *option, const char *remark)
{
    char names[256];
    if (gls_getter_uses(getter, user)) return GLS_OK;
    return gls_fail(GLS_ERR_ARGUMENT, "--%s: only --dg %s can use it%s", option,
                    gls_getters_with(user, names, sizeof names), remark);
}
