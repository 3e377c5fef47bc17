// Finds the largest squared length of the vectors of a field. Bits of floats that are not negative have the order of
// the floats, so a maximum of whole numbers does. Dispatched by src/registration/velocity_device.c.
layout(local_size_x = GROUP_SIZE) in;

layout(location = 0) uniform uint n; // voxels

layout(std430, binding = 0) readonly buffer Field { float field[]; }; // three planes
layout(std430, binding = 1) buffer Totals { uint totals[4]; };        // as in forces.comp

shared uint largest;

#include "registration/volume.glsl"

void main()
{
    uint i = gls_voxel();
    if (gl_LocalInvocationID.x == 0u) largest = 0u;
    barrier();
    if (i < n) {
        vec3 v = vec3(field[i], field[n + i], field[2u * n + i]);
        atomicMax(largest, floatBitsToUint(v.x * v.x + v.y * v.y + v.z * v.z));
    }
    barrier();
    if (gl_LocalInvocationID.x == 0u) atomicMax(totals[3], largest);
}
