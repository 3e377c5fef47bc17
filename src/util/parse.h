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

#endif
