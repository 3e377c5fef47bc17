/* A part of a file read from front to back, with its checksum. Several may read one file at the same time. */
#ifndef GLS_TRACTOGRAM_CURSOR_H
#define GLS_TRACTOGRAM_CURSOR_H

#include <glslines/common.h>

typedef struct gls_cursor {
    const char *path; /* for messages */
    int fd;
    uint64_t at, end; /* what is not in the buffer yet */
    uint32_t crc;     /* of what was read from the file, the buffer included: of the whole part once it is at its end */
    unsigned char *buffer;
    size_t next, n; /* unread part of the buffer: next .. n - 1 */
} gls_cursor;

/* Bytes at .. end - 1 of the open file, which the caller keeps open. */
gls_status gls_cursor_init(gls_cursor *cursor, const char *path, int fd, uint64_t at, uint64_t end);
/* Accepts a zeroed cursor. */
void gls_cursor_finish(gls_cursor *cursor);
/* Bytes that are left. */
uint64_t gls_cursor_left(const gls_cursor *cursor);
/* The next bytes; GLS_ERR_INPUT if fewer are left. */
gls_status gls_cursor_read(gls_cursor *cursor, void *data, size_t bytes);

#endif
