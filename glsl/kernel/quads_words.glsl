// Loads and stores quads of the work buffer word by word, for devices without a storage block for a second view.
vec4 load_quad(uint i)
{
    uint at = 4u * i;
    return uintBitsToFloat(uvec4(work[at], work[at + 1u], work[at + 2u], work[at + 3u]));
}

// Stores a quad as four words, by the bits of its floats.
void store_quad(uint i, vec4 value)
{
    uint at = 4u * i;
    work[at] = floatBitsToUint(value.x);
    work[at + 1u] = floatBitsToUint(value.y);
    work[at + 2u] = floatBitsToUint(value.z);
    work[at + 3u] = floatBitsToUint(value.w);
}
