// Volumes as planes of floats: which voxel an invocation handles, and values between voxels. The same arithmetic, in
// the same order, as src/registration/trilinear.h.

// Number of the voxel of this invocation; work groups stand in rows, because one axis may have only 65535 of them.
uint gls_voxel()
{
    return (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * uint(GROUP_SIZE) + gl_LocalInvocationID.x;
}

// Position of a voxel.
ivec3 gls_position(uint voxel, ivec3 dim)
{
    uint row = voxel / uint(dim.x);
    return ivec3(int(voxel - row * uint(dim.x)), int(row % uint(dim.y)), int(row / uint(dim.y)));
}

// The lower voxel of the eight around a point, the steps to the upper ones, and the shares of the latter.
struct gls_corners {
    uint voxel, dx, dy, dz;
    vec3 part;
};

gls_corners gls_corners_at(vec3 p, ivec3 dim)
{
    gls_corners c;
    vec3 within = min(max(p, vec3(0.0)), vec3(dim - 1));
    ivec3 low = min(ivec3(within), max(dim - 2, ivec3(0)));
    c.part = within - vec3(low);
    c.voxel = uint(low.x) + uint(dim.x) * (uint(low.y) + uint(dim.y) * uint(low.z));
    c.dx = dim.x > 1 ? 1u : 0u;
    c.dy = dim.y > 1 ? uint(dim.x) : 0u;
    c.dz = dim.z > 1 ? uint(dim.x) * uint(dim.y) : 0u;
    return c;
}

// The voxel of the eight with the largest share.
uint gls_nearest(gls_corners c)
{
    return c.voxel + (c.part.x > 0.5 ? c.dx : 0u) + (c.part.y > 0.5 ? c.dy : 0u) + (c.part.z > 0.5 ? c.dz : 0u);
}

// Whether a point is at most half a voxel beyond the outermost centres.
bool gls_inside(vec3 p, ivec3 dim)
{
    return all(greaterThanEqual(p, vec3(-0.5))) && all(lessThanEqual(p, vec3(dim) - 0.5));
}

// Value between voxels of the buffer `data`; `from` is its first value.
#define GLS_BETWEEN(data, from, c) gls_mix8( \
    data[(from) + c.voxel], data[(from) + c.voxel + c.dx], data[(from) + c.voxel + c.dy], \
    data[(from) + c.voxel + c.dx + c.dy], data[(from) + c.voxel + c.dz], data[(from) + c.voxel + c.dx + c.dz], \
    data[(from) + c.voxel + c.dy + c.dz], data[(from) + c.voxel + c.dx + c.dy + c.dz], c.part)

float gls_mix8(float a, float b, float c, float d, float e, float f, float g, float h, vec3 t)
{
    float low = (a + t.x * (b - a)) * (1.0 - t.y) + (c + t.x * (d - c)) * t.y;
    float high = (e + t.x * (f - e)) * (1.0 - t.y) + (g + t.x * (h - g)) * t.y;
    return low + t.z * (high - low);
}
