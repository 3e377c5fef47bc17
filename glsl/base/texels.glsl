// A field in a buffer of texels: voxel by voxel, x fastest, and the values of a voxel in quads, two to a texel in half
// precision. Software renderers look up a texel at a whole number with a tenth of the instructions that they need to
// interpolate one. The unit below is the guide's limit, as in base/textures.glsl.
layout(binding = GUIDE_TEXTURES) uniform usamplerBuffer texels;

#if TEXEL_QUADS == 2
const float TEXEL_UNIT = 1.92592994e-34; // 2^-112: values times this are what texel_quad() returns
#else
const float TEXEL_UNIT = 1.0;
#endif

// Quad q of the voxel whose first texel is `at`, times TEXEL_UNIT. The bits of a half, moved to the places of sign,
// exponent and mantissa in a float, are its value times 2^-112; llvmpipe needs ten instructions for unpackHalf2x16().
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

// The position at which p is sampled: in the grid.
vec3 texel_position(vec3 p) { return clamp(p, vec3(0.0), GRID - 1.0); }

// The voxel with the lowest coordinates of the cell of eight voxel centres around p.
vec3 texel_cell(vec3 p) { return min(floor(texel_position(p)), max(GRID - 2.0, vec3(0.0))); }

// Number of the voxel at corner k of a cell, whose bits say whether it lies at the high end of x, y and z.
int texel_corner(vec3 cell, int k)
{
    ivec3 voxel = min(ivec3(cell) + ivec3(k & 1, k >> 1 & 1, k >> 2), ivec3(GRID_NX, GRID_NY, GRID_NZ) - 1);
    return voxel.x + GRID_NX * (voxel.y + GRID_NY * voxel.z);
}
