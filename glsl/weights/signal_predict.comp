// Weights by the signal: predicts the signals of a voxel from its columns, and subtracts its signals. An invocation
// handles every 64th volume. Dispatched by src/weights/signal_device.c; src/weights/signal_model.c computes the same on
// the CPU.
#include "weights/signal_voxels.glsl"

layout(location = 9) uniform uint to;    // index of the first value of the residual
layout(location = 10) uniform float minus; // 1: subtract the signals; 0: do not

layout(std430, binding = 1) readonly buffer Kernels { float kernel[]; }; // volumes of each kernel, a multiple of four

void main()
{
    uint v = voxel_of_group(), stride = (n_volumes + 3u) / 4u * 4u;
    if (v >= n_block) return;
    Columns c = columns_of(v);
    EXACT float squares = 0.0;
    for (uint t = gl_LocalInvocationID.x; t < n_volumes; t += 64u) {
        EXACT float r = 0.0;
        for (uint i = 0u; i < c.n; i++) {
            float x = value[value_at(c, i)];
            if (x != 0.0) r += x * kernel[kernel_of(c, i) * stride + t];
        }
        r -= minus * signals[v * n_volumes + t];
        signals[to + v * n_volumes + t] = r;
        squares += r * r;
    }
    barrier(); // all have read the values
    store_squares(c, squares);
}
