// Sums over the rows of a sparse matrix: the sum of value times length over the entries of each row. Weights by the
// signal need it in both directions: over the streamlines of a bin, and over the bins of a streamline.
//
// Eight invocations share a row and add up in a tree, so that the order of each sum is fixed. Dispatched by
// src/weights/signal_device.c.
layout(local_size_x = 64) in;

#include "weights/language.glsl"

layout(location = 0) uniform uint n;          // rows
layout(location = 1) uniform uint first;      // index of the first sum
layout(location = 2) uniform uint lengths_at; // word from which on two lengths of 16 bits share a word

layout(std430, binding = 0) readonly buffer Entries { uint entry[]; }; // index of a value; then lengths
layout(std430, binding = 1) readonly buffer Starts { uint start[]; };  // n + 1 values: first entry of each row
layout(std430, binding = 2) readonly buffer Values { float value[]; };
layout(std430, binding = 3) buffer Sums { float sums[]; };

shared float part[64];

void main()
{
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x, lane = gl_LocalInvocationID.x;
    uint row = group * 8u + lane / 8u;
    EXACT float sum = 0.0;
    if (row < n) {
        uint end = start[row + 1u];
        for (uint i = start[row] + lane % 8u; i < end; i += 8u) {
            uint length_in = entry[lengths_at + i / 2u] >> i % 2u * 16u & 65535u;
            sum += value[entry[i]] * float(length_in);
        }
    }
    part[lane] = sum;
    barrier();
    for (uint half_size = 4u; half_size > 0u; half_size /= 2u) {
        if (lane % 8u < half_size) part[lane] += part[lane + half_size];
        barrier();
    }
    if (lane % 8u == 0u && row < n) sums[first + row] = part[lane];
}
