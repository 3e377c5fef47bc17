/* Prints numbers: counts, sizes, durations and ranges for people, and doubles as the shortest decimals that read back,
 * much faster than printf(). A double is m 2^-s with a whole number m of at most 53 bits. Its n digits are the whole
 * number nearest to m 10^q / 2^s, where q is the number of digits behind the point. For the range that
 * gls_decimal_print() accepts, m 10^q has fewer than 128 bits, so the arithmetic is exact. */
#include "util/numbers.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"

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
    /* clang-format off */
    static const uint64_t power[] = {
        1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000,
        1000000000000, 10000000000000, 100000000000000, 1000000000000000, 10000000000000000, 100000000000000000};
    /* clang-format on */
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

/* Prints n digits, of which the first stands for 10^exponent, without zeros at the end of the decimals. Returns the
 * length; 0: the number would need an exponent. */
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

/* --- Numbers for people and for JSON. */

char *gls_format_count(uint64_t n, char *buffer, size_t size)
{
    char digits[32];
    size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, n), used = 0;
    for (size_t i = 0; i < length && used + 2 < size; i++) {
        if (i > 0 && (length - i) % 3 == 0) buffer[used++] = ',';
        buffer[used++] = digits[i];
    }
    buffer[used] = '\0';
    return buffer;
}

/* Divides *v by 1000 until it is below 999.5, or no larger prefix is left. Returns the prefix. */
static const char *scale(double *v, const char *const *prefixes)
{
    while (*v >= 999.5 && prefixes[1]) {
        *v /= 1000;
        prefixes++;
    }
    return *prefixes;
}

char *gls_format_bytes(uint64_t n, char *buffer, size_t size)
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", NULL};
    double v = (double)n;
    const char *unit = scale(&v, units);
    gls_snprintf(buffer, size, n >= 1000 && v < 99.95 ? "%.1f %s" : "%.0f %s", v, unit);
    return buffer;
}

char *gls_format_rate(double v, char *buffer, size_t size)
{
    static const char *const prefixes[] = {"", "k", "M", "G", NULL};
    const char *prefix = scale(&v, prefixes);
    gls_snprintf(buffer, size, v < 9.995 ? "%.2f %s" : v < 99.95 ? "%.1f %s" : "%.0f %s", v, prefix);
    return buffer;
}

char *gls_format_duration(double seconds, char *buffer, size_t size)
{
    uint64_t s = seconds > 0 ? (uint64_t)(seconds + 0.5) : 0;
    if (seconds < 9.995)
        gls_snprintf(buffer, size, "%.2f s", seconds > 0 ? seconds : 0.0);
    else if (s < 60)
        gls_snprintf(buffer, size, "%.1f s", seconds);
    else if (s < 3600)
        snprintf(buffer, size, "%" PRIu64 ":%02" PRIu64, s / 60, s % 60);
    else
        snprintf(buffer, size, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, s / 3600, s / 60 % 60, s % 60);
    return buffer;
}

char *gls_format_double(double v, char *buffer, size_t size)
{
    char digits[32];
    int n = 15;
    size_t length = gls_decimal_print(v, digits);
    if (length > 0 && length < size) return memcpy(buffer, digits, length + 1);
    if (!isfinite(v)) {
        gls_snprintf(buffer, size, "%.6g", v);
        return buffer;
    }
    /* If 15 digits are enough, they are the shortest form once the zeros at their end are removed. */
    gls_snprintf(digits, sizeof digits, "%.14e", v);
    if (gls_strtod(digits, NULL) == v) {
        const char *last = strchr(digits, 'e') - 1;
        while (n > 6 && *last == '0') n--, last--;
    } else {
        gls_snprintf(digits, sizeof digits, "%.16g", v);
        n = gls_strtod(digits, NULL) == v ? 16 : 17;
    }
    gls_snprintf(buffer, size, "%.*g", n, v);
    return buffer;
}

/* Whether the value fits into single precision; false for NaN. */
bool gls_is_single(double v)
{
    return fabs(v) <= (double)FLT_MAX;
}

bool gls_range_has(const gls_range *r, double v)
{
    if (!gls_is_single(v)) return false;
    /* a number just above an open minimum must not become the minimum in single precision */
    if (isfinite(r->min) && (r->min_open ? v <= r->min || (double)(float)v <= r->min : v < r->min)) return false;
    return !(isfinite(r->max) && v > r->max);
}

void gls_range_text(const gls_range *r, const char *unit, char *buffer, size_t size)
{
    bool has_min = isfinite(r->min), has_max = isfinite(r->max);
    const char *space = unit && *unit ? " " : "", *low = r->min_open ? "more than" : "at least";
    if (!unit) unit = "";
    if (has_min && has_max && !r->min_open)
        gls_snprintf(buffer, size, "%.15g to %.15g%s%s", r->min, r->max, space, unit);
    else if (has_min && has_max)
        gls_snprintf(buffer, size, "%s %.15g and at most %.15g%s%s", low, r->min, r->max, space, unit);
    else if (has_min)
        gls_snprintf(buffer, size, "%s %.15g%s%s", low, r->min, space, unit);
    else if (has_max)
        gls_snprintf(buffer, size, "at most %.15g%s%s", r->max, space, unit);
    else
        snprintf(buffer, size, "%s", "");
}
