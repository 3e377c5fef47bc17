/* float16. */
#ifndef GLS_IO_HALF_H
#define GLS_IO_HALF_H

#include <stdint.h>
#include <string.h>

/* Nearest float16, ties to even; above 65504 infinity; NaN stays NaN. Without branches, so that loops over it become vector code. */
static inline uint16_t gls_half(float value)
{
    uint32_t bits, small_bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    /* adding 0.5 moves the value so that float's own rounding stops at the last bit of a subnormal float16, 2^-24 */
    float small;
    memcpy(&small, &magnitude, sizeof small);
    small += 0.5f;
    memcpy(&small_bits, &small, sizeof small_bits);
    uint32_t subnormal = small_bits - 0x3f000000u;
    uint32_t normal = (magnitude + 0xfffu + (magnitude >> 13 & 1u) - (112u << 23)) >> 13;
    uint32_t special = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
    uint32_t half = magnitude < 0x38800000u ? subnormal : normal;
    half = magnitude >= 0x477ff000u ? special : half;
    return (uint16_t)(sign | half);
}

#endif
