/* Labels of an image that the user names by a text of labels and ranges, such as 3,7,1000-1035. */
#include "image/label_ranges.h"

#include <string.h>

#include <glslines/labels.h>

#include "util/numbers.h"

/* Reads a label, a whole number from `least` to GLS_LABEL_MAX, of `length` characters. */
static bool read_label(const char *text, size_t length, int32_t least, int32_t *label)
{
    char digits[16];
    uint64_t value;
    if (length >= sizeof digits) return false;
    memcpy(digits, text, length);
    digits[length] = '\0';
    if (!gls_parse_uint64(digits, &value) || value < (uint64_t)least || value > GLS_LABEL_MAX) return false;
    *label = (int32_t)value;
    return true;
}

bool gls_label_ranges_parse(const char *text, int32_t least, gls_label_ranges *ranges)
{
    ranges->n = 0;
    for (const char *c = text;; c++) {
        const size_t length = strcspn(c, ","), first = strcspn(c, "-,");
        gls_label_range range;
        if (ranges->n == GLS_MAX_LABEL_RANGES || !read_label(c, first, least, &range.first)) return false;
        range.last = range.first;
        if (first < length && !read_label(c + first + 1, length - first - 1, least, &range.last)) return false;
        if (range.last < range.first) return false;
        ranges->range[ranges->n++] = range;
        c += length;
        if (!*c) return true;
    }
}

bool gls_label_ranges_have(const gls_label_ranges *ranges, int32_t label)
{
    for (size_t i = 0; i < ranges->n; i++)
        if (label >= ranges->range[i].first && label <= ranges->range[i].last) return true;
    return false;
}
