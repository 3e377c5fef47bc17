// Guide: half-streamlines end at the stop map, at the border of masks and at regions, and remember what they met.
#include "guide/stop_map.glsl"

// Words of voxels, a bit for each region, of the boxes of all groups one after the other.
layout(binding = 1) uniform usampler3D region_words;

uint region_word(int i)
{
    const int side = REGION_SIDE;
    return texelFetch(region_words, ivec3(i % side, i / side % side, i / (side * side)), 0).r;
}

// The word at voxel coordinates v of a box of n voxels, which begins with word first.
uint group_at(vec3 v, ivec3 n, int first)
{
    ivec3 i = ivec3(floor(v + 0.5));
    if (any(lessThan(i, ivec3(0))) || any(greaterThanEqual(i, n))) return 0u;
    return region_word(first + (i.z * n.y + i.y) * n.x + i.x);
}

uint sphere_at(vec3 world, vec3 centre, float square_radius, uint bits)
{
    vec3 d = world - centre;
    return d.x * d.x + d.y * d.y + d.z * d.z <= square_radius ? bits : 0u;
}

// The rows of a map applied to p, products first to last as the host adds them.
vec3 mapped(vec3 p, vec4 x, vec4 y, vec4 z)
{
    return vec3(x.x * p.x + x.y * p.y + x.z * p.z + x.w, y.x * p.x + y.y * p.y + y.z * p.z + y.w,
                z.x * p.x + z.y * p.y + z.z * p.z + z.w);
}

// The regions at p, as bits.
uint regions_at(vec3 p)
{
    uint bits = 0u;
#define GROUP(x, y, z, n, first) bits |= group_at(mapped(p, x, y, z), n, first);
#define SPHERE(x, y, z, centre, square, b) bits |= sphere_at(mapped(p, x, y, z), centre, square, b);
#include <region_rows>
    return bits;
}

uint guide_point(vec3 p, bool stored, inout uint memory[GUIDE_ROOM])
{
    uint bits = regions_at(p);
    if (uint(REGIONS_MASK) != 0u && (bits & uint(REGIONS_MASK)) == 0u) return GLS_END_MASK;
    if (!(stop_value(p) > params.stop_threshold)) return GLS_END_STOP_MAP;
    if (!stored) return GUIDE_GO_ON;
    if (uint(REGIONS_TRACKING) != 0u && (bits & uint(REGIONS_TRACKING)) == 0u) return GLS_END_MASK;
    memory[0] |= bits;
    if ((bits & uint(REGIONS_EXCLUDE)) != 0u) return GLS_END_EXCLUDE;
    if ((bits & uint(REGIONS_STOP)) != 0u) return GLS_END_STOP_REGION;
    return GUIDE_GO_ON;
}
