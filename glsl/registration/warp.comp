// Reads an image at the places to which a field takes the voxels of a level. Dispatched twice by
// src/registration/velocity_device.c: for the fixed image, plane 0 of the output, and with MOVING for the moving
// image, plane 1, behind the map of the affine. Plane 2 is 1 where both images count.
layout(local_size_x = GROUP_SIZE) in;

layout(location = 0) uniform int dim_x;
layout(location = 1) uniform int dim_y;
layout(location = 2) uniform int dim_z;
// size of the image that is read
layout(location = 3) uniform int image_x;
layout(location = 4) uniform int image_y;
layout(location = 5) uniform int image_z;

layout(std430, binding = 0) readonly buffer Image { float image[]; }; // values, then 1 where a voxel counts
layout(std430, binding = 1) readonly buffer Field { float field[]; }; // three planes
layout(std430, binding = 2) buffer Pair { float pair[]; };            // three planes
layout(std430, binding = 3) readonly buffer Map { vec4 map[3]; };     // voxels of the level to voxels of the image

#include "registration/volume.glsl"

void main()
{
    ivec3 dim = ivec3(dim_x, dim_y, dim_z), size = ivec3(image_x, image_y, image_z);
    uint i = gls_voxel(), n = uint(dim.x) * uint(dim.y) * uint(dim.z);
    uint n_image = uint(size.x) * uint(size.y) * uint(size.z);
    if (i >= n) return;
    vec3 p = vec3(gls_position(i, dim)) + vec3(field[i], field[n + i], field[2u * n + i]);
#ifdef MOVING
    p = vec3(map[0].x * p.x + map[0].y * p.y + map[0].z * p.z + map[0].w,
             map[1].x * p.x + map[1].y * p.y + map[1].z * p.z + map[1].w,
             map[2].x * p.x + map[2].y * p.y + map[2].z * p.z + map[2].w);
#endif
    gls_corners c = gls_corners_at(p, size);
    bool counts = gls_inside(p, size) && image[n_image + gls_nearest(c)] > 0.5;
    float value = GLS_BETWEEN(image, 0u, c); // beyond the image that at its border
#ifdef MOVING
    pair[n + i] = value;
    if (!counts) pair[2u * n + i] = 0.0;
#else
    pair[i] = value;
    pair[2u * n + i] = counts ? 1.0 : 0.0;
#endif
}
