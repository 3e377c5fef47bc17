/* Prints doubles as short decimals, much faster than printf(). A double is m 2^-s with a whole number m of at most 53
 * bits. Its n digits are the whole number nearest to m 10^q / 2^s, where q is the number of digits behind the point.
 * For the range that is accepted here m 10^q has fewer than 128 bits, so the arithmetic is exact. */
#include "util/numbers.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* 17 digits distinguish every double from all others. */
#define MAX_DIGITS 17
#define MIN_DIGITS 15 /* a double always has 15 meaningful digits */

typedef unsigned __int128 wide;

/* A number as m 2^-s. */
typedef struct number {
    uint64_t m;
    int s;
    int exponent; /* decimal exponent of the first digit */
} number;

/* 10^q for q from 0 to twice MAX_DIGITS. */
static wide power_of_ten(int q)
{
    static const uint64_t power[] = {1,
                                     10,
                                     100,
                                     1000,
                                     10000,
                                     100000,
                                     1000000,
                                     10000000,
                                     100000000,
                                     1000000000,
                                     UINT64_C(10000000000),
                                     UINT64_C(100000000000),
                                     UINT64_C(1000000000000),
                                     UINT64_C(10000000000000),
                                     UINT64_C(100000000000000),
                                     UINT64_C(1000000000000000),
                                     UINT64_C(10000000000000000),
                                     UINT64_C(100000000000000000)};
    return q <= MAX_DIGITS ? power[q] : (wide)power[MAX_DIGITS] * power[q - MAX_DIGITS];
}

/* Rounds the number to n digits, returned as a whole number; *exponent: decimal exponent of the first digit. */
static uint64_t round_to(const number *x, int n, int *exponent)
{
    /* digits: the exact product over 2^s, rounded to the nearest whole number, to an even one on a tie */
    const wide exact = x->m * power_of_ten(n - 1 - x->exponent), half = (wide)1 << (x->s - 1);
    uint64_t digits = (uint64_t)(exact >> x->s);
    const wide rest = exact & (2 * half - 1);
    digits += rest > half || (rest == half && (digits & 1));
    *exponent = x->exponent;
    /* rounding up gave one digit more: 99.9 became 100 */
    if (digits < (uint64_t)power_of_ten(n)) return digits;
    ++*exponent;
    return digits / 10;
}

/* Whether these n digits are nearer to x than to the neighbouring doubles, so that reading them gives x. */
static bool reads_back(const number *x, uint64_t digits, int n, int exponent)
{
    /* distance of the digits from x, against half the gap to the next double on their side */
    const wide unit = power_of_ten(n - 1 - exponent), exact = x->m * unit, read = (wide)digits << x->s;
    const bool below = read < exact;
    /* below a power of two the doubles lie twice as close */
    wide gap = (below ? exact - read : read - exact) * (below && x->m == UINT64_C(1) << 52 ? 4 : 2);
    return gap < unit || (gap == unit && x->m % 2 == 0);
}

/* Prints n digits, of which the first stands for 10^exponent, without zeros at the end. Returns the length; 0: the
 * number would need an exponent. */
static size_t print_digits(uint64_t digits, int n, int exponent, char *out)
{
    char text[MAX_DIGITS];
    size_t length = 0;
    for (int i = n; i-- > 0; digits /= 10) text[i] = (char)('0' + digits % 10);
    /* leave out zeros at the end; zeros in front of the decimal point are printed again below */
    while (n > 1 && text[n - 1] == '0') n--;
    if (exponent >= n && exponent >= 6) return 0;
    if (exponent < 0) {
        out[length++] = '0';
        out[length++] = '.';
        for (int i = -1; i > exponent; i--) out[length++] = '0';
    }
    for (int i = 0; i < n || i <= exponent; i++) {
        if (i > 0 && i == exponent + 1) out[length++] = '.';
        out[length++] = i < n ? text[i] : '0';
    }
    out[length] = '\0';
    return length;
}

/* Splits v, without its sign, into m and s. Returns false for numbers outside the accepted range. */
static bool take_apart(double v, number *x)
{
    static const double power[] = {1e-4, 1e-3, 1e-2, 1e-1, 1e0,  1e1,  1e2,  1e3,  1e4, 1e5,
                                   1e6,  1e7,  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14};
    const double size = fabs(v);
    uint64_t bits;
    if (!(size >= power[0] && size < power[18])) return false;
    *x = (number){.exponent = -4};
    while (size >= power[x->exponent + 5]) x->exponent++;
    memcpy(&bits, &size, sizeof bits);
    /* the 52 stored bits and the leading 1 */
    x->m = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    x->s = 1075 - (int)(bits >> 52);
    return true;
}

/* Prints the sign and the digits. Returns the length; 0: the number would need an exponent. */
static size_t print_signed(double v, uint64_t digits, int n, int exponent, char *out)
{
    char *text = out;
    if (v < 0) *text++ = '-';
    size_t length = print_digits(digits, n, exponent, text);
    return length > 0 ? length + (size_t)(text - out) : 0;
}

size_t gls_decimal_print(double v, char out[GLS_DECIMAL_BYTES])
{
    number x;
    int exponent, n = MIN_DIGITS;
    if (v == 0) {
        memcpy(out, "0", 2);
        return 1;
    }
    if (!take_apart(v, &x)) return 0;
    uint64_t digits = round_to(&x, n, &exponent);
    /* try 15 digits, then 16, then 17, from which every double is read back */
    while (n < MAX_DIGITS && !reads_back(&x, digits, n, exponent)) digits = round_to(&x, ++n, &exponent);
    return print_signed(v, digits, n, exponent, out);
}

size_t gls_decimal_round(double v, int n, char out[GLS_DECIMAL_BYTES])
{
    number x;
    int exponent;
    if (!take_apart(v, &x) || x.exponent >= n) return 0;
    const uint64_t digits = round_to(&x, n, &exponent);
    return exponent >= n ? 0 : print_signed(v, digits, n, exponent, out);
}
