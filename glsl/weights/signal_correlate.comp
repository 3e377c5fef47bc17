// Weights by the signal: products of each column of a voxel with a residual, r + momentum (r - before). An invocation
// handles every 64th column. Dispatched by src/weights/signal_device.c; src/weights/signal_model.c computes the same on
// the CPU. QUADS: a quarter of the volumes, rounded up.
#include "weights/signal_voxels.glsl"

layout(location = 9) uniform uint r_at;       // index of the first value of r
layout(location = 10) uniform uint before_at; // that of the residual before it
layout(location = 11) uniform float momentum;

layout(std430, binding = 1) readonly buffer Kernels { vec4 kernel[]; };

shared vec4 residual[QUADS];

void main()
{
    uint v = voxel_of_group(), lane = gl_LocalInvocationID.x;
    if (v >= n_block) return;
    Columns c = columns_of(v);
    EXACT float squares = 0.0;
    for (uint q = lane; q < uint(QUADS); q += 64u) {
        EXACT vec4 r = vec4(0.0);
        for (uint k = 0u; k < 4u && 4u * q + k < n_volumes; k++) {
            uint at = v * n_volumes + 4u * q + k;
            float now = signals[r_at + at];
            r[k] = now + momentum * (now - signals[before_at + at]);
            squares += r[k] * r[k];
        }
        residual[q] = r;
    }
    barrier();
    for (uint i = lane; i < c.n; i += 64u) {
        uint at = kernel_of(c, i) * uint(QUADS);
        EXACT vec4 sum = vec4(0.0);
        for (uint q = 0u; q < uint(QUADS); q++) sum += residual[q] * kernel[at + q];
        value[value_at(c, i)] = (sum.x + sum.y) + (sum.z + sum.w);
    }
    store_squares(c, squares);
}
