/* float16. */
#ifndef GLS_UTIL_FLOAT16_H
#define GLS_UTIL_FLOAT16_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Nearest float16, ties to even; infinity from 65520 on; NaN stays NaN. */
uint16_t gls_half(float value);
/* The exact value of a float16. */
float gls_half_value(uint16_t half);
/* As gls_half() for n values; false if one of the results is not finite. */
bool gls_half_convert(const float *in, size_t n, uint16_t *out);

#endif
