/* Parses numbers, words of lists, and names that a separator joins; finds the word that a mistyped one resembles; reads
 * variables that only tests set. */
#include "util/numbers.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"

bool gls_parse_double(const char *text, double *value)
{
    /* gls_strtod() also accepts blanks, hexadecimal numbers, "nan" and "inf", which are errors here */
    if (!*text || strspn(text, "+-.0123456789eE") != strlen(text)) return false;
    char *end;
    errno = 0;
    double v = gls_strtod(text, &end);
    /* ERANGE of a number near 0 is an underflow to 0 or to a subnormal number, which is accepted */
    if (end == text || *end || !isfinite(v) || (errno == ERANGE && fabs(v) > 1)) return false;
    *value = v;
    return true;
}

bool gls_parse_uint64(const char *text, uint64_t *value)
{
    if (!*text || strspn(text, "0123456789") != strlen(text)) return false;
    errno = 0;
    unsigned long long v = strtoull(text, NULL, 10);
    if (errno) return false;
    *value = v;
    return true;
}

bool gls_parse_count(const char *text, uint64_t *value)
{
    static const struct {
        char letter;
        double factor;
    } units[] = {{'k', 1e3}, {'m', 1e6}, {'g', 1e9}};
    const size_t n = strlen(text);
    char number[32];
    double v;
    if (gls_parse_uint64(text, value)) return true;
    if (n < 2 || n > sizeof number - 1 || strspn(text, "0123456789.") != n - 1) return false;
    memcpy(number, text, n);
    number[n - 1] = '\0';
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (gls_to_lower((unsigned char)text[n - 1]) != units[i].letter || !gls_parse_double(number, &v)) continue;
        v = nearbyint(v * units[i].factor * 1e3) / 1e3; /* 1.1 M is a whole number, though 1.1 is no binary fraction */
        if (v != floor(v) || v >= 0x1p53) return false;
        *value = (uint64_t)v;
        return true;
    }
    return false;
}

const char *gls_choice_word(const char *choices, int index, char *buffer, size_t size)
{
    for (; index > 0 && choices; index--) {
        choices = strchr(choices, '|');
        if (choices) choices++;
    }
    snprintf(buffer, size, "%.*s", choices ? (int)strcspn(choices, "|") : 0, choices ? choices : "");
    return buffer;
}

int gls_choice_find(const char *choices, const char *word, size_t length)
{
    for (int index = 0; *choices; index++) {
        size_t n = strcspn(choices, "|");
        if (n == length && strncmp(choices, word, n) == 0) return index;
        choices += n + (choices[n] == '|');
    }
    return -1;
}

/* Whether text begins with a backslash in front of one of , : ; = and \, which is then part of a name. */
static bool is_taken(const char *text)
{
    return text[0] == '\\' && text[1] && strchr(",:;=\\", text[1]);
}

const char *gls_names_first(const char *text, char separator)
{
    while (*text && *text != separator) text += is_taken(text) ? 2 : 1;
    return *text ? text : NULL;
}

const char *gls_names_last(const char *text, char separator)
{
    const char *last = NULL;
    for (const char *next = text; (next = gls_names_first(next, separator)); next++) last = next;
    return last;
}

/* Removes, in place, the backslashes that escape. */
static void take_out_backslashes(char *text)
{
    char *to = text;
    for (const char *from = text; *from; *to++ = *from++) from += is_taken(from);
    *to = '\0';
}

char *gls_names_next(char **rest, char separator)
{
    char *name = *rest, *end = name ? (char *)gls_names_first(name, separator) : NULL;
    if (end) *end = '\0';
    *rest = end ? end + 1 : NULL;
    if (name) take_out_backslashes(name);
    return name;
}

char *gls_names_copy(const char *text, size_t n)
{
    char *copy = strndup(text, n);
    if (copy) take_out_backslashes(copy);
    return copy;
}

const char *gls_test_variable(const char *name)
{
#ifdef GLS_TEST_VARIABLES
    return getenv(name);
#else
    (void)name;
    return NULL;
#endif
}

/* --- Mistyped words. */

/* Number of edits (insert, delete, replace, swap of neighbours) that turn a into b. Both must be shorter than 64. */
static int edit_distance(const char *a, const char *b)
{
    int n = (int)strlen(a), m = (int)strlen(b);
    int row[3][65]; /* rows i, i - 1 and i - 2 of the table of distances; row i is at i % 3 */
    for (int j = 0; j <= m; j++) row[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= m; j++) {
            int best = last[j - 1] + (a[i - 1] != b[j - 1]);
            if (last[j] + 1 < best) best = last[j] + 1;
            if (now[j - 1] + 1 < best) best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[n % 3][m];
}

const char *gls_nearest_word(const char *text, const char *const *words, size_t n)
{
    size_t length = strlen(text);
    if (length < 2 || length > 63) return NULL;
    int best = (int)(length / 3 < 1 ? 1 : length / 3) + 1;
    const char *found = NULL;
    for (size_t i = 0; i < n; i++) {
        if (strlen(words[i]) > 63) continue;
        /* the beginning of a word, if it has 3 characters or more, is nearer than a word with one edit */
        int d = length >= 3 && strncmp(text, words[i], length) == 0 ? 0 : edit_distance(text, words[i]);
        if (d < best) {
            best = d;
            found = words[i];
        }
    }
    return found;
}
