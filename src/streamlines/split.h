/* A sink that hands each streamline to the sinks of its sets, such as a file for each edge of a connectome. */
#ifndef GLS_STREAMLINES_SPLIT_H
#define GLS_STREAMLINES_SPLIT_H

#include <glslines/common.h>
#include <glslines/streamlines.h>

/* Sets of streamlines. Everything is borrowed. */
typedef struct gls_line_sets {
    const uint64_t *first; /* rows + 1 elements: where the sets of each streamline begin in set[] */
    const uint32_t *set;
    uint64_t rows;    /* number of streamlines */
    const char *path; /* file that the sets come from, named in messages */
} gls_line_sets;

/* Makes a sink that hands the streamlines of set `begin` + k to sink k of n. It owns these sinks; the array is copied.
 * If this function fails, the sinks stay with the caller. GLS_ERR_INPUT if the number of streamlines differs from
 * rows. */
gls_status gls_split_create(const gls_line_sets *sets, uint32_t begin, const gls_sink *sinks, size_t n,
                            gls_sink *split);

#endif
