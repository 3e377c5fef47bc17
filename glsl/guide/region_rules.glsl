// Regions at a point, and how they affect a half-streamline. Included by both guides that know regions; the rows and
// bits come from src/track/guide/region_stop.c.
#include "guide/affine.glsl"

// Words of voxels, with a bit for each region. Regions on the same grid are a group; its words fill the box around its
// regions, x fastest. The boxes of all groups lie one after the other in a texture whose rows have REGION_SIDE texels,
// and whose layers have REGION_SIDE rows.
layout(binding = 1) uniform usampler3D region_words;

// Word i of the boxes, counted from the first word of the first box.
uint region_word(int i)
{
    const int side = REGION_SIDE;
    return texelFetch(region_words, ivec3(i % side, i / side % side, i / (side * side)), 0).r;
}

// Word of the voxel nearest to v; 0 outside the box. v: voxel coordinates in a box of n voxels; first: index of the
// box's first word.
uint group_at(vec3 v, ivec3 n, int first)
{
    ivec3 i = ivec3(floor(v + 0.5));
    if (any(lessThan(i, ivec3(0))) || any(greaterThanEqual(i, n))) return 0u;
    return region_word(first + (i.z * n.y + i.y) * n.x + i.x);
}

// Bits of a spherical region if it contains the point, else 0. Coordinates in world mm, the squared radius in mm2.
uint sphere_at(vec3 world, vec3 centre, float square_radius, uint bits)
{
    vec3 d = world - centre;
    return d.x * d.x + d.y * d.y + d.z * d.z <= square_radius ? bits : 0u;
}

// Bits of the regions at p.
uint regions_at(vec3 p)
{
    uint bits = 0u;
#define GROUP(x, y, z, n, first) bits |= group_at(mapped(p, x, y, z), n, first);
#define SPHERE(x, y, z, centre, square, b) bits |= sphere_at(mapped(p, x, y, z), centre, square, b);
#include <region_rows>
#undef GROUP
#undef SPHERE
    return bits;
}

// Whether p and q lie in the same voxel of each group and in the same spheres, and so in the same regions.
bool same_regions(vec3 p, vec3 q)
{
    bool same = true;
#define GROUP(x, y, z, n, first) same = same && floor(mapped(p, x, y, z) + 0.5) == floor(mapped(q, x, y, z) + 0.5);
#define SPHERE(x, y, z, centre, square, b) \
    same = same && sphere_at(mapped(p, x, y, z), centre, square, b) == sphere_at(mapped(q, x, y, z), centre, square, b);
#include <region_rows>
#undef GROUP
#undef SPHERE
    return same;
}

// --include-ordered: word GUIDE_ORDER of the memory is the number of regions visited so far, which is the index of the
// region that must come next. A point in an ordered region other than this one and the one before sets ORDER_BROKEN,
// and the streamline will be rejected. A point in several regions counts for the first of them.
#if ORDERED_REGIONS > 0
const uint ORDER_BROKEN = 0x80000000u;

// bits: the regions at a point of the streamline. The bits of ordered regions are neighbours, from ORDERED_FIRST on.
void note_order(uint bits, inout uint memory[GUIDE_ROOM])
{
    uint met = (bits >> ORDERED_FIRST) & (0xffffffffu >> (32 - ORDERED_REGIONS)),
         want = memory[GUIDE_ORDER] & ~ORDER_BROKEN;
    if (met == 0u) return;
    // The first region at the point, counted from 0 among the ordered regions.
    uint lowest = uint(findLSB(met));
    if (lowest == want)
        memory[GUIDE_ORDER]++;
    else if (lowest + 1u != want)
        memory[GUIDE_ORDER] |= ORDER_BROKEN;
}
#endif

// Notes the regions that a point of the streamline lies in.
void note_regions(uint bits, uint number, inout uint memory[GUIDE_ROOM])
{
#if REGIONS_REMEMBERED
    memory[GUIDE_MET] |= bits;
#endif
#if ORDERED_REGIONS > 0
    note_order(bits, memory);
#endif
#if VISITED_REGIONS > 0
    // Note the number of the first point in each include region.
    for (int i = 0; i < VISITED_REGIONS; i++)
        if ((bits >> uint(INCLUDE_FIRST + i) & 1u) != 0u && memory[GUIDE_VISITS + i] == 0u)
            memory[GUIDE_VISITS + i] = number;
#endif
}

// --stop-leaving: word GUIDE_LEAVING of the memory has the bits of the last point. The next word has the bits of the
// regions that contain the seed and all points so far: a half-streamline may leave these regions.
#if LEAVING_REGIONS > 0
// Begins a half-streamline at its seed, which lies in the regions of `bits`.
void start_in_regions(uint bits, inout uint memory[GUIDE_ROOM])
{
    memory[GUIDE_LEAVING] = memory[GUIDE_LEAVING + 1] = bits & REGIONS_LEAVING;
}

// Whether a point with these bits lies outside a region that the half-streamline had entered; notes the bits for the
// next point.
bool leaves_region(uint bits, inout uint memory[GUIDE_ROOM])
{
    uint entered = memory[GUIDE_LEAVING] & ~memory[GUIDE_LEAVING + 1];
    memory[GUIDE_LEAVING] = bits & REGIONS_LEAVING;
    memory[GUIDE_LEAVING + 1] &= bits;
    return (entered & ~bits) != 0u;
}
#endif

// Returns the end of the half-streamline at a point, or GUIDE_GO_ON. bits: the regions at the point; number: number of
// the point.
uint end_in_regions(uint bits, uint number, inout uint memory[GUIDE_ROOM])
{
#if LEAVING_REGIONS > 0
    // A point at which the half-streamline has left a region is not stored: only regions that reject count there.
    bool leaves = leaves_region(bits, memory);
    if (leaves) bits &= REGIONS_REJECTING;
#endif
    note_regions(bits, number, memory);
#define REGION_END(of, end, rejects) if ((bits & of) != 0u) return end;
#include <region_ends>
#undef REGION_END
#if LEAVING_REGIONS > 0
    if (leaves) return GLS_END_REGION_LEFT;
#endif
#if STOP_AT_ALL
    if ((memory[GUIDE_MET] & uint(REGIONS_INCLUDE)) == uint(REGIONS_INCLUDE)) return GLS_END_ALL_INCLUDED;
#endif
    return GUIDE_GO_ON;
}

// Whether a streamline with this end is rejected.
bool end_rejects(uint end)
{
#define REGION_END(of, region_end, rejects) if (end == region_end) return rejects;
#include <region_ends>
#undef REGION_END
    return false;
}

// left_mask(): whether a point lies outside the mask; left_tracking_mask(): whether it lies outside the regions of
// --tracking-mask. bits: the regions at the point. Both are false without such regions.
bool left_mask(uint bits) { return uint(REGIONS_MASK) != 0u && (bits & uint(REGIONS_MASK)) == 0u; }
bool left_tracking_mask(uint bits) { return uint(REGIONS_TRACKING) != 0u && (bits & uint(REGIONS_TRACKING)) == 0u; }
