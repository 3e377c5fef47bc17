/* Philox4x32-10 (Salmon et al. 2011): the C twin of glsl/base/philox.glsl. */
#ifndef GLS_UTIL_PHILOX_H
#define GLS_UTIL_PHILOX_H

#include <stdint.h>

/* Encrypts counter with key; four words of random bits. */
static inline void gls_philox(const uint32_t counter[4], uint64_t key, uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
        uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0, n2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        c0 = n0;
        c2 = n2;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* Uniform in [0, 1) with 24 bits: exact in float and double. */
static inline double gls_uniform(uint32_t word)
{
    return (word >> 8) * 0x1p-24;
}

/* Purposes: the last word of a counter, so that no two uses of random numbers share any. */
enum {
    GLS_PHILOX_TRACK = 0,
    GLS_PHILOX_SEED = 1,
    GLS_PHILOX_SHUFFLE = 2,
    GLS_PHILOX_NOISE = 3,
    GLS_PHILOX_SEED_SPHERE = 4,
    GLS_PHILOX_SEED_WEIGHT = 5,
    GLS_PHILOX_SEED_INTERFACE = 6,
    GLS_PHILOX_INITIAL = 7
};

#endif
