// Reads the field from a buffer of texels. Voxels are stored x fastest. The values of a voxel are stored in quads of
// four: two quads in a texel in half precision, one in single precision. Software renderers fetch a texel of a buffer
// with a tenth of the instructions that an interpolated sample of a texture takes. The texture unit of the buffer
// follows the units of the guide, as in base/textures.glsl.
layout(binding = GUIDE_TEXTURES) uniform usamplerBuffer texels;

#if TEXEL_QUADS == 2
const float TEXEL_UNIT = 1.92592994e-34; // 2^-112: texel_quad() returns values multiplied by this
#else
const float TEXEL_UNIT = 1.0;
#endif

// Returns quad q of the voxel whose first texel has index `at`, times TEXEL_UNIT. Where the sign, exponent and mantissa
// of a half-precision number are moved to their positions in single precision, the number becomes 2^-112 times as
// large. This takes fewer instructions than unpackHalf2x16(), for which llvmpipe needs ten.
vec4 texel_quad(int at, int q)
{
#if TEXEL_QUADS == 2
    uvec4 texel = texelFetch(texels, at + q / 2);
    ivec2 words = ivec2(q % 2 == 0 ? texel.xy : texel.zw);
    return intBitsToFloat((ivec4(words.x << 16, words.x, words.y << 16, words.y) >> 3) & int(0x8fffe000));
#else
    return uintBitsToFloat(texelFetch(texels, at + q));
#endif
}

// The position at which p is sampled: p, or the nearest position between the outermost voxel centres.
vec3 texel_position(vec3 p) { return clamp(p, vec3(0.0), GRID - 1.0); }

// The voxel with the lowest coordinates of the cell of eight voxel centres around p.
vec3 texel_cell(vec3 p) { return min(floor(texel_position(p)), max(GRID - 2.0, vec3(0.0))); }

// Index of the voxel at corner k of a cell. Bits 0, 1 and 2 of k are set for corners at the high end of x, y and z.
int texel_corner(vec3 cell, int k)
{
    ivec3 voxel = min(ivec3(cell) + ivec3(k & 1, k >> 1 & 1, k >> 2), ivec3(GRID_NX, GRID_NY, GRID_NZ) - 1);
    return voxel.x + GRID_NX * (voxel.y + GRID_NY * voxel.z);
}
