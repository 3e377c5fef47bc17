// Samples the stop map between voxels.
layout(binding = 0) uniform sampler3D stop_map;

float stop_value(vec3 p)
{
    return texture(stop_map, (p + 0.5) / GRID).r;
}
