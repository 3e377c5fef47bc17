/* Formats counts, sizes, durations and numbers for people and for JSON. */
#include "util/numbers.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"

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
