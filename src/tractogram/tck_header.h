/* Headers of MRtrix3's tracks and track scalars, and the numbers behind them. */
#ifndef GLS_TRACTOGRAM_TCK_HEADER_H
#define GLS_TRACTOGRAM_TCK_HEADER_H

#include "tractogram/cursor.h"

typedef struct gls_tck_header {
    bool wide, swapped; /* float64; in the other order of bytes */
    char *file;         /* of the numbers, where that is another one */
    uint64_t start;     /* of the numbers */
} gls_tck_header;

/* Takes a line of the header that is not about the type and the place of the numbers: text is the line as it stands in
 * the file, and its value begins at text + value_at. */
typedef gls_status (*gls_tck_line)(void *user, const char *key, const char *value, const char *text, size_t value_at);

/* Reads the header of the open file of so many bytes. GLS_ERR_INPUT names path and what is wrong. */
gls_status gls_tck_header_read(const char *path, int fd, uint64_t bytes, gls_tck_line line, void *user,
                               gls_tck_header *header);
/* Starts reading the numbers; fd and bytes as above. Rows of numbers are of so many numbers: bytes behind the last
 * whole one are an error, unless recover is true, and then are left out. */
gls_status gls_tck_header_open(const gls_tck_header *header, const char *path, int fd, uint64_t bytes, size_t row,
                               bool recover, gls_cursor *cursor);
void gls_tck_header_finish(gls_tck_header *header);

#endif
