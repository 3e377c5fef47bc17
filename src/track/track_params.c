/* Defaults and validation of the parameters of tracking, from the rows of params.def. */
#include "track/track_params.h"

#include "util/numbers.h"
#include "util/status.h"

/* Expand params.def with TRACK_ROW(type, field, name, unit, range, default) defined: only rows of gls_track_params
 * count. */
#define GLS_PARAM(owner, group, type, field, name, letter, metavar, unit, range, default_, default_text, choices, \
                  user, role, help)                                                                               \
    OWNER_##owner(type, field, name, unit, range, default_)
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
#define TRACK_ROW(type, field, name, unit, range, default_) .field = (default_),
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
    if (p->step_size > 0 && !gls_getter_facts_of(p->dg).mm_steps) p->step_size *= voxel;
    gls_track_params_lengths(p, voxel);
    p->probe_length *= voxel;
    p->ptt_substep *= voxel;
}

/* Message: "max-angle is 100, but must be more than 0 and at most 90 degrees" */
static gls_status require_range(const char *name, double value, const gls_range *range, const char *unit)
{
    char text[128];
    if (gls_range_has(range, value)) return GLS_OK;
    gls_range_text(range, unit, text, sizeof text);
    return gls_fail(GLS_ERR_ARGUMENT, "%s is %g, but must be %s", name, value,
                    gls_is_single(value) ? text : GLS_SINGLE_TEXT);
}

/* Requires all enums to have one of their values. */
static gls_status check_choices(const gls_track_params *p)
{
    const struct {
        const char *name;
        unsigned value, end;
    } choice[] = {{"dg", p->dg, GLS_DG_COUNT},
                  {"boot-retry", p->boot_retry, GLS_BOOT_RETRY_PEAK + 1},
                  {"boot-start", p->boot_start, GLS_BOOT_START_FIT + 1},
                  {"odf-interpolation", p->odf_interpolation, GLS_ODF_INTERPOLATE_AMPLITUDES + 1},
                  {"mapping", p->mapping, GLS_MAPPING_COUNT},
                  {"precision", p->precision, GLS_PRECISION_FLOAT + 1}};
    for (size_t i = 0; i < sizeof choice / sizeof *choice; i++)
        if (choice[i].value >= choice[i].end)
            return gls_fail(GLS_ERR_ARGUMENT, "%s has no value %d", choice[i].name, (int)choice[i].value);
    return GLS_OK;
}

/* Accepts 0 0 0, and vectors whose squared length neither underflows nor overflows. */
static gls_status check_seed_direction(const double d[3])
{
    double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    if ((d[0] == 0 && d[1] == 0 && d[2] == 0) || (square > 1e-100 && square < 1e100)) return GLS_OK;
    return gls_fail(GLS_ERR_ARGUMENT, "--seed-direction: %g %g %g is too short, too long or not finite", d[0], d[1],
                    d[2]);
}

gls_status gls_track_params_check(const gls_track_params *p)
{
    /* Single numbers: each row has its range. A value equal to the default needs no check, because some defaults, such
     * as lengths in voxels, lie outside the range. */
    static const gls_option rows[] = {
#define TRACK_ROW(type, field, name, unit, range, default_) \
    {GLS_OPTION_AT(offsetof(gls_track_params, field), 0, NULL, type, name, 0, NULL, unit, range, NULL, NULL, NULL)},
#include <glslines/params.def>
#undef TRACK_ROW
    };
    const gls_track_params unset = gls_track_params_default();
    gls_status status = GLS_OK;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double value = gls_option_get_number(&rows[i], p).value;
        const bool is_length = rows[i].kind == GLS_KIND_LENGTH;
        if (!gls_option_is_number(&rows[i]) || value == gls_option_get_number(&rows[i], &unset).value) continue;
        status = require_range(rows[i].name, value, &rows[i].range, is_length ? "mm" : rows[i].unit);
        if (status) return status;
    }
    /* Combinations of numbers. */
    if (p->downsample > 1 && p->compress > 0)
        return gls_fail(GLS_ERR_ARGUMENT, "--downsample and --compress exclude each other");
    if (p->min_length > p->max_length)
        return gls_fail(GLS_ERR_ARGUMENT, "--min-length of %g mm is above --max-length of %g mm", p->min_length,
                        p->max_length);
    if (p->max_length < p->step_size)
        return gls_fail(GLS_ERR_ARGUMENT, "--max-length of %g mm is less than one step (--step-size) of %g mm",
                        p->max_length, p->step_size);
    if (p->max_length / p->step_size > GLS_MAX_STEPS)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--max-length of %g mm is more than %d steps of %g mm: give a longer --step-size",
                        p->max_length, GLS_MAX_STEPS, p->step_size);
    if (gls_getter_has(p->dg, GLS_FOR_PTT) && p->max_length / p->ptt_substep > GLS_MAX_ITERATIONS)
        return gls_fail(GLS_ERR_ARGUMENT,
                        "--max-length of %g mm is more than %d substeps of %g mm: give a longer --ptt-substep",
                        p->max_length, GLS_MAX_ITERATIONS, p->ptt_substep);
    status = check_choices(p);
    return !status ? check_seed_direction(p->seed_direction) : status;
}
