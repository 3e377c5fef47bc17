/* Writes MRtrix3 tracks: a text header, triplets of floats in world mm, NaN after each streamline, Inf at the end. */
#ifndef GLS_TRACTOGRAM_TCK_H
#define GLS_TRACTOGRAM_TCK_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a line "key: value" may be in the header of a TCK file: it must not break the header or contradict the lines
 * of the writer. */
bool gls_tck_is_line(const char *line);
/* Room for a timestamp with its NUL. */
#define GLS_TCK_STAMP 48

/* Timestamp of a TCK file, by which MRtrix3 finds out whether a track scalar file belongs to the TCK file. The
 * timestamp is made from the counts, so that equal streamlines give equal bytes at any time. Returns its length, which
 * may exceed the buffer. */
int gls_tck_stamp(uint64_t streamlines, uint64_t points, char stamp[GLS_TCK_STAMP]);

#endif
