// Composes a field with itself: out = s u(x) + s u(x + s u(x)). Several of these, one after the other, give the flow
// along a velocity. Dispatched by src/registration/velocity_device.c.
layout(local_size_x = GROUP_SIZE) in;

layout(location = 0) uniform int dim_x;
layout(location = 1) uniform int dim_y;
layout(location = 2) uniform int dim_z;
layout(location = 3) uniform float factor; // s

// three planes each
layout(std430, binding = 0) readonly buffer From { float field[]; };
layout(std430, binding = 1) writeonly buffer To { float made[]; };

#include "registration/volume.glsl"

void main()
{
    ivec3 dim = ivec3(dim_x, dim_y, dim_z);
    uint i = gls_voxel(), n = uint(dim.x) * uint(dim.y) * uint(dim.z);
    if (i >= n) return;
    vec3 d = factor * vec3(field[i], field[n + i], field[2u * n + i]);
    gls_corners c = gls_corners_at(vec3(gls_position(i, dim)) + d, dim);
    made[i] = d.x + factor * GLS_BETWEEN(field, 0u, c);
    made[n + i] = d.y + factor * GLS_BETWEEN(field, n, c);
    made[2u * n + i] = d.z + factor * GLS_BETWEEN(field, 2u * n, c);
}
