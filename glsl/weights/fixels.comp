// An iteration of SIFT2 (Smith et al. 2015) for fixels, after rows.comp has summed up all streamlines: computes
// densities, mean coefficients and cost, and clears the sums. One invocation handles one fixel; a work group adds up
// the costs of its 64 fixels. Dispatched by src/weights/solver_device.c; src/weights/solver_host.c computes the same on
// the CPU.
layout(local_size_x = 64) in;

#include "weights/language.glsl"
#include "weights/streamline.glsl"

layout(location = 0) uniform uint n_fixels;
layout(location = 1) uniform float unit; // mu times the unit of length

// two vectors for each fixel, as in rows.comp; then a vector for each fixel: FD; PM; 1 / TD0 in units, or 0; not used
layout(std430, binding = 0) buffer Fixels { vec4 fixel[]; };
// as in rows.comp: for each fixel two sums of two words; then for each fixel a mark; then two costs of each work group,
// as bits of floats
layout(std430, binding = 1) buffer Sums { uint sums[]; };

shared vec2 part[64];

// Completes fixel k. Returns in x its part of the cost function, PM d^2 with d = mu TD - FD, and in y 1 if the fixel
// has left the fit, else 0. sums: the two fixed-point sums of the fixel, and its mark, all of which become 0.
vec2 complete(uint k)
{
    EXACT vec4 constant = fixel[2u * n_fixels + k], f = fixel[2u * k];
    EXACT float density = fixed_value(sums[4u * k], sums[4u * k + 1u]) * unit;
    EXACT float mean = fixed_value(sums[4u * k + 2u], sums[4u * k + 3u]) * constant.z;
    f.x = density - constant.x;
    if (sums[4u * n_fixels + k] != 0u) f.z = 0.0;
    fixel[2u * k] = f;
    fixel[2u * k + 1u] = vec4(mean, exponential(mean), 0.0, 0.0);
    for (uint i = 0u; i < 4u; i++) sums[4u * k + i] = 0u;
    sums[4u * n_fixels + k] = 0u;
    EXACT vec2 cost = vec2((constant.y * f.x) * f.x, f.y > 0.0 && !(f.z > 0.0) ? 1.0 : 0.0);
    return cost;
}

void main()
{
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x, lane = gl_LocalInvocationID.x;
    uint k = group * 64u + lane;
    part[lane] = k < n_fixels ? complete(k) : vec2(0.0);
    barrier();
    // Sum in a tree of pairs: the order is fixed, so the cost does not depend on the device.
    for (uint half_size = 32u; half_size > 0u; half_size /= 2u) {
        if (lane < half_size) part[lane] += part[lane + half_size];
        barrier();
    }
    if (lane == 0u && k < n_fixels) {
        uint at = 5u * n_fixels + 2u * group;
        sums[at] = floatBitsToUint(part[0].x);
        sums[at + 1u] = floatBitsToUint(part[0].y);
    }
}
