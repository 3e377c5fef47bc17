// Philox4x32-10 (Salmon et al. 2011): the GLSL twin of gls_philox() in src/util/maths.h. Returns four random words for
// a counter and a key, without a state, so that any invocation can draw any number of the sequence.
uvec4 philox(uvec4 counter, uvec2 key)
{
    for (int i = 0; i < 10; i++) {
        uint hi0, lo0, hi1, lo1;
        umulExtended(0xD2511F53u, counter.x, hi0, lo0);
        umulExtended(0xCD9E8D57u, counter.z, hi1, lo1);
        counter = uvec4(hi1 ^ counter.y ^ key.x, lo1, hi0 ^ counter.w ^ key.y, lo0);
        key += uvec2(0x9E3779B9u, 0xBB67AE85u);
    }
    return counter;
}
