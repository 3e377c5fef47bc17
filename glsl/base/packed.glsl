// Packs a direction into a word: the octahedron |x| + |y| + |z| = 1 is unfolded to a square with 16 bits along each
// side. GLSL twin of src/track/shader/packed.h. Also draws random directions.

// Folds the lower half of the octahedron outward, to the corners of the square.
vec2 octahedron_fold(vec2 a) { return (1.0 - abs(a.yx)) * vec2(a.x < 0.0 ? -1.0 : 1.0, a.y < 0.0 ? -1.0 : 1.0); }

// The word of a vector, which need not be of length 1 but must not be 0.
uint pack_direction(vec3 d)
{
    vec2 a = d.xy / (abs(d.x) + abs(d.y) + abs(d.z));
    if (d.z < 0.0) a = octahedron_fold(a);
    uvec2 q = uvec2(floor((a * 0.5 + 0.5) * 65535.0 + 0.5));
    return q.x | q.y << 16;
}

// The unit vector that a word stands for.
vec3 unpack_direction(uint word)
{
    vec2 a = vec2(float(word & 0xffffu), float(word >> 16)) * (2.0 / 65535.0) - 1.0;
    float z = 1.0 - abs(a.x) - abs(a.y);
    if (z < 0.0) a = octahedron_fold(a);
    return normalize(vec3(a, z));
}

// A random direction, uniform over the sphere.
vec3 random_direction(uvec4 words)
{
    // z is uniform on the sphere (Archimedes). words: random; the upper 24 bits of x and y are used.
    float angle = 6.283185307 * float(words.x >> 8) * (1.0 / 16777216.0);
    float z = (float(words.y >> 8) + 0.5) * (2.0 / 16777216.0) - 1.0, r = sqrt(1.0 - z * z);
    return vec3(r * cos(angle), r * sin(angle), z);
}
