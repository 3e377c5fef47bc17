// Direction getter sdstream: follows the FOD uphill from the last direction to a peak (Tournier et al. 2012). The climb
// is Newton's method along the great circle of steepest ascent, with derivatives of the spherical harmonics.
#include "base/packed.glsl"
#include "base/model.glsl"
#include "base/start.glsl"
#define OWN_POSITIONS 0
#define TILES_IN_TURN 0
#include "odf/sh_direction.glsl"

void prepare_getter() {}

const uint RETRIES = 0u;
const int CLIMB_TURNS = 50;
const float CLIMB_STEP = 0.2, CLIMB_END = 1e-4; // in radians: longest step uphill, and the step at which the climb
                                                // ends

// Value, gradient and second derivatives of the sum of basis functions with respect to x, y and z.
struct Slope {
    float value;
    vec3 gradient;
    mat3 second;
};

// Evaluates the FOD along t with derivatives, by the generated rows that amplitude_along() of odf/sh_direction.glsl
// uses, too. The basis functions are harmonic in x and y, so d2/dy2 of their (x, y) part is -d2/dx2.
Slope slope_along(vec3 t)
{
    // re + i im: (x + i y)^m; _1 and _2: the powers m - 1 and m - 2, for derivatives by x and y. order: m.
    float zz = t.z * t.z, re = 1.0, im = 0.0, re_1 = 0.0, im_1 = 0.0, re_2 = 0.0, im_2 = 0.0, order = 0.0;
    vec3 q, before, with_re, with_im; // each: a polynomial in z, its first and its second derivative
    float value = 0.0, xx = 0.0, xy = 0.0, xz = 0.0, yz = 0.0, z2 = 0.0;
    vec3 gradient = vec3(0.0);
#define SH_FIRST(k) q = vec3(k, 0.0, 0.0); before = vec3(0.0); with_re = vec3(0.0); with_im = vec3(0.0);
#define SH_FIRST_Z(k) q = (k) * vec3(t.z, 1.0, 0.0); before = vec3(0.0); with_re = vec3(0.0); with_im = vec3(0.0);
// The macros below work on (value, first, second derivative by z) of the polynomial Q(z). The rows come from rows_of()
// of src/track/getter/fod_getters.c.
#define SH_NEXT(f, g, h)                                                                                          \
    {                                                                                                             \
        vec3 r = ((f) * zz + (g)) * q + (h) * before +                                                            \
                 (f) * vec3(0.0, 2.0 * t.z * q.x, 4.0 * t.z * q.y + 2.0 * q.x);                                   \
        before = q;                                                                                               \
        q = r;                                                                                                    \
    }
#define SH_ZONAL(j) value += CHANNEL(j) * q.x; gradient.z += CHANNEL(j) * q.y; z2 += CHANNEL(j) * q.z;
#define SH_COSINE(j) with_re += CHANNEL(j) * q;
#define SH_SINE(j) with_im += CHANNEL(j) * q;
#define SH_TURN                                                                                                   \
    re_2 = re_1, im_2 = im_1, re_1 = re, im_1 = im, order += 1.0;                                                 \
    re = re_1 * t.x - im_1 * t.y;                                                                                 \
    im = re_1 * t.y + im_1 * t.x;
#define SH_ORDER_END                                                                                              \
    {                                                                                                             \
        vec3 sum = re * with_re + im * with_im;                                                                   \
        vec2 x = order * (re_1 * with_re.xy + im_1 * with_im.xy), y = order * (re_1 * with_im.xy - im_1 * with_re.xy); \
        value += sum.x;                                                                                           \
        gradient += vec3(x.x, y.x, sum.y);                                                                        \
        z2 += sum.z;                                                                                              \
        xz += x.y;                                                                                                \
        yz += y.y;                                                                                                \
        xx += order * (order - 1.0) * (re_2 * with_re.x + im_2 * with_im.x);                                      \
        xy += order * (order - 1.0) * (re_2 * with_im.x - im_2 * with_re.x);                                      \
    }
#include <sh_rows>
#undef SH_FIRST
#undef SH_FIRST_Z
#undef SH_NEXT
#undef SH_ZONAL
#undef SH_COSINE
#undef SH_SINE
#undef SH_TURN
#undef SH_ORDER_END
    return Slope(value, gradient, mat3(xx, xy, xz, xy, -xx, yz, xz, yz, z2));
}

// Moves d uphill to the peak by Newton steps along the steepest great circle. Returns the amplitude at the peak, or -1
// if the climb did not end.
float climb(inout vec3 d)
{
    for (int turn = 0; turn < CLIMB_TURNS; turn++) {
        // First derivative along the sphere: the gradient without its part along d.
        Slope slope = slope_along(d);
        float outward = dot(slope.gradient, d);
        vec3 uphill = slope.gradient - outward * d;
        float rise = length(uphill);
        uphill = rise > 0.0 ? uphill / rise : vec3(0.0);
        // bend: size of the second derivative along the great circle, which is that along the straight line minus the
        // slope along d. The step is rise / bend, limited to CLIMB_STEP.
        float bend = abs(dot(uphill, slope.second * uphill) - outward);
        float angle = rise < CLIMB_STEP * bend ? rise / bend : rise > 0.0 ? CLIMB_STEP : 0.0;
        d = normalize(d + angle * uphill);
        if (angle < CLIMB_END) return slope.value;
    }
    return -1.0;
}

// Takes the peak uphill from d. Finds no direction if the climb does not end, or if the peak is below the cutoff or
// outside the cone.
uint next_direction(vec3 p, inout vec3 d, inout uvec3 aux, Draw draw, inout vec3 next)
{
    if (draw.step == (1u | STEP_BACKWARD)) d = -d;
    if (!has_fod(p)) return DIRECTION_OUTSIDE;
    take_coefficients(p);
    next = d;
    float top = climb(next);
    if (top <= 0.0 || top < params.fod_cutoff || dot(next, d) < params.cos_max_angle) return DIRECTION_NONE;
    d = next;
    return DIRECTION_FOUND;
}

// Finds the peak uphill from the direction that the caller gave for all seeds, or else from a random direction.
uint initial_directions(vec3 p, Draw draw, inout uint vertex[MAX_DIRECTIONS])
{
    if (!has_fod(p)) return 0u;
    take_coefficients(p);
#if START_GIVEN
    vec3 d = start_direction(vertex[0]);
#else
    vec3 d = random_direction(draw_block(draw, 0u));
#endif
    float top = climb(d);
    if (top <= 0.0 || top < params.seed_cutoff) return 0u;
    vertex[0] = pack_direction(d);
    return 1u;
}
