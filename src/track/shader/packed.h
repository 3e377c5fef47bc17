/* A unit vector in one 32-bit word (octahedral map, 16 bits a coordinate), as kernels send it to the host. C twin of
 * glsl/base/packed.glsl. */
#ifndef GLS_TRACK_SHADER_PACKED_H
#define GLS_TRACK_SHADER_PACKED_H

#include <math.h>
#include <stdint.h>

/* Sets d to the unit vector that a word stands for. */
static inline void gls_direction_unpack(uint32_t word, float d[3])
{
    float a = (float)(word & 0xffff) * (2.0f / 65535.0f) - 1.0f, b = (float)(word >> 16) * (2.0f / 65535.0f) - 1.0f,
          x = a, y = b, z = 1.0f - fabsf(a) - fabsf(b);
    if (z < 0) {
        x = (1.0f - fabsf(b)) * (a < 0 ? -1.0f : 1.0f);
        y = (1.0f - fabsf(a)) * (b < 0 ? -1.0f : 1.0f);
    }
    float scale = 1.0f / sqrtf(x * x + y * y + z * z);
    d[0] = x * scale;
    d[1] = y * scale;
    d[2] = z * scale;
}

/* The word of a vector, which need not be of length 1 but must not be 0. */
static inline uint32_t gls_direction_pack(const float d[3])
{
    float sum = fabsf(d[0]) + fabsf(d[1]) + fabsf(d[2]), a = d[0] / sum, b = d[1] / sum;
    if (d[2] < 0) {
        float folded = (1 - fabsf(b)) * (a < 0 ? -1 : 1);
        b = (1 - fabsf(a)) * (b < 0 ? -1 : 1);
        a = folded;
    }
    return (uint32_t)floorf((a * 0.5f + 0.5f) * 65535 + 0.5f) | (uint32_t)floorf((b * 0.5f + 0.5f) * 65535 + 0.5f)
                                                                    << 16;
}

#endif
