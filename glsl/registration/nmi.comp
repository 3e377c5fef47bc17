// Computes joint histograms of two images for several maps at once. Work group (x, y) adds its share of the voxels of
// the fixed image to the histogram of map y, as add_row() of src/registration/nmi.c does. Counts are whole numbers, so
// the order of the sums does not matter. Dispatched by src/registration/nmi_device.c.
layout(local_size_x = GROUP_SIZE) in;

#define BINS 63u
#define CELLS (BINS * (BINS + 1u))

layout(location = 0) uniform int dim_x; // the fixed image
layout(location = 1) uniform int dim_y;
layout(location = 2) uniform int dim_z;
layout(location = 3) uniform int image_x; // the moving image
layout(location = 4) uniform int image_y;
layout(location = 5) uniform int image_z;
layout(location = 6) uniform uint part_size; // voxels of the fixed image that one histogram may take: 2^23 at most
layout(location = 7) uniform uint n_parts;   // histograms of a map

// A sample of the fixed image: its bin, or BINS where it does not count, then its place along x, y and z from the
// centre of its voxel, in 256ths, plus 128. One byte each.
layout(std430, binding = 0) readonly buffer Samples { uint samples[]; };
layout(std430, binding = 1) readonly buffer Image { float image[]; }; // values in bins, then 1 where a voxel counts
layout(std430, binding = 2) readonly buffer Maps { vec4 maps[]; };    // three rows each, voxels to voxels
layout(std430, binding = 3) buffer Histograms { uint histograms[]; };

shared uint cells[CELLS];

#include "registration/volume.glsl"

void main()
{
    ivec3 dim = ivec3(dim_x, dim_y, dim_z), size = ivec3(image_x, image_y, image_z);
    uint n = uint(dim.x) * uint(dim.y) * uint(dim.z), n_image = uint(size.x) * uint(size.y) * uint(size.z);
    uint part = gl_WorkGroupID.x % n_parts, group = gl_WorkGroupID.x / n_parts, n_groups = gl_NumWorkGroups.x / n_parts;
    uint first = part * part_size, last = min(first + part_size, n);
    uint row = 3u * gl_WorkGroupID.y;
    vec4 x = maps[row], y = maps[row + 1u], z = maps[row + 2u];
    vec3 top = vec3(size - 1) + 1e-4;
    // Most voxels are background in both images: they are counted here, else all invocations would add to one cell.
    uint background = 0u;
    for (uint k = gl_LocalInvocationID.x; k < CELLS; k += uint(GROUP_SIZE)) cells[k] = 0u;
    barrier();
    uint stride = n_groups * uint(GROUP_SIZE);
    for (uint i = first + group * uint(GROUP_SIZE) + gl_LocalInvocationID.x; i < last; i += stride) {
        uint s = samples[i], bin = s & 255u;
        if (bin == BINS) continue;
        vec3 place = vec3((uvec3(s) >> uvec3(8u, 16u, 24u)) & 255u) - 128.0;
        vec3 from = vec3(gls_position(i, dim)) + place / 256.0;
        vec3 p = vec3(x.x * from.x + x.y * from.y + x.z * from.z + x.w,
                      y.x * from.x + y.y * from.y + y.z * from.z + y.w,
                      z.x * from.x + z.y * from.y + z.z * from.z + z.w);
        if (any(lessThan(p, vec3(-1e-4))) || any(greaterThan(p, top))) continue;
        gls_corners c = gls_corners_at(p, size);
        if (image[n_image + gls_nearest(c)] < 0.5) continue;
        float value = min(max(GLS_BETWEEN(image, 0u, c), 0.0), float(BINS - 1u) - 1e-5);
        uint low = uint(value), weight = uint(roundEven((value - float(low)) * 256.0)), cell = bin * (BINS + 1u) + low;
        if (cell == 0u && weight == 0u) {
            background++;
        } else {
            atomicAdd(cells[cell], 256u - weight);
            atomicAdd(cells[cell + 1u], weight);
        }
    }
    atomicAdd(cells[0], 256u * background);
    barrier();
    uint to = (gl_WorkGroupID.y * n_parts + part) * CELLS;
    for (uint k = gl_LocalInvocationID.x; k < CELLS; k += uint(GROUP_SIZE))
        if (cells[k] > 0u) atomicAdd(histograms[to + k], cells[k]);
}
