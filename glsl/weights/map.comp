// Streamlines to entries: through which fixels each passes for how long. One invocation walks along a streamline twice,
// to count its visits and to note them, then joins them by voxel, direction and fixel.
layout(local_size_x = 64) in;

#include "weights/language.glsl"

layout(std140, binding = 0) uniform Grid {
    vec4 to_grid[3]; // rows of a matrix, from mm
    vec4 axis[3];    // rows of a matrix, to mm, without shift
    vec4 metric[2];  // xx, yy, zz, 2 xy, 2 xz, 2 yz of squared lengths, mm2; square of the precision, mm2; 1 / ratio
    ivec4 size;      // voxels; pieces of a segment
    ivec4 shape;     // 1: straight segments; voxels of all
};
layout(location = 0) uniform uint n_streamlines;
layout(location = 1) uniform uint room; // for visits
layout(location = 2) uniform float per_mm; // units of length
layout(location = 3) uniform float least;  // mm: sums of this or less make no entry

// the first point of each streamline and the end; then bits of the points
layout(std430, binding = 0) readonly buffer Streamlines { uint streamline[]; };
// bits of 1281 directions; six neighbours of each; starts in the cells of a cube; of each voxel its first fixel, the
// place of its lobes and bits of its mask; lobes of 1281 directions, four bits each
layout(std430, binding = 1) readonly buffer Lobes { uint lobes[]; };
// visits counted; of each the voxel, the direction and bits of the length; in the end the entries of each streamline in
// place of its first visits
layout(std430, binding = 2) buffer Visits { uint visit[]; };
// of each streamline its first visit, its entries, bits of its contribution, its visits
layout(std430, binding = 3) writeonly buffer Rows { uint row[]; };

const uint no_room = 0xffffffffu, nothing = 0xffffffffu;
const uint neighbours_at = 3u * 1281u, starts_at = 9u * 1281u, voxels_at = 9u * 1281u + 3072u;

uint begins, n_visits, place; // of this invocation's streamline
bool notes;

#define GRID_PARAMETER
#define GRID
#define WALK_PARAMETERS
#define STRAIGHT (shape.x != 0)
#define RATIO uint(size.w)
#define TO_GRID(r, c) to_grid[r][c]
#define AXIS(r, c) axis[r][c]
#define METRIC(i) metric[(i) / 4][(i) % 4]
#define PRECISION metric[1].z
#define PIECE(k) blend_at(float(k) * metric[1].w)
#define VERTEX(i) vertex(i)
#define VISIT(c, e, l, d) note(c, e, l, d)
#define DIRECTION(i, r) uintBitsToFloat(lobes[3u * (i) + uint(r)])
#define NEIGHBOUR(i, k) lobes[neighbours_at + 6u * (i) + (k)]
#define START(i) lobes[starts_at + (i)]

#include "weights/walk.glsl"

Spot vertex(uint i)
{
    uint at = n_streamlines + 1u + 3u * (begins + i);
    return spot_of(uintBitsToFloat(streamline[at]), uintBitsToFloat(streamline[at + 1u]),
                   uintBitsToFloat(streamline[at + 2u]));
}

void note(Cell c, Spot entry, Spot leave, float length_in)
{
    if (c.x < 0 || c.y < 0 || c.z < 0 || c.x >= size.x || c.y >= size.y || c.z >= size.z) return;
    if (notes) {
        uint at = place + 3u * n_visits;
        visit[at] = uint((c.z * size.y + c.y) * size.x + c.x);
        visit[at + 1u] = direction_of(entry, leave);
        visit[at + 2u] = floatBitsToUint(length_in);
    }
    n_visits++;
}

#include "weights/walk_along.glsl"

// By voxel and direction; those that are equal stay in order.
void sort_visits()
{
    for (uint i = 1u; i < n_visits; i++) {
        uint at = place + 3u * i, voxel = visit[at], direction = visit[at + 1u], bits = visit[at + 2u];
        for (; at > place; at -= 3u) {
            uint before = visit[at - 3u];
            if (before < voxel || (before == voxel && visit[at - 2u] <= direction)) break;
            visit[at] = before;
            visit[at + 1u] = visit[at - 2u];
            visit[at + 2u] = visit[at - 1u];
        }
        visit[at] = voxel;
        visit[at + 1u] = direction;
        visit[at + 2u] = bits;
    }
}

uint fixel_at(uint voxel, uint direction)
{
    uint at = lobes[voxels_at + 3u * voxel + 1u];
    if (at == nothing) return nothing;
    uint lobe = lobes[at + direction / 8u] >> (direction % 8u * 4u) & 15u;
    return lobe == 15u ? nothing : lobes[voxels_at + 3u * voxel] + lobe;
}

// Adds a length to the entry of its fixel among those from `first` on; one that would pass 255 opens another.
uint add_entry(uint first, uint n_entries, uint fixel, uint units)
{
    for (uint i = first; i < n_entries; i++) {
        uint e = visit[place + i];
        if (e >> 8 != fixel || (e & 255u) + units > 255u) continue;
        visit[place + i] = e + units;
        return n_entries;
    }
    visit[place + n_entries] = fixel << 8 | units;
    return n_entries + 1u;
}

// The entries take the place of visits that have been read.
uint join_visits(out float contribution)
{
    EXACT float sum = 0.0;
    uint n_entries = 0u, first = 0u, last_voxel = nothing;
    for (uint i = 0u; i < n_visits;) {
        uint voxel = visit[place + 3u * i], direction = visit[place + 3u * i + 1u];
        EXACT float length_in = uintBitsToFloat(visit[place + 3u * i + 2u]);
        for (i++; i < n_visits; i++) {
            if (visit[place + 3u * i] != voxel || visit[place + 3u * i + 1u] != direction) break;
            length_in += uintBitsToFloat(visit[place + 3u * i + 2u]);
        }
        uint fixel = fixel_at(voxel, direction);
        if (voxel != last_voxel) first = n_entries;
        last_voxel = voxel;
        if (fixel == nothing || !(length_in > least)) continue;
        sum += length_in * uintBitsToFloat(lobes[voxels_at + 3u * voxel + 2u]);
        EXACT float units = per_mm * length_in + 0.5;
        n_entries = add_entry(first, n_entries, fixel, units < 255.0 ? uint(units) : 255u);
    }
    contribution = sum;
    return n_entries;
}

void main()
{
    uint s = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * 64u + gl_LocalInvocationID.x;
    if (s >= n_streamlines) return;
    begins = streamline[s];
    uint n = streamline[s + 1u] - begins, n_entries = 0u;
    float contribution = 0.0;
    n_visits = 0u;
    notes = false;
    if (n >= 2u) walk_along(n);
    uint first = n_visits > 0u ? atomicAdd(visit[0], n_visits) : 0u;
    if (n_visits > 0u && first + n_visits <= room) {
        place = 1u + 3u * first;
        n_visits = 0u;
        notes = true;
        walk_along(n);
        sort_visits();
        n_entries = join_visits(contribution);
    } else if (n_visits > 0u) {
        n_entries = no_room;
    }
    row[4u * s] = first;
    row[4u * s + 1u] = n_entries;
    row[4u * s + 2u] = floatBitsToUint(contribution);
    row[4u * s + 3u] = n_visits;
}
