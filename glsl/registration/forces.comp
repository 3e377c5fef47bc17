// Computes the forces at each voxel, and the cost, from local correlation or from squared differences (SSD). The forces
// of several pairs of images are added. Costs are added as whole numbers, so their sum does not depend on the order.
// Dispatched by src/registration/velocity_device.c; add_forces() of velocity_host.c computes the same.
layout(local_size_x = GROUP_SIZE) in;

layout(location = 0) uniform int dim_x;
layout(location = 1) uniform int dim_y;
layout(location = 2) uniform int dim_z;
layout(location = 3) uniform int radius;
layout(location = 4) uniform float weight;
layout(location = 5) uniform int more; // not 0: add to the forces

layout(std430, binding = 0) readonly buffer Pair { float pair[]; }; // f, m, inside
layout(std430, binding = 1) readonly buffer Sums { float sums[]; }; // five planes
layout(std430, binding = 2) buffer Forces { float force[]; };       // three planes
// cost in units of 2^-20, low and high word; number of voxels inside; bits of the largest squared force
layout(std430, binding = 3) buffer Totals { uint totals[4]; };

shared uint costs[GROUP_SIZE];
shared uint insides[GROUP_SIZE];

#include "registration/volume.glsl"

// Returns the gradient of f (from 0) or m (from n): central differences, one-sided at the border.
vec3 gradient(uint from, uint i, ivec3 at, ivec3 dim)
{
    ivec3 stride = ivec3(1, dim.x, dim.x * dim.y);
    vec3 g = vec3(0.0);
    for (int a = 0; a < 3; a++) {
        int low = at[a] > 0 ? 1 : 0, high = at[a] + 1 < dim[a] ? 1 : 0;
        uint below = uint(int(i) - low * stride[a]), above = uint(int(i) + high * stride[a]);
        if (low + high > 0) g[a] = (pair[from + above] - pair[from + below]) / float(low + high);
    }
    return g;
}

// Returns the factors of the gradients of f and m in the force, and the cost.
vec3 compare(uint i, uint n, ivec3 at, ivec3 dim)
{
    bool within = pair[2u * n + i] > 0.5;
#ifdef SSD
    float d = within ? pair[n + i] - pair[i] : 0.0;
    return vec3(d, -d, min(d * d, 2000.0));
#else
    ivec3 taken = min(at + radius, dim - 1) - max(at - radius, ivec3(0)) + 1;
    float count = float(taken.x) * float(taken.y) * float(taken.z);
    float f = sums[i] / count, m = sums[n + i] / count;
    float ff = sums[2u * n + i] / count - f * f, mm = sums[3u * n + i] / count - m * m;
    float fm = sums[4u * n + i] / count - f * m;
    if (!within || !(ff > 1e-5) || !(mm > 1e-5)) return vec3(0.0);
    float k = 2.0 * fm / (ff * mm), df = pair[i] - f, dm = pair[n + i] - m;
    return vec3(k * (dm - fm / ff * df), k * (df - fm / mm * dm), fm * fm / (ff * mm));
#endif
}

void main()
{
    ivec3 dim = ivec3(dim_x, dim_y, dim_z);
    uint i = gls_voxel(), n = uint(dim.x) * uint(dim.y) * uint(dim.z), lane = gl_LocalInvocationID.x;
    costs[lane] = 0u;
    insides[lane] = 0u;
    if (i < n) {
        ivec3 at = gls_position(i, dim);
        vec3 c = compare(i, n, at, dim);
        vec3 w = weight * (c.y * gradient(n, i, at, dim) - c.x * gradient(0u, i, at, dim));
        if (more != 0) w += vec3(force[i], force[n + i], force[2u * n + i]);
        force[i] = w.x;
        force[n + i] = w.y;
        force[2u * n + i] = w.z;
        costs[lane] = uint(c.z * 1048576.0 + 0.5);
        insides[lane] = pair[2u * n + i] > 0.5 ? 1u : 0u;
    }
    barrier();
    if (lane != 0u) return;
    // a group has at most 2^32 units: its sum goes to two words with a carry
    uint low = 0u, high = 0u, inside = 0u;
    for (uint k = 0u; k < uint(GROUP_SIZE); k++) {
        low += costs[k];
        if (low < costs[k]) high++;
        inside += insides[k];
    }
    uint before = atomicAdd(totals[0], low);
    if (before + low < before) high++;
    if (high > 0u) atomicAdd(totals[1], high);
    if (inside > 0u) atomicAdd(totals[2], inside);
}
