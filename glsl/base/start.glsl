// The direction in which a seed's streamline is asked to start; needs packed.glsl and model.glsl.

#if START_GIVEN
// The direction in which the seed's streamline starts: that of all seeds (START_GIVEN 1), or the seed's own
// (START_GIVEN 2), which is packed in `own`.
vec3 start_direction(uint own)
{
#if START_GIVEN == 2
    return unpack_direction(own);
#else
    return vec3(MODEL_FLOAT(MODEL_START), MODEL_FLOAT(MODEL_START + 1), MODEL_FLOAT(MODEL_START + 2));
#endif
}
#endif
