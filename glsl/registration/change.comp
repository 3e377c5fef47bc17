// Changes a velocity by forces, scaled so that the longest is `longest` voxels. Dispatched by
// src/registration/velocity_device.c.
layout(local_size_x = GROUP_SIZE) in;

layout(location = 0) uniform uint n; // values: three for each voxel
layout(location = 1) uniform float longest;

layout(std430, binding = 0) buffer Velocity { float velocity[]; };
layout(std430, binding = 1) readonly buffer Forces { float force[]; };
layout(std430, binding = 2) readonly buffer Totals { uint totals[4]; }; // as in forces.comp

#include "registration/volume.glsl"

void main()
{
    uint i = gls_voxel();
    float square = uintBitsToFloat(totals[3]);
    if (i < n && square > 0.0) velocity[i] += longest / sqrt(square) * force[i];
}
