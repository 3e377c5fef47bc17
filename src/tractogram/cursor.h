/* Reads a part of a file from front to back, decompressed on the way if it is deflated. */
#ifndef GLS_TRACTOGRAM_CURSOR_H
#define GLS_TRACTOGRAM_CURSOR_H

#include <glslines/common.h>

#include "tractogram/readers.h"

/* Makes a cursor for the bytes from `at` to `end` - 1 of an open file. gls_cursor_finish() closes the file if the
 * caller has set cursor->owns_fd. */
gls_status gls_cursor_init(gls_cursor *cursor, const char *path, int fd, uint64_t at, uint64_t end);
/* Makes a new cursor read `bytes` uncompressed bytes from deflated data without a header. */
gls_status gls_cursor_unpack(gls_cursor *cursor, uint64_t bytes);
/* Frees the cursor's memory, and closes the file if owns_fd is set. Accepts a cursor that is all 0. */
void gls_cursor_finish(gls_cursor *cursor);
/* Number of unread bytes. */
uint64_t gls_cursor_left(const gls_cursor *cursor);
/* Sets the error for a read behind the end of the data, which names the file, and returns GLS_ERR_INPUT. */
gls_status gls_cursor_ended(const gls_cursor *cursor);
/* Reads the next bytes. GLS_ERR_INPUT if fewer are left. */
gls_status gls_cursor_read(gls_cursor *cursor, void *data, size_t bytes);
/* Makes sure that at least `bytes` unread bytes, 64 KiB or less, are in the buffer; fewer only at the end of the data.
 * They begin at buffer + next and end at buffer + n. The caller consumes bytes by moving next. */
gls_status gls_cursor_fill(gls_cursor *cursor, size_t bytes);
/* Whether deflated data end at the end of the part; true for data that are not compressed. */
bool gls_cursor_ends(gls_cursor *cursor);

#endif
