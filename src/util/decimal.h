/* Tables have millions of numbers: the C library prints them exactly, but slowly. */
#ifndef GLS_UTIL_DECIMAL_H
#define GLS_UTIL_DECIMAL_H

#include <stddef.h>

#define GLS_DECIMAL_BYTES 32

/* The shortest decimal that reads back as the same double, with a NUL behind it, without an exponent; returns its
 * length. 0: this number is not for here: it is not finite, below 1e-4 or not below 1e14 in size (0 is fine), or its
 * decimal has an exponent. */
size_t gls_decimal_print(double v, char out[GLS_DECIMAL_BYTES]);

/* printf's "%.*g" of n digits, 1 to 17, with a NUL behind it; returns its length. 0: this number is not for here: 0,
 * and as above. */
size_t gls_decimal_round(double v, int n, char out[GLS_DECIMAL_BYTES]);

#endif
