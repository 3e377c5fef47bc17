/* Numbers as text: printing, parsing, ranges; names and words in the values of options. */
#ifndef GLS_UTIL_NUMBERS_H
#define GLS_UTIL_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* --- Tables have millions of numbers: the C library prints them exactly, but slowly. */

#define GLS_DECIMAL_BYTES 32

/* The shortest decimal that reads back as the same double, with a NUL behind it, without an exponent; returns its
 * length. 0: this number is not for here: it is not finite, below 1e-4 or not below 1e14 in size (0 is fine), or its
 * decimal has an exponent. */
size_t gls_decimal_print(double v, char out[GLS_DECIMAL_BYTES]);

/* printf's "%.*g" of n digits, 1 to 17, with a NUL behind it; returns its length. 0: this number is not for here: 0,
 * and as above. */
size_t gls_decimal_round(double v, int n, char out[GLS_DECIMAL_BYTES]);

/* --- Numbers as people and JSON readers read them. Each writes to buffer and returns it. */

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

/* --- Numbers and words as parameters give them: complete, and independent of the locale. */

/* A finite decimal number. */
bool gls_parse_double(const char *text, double *value);
/* A whole number from 0 to 2^64 - 1, digits only. */
bool gls_parse_uint64(const char *text, uint64_t *value);

/* The word at this place of "a|b|c"; "" behind the last. buffer holds it; returns buffer. */
const char *gls_choice_word(const char *choices, int place, char *buffer, size_t size);
/* The place of the first length characters of word in choices, or -1. */
int gls_choice_find(const char *choices, const char *word, size_t length);

/* Options that join names, such as LABELS:FILE or IMAGE,IMAGE. A backslash takes the separator or backslash behind it
 * for a letter of the name: "a\\:b.nii:out.csv" is a:b.nii and out.csv. */

/* The first and the last separator of text that is no letter of a name; NULL: there is none. */
const char *gls_names_first(const char *text, char separator);
const char *gls_names_last(const char *text, char separator);
/* As strsep(): the next name, whose backslashes are taken out of *rest; NULL: there is no more. */
char *gls_names_next(char **rest, char separator);
/* A copy of the n letters at text without these backslashes; from malloc, NULL where memory ran out. */
char *gls_names_copy(const char *text, size_t n);

/* The value of a variable of the environment that only tests set: NULL in builds without GLS_TESTS, where no variable
 * can make a driver fail or a check pass. */
static inline const char *gls_test_variable(const char *name)
{
#ifdef GLS_TEST_VARIABLES
    return getenv(name);
#else
    (void)name;
    return NULL;
#endif
}

#endif
