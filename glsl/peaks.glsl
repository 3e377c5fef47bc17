// ODF on the sphere, its local maxima, and the choice among them. The model buffer holds the vertices, and with subgroups the matrices and neighbours.
layout(std430, binding = 3) readonly buffer Model { float model[]; };
#define MODEL_FLOAT(i) model[i]
#define MODEL_INT(i) floatBitsToInt(model[i])

vec3 vertex_direction(uint vertex)
{
    int v = MODEL_VERTICES + int(min(vertex, uint(N_VERTICES - 1)));
    return vec3(MODEL_FLOAT(v), MODEL_FLOAT(v + N_VERTICES), MODEL_FLOAT(v + 2 * N_VERTICES));
}

#include "peaks_mapping.glsl"
