// Positions of half-streamlines whose short steps would add up the rounding of float: beside the position its remainder
// is kept, what the true position has more, in units of REMAINDER_UNIT. src/track/shader/remainder.h is its C twin.
#if defined GL_ES && __VERSION__ < 320 && !defined GL_EXT_gpu_shader5
#define EXACT // GLSL has no such keyword: compilers may take the remainder to be 0
#else
#define EXACT precise
#endif

// The remainder that a word holds: along each axis a number of units of ten bits with sign.
vec3 unpack_remainder(uint word)
{
    int w = int(word);
    return REMAINDER_UNIT * vec3(bitfieldExtract(w, 0, 10), bitfieldExtract(w, 10, 10), bitfieldExtract(w, 20, 10));
}

uint pack_remainder(vec3 remainder)
{
    uvec3 n = uvec3(ivec3(remainder * (1.0 / REMAINDER_UNIT))) & 1023u;
    return n.x | n.y << 10 | n.z << 20;
}

// Returns p + step, rounded to float, and stores in `remainder` the remainder of the sum, in whole units.
vec3 exact_step(vec3 p, vec3 step, inout vec3 remainder)
{
    EXACT vec3 move = step + remainder;
    EXACT vec3 sum = p + move;
    EXACT vec3 rest = move - (sum - p);
    remainder = REMAINDER_UNIT * roundEven(rest * (1.0 / REMAINDER_UNIT));
    return sum;
}

// Position relative to the centre of a voxel near it.
vec3 from_centre(vec3 p, vec3 remainder, vec3 centre)
{
    EXACT vec3 d = (p - centre) + remainder;
    return d;
}
