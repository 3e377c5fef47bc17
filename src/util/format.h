/* Numbers as people and JSON readers read them. Each writes to buffer and returns it. */
#ifndef GLS_UTIL_FORMAT_H
#define GLS_UTIL_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 1234567 -> "1,234,567" */
char *gls_format_count(uint64_t n, char *buffer, size_t size);
/* 1234567 -> "1.2 MB", in powers of 1000 */
char *gls_format_bytes(uint64_t n, char *buffer, size_t size);
/* 134217728 -> "128 MiB", in powers of 1024: limits of devices */
char *gls_format_limit(uint64_t n, char *buffer, size_t size);
/* 1234567.0 -> "1.23 M", 12.5 -> "12.5 ": a unit is put directly after it */
char *gls_format_rate(double v, char *buffer, size_t size);
/* Seconds as "0.12 s", "12.3 s", "2:05" or "1:02:05". */
char *gls_format_duration(double seconds, char *buffer, size_t size);
/* The shortest decimal that reads back as the same double. */
char *gls_format_double(double v, char *buffer, size_t size);

/* Numbers that are valid. */
typedef struct gls_range {
    double min, max; /* INFINITY: no bound */
    bool min_open;   /* min itself is not valid */
} gls_range;
/* Whether it is valid as a number of single precision, too, which is what devices calculate with. */
bool gls_range_has(const gls_range *range, double value);
/* Whether single precision has a number as large. */
bool gls_is_single(double value);
#define GLS_SINGLE_TEXT "from -3.4e+38 to 3.4e+38"
/* "at least 1 mm", "more than 0 and at most 90 degrees"; "" without bounds. unit: NULL or "": none. */
void gls_range_text(const gls_range *range, const char *unit, char *buffer, size_t size);

#endif
