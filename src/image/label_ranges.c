/* Labels of an image that the user names by a text of labels and ranges, such as 3,7,1000-1035. */
#include "image/label_ranges.h"

#include <stdlib.h>
#include <string.h>

#include <glslines/labels.h>

#include "util/numbers.h"
#include "util/status.h"

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

/* Reads one label or range of `length` characters. */
static bool read_range(const char *text, size_t length, int32_t least, gls_label_range *range)
{
    const size_t first = strcspn(text, "-,");
    if (!read_label(text, first, least, &range->first)) return false;
    range->last = range->first;
    if (first < length && !read_label(text + first + 1, length - first - 1, least, &range->last)) return false;
    return range->last >= range->first;
}

gls_status gls_label_ranges_parse(const char *text, int32_t least, gls_label_ranges *ranges)
{
    size_t commas = 0;
    for (const char *c = text; *c; c++) commas += *c == ',';
    *ranges = (gls_label_ranges){.range = malloc((commas + 1) * sizeof *ranges->range)};
    if (!ranges->range) return gls_no_memory();
    for (const char *c = text; ranges->n <= commas; c++) {
        const size_t length = strcspn(c, ",");
        if (!read_range(c, length, least, &ranges->range[ranges->n++])) {
            gls_label_ranges_finish(ranges);
            return gls_fail(GLS_ERR_ARGUMENT, "%s: must be labels and ranges of labels, as in 3,7,1000-1035", text);
        }
        c += length;
    }
    return GLS_OK;
}

void gls_label_ranges_finish(gls_label_ranges *ranges)
{
    free(ranges->range);
    *ranges = (gls_label_ranges){.n = 0};
}

bool gls_label_ranges_have(const gls_label_ranges *ranges, int32_t label)
{
    for (size_t i = 0; i < ranges->n; i++)
        if (label >= ranges->range[i].first && label <= ranges->range[i].last) return true;
    return false;
}
