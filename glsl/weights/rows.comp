// An iteration of SIFT2 (Smith et al. 2015) for streamlines: computes the cost of the current coefficients, new
// coefficients, and their sums in each fixel. A coefficient c is the logarithm of a weight. One invocation handles one
// streamline: it minimises the cost by that streamline's coefficient, as if all other coefficients kept their values.
// Sums are in fixed point, so that they do not depend on the order in which invocations add to them. Dispatched by
// src/weights/solver_device.c, chunk by chunk; the CPU's twin is src/weights/solver_host.c.
layout(local_size_x = 64) in;

#include "weights/language.glsl"
#include "weights/streamline.glsl"

layout(location = 0) uniform uint first; // the kernel works on streamlines first .. last - 1
layout(location = 1) uniform uint last;
layout(location = 2) uniform uint from; // offsets of the old and the new coefficients, and of costs
layout(location = 3) uniform uint to;
layout(location = 4) uniform uint costs;
layout(location = 10) uniform uint n_fixels;
layout(location = 11) uniform uint high_at; // word at which the high bytes of entries begin; 0: there are none
layout(location = 12) uniform uint low_bits; // how many low bits of a fixel's index the word of an entry holds
layout(location = 5) uniform float unit; // mu times the unit of length
layout(location = 6) uniform float tikhonov;
layout(location = 7) uniform float limit;
layout(location = 8) uniform float min_coefficient;
layout(location = 9) uniform float max_coefficient;

// The kernel has as many storage blocks as OpenGL ES 3.1 guarantees.
layout(std430, binding = 0) readonly buffer Entries { uint entry[]; };
// streamline[2 s]: first entry of streamline s; streamline[2 s + 1]: factor of its total variation; streamline[2 n]:
// end of entries. From `from` on: the n old coefficients; from `to` on: the n new coefficients; from `costs` on: two
// costs for each work group. Factors, coefficients and costs are the bits of floats.
layout(std430, binding = 1) buffer Streamlines { uint streamline[]; };
// two vectors for each fixel: (d, mu TD0, PM / (mu TD0), PM unit), and (m, e^m, not used, not used)
layout(std430, binding = 2) readonly buffer Fixels { vec4 fixel[]; };
// for each fixel two sums of two words; then for each fixel a word that is not 0 if the fixel leaves the fit
layout(std430, binding = 3) buffer Sums { uint sums[]; };

shared vec2 part[64];

// Fixel of entry i. An entry is a word: the length in its low byte, the fixel above it; with many fixels their high
// bits lie in bytes of their own, from word high_at on.
uint fixel_of(uint i)
{
    uint low = entry[i] >> 8;
    return high_at == 0u ? low : low | (entry[high_at + i / 4u] >> i % 4u * 8u & 255u) << low_bits;
}

// Adds v to the sum whose two words begin at index `at`. The high word usually does not change: a small positive number
// without a carry adds nothing to it, and for a small negative number the high word of all ones and the carry add up to
// 0.
void add_fixed(uint at, float v)
{
    // Two's complement in 64 bits; the carry of the low word goes to the high word.
    v = fixed_range(v);
    uint high = uint(abs(v) * 0.00390625), low = uint((abs(v) - float(high) * 256.0) * 16777216.0);
    if (v < 0.0) {
        low = ~low + 1u;
        high = ~high + (low == 0u ? 1u : 0u);
    }
    uint before = atomicAdd(sums[at], low);
    high += before > ~low ? 1u : 0u;
    if (high != 0u) atomicAdd(sums[at + 1u], high);
}

// Replaces a coefficient above max_coefficient. Marks, of the fixels that lack streamlines, the one with the largest
// cost for this streamline, and returns the mean coefficient of the streamline's other fixels, weighted by length and
// PM; 0 if no fixel lacks streamlines.
float give_way(uint begin, uint end)
{
    // Find the fixel with the largest cost for this streamline, PM d^2 l / TD0 with its length l there, of the fixels
    // that lack streamlines (d < 0).
    EXACT float most = 0.0, sum = 0.0, weight = 0.0;
    uint worst = 0xffffffffu;
    for (uint i = begin; i < end; i++) {
        vec4 f = fixel[2u * fixel_of(i)];
        EXACT float x = ((f.z * (float(entry[i] & 255u) * unit)) * f.x) * f.x;
        if (f.z > 0.0 && f.x < 0.0 && x > most) {
            most = x;
            worst = fixel_of(i);
        }
    }
    if (worst == 0xffffffffu) return 0.0;
    atomicOr(sums[4u * n_fixels + worst], 1u);
    for (uint i = begin; i < end; i++) {
        uint k = fixel_of(i);
        vec4 f = fixel[2u * k];
        if (!(f.z > 0.0) || k == worst) continue;
        float l = float(entry[i] & 255u) * f.w;
        sum += l * fixel[2u * k + 1u].x;
        weight += l;
    }
    EXACT float mean = weight > 0.0 ? sum * reciprocal(weight) : 0.0;
    return mean;
}

// Finds the new coefficient of streamline s by up to 100 Newton steps within the limit of change, adds its weight and
// its coefficient, times length, to the sums of its fixels, and returns the cost of its old coefficient: total
// variation, and the squared coefficient.
vec2 improve(uint s)
{
    uint begin = streamline[2u * s], end = streamline[2u * s + 2u];
    Search search;
    search.c = uintBitsToFloat(streamline[from + s]);
    search.e = exponential(search.c);
    search.variation = uintBitsToFloat(streamline[2u * s + 1u]);
    search.tikhonov = tikhonov;
    search.limit = limit;
    // Moments of the data term over the entries, and the total variation of the old coefficient.
    EXACT Moments m = Moments(0.0, 0.0, 0.0, 0.0, 0.0);
    EXACT float tv = 0.0;
    for (uint i = begin; i < end; i++) {
        uint k = fixel_of(i);
        vec4 f = fixel[2u * k];
        vec2 mean = fixel[2u * k + 1u].xy;
        float q = float(entry[i] & 255u), l = q * unit;
        tv += (f.w * q) * variation(search.c, search.e, mean.x, mean.y);
        if (f.z > 0.0) m = add_moments(m, f.z * l, f.x, l, (f.y - l) * search.e);
    }
    // Newton steps; the derivatives of the total variation need a loop over the entries in each.
    Step at = Step(0.0, 1.0);
    for (int n = 0; n < 100 && begin < end && abs(at.d) > 0.001; n++) {
        EXACT float c = search.c + at.x, e = exponential(c), slope = 0.0, bend = 0.0;
        for (uint i = begin; i < end; i++) {
            uint k = fixel_of(i);
            vec4 f = fixel[2u * k];
            vec2 mean = fixel[2u * k + 1u].xy;
            float l = f.w * float(entry[i] & 255u);
            if (!(f.z > 0.0)) continue;
            slope += l * variation_slope(c, e, mean.x, mean.y);
            bend += l * variation_bend(c, e, mean.x, mean.y);
        }
        at = newton(search, m, at, e, slope, bend);
    }
    // Limit the change and the coefficient; a coefficient above the maximum is replaced.
    float c = search.c + clamp(at.x, -limit, limit);
    c = c < min_coefficient ? min_coefficient : c;
    if (c > max_coefficient) c = give_way(begin, end);
    streamline[to + s] = floatBitsToUint(c);
    // A coefficient at the minimum stands for a weight of 0.
    float w = c > min_coefficient ? exponential(c) : 0.0;
    for (uint i = begin; i < end; i++) {
        float q = float(entry[i] & 255u);
        uint at = 4u * fixel_of(i);
        add_fixed(at, q * w);
        add_fixed(at + 2u, q * c);
    }
    EXACT vec2 cost = vec2(search.variation * tv, search.c * search.c);
    return cost;
}

// Improves the coefficients of 64 streamlines and sums the costs of these streamlines, in a tree of pairs as in
// fixels.comp.
void main()
{
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x, lane = gl_LocalInvocationID.x;
    uint s = first + group * 64u + lane;
    part[lane] = s < last ? improve(s) : vec2(0.0);
    barrier();
    for (uint half_size = 32u; half_size > 0u; half_size /= 2u) {
        if (lane < half_size) part[lane] += part[lane + half_size];
        barrier();
    }
    if (lane == 0u && s < last) {
        uint at = costs + 2u * (first / 64u + group);
        streamline[at] = floatBitsToUint(part[0].x);
        streamline[at + 1u] = floatBitsToUint(part[0].y);
    }
}
