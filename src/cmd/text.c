#include "cmd/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

char *cmd_text_count(uint64_t n, char *buffer, size_t size)
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

static const char *scale(double *v, const char *const *prefixes)
{
    while (*v >= 999.5 && prefixes[1]) {
        *v /= 1000;
        prefixes++;
    }
    return *prefixes;
}

char *cmd_text_bytes(uint64_t n, char *buffer, size_t size)
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", NULL};
    double v = (double)n;
    const char *unit = scale(&v, units);
    snprintf(buffer, size, n >= 1000 && v < 99.95 ? "%.1f %s" : "%.0f %s", v, unit);
    return buffer;
}

char *cmd_text_limit(uint64_t n, char *buffer, size_t size)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double v = (double)n;
    size_t unit = 0;
    for (; v >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++) v /= 1024;
    snprintf(buffer, size, "%.4g %s", v, units[unit]);
    return buffer;
}

char *cmd_text_rate(double v, char *buffer, size_t size)
{
    static const char *const prefixes[] = {"", "k", "M", "G", NULL};
    const char *prefix = scale(&v, prefixes);
    snprintf(buffer, size, v < 9.995 ? "%.2f %s" : v < 99.95 ? "%.1f %s" : "%.0f %s", v, prefix);
    return buffer;
}

char *cmd_text_duration(double seconds, char *buffer, size_t size)
{
    uint64_t s = seconds > 0 ? (uint64_t)(seconds + 0.5) : 0;
    if (seconds < 9.995)
        snprintf(buffer, size, "%.2f s", seconds > 0 ? seconds : 0.0);
    else if (s < 60)
        snprintf(buffer, size, "%.1f s", seconds);
    else if (s < 3600)
        snprintf(buffer, size, "%" PRIu64 ":%02" PRIu64, s / 60, s % 60);
    else
        snprintf(buffer, size, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, s / 3600, s / 60 % 60, s % 60);
    return buffer;
}

char *cmd_text_double(double v, char *buffer, size_t size)
{
    if (v == 0) v = 0; /* no minus sign */
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(buffer, size, "%.*g", digits, v);
        if (strtod(buffer, NULL) == v) break;
    }
    return buffer;
}

double cmd_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
