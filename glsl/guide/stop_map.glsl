// Samples the stop map (FA, GFA, a mask ...) between voxels: trilinear, by the texture unit, whose weights have 8 bits;
// beyond the outermost voxel centres the value stays constant.
layout(binding = 0) uniform sampler3D stop_map;

// Value of the stop map at p, in voxel coordinates.
float stop_value(vec3 p)
{
    return texture(stop_map, (p + 0.5) / GRID).r;
}

// Whether the stop map ends a half-streamline at p, also where the map is NaN. With STOP_OPEN it ends none: the map
// lies above the threshold everywhere in the mask.
bool stops_at(vec3 p)
{
#if STOP_OPEN
    return false;
#else
    return !(stop_value(p) > params.stop_threshold);
#endif
}
