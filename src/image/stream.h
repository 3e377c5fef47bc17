/* Bytes of a file, unpacked on the way if they are gzip, and the way back. */
#ifndef GLS_IMAGE_STREAM_H
#define GLS_IMAGE_STREAM_H

#include "util/file.h"
#include "util/output.h"

typedef struct gls_stream gls_stream;

/* gzip is recognised by its first bytes, not by the name. GLS_ERR_INPUT names the file. */
gls_status gls_stream_open(const char *path, gls_stream **stream);
/* For a reader that opens the file more than once: GLS_ERR_INPUT for pipes and devices. */
gls_status gls_stream_open_regular(const char *path, gls_stream **stream);
void gls_stream_close(gls_stream *stream);
/* Reads the next bytes; *got is smaller only at the end of the data. Damaged or cut gzip data are GLS_ERR_INPUT. */
gls_status gls_stream_read(gls_stream *stream, void *data, size_t bytes, size_t *got);
/* Reads on to the end of gzip data, unless that is far behind the values, so that their checksum is verified. */
gls_status gls_stream_verify(gls_stream *stream);
/* No more bytes than this can come from the start of the file to its end: a bound against headers that promise too
 * much. */
uint64_t gls_stream_bound(const gls_stream *stream);
/* The descriptor of a plain regular file, to be used with pread() alone; -1 for gzip data and pipes. */
int gls_stream_fd(const gls_stream *stream);

/* Fills a buffer with bytes first .. first + bytes - 1 of the data to be packed; called from several threads. */
typedef void (*gls_pack_fill)(void *user, uint64_t first, size_t bytes, void *buffer);

/* Appends total bytes to output as one gzip member, packed in parallel. */
gls_status gls_gzip_write(gls_output *output, uint64_t total, int level, gls_pack_fill fill, void *user);

#endif
