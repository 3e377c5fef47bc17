// The directions on which ODFs are sampled, and the other tables of the model buffer.
#if MODEL_UNIFORM
layout(std140, binding = 1) uniform Model { uvec4 model[MODEL_BLOCKS]; };
#define MODEL_UINT(i) model[(i) >> 2][(i) & 3]
#else
layout(std430, binding = 3) readonly buffer Model { uint model[]; };
#define MODEL_UINT(i) model[i]
#endif
#define MODEL_INT(i) int(MODEL_UINT(i))
#define MODEL_FLOAT(i) uintBitsToFloat(MODEL_UINT(i))

vec3 vertex_direction(uint vertex)
{
    int v = MODEL_VERTICES + int(min(vertex, uint(N_VERTICES - 1)));
    return vec3(MODEL_FLOAT(v), MODEL_FLOAT(v + N_VERTICES), MODEL_FLOAT(v + 2 * N_VERTICES));
}

// The sense of a vertex that goes with d.
vec3 vertex_along(uint vertex, vec3 d)
{
    vec3 direction = vertex_direction(vertex);
#if ANTIPODAL
    return dot(direction, d) < 0.0 ? -direction : direction;
#else
    return direction;
#endif
}
