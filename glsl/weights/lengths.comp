// Adds the lengths of streamlines in fixels to sums of all fixels, from which dynamic seeds are drawn. One invocation
// walks along a streamline. Lengths are whole numbers of a fine unit, so the sums do not depend on the order.
//
// Dispatched by src/weights/map_device.c for blocks of streamlines; src/weights/dynamic_seeds.c computes the same on
// the CPU.
layout(local_size_x = 64) in;

#include "weights/language.glsl"
#include "weights/map.glsl"

// for each fixel the sum of lengths in two words, the lower one first; behind all fixels the number of streamlines that
// met the grid
layout(std430, binding = 2) buffer Totals { uint total[]; };
layout(location = 1) uniform uint n_fixels;

// Adds the length of a visit to its fixel. Visits outside the grid are left out.
void note(Cell c, Spot from, Spot leave, double length_in)
{
    if (c.x < 0 || c.y < 0 || c.z < 0 || c.x >= size.x || c.y >= size.y || c.z >= size.z) return;
    n_visits++;
    uint fixel = fixel_at(uint((c.z * size.y + c.y) * size.x + c.x), direction_of(from, leave));
    if (fixel == nothing) return;
    EXACT double units = floor(length_in * unit.x + D(0.5)), high = floor(units / D(4294967296.0));
    EXACT double low = units - high * D(4294967296.0);
    uint added = uint(low), carry = uint(high), before = atomicAdd(total[2u * fixel], added);
    if (before > ~added) carry++;
    if (carry > 0u) atomicAdd(total[2u * fixel + 1u], carry);
}

#include "weights/walk_along.glsl"

void main()
{
    uint s = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * 64u + gl_LocalInvocationID.x;
    if (s >= n_streamlines) return;
    begins = start[s];
    n_visits = 0u;
    uint n = start[s + 1u] - begins;
    if (n >= 2u) walk_along(n);
    if (n_visits > 0u) atomicAdd(total[2u * n_fixels], 1u);
}
