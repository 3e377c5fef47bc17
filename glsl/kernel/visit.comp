// After pass 3, for density maps: counts the streamlines that visit each voxel, once for each streamline, along the
// straight lines between its points. A work group takes one streamline after the other. A streamline is left to the
// host if rounding might decide, because it has a point within MARGIN of a voxel face or passes a voxel edge as
// closely; if it leaves the grid; if a step crosses more than MAX_FACES faces; or if the table has no slot for one of
// its voxels.
layout(local_size_x = GROUP_SIZE) in;

#include "base/constants.glsl"
#define FIELD(type, name) type name;
struct Placed {
#include "layout/placed.def"
};
layout(std430, binding = 0) readonly buffer Lines { Placed lines[]; };
layout(std430, binding = 1) readonly buffer Points { float point[]; };
// Words: for each voxel its number of streamlines; for each streamline 0, or, if it is left to the host, 1 + the index
// of its first point among all points left to the host; the number of all points that are left to the host; then,
// unless params.room is 0, the first and last point of each streamline, and memory for params.room points left to the
// host.
layout(std430, binding = 2) buffer Words { uint word[]; };
layout(std140, binding = 0) uniform Params {
#include "layout/visit_params.def"
} params;
#undef FIELD

const uint NO_VOXEL = 0xffffffffu;
const uint MAX_PROBES = 32u;
const int MAX_FACES = 64; // largest number of voxel faces that one step may cross
const double MARGIN = 6e-8lf; // in voxels; positions are computed with an error below a hundredth of MARGIN

shared uint table[TABLE_SIZE];
shared uint is_left;
shared uint stored_at;

// Enters a voxel into the hash table of the streamline, which has 2^bits slots. The factor of the hash is
// 2^32 over the golden ratio. A voxel that finds no slot in MAX_PROBES probes leaves the streamline to the host.
void visit(ivec3 v, uint bits)
{
    uint voxel = (uint(v.z) * params.ny + uint(v.y)) * params.nx + uint(v.x);
    uint at = (voxel * 2654435769u) >> (32u - bits);
    for (uint probe = 0u; probe < MAX_PROBES; probe++) {
        uint was = atomicCompSwap(table[at], NO_VOXEL, voxel);
        if (was == NO_VOXEL || was == voxel) return;
        at = (at + 1u) & ((1u << bits) - 1u);
    }
    is_left = 1u;
}

// Position of point `at` and its voxel. Returns false if it lies outside or too close to a face.
bool find_position(uint at, out dvec3 c, out ivec3 v)
{
    double x = double(point[at * 3u]), y = double(point[at * 3u + 1u]), z = double(point[at * 3u + 2u]);
    c = dvec3(params.xx * x + params.xy * y + params.xz * z + params.xt,
              params.yx * x + params.yy * y + params.yz * z + params.yt,
              params.zx * x + params.zy * y + params.zz * z + params.zt);
    dvec3 whole = floor(c), part = c - whole, n = dvec3(params.nx, params.ny, params.nz);
    bool is_in = all(greaterThanEqual(c, dvec3(0.0lf))) && all(lessThan(c, n));
    v = is_in ? ivec3(whole) : ivec3(0);
    return is_in && all(greaterThan(part, dvec3(MARGIN))) && all(lessThan(part, dvec3(1.0lf - MARGIN)));
}

// Whether the line crosses the next face of one axis before the next face of another. a / m and b / n are the shares of
// the line up to these faces; n_a and n_b are the numbers of faces still to be crossed, 0: that axis comes last.
// Products are compared instead of quotients, so that nothing is divided by 0.
bool comes_first(int n_a, double a, double m, int n_b, double b, double n)
{
    return n_b == 0 || (n_a > 0 && a * n < b * m);
}

// Whether a / m and b / n (see comes_first()) are so close that rounding could swap their order. If so, the host finds
// the voxels of this streamline instead of the device.
bool is_close(int n_a, double a, double m, int n_b, double b, double n)
{
    return n_a > 0 && n_b > 0 && !(abs(a * n - b * m) > MARGIN * (m + n));
}

// Visits the voxels behind the faces that the line from a (in u) to b (in v) crosses, in the order of the crossings
// (Amanatides and Woo 1987). next holds, for each axis, the distance from a to the next face along it, in voxels.
void walk(dvec3 a, ivec3 u, dvec3 b, ivec3 v, uint bits)
{
    ivec3 n = abs(v - u), way = sign(v - u);
    dvec3 size = abs(b - a), next = mix(a - dvec3(u), dvec3(u) + 1.0lf - a, greaterThan(way, ivec3(0)));
    int n_faces = n.x + n.y + n.z;
    if (n_faces > MAX_FACES) {
        is_left = 1u;
        return;
    }
    for (int k = 0; k < n_faces; k++) {
        if (is_close(n.x, next.x, size.x, n.y, next.y, size.y) || is_close(n.x, next.x, size.x, n.z, next.z, size.z) ||
            is_close(n.y, next.y, size.y, n.z, next.z, size.z)) {
            is_left = 1u;
            return;
        }
        bool xy = comes_first(n.x, next.x, size.x, n.y, next.y, size.y);
        bool xz = comes_first(n.x, next.x, size.x, n.z, next.z, size.z);
        bool yz = comes_first(n.y, next.y, size.y, n.z, next.z, size.z);
        ivec3 one = xy && xz ? ivec3(1, 0, 0) : yz ? ivec3(0, 1, 0) : ivec3(0, 0, 1);
        u += one * way;
        n -= one;
        next += dvec3(one);
        visit(u, bits);
    }
}

// Stores the first and the last point of streamline s, whose n points begin at `first`, unless params.room is 0. If the
// streamline is left to the host, also counts its points and, if there is room, stores them.
void pack(uint s, uint first, uint n, uint local)
{
    uint taken = params.nx * params.ny * params.nz + params.n_lines, ends = taken + 1u;
    if (is_left != 0u && local == 0u) {
        stored_at = atomicAdd(word[taken], n);
        word[taken - params.n_lines + s] = stored_at + 1u;
    }
    if (params.room == 0u) return;
    barrier();
    if (local < 6u)
        word[ends + 6u * s + local] = floatBitsToUint(point[3u * (local < 3u ? first : first + n - 1u) + local % 3u]);
    if (is_left == 0u || stored_at + n > params.room) return;
    uint at = ends + 6u * params.n_lines + 3u * stored_at;
    for (uint i = local; i < 3u * n; i += uint(GROUP_SIZE)) word[at + i] = floatBitsToUint(point[3u * first + i]);
}

// The table has more than four slots for each point, up to TABLE_SIZE in all, so that chains of probes stay short. A
// streamline that is left to the host adds nothing to the map.
void main()
{
    uint local = gl_LocalInvocationID.x;
    for (uint s = gl_WorkGroupID.x; s < params.n_lines; s += gl_NumWorkGroups.x) {
        uint first = lines[s].first, n = lines[s].backward + lines[s].forward + 1u;
        if (first == NOT_PLACED) continue;
        uint bits = uint(clamp(findMSB(n) + 3, 6, TABLE_BITS)), n_slots = 1u << bits;
        for (uint i = local; i < n_slots; i += uint(GROUP_SIZE)) table[i] = NO_VOXEL;
        if (local == 0u) is_left = 0u;
        barrier();
        for (uint i = local; i < n; i += uint(GROUP_SIZE)) {
            dvec3 a, b;
            ivec3 u, v;
            if (!find_position(first + i, a, u)) {
                is_left = 1u;
                continue;
            }
            if (i == 0u) visit(u, bits);
            if (i + 1u < n && find_position(first + i + 1u, b, v)) walk(a, u, b, v, bits);
        }
        barrier();
        for (uint i = local; i < n_slots && is_left == 0u; i += uint(GROUP_SIZE))
            if (table[i] != NO_VOXEL) atomicAdd(word[table[i]], 1u);
        pack(s, first, n, local);
        barrier();
    }
}
