/* What text that is GLSL and C at once calls by other names (glsl/weights/language.glsl has them for GLSL). To be
 * included last, before such text; behind it `uint` and `abs` are to be undefined again. */
#ifndef GLS_WEIGHTS_SHARED_H
#define GLS_WEIGHTS_SHARED_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF /* gcc does not fuse in ISO mode */
#endif

#define F(x) x##f
#define FUNCTION static inline
#define EXACT
#define INT(x) ((int32_t)(x))
#define UINT(x) ((uint32_t)(x))
#define FLOAT(x) ((float)(x))

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

#define uint uint32_t
#define abs fabsf

#endif
