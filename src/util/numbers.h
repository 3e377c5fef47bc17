/* Numbers as text: printing, parsing, ranges; names and words in the values of options. */
#ifndef GLS_UTIL_NUMBERS_H
#define GLS_UTIL_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- Fast decimals: tables have millions of numbers, and printf() is slow. */

/* Size of the text of any number that the functions below print, with its NUL. */
#define GLS_DECIMAL_BYTES 32

/* Prints the shortest decimal that reads back as the same double, without an exponent, followed by a NUL. Returns its
 * length; 0 for numbers that are not printed: not finite, below 1e-4 in size (except 0), from 1e14 on, or multiples of
 * 10 from 1e6 on, which "%g" may print with an exponent. */
size_t gls_decimal_print(double v, char out[GLS_DECIMAL_BYTES]);

/* Prints v rounded to n digits, 1 to 17, like "%.*g" of printf(), followed by a NUL. Returns the length; 0 for 0, for
 * numbers with more than n digits before the point, and where gls_decimal_print() would not print v or the rounded
 * number. */
size_t gls_decimal_round(double v, int n, char out[GLS_DECIMAL_BYTES]);

/* --- Numbers for people and for JSON. Each function writes at most size bytes to buffer and returns buffer. */

/* 1234567 -> "1,234,567" */
char *gls_format_count(uint64_t n, char *buffer, size_t size);
/* 1234567 -> "1.2 MB", in powers of 1000 */
char *gls_format_bytes(uint64_t n, char *buffer, size_t size);
/* 1234567.0 -> "1.23 M", 12.5 -> "12.5 ": the unit follows directly */
char *gls_format_rate(double v, char *buffer, size_t size);
/* Seconds as "0.12 s", "12.3 s", "2:05" or "1:02:05". */
char *gls_format_duration(double seconds, char *buffer, size_t size);
/* The shortest decimal that reads back as the same double. */
char *gls_format_double(double v, char *buffer, size_t size);

/* The texts above for one message, in memory that lasts to the end of the enclosing block. */
#define GLS_COUNT(n) gls_format_count(n, (char[32]){""}, 32)
#define GLS_BYTES(n) gls_format_bytes(n, (char[32]){""}, 32)
#define GLS_RATE(v) gls_format_rate(v, (char[32]){""}, 32)
#define GLS_DURATION(seconds) gls_format_duration(seconds, (char[32]){""}, 32)

/* A range of valid numbers. */
typedef struct gls_range {
    double min, max; /* INFINITY: no bound */
    bool min_open;   /* min itself is excluded */
} gls_range;
/* Whether value lies in the range, also after rounding to single precision, in which devices compute. */
bool gls_range_has(const gls_range *range, double value);
/* Whether the value fits into single precision. */
bool gls_is_single(double value);
#define GLS_SINGLE_TEXT "from -3.4e+38 to 3.4e+38"
/* Describes a range: "at least 1 mm", "more than 0 and at most 90 degrees"; "" without bounds. unit: NULL or "" for
 * none. */
void gls_range_text(const gls_range *range, const char *unit, char *buffer, size_t size);

/* --- Parsing numbers and words from options: the whole text must be valid, and the locale does not matter. */

/* Parses a finite decimal number. Returns false for any other text. */
bool gls_parse_double(const char *text, double *value);
/* Parses a whole number from 0 to 2^64 - 1, digits only. */
bool gls_parse_uint64(const char *text, uint64_t *value);
/* Parses a whole number like gls_parse_uint64(), or one with k, M or G for thousands, millions or billions, in either
 * case: 50k, 1.5M. Returns false unless the product is a whole number below 2^53. */
bool gls_parse_count(const char *text, uint64_t *value);

/* Stores in buffer the word at `index`, from 0, of a list "a|b|c"; "" behind the last word. Returns buffer. */
const char *gls_choice_word(const char *choices, int index, char *buffer, size_t size);
/* gls_choice_word() in memory that lasts to the end of the enclosing block. */
#define GLS_WORD(choices, index) gls_choice_word(choices, index, (char[64]){""}, 64)
/* Index of a word of `length` characters in the list "a|b|c"; -1: the list lacks the word. */
int gls_choice_find(const char *choices, const char *word, size_t length);

/* Names joined by a separator, such as LABELS:FILE or IMAGE,IMAGE. A backslash before one of the characters
 * , : ; = \ makes that character part of the name: "a\\:b.nii:out.csv" stands for a:b.nii and out.csv. */

/* The first separator of text that is not part of a name; NULL: none. */
const char *gls_names_first(const char *text, char separator);
/* The last separator of text that is not part of a name; NULL: none. */
const char *gls_names_last(const char *text, char separator);
/* Cuts the next name off *rest, like strsep(), and removes in place the backslashes that escape. NULL: no more
 * names. */
char *gls_names_next(char **rest, char separator);
/* Copies the n characters at text, leaving out the backslashes that escape. From malloc; NULL: out of memory. */
char *gls_names_copy(const char *text, size_t n);

/* Value of an environment variable that only tests set. NULL in builds without GLS_TESTS, so that no variable can make
 * a driver fail or a check pass in a release. */
const char *gls_test_variable(const char *name);

/* The word in words[] that is most similar to text. NULL if none is similar enough to suggest. */
const char *gls_nearest_word(const char *text, const char *const *words, size_t n);

#endif
