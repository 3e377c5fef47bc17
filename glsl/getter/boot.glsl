// Direction getter boot: residual bootstrap of a q-ball model, then the closest peak (Berman et al. 2008; formulas in
// <glslines/qball.h>). sample.comp and turn.comp do the same in two kernels.
//
// For each voxel the field holds the k coefficients of the hat fit, the mean b0 signal and the n scaled residuals. All
// are linear in the signal, so interpolating them interpolates the signal.
#include "base/math.glsl"
#include "odf/peaks.glsl"
#include "getter/boot_fit.glsl"
#include <boot_sample>
#include "getter/boot_choose.glsl"

void prepare_getter() {}

// Draws one bootstrap sample, computes its ODF and chooses one of its peaks. If the sample gives no direction, another
// one may be drawn, see boot_choose.glsl.
uint next_direction(vec3 p, vec3 d, inout uvec3 aux, Draw draw, inout vec3 next)
{
    sample_coefficients(p, draw, false);
    odf_axis = d;
    evaluate_odf(fitted);
    uint n = find_peaks();
    list_candidates(n);
    return choose_direction(d, n, aux, next);
}

// Lists all peaks at the seed: with HAVE_MEASURED of the measured signal, else of a bootstrap sample.
uint initial_directions(vec3 p, Draw draw, inout uint vertex[MAX_DIRECTIONS])
{
    if (!inside(p)) return 0u;
    sample_coefficients(p, draw, HAVE_MEASURED != 0);
    evaluate_odf(fitted);
    list_candidates(find_peaks());
    return list_peaks(vertex);
}
