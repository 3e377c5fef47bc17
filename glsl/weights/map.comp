// Maps streamlines to fixels: which fixels each streamline traverses, and for what length. One invocation walks along
// a streamline twice, to count its visits and to store them, then joins them by voxel, direction and fixel.
layout(local_size_x = 64) in;

#include "weights/language.glsl"

layout(std140, binding = 0) uniform Grid {
    dvec4 to_grid[3]; // rows of a matrix from mm to the grid
    dvec4 axis[3];    // rows of a matrix to mm, without translation
    dvec4 metric[2];  // factors of squared lengths in mm2: xx, yy, zz, 2 xy, 2 xz, 2 yz; square of the precision in
                      // mm2; 1 / ratio
    dvec4 shape[3];   // of curves, see walk.glsl
    ivec4 size;       // size of the grid; number of pieces of a segment
    dvec2 unit;       // units of length in a mm; in mm, smaller sums make no entry
};
layout(location = 0) uniform uint n_streamlines;
layout(location = 1) uniform uint room; // for visits

layout(std430, binding = 0) readonly buffer Points { float point[]; };
// 1281 directions in words; six neighbours of each; starting directions for cells of a cube; for each voxel its first
// fixel, the place of its lobes, and mask bits; lobes of 1281 directions, four bits each
layout(std430, binding = 1) readonly buffer Lobes { uint lobes[]; };
// for each visit the voxel, the direction and the length; at the end each streamline's entries replace its first
// visits
layout(std430, binding = 2) buffer Visits { uint visit[]; };
// counts of visits and of entries; then for each streamline its first entry, its number of entries, its contribution
// in words, its number of visits
layout(std430, binding = 3) buffer Rows { uint row[]; };
layout(std430, binding = 4) writeonly buffer Entries { uint entry[]; };
// first point of each streamline, and the end of the last
layout(std430, binding = 5) readonly buffer Starts { uint start[]; };

const uint nothing = 0xffffffffu;
const uint neighbours_at = 6u * 1281u, starts_at = 12u * 1281u, voxels_at = 12u * 1281u + 3072u;

uint begins, n_visits, place; // of this invocation's streamline
bool notes;

#define GRID_PARAMETER
#define GRID
#define WALK_PARAMETERS
#define RATIO uint(size.w)
#define TO_GRID(r, c) to_grid[r][c]
#define AXIS(r, c) axis[r][c]
#define METRIC(i) metric[(i) / 4][(i) % 4]
#define PRECISION metric[1].z
#define PIECE metric[1].w
#define SHAPE(k, i) shape[k][i]
#define VERTEX(i) vertex(i)
#define VISIT(c, e, l, d) note(c, e, l, d)
#define DIRECTION(i, r) from_words(lobes[6u * (i) + 2u * uint(r)], lobes[6u * (i) + 2u * uint(r) + 1u])
#define NEIGHBOUR(i, k) lobes[neighbours_at + 6u * (i) + (k)]
#define START(i) lobes[starts_at + (i)]

#include "weights/walk.glsl"

Spot vertex(uint i)
{
    uint at = 3u * (begins + i);
    return spot_of(double(point[at]), double(point[at + 1u]), double(point[at + 2u]));
}

void note(Cell c, Spot from, Spot leave, double length_in)
{
    if (c.x < 0 || c.y < 0 || c.z < 0 || c.x >= size.x || c.y >= size.y || c.z >= size.z) return;
    if (notes) {
        uint at = place + 4u * n_visits;
        uvec2 words = unpackDouble2x32(length_in);
        visit[at] = uint((c.z * size.y + c.y) * size.x + c.x);
        visit[at + 1u] = direction_of(from, leave);
        visit[at + 2u] = words.x;
        visit[at + 3u] = words.y;
    }
    n_visits++;
}

#include "weights/walk_along.glsl"

// Sorts visits by voxel and direction; equal ones keep their order.
void sort_visits()
{
    for (uint i = 1u; i < n_visits; i++) {
        uint at = place + 4u * i, voxel = visit[at], direction = visit[at + 1u];
        uvec2 words = uvec2(visit[at + 2u], visit[at + 3u]);
        for (; at > place; at -= 4u) {
            uint before = visit[at - 4u];
            if (before < voxel || (before == voxel && visit[at - 3u] <= direction)) break;
            for (uint k = 0u; k < 4u; k++) visit[at + k] = visit[at + k - 4u];
        }
        visit[at] = voxel;
        visit[at + 1u] = direction;
        visit[at + 2u] = words.x;
        visit[at + 3u] = words.y;
    }
}

uint fixel_at(uint voxel, uint direction)
{
    uint at = lobes[voxels_at + 3u * voxel + 1u];
    if (at == nothing) return nothing;
    uint lobe = lobes[at + direction / 8u] >> (direction % 8u * 4u) & 15u;
    return lobe == 15u ? nothing : lobes[voxels_at + 3u * voxel] + lobe;
}

// Adds a length to the entry of its fixel, among entries from `first` on. A length that would exceed 255 opens another
// entry.
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

double length_of(uint i)
{
    return from_words(visit[place + 4u * i + 2u], visit[place + 4u * i + 3u]);
}

// Entries replace visits that have been read.
uint join_visits(out double contribution)
{
    EXACT double sum = D(0.0);
    uint n_entries = 0u, first = 0u, last_voxel = nothing;
    for (uint i = 0u; i < n_visits;) {
        uint voxel = visit[place + 4u * i], direction = visit[place + 4u * i + 1u];
        EXACT double length_in = length_of(i);
        for (i++; i < n_visits; i++) {
            if (visit[place + 4u * i] != voxel || visit[place + 4u * i + 1u] != direction) break;
            length_in += length_of(i);
        }
        uint fixel = fixel_at(voxel, direction);
        if (voxel != last_voxel) first = n_entries;
        last_voxel = voxel;
        if (fixel == nothing || !(length_in > unit.y)) continue;
        sum += length_in * double(uintBitsToFloat(lobes[voxels_at + 3u * voxel + 2u]));
        EXACT double units = unit.x * length_in + D(0.5);
        n_entries = add_entry(first, n_entries, fixel, units < D(255.0) ? uint(units) : 255u);
    }
    contribution = sum;
    return n_entries;
}

void main()
{
    uint s = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * 64u + gl_LocalInvocationID.x;
    if (s >= n_streamlines) return;
    begins = start[s];
    uint n = start[s + 1u] - begins, n_entries = 0u, first_entry = 0u;
    double contribution = D(0.0);
    n_visits = 0u;
    notes = false;
    if (n >= 2u) walk_along(n);
    uint first = n_visits > 0u ? atomicAdd(row[0], n_visits) : 0u;
    if (n_visits > 0u && first + n_visits <= room) {
        place = 4u * first;
        n_visits = 0u;
        notes = true;
        walk_along(n);
        sort_visits();
        n_entries = join_visits(contribution);
        first_entry = atomicAdd(row[1], n_entries);
        for (uint i = 0u; i < n_entries; i++) entry[first_entry + i] = visit[place + i];
    }
    uvec2 words = unpackDouble2x32(contribution);
    row[6u * s + 2u] = first_entry;
    row[6u * s + 3u] = n_entries;
    row[6u * s + 4u] = words.x;
    row[6u * s + 5u] = words.y;
    row[6u * s + 6u] = n_visits;
}
