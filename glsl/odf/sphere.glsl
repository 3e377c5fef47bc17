// The directions on which ODFs are sampled.
#include "base/model.glsl"

// Unit vector of a vertex, along the voxel axes. An index that is too large, as a failed kernel may leave it, counts as
// the last vertex, so that no load is out of bounds.
vec3 vertex_direction(uint vertex)
{
    return MODEL_FLOATS(MODEL_VERTICES + int(min(vertex, uint(N_VERTICES - 1)))).xyz;
}

// Direction of a vertex; on an antipodal sphere with the sign that agrees with d.
vec3 vertex_along(uint vertex, vec3 d)
{
    vec3 direction = vertex_direction(vertex);
#if ANTIPODAL
    return dot(direction, d) < 0.0 ? -direction : direction;
#else
    return direction;
#endif
}
