/* C definitions of the names that glsl/weights/language.glsl defines for GLSL, for text that both languages include.
 * Include this header last, before that text, and undefine `uint` and `abs` afterwards. */
#ifndef GLS_WEIGHTS_SHARED_H
#define GLS_WEIGHTS_SHARED_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF /* gcc does not fuse operations in ISO mode */
#endif

/* Constants of float, and constants of double that are rounded to float. */
#define F(x) x##f
#define D(x) ((double)x##f)
#define FUNCTION static inline
#define EXACT
#define INT(x) ((int32_t)(x))
#define UINT(x) ((uint32_t)(x))
#define FLOAT(x) ((float)(x))
#define DOUBLE(x) ((double)(x))

/* Reinterprets bits as a float, and the reverse, as the functions of GLSL with these names do. */
static inline float intBitsToFloat(int32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline int32_t floatBitsToInt(float f)
{
    int32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

/* The double with these words. */
static inline double from_words(uint32_t low, uint32_t high)
{
    uint64_t bits = (uint64_t)high << 32 | low;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Upper word of a double: sign, exponent and 20 bits of the mantissa. */
static inline uint32_t high_word(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (uint32_t)(bits >> 32);
}

#define uint uint32_t
#define abs fabsf

#endif
