// Adds up f, m, f f, m m and f m (five planes) over the windows of local correlation along one axis. The first pass
// forms the products from the pair of images (PRODUCTS). Dispatched by src/registration/velocity_device.c.
layout(local_size_x = GROUP_SIZE) in;

layout(location = 0) uniform int dim_x;
layout(location = 1) uniform int dim_y;
layout(location = 2) uniform int dim_z;
layout(location = 3) uniform int radius;
layout(location = 4) uniform int axis;

layout(std430, binding = 0) readonly buffer From { float from[]; };
layout(std430, binding = 1) writeonly buffer To { float to[]; };

#include "registration/volume.glsl"

void main()
{
    ivec3 dim = ivec3(dim_x, dim_y, dim_z);
    uint i = gls_voxel(), n = uint(dim.x) * uint(dim.y) * uint(dim.z);
    if (i >= n) return;
    ivec3 at = gls_position(i, dim);
    int here = axis == 0 ? at.x : axis == 1 ? at.y : at.z, last = (axis == 0 ? dim.x : axis == 1 ? dim.y : dim.z) - 1;
    int stride = axis == 0 ? 1 : axis == 1 ? dim.x : dim.x * dim.y;
    float sum[5] = float[5](0.0, 0.0, 0.0, 0.0, 0.0);
    for (int k = max(-radius, -here); k <= min(radius, last - here); k++) {
        uint j = uint(int(i) + k * stride);
#ifdef PRODUCTS
        float f = from[j], m = from[n + j];
        sum[0] += f;
        sum[1] += m;
        sum[2] += f * f;
        sum[3] += m * m;
        sum[4] += f * m;
#else
        for (int s = 0; s < 5; s++) sum[s] += from[uint(s) * n + j];
#endif
    }
    for (int s = 0; s < 5; s++) to[uint(s) * n + i] = sum[s];
}
