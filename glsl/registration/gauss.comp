// Smooths three planes along one axis; at the border the weights that are left are scaled to a sum of 1. Dispatched by
// src/registration/velocity_device.c.
layout(local_size_x = GROUP_SIZE) in;

layout(location = 0) uniform int dim_x;
layout(location = 1) uniform int dim_y;
layout(location = 2) uniform int dim_z;
layout(location = 3) uniform int radius;
layout(location = 4) uniform int axis;

layout(std430, binding = 0) readonly buffer From { float from[]; };
layout(std430, binding = 1) writeonly buffer To { float to[]; };
layout(std430, binding = 2) readonly buffer Taps { float tap[]; }; // 2 * radius + 1

#include "registration/volume.glsl"

void main()
{
    ivec3 dim = ivec3(dim_x, dim_y, dim_z);
    uint i = gls_voxel(), n = uint(dim.x) * uint(dim.y) * uint(dim.z);
    if (i >= n) return;
    ivec3 at = gls_position(i, dim);
    int here = axis == 0 ? at.x : axis == 1 ? at.y : at.z, last = (axis == 0 ? dim.x : axis == 1 ? dim.y : dim.z) - 1;
    int stride = axis == 0 ? 1 : axis == 1 ? dim.x : dim.x * dim.y;
    int first = max(-radius, -here), end = min(radius, last - here);
    vec3 sum = vec3(0.0);
    float weights = 0.0;
    for (int k = first; k <= end; k++) {
        uint j = uint(int(i) + k * stride);
        float w = tap[k + radius];
        sum += w * vec3(from[j], from[n + j], from[2u * n + j]);
        weights += w;
    }
    if (first > -radius || end < radius) sum /= weights;
    to[i] = sum.x;
    to[n + i] = sum.y;
    to[2u * n + i] = sum.z;
}
