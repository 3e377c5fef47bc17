// Measures the peak rate of multiply-adds: twelve independent chains in each invocation, enough to hide latency and few
// enough for the registers of a CPU; 48 multiply-adds in each iteration. Dispatched by measure_fma() of
// src/bench/ceilings.c; the sum is stored, so that no compiler removes the chains.
layout(local_size_x = GROUP_SIZE) in;
layout(location = 0) uniform float factor;
layout(location = 1) uniform float term;
layout(std430, binding = 1) writeonly buffer To { float to[]; };

void main()
{
    vec4 x = vec4(0.0, 0.1, 0.2, 0.3) + float(gl_LocalInvocationID.x), y = x + 0.4, z = x + 0.8;
    for (int t = 0; t < FMA_TURNS; t++) {
        x = x * factor + term;
        y = y * factor + term;
        z = z * factor + term;
        x = x * factor + term;
        y = y * factor + term;
        z = z * factor + term;
        x = x * factor + term;
        y = y * factor + term;
        z = z * factor + term;
        x = x * factor + term;
        y = y * factor + term;
        z = z * factor + term;
    }
    to[gl_GlobalInvocationID.x] = dot(x + y + z, vec4(1.0));
}
