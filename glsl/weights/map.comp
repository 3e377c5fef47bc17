// Maps streamlines to fixels: which fixels each streamline traverses, and for what length. One invocation walks along a
// streamline and stores its visits, then joins them by voxel, direction and fixel. Each streamline has space for as
// many visits as it has points, and SPARE more. A streamline with more visits is walked again, and its visits
// are stored behind the spaces of all streamlines.
//
// Dispatched by src/weights/map_device.c for blocks of streamlines; src/weights/voxel_walk.c computes the same on the
// CPU.
layout(local_size_x = 64) in;

#include "weights/language.glsl"

#include "weights/map.glsl"

// Number of visits that the buffer Visits has space for; as much space follows, for sorting.
layout(location = 1) uniform uint room;

#define SPARE 8u

// for each visit the voxel, the direction and the length in two words; at the end each streamline's entries replace the
// voxels of its first visits
layout(std430, binding = 2) buffer Visits { uvec4 visit[]; };
// number of visits stored behind the spaces of all streamlines; number of entries; then for each streamline six words,
// of which five are used: its first entry, number of entries, contribution (two words of a double) and number of visits
layout(std430, binding = 3) buffer Rows { uint row[]; };
layout(std430, binding = 4) writeonly buffer Entries { uint entry[]; };
// The streamline of this invocation: the index of its first visit, and the number of visits that it may store.
uint first_visit, capacity;

// Stores a visit to a voxel: the voxel, the index of the nearest of 1281 directions, and the length in mm. Visits
// outside the grid are left out; visits beyond the capacity are only counted.
void note(Cell c, Spot from, Spot leave, double length_in)
{
    if (c.x < 0 || c.y < 0 || c.z < 0 || c.x >= size.x || c.y >= size.y || c.z >= size.z) return;
    if (n_visits < capacity) {
        uint voxel = uint((c.z * size.y + c.y) * size.x + c.x);
        visit[first_visit + n_visits] = uvec4(voxel, direction_of(from, leave), unpackDouble2x32(length_in));
    }
    n_visits++;
}

#include "weights/walk_along.glsl"

// Order of visits: by voxel, then by direction.
bool before(uvec4 a, uvec4 b)
{
    return a.x < b.x || (a.x == b.x && a.y < b.y);
}

// Merges visits first .. middle - 1 and middle .. end - 1, both sorted, and stores them as visits first .. end - 1.
// from, to: index at which visit 0 of this streamline lies before and afterwards. Equal visits keep their order.
void merge_visits(uint from, uint to, uint first, uint middle, uint end)
{
    uint i = first, j = middle;
    uvec4 a = visit[from + i], b = j < end ? visit[from + j] : a;
    for (uint k = first; k < end; k++) {
        bool second = i == middle || (j < end && before(b, a));
        visit[to + k] = second ? b : a;
        if (second) {
            if (++j < end) b = visit[from + j];
        } else {
            if (++i < middle) a = visit[from + i];
        }
    }
}

// Sorts visits by voxel and direction; equal visits keep their order. `first_visit` becomes the index of the first
// sorted visit.
void sort_visits()
{
    uint other = first_visit + room;
    for (uint n = 1u; n < n_visits; n *= 2u) {
        for (uint i = 0u; i < n_visits; i += 2u * n)
            merge_visits(first_visit, other, i, min(i + n, n_visits), min(i + 2u * n, n_visits));
        uint sorted = other;
        other = first_visit;
        first_visit = sorted;
    }
}

// Adds a length to the entry of its fixel among the entries from index `first` on. If there is none, or if it would
// exceed 255, adds another entry. Returns the number of entries.
uint add_entry(uint first, uint n_entries, uint fixel, uint units)
{
    for (uint i = first; i < n_entries; i++) {
        uint e = visit[first_visit + i].x;
        if (e >> 8 != fixel || (e & 255u) + units > 255u) continue;
        visit[first_visit + i].x = e + units;
        return n_entries;
    }
    visit[first_visit + n_entries].x = fixel << 8 | units;
    return n_entries + 1u;
}

// Joins the sorted visits into entries, one word each: the fixel and the length in units, up to 255. Entries replace
// visits that have been read. contribution: sum of length times mask over the joined visits that have a fixel and are
// longer than unit.y, mm. Returns the number of entries.
uint join_visits(out double contribution)
{
    EXACT double sum = D(0.0);
    uint n_entries = 0u, first = 0u, last_voxel = nothing;
    for (uint i = 0u; i < n_visits;) {
        uvec4 v = visit[first_visit + i];
        EXACT double length_in = packDouble2x32(v.zw);
        for (i++; i < n_visits; i++) {
            uvec4 next = visit[first_visit + i];
            if (next.x != v.x || next.y != v.y) break;
            length_in += packDouble2x32(next.zw);
        }
        uint fixel = fixel_at(v.x, v.y);
        if (v.x != last_voxel) first = n_entries;
        last_voxel = v.x;
        if (fixel == nothing || !(length_in > unit.y)) continue;
        sum += length_in * double(uintBitsToFloat(lobes[voxels_at + 3u * v.x + 2u]));
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
    // The streamline may store a visit for each point, and SPARE more.
    begins = start[s];
    uint n = start[s + 1u] - begins, all = start[n_streamlines] + SPARE * n_streamlines, n_entries = 0u,
         first_entry = 0u;
    double contribution = D(0.0);
    first_visit = begins + SPARE * s;
    capacity = n + SPARE;
    n_visits = 0u;
    if (n >= 2u) walk_along(n);
    // Too many visits: walk again, and store the visits behind the spaces of all streamlines, if the buffer has space
    // there.
    if (n_visits > capacity) {
        first_visit = all + atomicAdd(row[0], n_visits);
        capacity = first_visit + n_visits <= room ? n_visits : 0u;
        n_visits = 0u;
        if (capacity > 0u) walk_along(n);
    }
    // Join visits to entries, and append these to the entries of other streamlines; row[1] counts all.
    if (n_visits > 0u) {
        sort_visits();
        n_entries = join_visits(contribution);
        first_entry = atomicAdd(row[1], n_entries);
        for (uint i = 0u; i < n_entries; i++) entry[first_entry + i] = visit[first_visit + i].x;
    }
    // The record of the streamline.
    uvec2 words = unpackDouble2x32(contribution);
    row[6u * s + 2u] = first_entry;
    row[6u * s + 3u] = n_entries;
    row[6u * s + 4u] = words.x;
    row[6u * s + 5u] = words.y;
    row[6u * s + 6u] = n_visits;
}
