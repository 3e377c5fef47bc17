/* Defaults and validation of tracking parameters: the only place. */
#include "track/check.h"

#include <math.h>

#include "util/status.h"

gls_track_params gls_track_params_default(void)
{
    return (gls_track_params){
        .dg = GLS_DG_BOOT,
        .step_size = 0.5,
        .max_angle = 60,
        .stop_threshold = 0.1,
        .pmf_threshold = 0.05,
        .relative_peak_threshold = 0.25,
        .min_separation_angle = 45,
        .min_length = 0,
        .max_length = 500,
        .max_directions_per_seed = 10,
        .probe_length = 2,
        .probe_quality = 8,
        .probe_count = 1,
        .ptt_substep = 0.025,
        .boot_retry = GLS_BOOT_RETRY_CONE,
        .boot_start = GLS_BOOT_START_SAMPLE,
        .mapping = GLS_MAPPING_AUTO,
    };
}

void gls_track_params_scale(gls_track_params *p, double voxel)
{
    p->step_size *= voxel;
    p->probe_length *= voxel;
    p->ptt_substep *= voxel;
}

double gls_track_max_curvature(const gls_track_params *p)
{
    if (p->min_radius_of_curvature > 0) return 1 / p->min_radius_of_curvature;
    return 2 * sin(p->max_angle * acos(-1.0) / 360) * p->probe_quality / p->probe_length;
}

static gls_status require_range(const char *name, double value, double low, bool low_open, double high,
                                const char *unit)
{
    if (isfinite(value) && (low_open ? value > low : value >= low) && value <= high) return GLS_OK;
    return gls_fail(GLS_ERR_ARGUMENT, "%s is %g, but must be %s %g and at most %g%s%s", name, value,
                    low_open ? "above" : "at least", low, high, *unit ? " " : "", unit);
}

gls_status gls_track_params_check(const gls_track_params *p)
{
    const struct {
        const char *name;
        double value, low;
        bool low_open;
        double high;
        const char *unit;
    } ranges[] = {
        {"step size", p->step_size, 0, true, 100, "mm"},
        {"maximum angle", p->max_angle, 0, true, 90, "degrees"},
        {"stop threshold", p->stop_threshold, -1e30, false, 1e30, ""},
        {"PMF threshold", p->pmf_threshold, 0, false, 1, ""},
        {"relative peak threshold", p->relative_peak_threshold, 0, false, 1, ""},
        {"minimum separation angle", p->min_separation_angle, 0, false, 90, "degrees"},
        {"minimum length", p->min_length, 0, false, 1e6, "mm"},
        {"maximum length", p->max_length, 0, true, 1e6, "mm"},
        {"maximum number of directions per seed", p->max_directions_per_seed, 1, false, GLS_MAX_DIRECTIONS, ""},
        {"angular weight", p->angular_weight, 0, false, 1, ""},
        {"probe length", p->probe_length, 0, true, 1000, "mm"},
        {"probe quality", p->probe_quality, 1, false, 64, ""},
        {"probe count", p->probe_count, 1, false, 32, ""},
        {"probe radius", p->probe_radius, 0, false, 100, "mm"},
        {"PTT substep", p->ptt_substep, 0, true, 100, "mm"},
        {"minimum radius of curvature", p->min_radius_of_curvature, 0, false, 1e6, "mm"},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        gls_status status = require_range(ranges[i].name, ranges[i].value, ranges[i].low, ranges[i].low_open,
                                          ranges[i].high, ranges[i].unit);
        if (status != GLS_OK) return status;
    }
    if (p->min_length > p->max_length)
        return gls_fail(GLS_ERR_ARGUMENT, "the minimum length of %g mm is above the maximum of %g mm", p->min_length,
                        p->max_length);
    if (p->max_length < p->step_size)
        return gls_fail(GLS_ERR_ARGUMENT, "a maximum length of %g mm is less than one step of %g mm", p->max_length,
                        p->step_size);
    if (p->max_length / p->step_size > GLS_MAX_STEPS)
        return gls_fail(GLS_ERR_ARGUMENT, "a maximum length of %g mm is more than %d steps of %g mm", p->max_length,
                        GLS_MAX_STEPS, p->step_size);
    return GLS_OK;
}
