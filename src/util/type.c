/* Types of columns and arrays: their names and sizes, and the conversion of float to float16 and back, in scalar code
 * and with F16C instructions. */
#include <glslines/type.h>

#include <string.h>

#include "util/maths.h"
#include "util/threads.h"

/* Names as in NumPy; sizes in bytes. */
static const struct {
    const char *name;
    size_t size;
} types[GLS_TYPE_COUNT] = {
    [GLS_TYPE_FLOAT16] = {"float16", 2}, [GLS_TYPE_FLOAT32] = {"float32", 4}, [GLS_TYPE_FLOAT64] = {"float64", 8},
    [GLS_TYPE_INT8] = {"int8", 1},       [GLS_TYPE_INT16] = {"int16", 2},     [GLS_TYPE_INT32] = {"int32", 4},
    [GLS_TYPE_INT64] = {"int64", 8},     [GLS_TYPE_UINT8] = {"uint8", 1},     [GLS_TYPE_UINT16] = {"uint16", 2},
    [GLS_TYPE_UINT32] = {"uint32", 4},   [GLS_TYPE_UINT64] = {"uint64", 8},   [GLS_TYPE_BOOL] = {"bool", 1},
};

size_t gls_type_size(gls_type type)
{
    return (unsigned)type < GLS_TYPE_COUNT ? types[type].size : 0;
}

const char *gls_type_name(gls_type type)
{
    return (unsigned)type < GLS_TYPE_COUNT ? types[type].name : "unknown type";
}

bool gls_type_is_float(gls_type type)
{
    return type == GLS_TYPE_FLOAT16 || type == GLS_TYPE_FLOAT32 || type == GLS_TYPE_FLOAT64;
}

uint16_t gls_half(float value)
{
    uint32_t bits, small_bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    /* in turn: NaN, values that round to infinity, and values that become normal numbers, with ties to even */
    if (magnitude > 0x7f800000u) return (uint16_t)(sign | 0x7e00u);
    if (magnitude >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u);
    if (magnitude >= 0x38800000u)
        return (uint16_t)(sign | (magnitude + 0xfffu + (magnitude >> 13 & 1u) - (112u << 23)) >> 13);
    /* adding 0.5 shifts the value so that the rounding of float stops at 2^-24, the last bit of a subnormal float16 */
    float small;
    memcpy(&small, &magnitude, sizeof small);
    small += 0.5f;
    memcpy(&small_bits, &small, sizeof small_bits);
    return (uint16_t)(sign | (small_bits - 0x3f000000u));
}

float gls_half_value(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16, magnitude = half & 0x7fffu, bits;
    float value;
    /* subnormal numbers are multiples of 2^-24; for normal numbers the exponent's bias changes from 15 to 127 */
    if (magnitude < 0x0400u) {
        value = (float)magnitude * 0x1p-24f;
        memcpy(&bits, &value, sizeof bits);
    } else {
        bits = (magnitude << 13) + (magnitude < 0x7c00u ? 112u << 23 : 224u << 23);
    }
    bits |= sign;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#if GLS_CPU_HAS_LEVELS
#include <immintrin.h>

/* Converts the values in groups of eight. *finite: whether all results are finite. Returns the number of values
 * converted; the caller converts the rest. */
GLS_TARGET_AVX2 static size_t convert_vector(const float *in, size_t n, uint16_t *out, bool *finite)
{
    if (gls_cpu_level() < GLS_CPU_AVX2) return 0;
    const __m128i exponent = _mm_set1_epi16(0x7c00);
    __m128i special = _mm_setzero_si128();
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m128i half = _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT);
        special = _mm_or_si128(special, _mm_cmpeq_epi16(_mm_and_si128(half, exponent), exponent));
        _mm_storeu_si128((__m128i *)(void *)(out + i), half);
    }
    *finite = _mm_movemask_epi8(special) == 0;
    return i;
}
#else
/* Without vector instructions: converts nothing, and leaves all numbers to the caller. */
static size_t convert_vector(const float *in, size_t n, uint16_t *out, bool *finite)
{
    (void)in, (void)n, (void)out, (void)finite;
    return 0;
}
#endif

bool gls_half_convert(const float *in, size_t n, uint16_t *out)
{
    bool finite = true;
    /* the vector code handles groups of eight, and the rest follows here; both round alike */
    for (size_t i = convert_vector(in, n, out, &finite); i < n; i++) {
        out[i] = gls_half(in[i]);
        finite &= (out[i] & 0x7c00) != 0x7c00;
    }
    return finite;
}

/* Integers that may lie in arrays of floating-point numbers. */
typedef uint16_t __attribute__((may_alias)) any16;
typedef uint32_t __attribute__((may_alias)) any32;
typedef uint64_t __attribute__((may_alias)) any64;

void gls_swap_bytes(void *data, size_t n, size_t bytes)
{
    if (bytes == 2) {
        any16 *p = data;
        for (size_t i = 0; i < n; i++) p[i] = __builtin_bswap16(p[i]);
    } else if (bytes == 4) {
        any32 *p = data;
        for (size_t i = 0; i < n; i++) p[i] = __builtin_bswap32(p[i]);
    } else if (bytes == 8) {
        any64 *p = data;
        for (size_t i = 0; i < n; i++) p[i] = __builtin_bswap64(p[i]);
    }
}
