/* Figures and lists of `glslines bench` that need no device. */

#include <glslines/streamlines.h>

#include <stdlib.h>
#include <string.h>

#include "bench/bench_stats.h"
#include "util/maths.h"
#include "util/numbers.h"

bench_spread bench_spread_of(const double *value, int n)
{
    double sorted[n];
    memcpy(sorted, value, (size_t)n * sizeof *sorted);
    double median = gls_median(sorted, (size_t)n);
    return (bench_spread){.median = median, .min = sorted[0], .max = sorted[n - 1]};
}

uint64_t bench_commissural(const gls_streamlines *s)
{
    uint64_t count = 0;
    for (size_t i = 0; i < s->n; i++) {
        float first = s->point[s->offset[i]][0], last = s->point[s->offset[i + 1] - 1][0];
        count += (first < 0 && last > 0) || (first > 0 && last < 0);
    }
    return count;
}

/* Appends `found` to the n indices unless it is there, or the list is full. Returns the new length. */
static int add_once(int *index, int n, int max, int found)
{
    for (int i = 0; i < n; i++)
        if (index[i] == found) return n;
    if (n < max) index[n++] = found;
    return n;
}

int bench_parse_list(const char *list, const char *choices, bool all, int *index, int max, const char **bad,
                     int *bad_length)
{
    int n = 0, n_choices = 1;
    for (const char *c = choices; *c; c++) n_choices += *c == '|';
    for (const char *word = list;; word++) {
        size_t length = strcspn(word, ",");
        if (all && length == 3 && strncmp(word, "all", 3) == 0) {
            for (int i = 0; i < n_choices; i++) n = add_once(index, n, max, i);
        } else {
            int found = gls_choice_find(choices, word, length);
            if (found < 0) {
                *bad = word;
                *bad_length = (int)length;
                return -1;
            }
            n = add_once(index, n, max, found);
        }
        word += length;
        if (!*word) return n;
    }
}

bool bench_parse_shape(const char *text, int shape[3])
{
    for (int a = 0; a < 3; a++) {
        if (*text < '0' || *text > '9') return false;
        char *end;
        long value = strtol(text, &end, 10);
        if (value < 16 || value > 512 || *end != (a < 2 ? 'x' : '\0')) return false;
        shape[a] = (int)value;
        text = end + 1;
    }
    return true;
}
