// Direction getters tensordet and tensorprob: streamlines follow the principal eigenvector of a tensor (Basser et al.
// 2000). Signals are interpolated, then the tensor is fitted to their logarithms by unweighted least squares. With
// TENSOR_BOOTSTRAP (tensorprob) the signals of each voxel are those of a wild bootstrap: the measured signals plus or
// minus the residuals of the voxel's own fit (Jones 2008). The signs are bits of random numbers that are drawn by the
// index of the voxel, so that a voxel keeps its signs all along a streamline. With TENSOR_RK4 a step is one of the
// Runge-Kutta method of fourth order.
//
// The field has a quad of channels for four volumes; the channel after the last volume is 1 where a voxel has any
// signal. For the bootstrap each quad of signals is followed by a quad of residuals. The field is filled by
// src/track/getter/tensor_getters.c.
#include "base/packed.glsl"
#include "base/math.glsl"
#include "base/model.glsl"
#include "base/start.glsl"

#if GUIDE_AMPLITUDE
#define GETTER_AMPLITUDE
float direction_amplitude = 0.0; // FA
#endif

void prepare_getter() {}

const uint RETRIES = 0u;
const uint DRAW_SIGNS = 0x7fffffffu; // counter of the signs of the bootstrap, in place of the number of a step

// Elements of a tensor in units of 1e-3 mm2/s, along the voxel axes.
struct Tensor {
    vec3 diagonal; // xx yy zz
    vec3 others;   // xy xz yz
};

#if TENSOR_BOOTSTRAP
// Draws the signs of the residuals of 128 volumes in a voxel, a bit for each volume.
uvec4 signs_of(uint voxel, int block, Draw draw)
{
    return philox(uvec4(voxel, DRAW_SIGNS ^ (uint(block) << 8), draw.seed_lo, draw.seed_hi),
                  uvec2(params.key_lo, params.key_hi));
}
#endif

// The text included here defines approach(), has_signal() and tensor_at(). Call approach() first.
#include <tensor_signals>

// Returns FA, and in axis the principal eigenvector; both are 0 for an isotropic tensor. The deviatoric tensor A is
// scaled so that its characteristic polynomial is x^3 - 3 x - det. Newton's method finds the largest root x; the
// eigenvector is the longest cross product of two rows of A - x I.
float main_axis(Tensor tensor, out vec3 axis)
{
    axis = vec3(0.0);
    float mean = (tensor.diagonal.x + tensor.diagonal.y + tensor.diagonal.z) / 3.0;
    vec3 a = tensor.diagonal - mean, b = tensor.others;
    // off: squared norm of the deviatoric tensor; all: of the whole tensor. FA is sqrt(3/2 off / all).
    float off = dot(a, a) + 2.0 * dot(b, b), all = dot(tensor.diagonal, tensor.diagonal) + 2.0 * dot(b, b);
    if (!(off > 0.0)) return 0.0;
    float scale = inversesqrt(off / 6.0);
    a *= scale;
    b *= scale;
    // the largest root of x^3 - 3 x - det, from above
    float det = a.x * (a.y * a.z - b.z * b.z) - b.x * (b.x * a.z - b.z * b.y) + b.y * (b.x * b.z - a.y * b.y);
    float x = 1.0 + sqrt(max(det + 2.0, 0.0) / 3.0);
    for (int turn = 0; turn < 4; turn++) x -= (x * (x * x - 3.0) - det) / max(3.0 * (x * x - 1.0), 1e-6);
    // The rows of A - x I are at right angles to the eigenvector; the longest cross product has the smallest relative
    // error.
    vec3 r0 = vec3(a.x - x, b.x, b.y), r1 = vec3(b.x, a.y - x, b.z), r2 = vec3(b.y, b.z, a.z - x);
    vec3 c0 = cross(r0, r1), c1 = cross(r0, r2), c2 = cross(r1, r2);
    float n0 = dot(c0, c0), n1 = dot(c1, c1), n2 = dot(c2, c2);
    vec3 best = n0 >= n1 && n0 >= n2 ? c0 : n1 >= n2 ? c1 : c2;
    axis = best * inversesqrt(max(max(n0, max(n1, n2)), 1e-30));
    return sqrt(1.5 * off / all);
}

// Finds the principal eigenvector at p, flipped if it points away from d. Returns DIRECTION_OUTSIDE where the series
// has no signal, and DIRECTION_NONE where FA is below the cutoff or the angle to d is too large.
uint axis_along(vec3 p, vec3 d, float least_cosine, Draw draw, out float fa, out vec3 axis)
{
    approach(p, draw);
    bool there = has_signal(p);
    fa = main_axis(tensor_at(p, draw), axis);
    float c = dot(axis, d);
    axis = c < 0.0 ? -axis : axis;
    if (!there) return DIRECTION_OUTSIDE;
    return fa >= params.fod_cutoff && abs(c) >= least_cosine ? DIRECTION_FOUND : DIRECTION_NONE;
}

// Finds the direction of a step from one eigenvector, or with TENSOR_RK4 from four. d and next become the direction.
// aux is not used.
uint next_direction(vec3 p, inout vec3 d, inout uvec3 aux, Draw draw, inout vec3 next)
{
    if (draw.step == (1u | STEP_BACKWARD)) d = -d;
    float fa;
    vec3 axis;
    uint outcome = DIRECTION_FOUND;
#if TENSOR_RK4
    // Four eigenvectors make the step. A fifth, at the end of the step, decides whether the step bends too much.
    vec3 at = p, towards = d, first = vec3(0.0), second = vec3(0.0), sum = vec3(0.0);
    vec3 h = vec3(params.step_x, params.step_y, params.step_z);
    for (int stage = 0; stage < 5 && outcome == DIRECTION_FOUND; stage++) {
        outcome = axis_along(at, towards, 0.0, draw, fa, axis);
        if (stage == 0) {
            first = axis;
#if GUIDE_AMPLITUDE
            direction_amplitude = fa;
#endif
        }
        // The weights of the four eigenvectors are 1, 2, 2, 1.
        if (stage < 4) sum += stage == 0 || stage == 3 ? axis : 2.0 * axis;
        if (stage < 2) at = p + 0.5 * h * axis;
        if (stage == 1) second = axis;
        if (stage == 2) {
            at = p + h * axis;
            towards = normalize(second + axis);
        }
        if (stage == 3) {
            sum = normalize(sum);
            at = p + h * sum;
            towards = sum;
        }
    }
    if (outcome == DIRECTION_FOUND && dot(first, axis) < params.cos_max_angle) outcome = DIRECTION_NONE;
    axis = sum;
#else
    outcome = axis_along(p, d, params.cos_max_angle, draw, fa, axis);
#if GUIDE_AMPLITUDE
    direction_amplitude = fa;
#endif
#endif
    if (outcome != DIRECTION_FOUND) return outcome;
    next = axis;
    d = axis;
    return DIRECTION_FOUND;
}

// Finds the direction of a seed: the principal eigenvector, with an arbitrary sign, if FA reaches the cutoff of seeds.
// If the caller gave a seed direction, the angle to it must be at most the largest angle of a step.
uint initial_directions(vec3 p, Draw draw, inout uint vertex[MAX_DIRECTIONS])
{
    approach(p, draw);
    bool there = has_signal(p);
    vec3 axis;
    float fa = main_axis(tensor_at(p, draw), axis);
    if (!there || !(fa >= params.seed_cutoff)) return 0u;
#if START_GIVEN
    vec3 d = start_direction(vertex[0]);
    if (abs(dot(axis, d)) < params.cos_max_angle) return 0u;
#endif
    vertex[0] = pack_direction(axis);
    return 1u;
}
