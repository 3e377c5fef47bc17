// Measures the peak rate of trilinear samples: neighbouring invocations sample neighbouring positions of a texture that
// fits into the caches, so that only the texture unit limits the rate. Dispatched by measure_fetch() of
// src/bench/ceilings.c; the sum is stored, so that no compiler removes the samples.
layout(local_size_x = GROUP_SIZE) in;
layout(location = 0) uniform float stride; // distance between fetches of successive iterations, in texture coordinates
layout(std430, binding = 1) writeonly buffer To { float to[]; };
layout(binding = 0) uniform sampler3D source;

void main()
{
    uint i = gl_GlobalInvocationID.x;
    vec3 p = (vec3(float(i % 32u), float(i / 32u % 32u), float(i / 1024u % 32u)) + 0.37) * (1.0 / float(FETCH_SIZE));
    vec4 sum = vec4(0.0);
    for (int t = 0; t < FETCH_TURNS; t++) {
        sum += texture(source, p);
        p += stride;
    }
    to[i] = dot(sum, vec4(1.0));
}
