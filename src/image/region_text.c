/* Parses the text of a region: a sphere, an image, or labels of an image. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/region_store.h"
#include "util/numbers.h"
#include "util/status.h"
#include "util/text.h"

#define MAX_MM 1e15        /* largest coordinate of a sphere's centre, mm; its square is finite in single precision */
#define MAX_LABEL 16777216 /* largest label, 2^24; integers up to it are exact as float32 */

/* Reads numbers separated by commas and stores at most four. Returns how many there are; 0: not all are numbers. */
static size_t read_numbers(const char *text, double number[4])
{
    char item[64];
    size_t n = 0;
    for (const char *c = text;; c++) {
        size_t length = strcspn(c, ",");
        double value;
        if (length >= sizeof item) return 0;
        memcpy(item, c, length);
        item[length] = '\0';
        if (!gls_parse_double(item, &value)) return 0;
        if (n < 4) number[n] = value;
        n++;
        c += length;
        if (!*c) return n;
    }
}

/* Reads a label, a whole number from 1 to MAX_LABEL. */
static bool read_label(const char *text, size_t length, uint32_t *label)
{
    char digits[16];
    uint64_t value;
    if (length >= sizeof digits) return false;
    memcpy(digits, text, length);
    digits[length] = '\0';
    if (!gls_parse_uint64(digits, &value) || value < 1 || value > MAX_LABEL) return false;
    *label = (uint32_t)value;
    return true;
}

/* Reads ranges of labels, such as "3,7,1000-1035". */
static bool read_ranges(const char *text, gls_region_text *out)
{
    for (const char *c = text;; c++) {
        size_t length = strcspn(c, ","), first = strcspn(c, "-,");
        gls_label_range range;
        if (out->n_ranges == GLS_REGION_MAX_RANGES || !read_label(c, first, &range.first)) return false;
        range.last = range.first;
        if (first < length && !read_label(c + first + 1, length - first - 1, &range.last)) return false;
        if (range.last < range.first) return false;
        out->range[out->n_ranges++] = range;
        c += length;
        if (!*c) return true;
    }
}

gls_status gls_region_text_parse(const char *option, const char *text, gls_region_text *out)
{
    *out = (gls_region_text){.path = NULL};
    size_t n = read_numbers(text, out->number);
    bool exists = access(text, F_OK) == 0;
    if (n == 4 || (n > 1 && !exists)) {
        if (n != 4)
            return gls_fail(GLS_ERR_ARGUMENT, "--%s %s: a sphere is x,y,z,r: %zu numbers were given", option, text, n);
        if (!(out->number[3] > 0))
            return gls_fail(GLS_ERR_ARGUMENT, "--%s %s: a sphere is x,y,z,r: the radius must be more than 0 mm", option,
                            text);
        for (int i = 0; i < 3; i++)
            if (!(fabs(out->number[i]) <= MAX_MM))
                return gls_fail(GLS_ERR_ARGUMENT, "--%s %s: a sphere is x,y,z,r: x, y and z must be from -%g to %g mm",
                                option, text, MAX_MM, MAX_MM);
        if (!gls_is_single(out->number[3]))
            return gls_fail(GLS_ERR_ARGUMENT, "--%s %s: a sphere is x,y,z,r: the radius must be at most 3.4e+38 mm",
                            option, text);
        out->is_sphere = true;
        return GLS_OK;
    }
    if (!exists && strchr(text, ',') && !strchr(text, ':'))
        return gls_fail(GLS_ERR_ARGUMENT, "--%s %s: a sphere is x,y,z,r, four numbers; and there is no such file",
                        option, text);
    const char *colon = exists ? NULL : strrchr(text, ':');
    /* A colon separates labels only if no slash follows; else it belongs to the path. */
    bool labels = colon && colon > text && !strchr(colon, '/');
    if (labels && !read_ranges(colon + 1, out))
        return gls_fail(
            GLS_ERR_ARGUMENT,
            "--%s %s: after ':' come labels from 1 to %d, as in 3,7,1000-1035: at most %d labels and ranges", option,
            text, MAX_LABEL, GLS_REGION_MAX_RANGES);
    out->path = gls_text_copy(text);
    if (!out->path) return gls_no_memory();
    if (labels) out->path[colon - text] = '\0';
    return GLS_OK;
}

gls_status gls_region_text_check(const char *option, const char *text)
{
    gls_region_text region;
    gls_status status = gls_region_text_parse(option, text, &region);
    if (!status && region.path && access(region.path, R_OK) != 0)
        status = gls_fail(GLS_ERR_INPUT, "%s: cannot be read: %s", region.path, strerror(errno));
    free(region.path);
    return status;
}
