// Weights by the signal: data of the kernels over the voxels of a block. A work group handles one voxel.
layout(local_size_x = 64) in;

#include "weights/language.glsl"

layout(location = 0) uniform uint n_block;       // voxels of the block
layout(location = 1) uniform uint first;         // first of these voxels
layout(location = 2) uniform uint n_volumes;     // signals of a voxel
layout(location = 3) uniform uint n_bins;        // bins of all voxels
layout(location = 4) uniform uint n_directions;
layout(location = 5) uniform uint n_perp;        // zeppelins of each peak
layout(location = 6) uniform uint n_iso;         // balls of each voxel
layout(location = 7) uniform uint directions_at; // word from which on two directions of bins share a word
layout(location = 8) uniform uint peaks_at;      // the same for peaks

// first bin of each voxel of the block and of the one behind it; their first peaks; directions
layout(std430, binding = 0) readonly buffer Voxels { uint voxels[]; };
// for each bin a value; then for each voxel those of its peaks, once for each zeppelin, those of its balls, and a sum
// of squares
layout(std430, binding = 2) buffer Values { float value[]; };
// for each voxel of the block its signals, then those of two residuals
layout(std430, binding = 3) buffer Signals { float signals[]; };

shared float part[64];

// The index of the work group, which is that of its voxel in the block.
uint voxel_of_group()
{
    return gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
}

// Direction i of the list from word `at` on.
uint direction(uint at, uint i)
{
    return voxels[at + i / 2u] >> i % 2u * 16u & 65535u;
}

// The columns of a voxel: bins, then peaks for each zeppelin, then balls.
struct Columns {
    uint bin, n_bin;   // first bin, number of bins
    uint peak, n_peak; // first peak, number of peaks
    uint rest;         // index of the value of the first peak
    uint n;            // number of columns
};

Columns columns_of(uint v)
{
    Columns c;
    c.bin = voxels[v];
    c.n_bin = voxels[v + 1u] - c.bin;
    c.peak = voxels[n_block + 1u + v];
    c.n_peak = voxels[n_block + 2u + v] - c.peak;
    c.rest = n_bins + n_perp * c.peak + (n_iso + 1u) * (first + v);
    c.n = c.n_bin + n_perp * c.n_peak + n_iso;
    return c;
}

// Index of the value of column i.
uint value_at(Columns c, uint i)
{
    return i < c.n_bin ? c.bin + i : c.rest + (i - c.n_bin);
}

// Number of the kernel of column i: sticks in all directions, zeppelins in all directions, balls.
uint kernel_of(Columns c, uint i)
{
    if (i < c.n_bin) return direction(directions_at, c.bin - voxels[0] + i);
    i -= c.n_bin;
    if (i >= n_perp * c.n_peak) return (1u + n_perp) * n_directions + (i - n_perp * c.n_peak);
    return (1u + i / c.n_peak) * n_directions + direction(peaks_at, c.peak - voxels[n_block + 1u] + i % c.n_peak);
}

// Adds up the squares of a voxel, one of each invocation, in a tree of pairs, and stores the sum.
void store_squares(Columns c, float squares)
{
    uint lane = gl_LocalInvocationID.x;
    part[lane] = squares;
    barrier();
    for (uint half_size = 32u; half_size > 0u; half_size /= 2u) {
        if (lane < half_size) part[lane] += part[lane + half_size];
        barrier();
    }
    if (lane == 0u) value[c.rest + (c.n - c.n_bin)] = part[0];
}
