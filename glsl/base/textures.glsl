// Samples a field stored in one or more 3D textures with the texture unit. The channels are cut into tiles of
// TILE_CHANNELS, four or one, and the grid into strips along x. In a texture the tiles of a strip lie side by side
// along x, and the strips one behind the other along z; see src/track/field/field.h. Positions are clamped to the
// outermost voxel centres: samples stay inside their tile, and the outer half voxel is constant. Units below
// GUIDE_TEXTURES belong to the guide.
layout(binding = GUIDE_TEXTURES) uniform sampler3D volume[VOLUME_TEXTURES];

// The position at which p is sampled: clamped to the outermost voxel centres, and rounded to 1/VOLUME_ROUNDING voxel.
// If the sides of the textures are powers of two, at most 2^24 / VOLUME_ROUNDING, texture coordinates are then exact,
// and a sample does not depend on the position of its tile.
vec3 volume_position(vec3 p)
{
    return floor(clamp(p, vec3(0.0), GRID - 1.0) * VOLUME_ROUNDING + 0.5) * (1.0 / VOLUME_ROUNDING);
}

// Texture coordinate of p in tile 0.
vec3 volume_base(vec3 p)
{
    vec3 q = volume_position(p);
#if VOLUME_STRIPS > 1
    float strip = min(floor((floor(q.x) + 0.5) * (1.0 / VOLUME_STRIP_STEP)), float(VOLUME_STRIPS - 1));
    q += vec3(-strip * VOLUME_STRIP_STEP, 0.0, strip * GRID_Z);
#endif
    return (q + 0.5) * vec3(VOLUME_SCALE_X, VOLUME_SCALE_Y, VOLUME_SCALE_Z);
}

// Samples tile t of texture i (a constant). base: from volume_base().
#define VOLUME_TILE(i, t, base) \
    texture(volume[i], (base) + vec3(float(t) * (VOLUME_STRIP_WIDTH * VOLUME_SCALE_X), 0.0, 0.0))

// Fetches the first four channels of a voxel, without interpolation. base: of its centre, from volume_base().
#define VOLUME_VOXEL(base) \
    texelFetch(volume[0], ivec3((base) / vec3(VOLUME_SCALE_X, VOLUME_SCALE_Y, VOLUME_SCALE_Z)), 0)
