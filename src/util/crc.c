#include "util/crc.h"

#include <string.h>
#include <zlib.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

/* Folding (Gopal et al. 2009, "Fast CRC computation using PCLMULQDQ"): a block of 128 bits that stands n bits before
 * another one is moved onto it by multiplying its halves with x^(n+64) and x^n modulo the CRC polynomial. Constants for
 * the reflected polynomial 0xEDB88320. */
__attribute__((target("pclmul,sse4.1"))) static __m128i fold(__m128i block, __m128i constants, __m128i onto)
{
    __m128i low = _mm_clmulepi64_si128(block, constants, 0x00), high = _mm_clmulepi64_si128(block, constants, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), onto);
}

/* bytes is a multiple of 64, at least 128. */
__attribute__((target("pclmul,sse4.1"))) static uint32_t crc_folded(uint32_t crc, const unsigned char *p, size_t bytes)
{
    const __m128i by_512 = _mm_set_epi64x(0x1c6e41596, 0x154442bd4), by_128 = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
    __m128i lane[4];
    for (int i = 0; i < 4; i++) lane[i] = _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i));
    lane[0] = _mm_xor_si128(lane[0], _mm_cvtsi32_si128((int)~crc));
    for (p += 64, bytes -= 64; bytes > 0; p += 64, bytes -= 64) {
        for (int i = 0; i < 4; i++)
            lane[i] = fold(lane[i], by_512, _mm_loadu_si128((const __m128i *)(const void *)(p + 16 * i)));
    }
    __m128i sum = fold(fold(fold(lane[0], by_128, lane[1]), by_128, lane[2]), by_128, lane[3]);
    unsigned char rest[16];
    memcpy(rest, &sum, sizeof rest);
    /* sum has the same remainder as everything before it, with a start value of 0; zlib inverts its start value */
    return (uint32_t)crc32(0xffffffffu, rest, sizeof rest);
}

static size_t foldable(size_t bytes)
{
    return bytes >= 256 && __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1") ? bytes / 64 * 64 : 0;
}
#else
static uint32_t crc_folded(uint32_t crc, const unsigned char *p, size_t bytes)
{
    return (uint32_t)crc32_z(crc, p, bytes);
}

static size_t foldable(size_t bytes)
{
    return bytes & 0;
}
#endif

uint32_t gls_crc32(uint32_t crc, const void *data, size_t bytes)
{
    size_t n = foldable(bytes);
    if (n > 0) crc = crc_folded(crc, data, n);
    return (uint32_t)crc32_z(crc, (const unsigned char *)data + n, bytes - n);
}
