// Adds the entries of mapped streamlines to the totals of their fixels, from which the model of SIFT2 starts. One
// invocation takes one entry. Sums are whole numbers, so they do not depend on the order.
//
// Dispatched by src/weights/map_device.c after each run of map.comp.
layout(local_size_x = 64) in;

layout(location = 0) uniform uint n_entries;

layout(std430, binding = 0) readonly buffer Entries { uint entry[]; }; // fixel << 8 | length, as in map.comp
// for each fixel the sum of lengths in two words, the lower one first, and the number of entries
layout(std430, binding = 1) buffer Totals { uint total[]; };

void main()
{
    uint i = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * 64u + gl_LocalInvocationID.x;
    if (i >= n_entries) return;
    uint k = 3u * (entry[i] >> 8), length_in = entry[i] & 255u;
    uint before = atomicAdd(total[k], length_in);
    if (before > ~length_in) atomicAdd(total[k + 1u], 1u);
    atomicAdd(total[k + 2u], 1u);
}
