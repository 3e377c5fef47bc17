/* Numbers and words as parameters give them: complete, and independent of the locale. */
#ifndef GLS_UTIL_PARSE_H
#define GLS_UTIL_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
const char *gls_test_variable(const char *name);

#endif
