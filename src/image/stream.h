/* Streams of bytes from files, decompressed on the way. */
#ifndef GLS_IMAGE_STREAM_H
#define GLS_IMAGE_STREAM_H

#include <glslines/common.h>

#include "image/formats.h"

/* Opens a file for reading. gzip is recognised by its first bytes, not by the name. GLS_ERR_INPUT names the file. */
gls_status gls_stream_open(const char *path, gls_stream **stream);
/* Like gls_stream_open(), for a reader that opens the file more than once. GLS_ERR_INPUT for pipes and devices. */
gls_status gls_stream_open_regular(const char *path, gls_stream **stream);
/* Closes the stream and frees it. Accepts NULL. */
void gls_stream_close(gls_stream *stream);
/* Reads the next bytes; *got is smaller than bytes only at the end of the data. GLS_ERR_INPUT: damaged or truncated
 * gzip data. */
gls_status gls_stream_read(gls_stream *stream, void *data, size_t bytes, size_t *got);
/* Reads on to the end of gzip data, at most 16 MiB, to verify their checksum. Does nothing for data that are not
 * compressed. */
gls_status gls_stream_verify(gls_stream *stream);
/* Upper bound of the number of uncompressed bytes in the whole file; UINT64_MAX for pipes. Before you allocate memory,
 * compare the size that a header states with this bound. */
uint64_t gls_stream_bound(const gls_stream *stream);
/* Descriptor of a regular file that is not compressed, for pread() only; -1 for gzip data and pipes. */
int gls_stream_fd(const gls_stream *stream);

#endif
