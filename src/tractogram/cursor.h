/* A part of a file read from front to back, unpacked on the way if it is deflated, with its checksum. Several may read
 * one file at the same time. */
#ifndef GLS_TRACTOGRAM_CURSOR_H
#define GLS_TRACTOGRAM_CURSOR_H

#include <glslines/common.h>

typedef struct gls_cursor {
    const char *path; /* for messages */
    int fd;
    bool owns_fd;
    uint64_t at, end; /* of the file: what was not read yet */
    uint64_t left;    /* bytes that are not in the buffer yet, unpacked */
    bool checked;     /* crc is wanted: of what went through the buffer, so of the whole part once it is at its end */
    uint32_t crc;
    unsigned char *buffer;
    size_t capacity;
    size_t next, n; /* unread part of the buffer: next .. n - 1 */
    void *unpacker; /* NULL: the bytes are plain */
} gls_cursor;

/* Bytes at .. end - 1 of the open file, which the caller keeps open unless it sets owns_fd. */
gls_status gls_cursor_init(gls_cursor *cursor, const char *path, int fd, uint64_t at, uint64_t end);
/* Turns a new cursor into one that reads so many bytes from deflated data (without a header). */
gls_status gls_cursor_unpack(gls_cursor *cursor, uint64_t bytes);
/* Accepts a zeroed cursor. */
void gls_cursor_finish(gls_cursor *cursor);
/* Bytes that are left. */
uint64_t gls_cursor_left(const gls_cursor *cursor);
/* GLS_ERR_INPUT: more is wanted than there is. */
gls_status gls_cursor_ended(const gls_cursor *cursor);
/* The next bytes; GLS_ERR_INPUT if fewer are left. */
gls_status gls_cursor_read(gls_cursor *cursor, void *data, size_t bytes);
/* Makes at least `bytes` of what is left (64 KiB at most; less only at the end) lie in the buffer from buffer + next
 * to buffer + n; the caller takes some by moving next. */
gls_status gls_cursor_fill(gls_cursor *cursor, size_t bytes);
/* Whether the deflated data end where the bytes do; true for plain ones. */
bool gls_cursor_ends(gls_cursor *cursor);

#endif
