// Measures the peak rate of copying: every invocation copies COPY_TURNS vectors; neighbouring invocations copy
// neighbouring vectors. Dispatched by measure_copy() of src/bench/ceilings.c, with as many invocations as the buffers
// have room for.
layout(local_size_x = GROUP_SIZE) in;
layout(std430, binding = 0) readonly buffer From { vec4 from[]; };
layout(std430, binding = 1) writeonly buffer To { vec4 to[]; };

void main()
{
    uint n = gl_NumWorkGroups.x * uint(GROUP_SIZE);
    for (int t = 0; t < COPY_TURNS; t++) {
        uint i = gl_GlobalInvocationID.x + uint(t) * n;
        to[i] = from[i];
    }
}
