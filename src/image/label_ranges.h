/* Labels of an image that the user names by a text of labels and ranges, such as 3,7,1000-1035. */
#ifndef GLS_IMAGE_LABEL_RANGES_H
#define GLS_IMAGE_LABEL_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glslines/common.h>

typedef struct gls_label_range {
    int32_t first, last;
} gls_label_range;

/* All zero is empty. */
typedef struct gls_label_ranges {
    size_t n;
    gls_label_range *range; /* from malloc */
} gls_label_ranges;

/* Parses a text of labels of at least `least`, in its order. GLS_ERR_ARGUMENT: the text is none; the caller says where
 * it stands. Call gls_label_ranges_finish() after success; after a failure *ranges is empty. */
gls_status gls_label_ranges_parse(const char *text, int32_t least, gls_label_ranges *ranges);
void gls_label_ranges_finish(gls_label_ranges *ranges);
/* Whether a range has the label. */
bool gls_label_ranges_have(const gls_label_ranges *ranges, int32_t label);

#endif
