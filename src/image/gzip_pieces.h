/* Unpacks a gzip member on several threads. */
#ifndef GLS_IMAGE_GZIP_PIECES_H
#define GLS_IMAGE_GZIP_PIECES_H

#include "util/file.h"

/* Pieces of a gzip member in a regular file, which several threads unpack. */
typedef struct gls_gzip_pieces gls_gzip_pieces;

/* Prepares to read a member whose deflate data begin at position `place` of the file. skipped: number of unpacked bytes
 * at the start that reading leaves out. Returns NULL if memory runs out. */
gls_gzip_pieces *gls_gzip_pieces_create(const gls_input *input, uint64_t place, uint64_t skipped, int n_threads);
/* Accepts NULL. */
void gls_gzip_pieces_destroy(gls_gzip_pieces *pieces);
/* Reads the next unpacked bytes. *got is smaller than `bytes` only at the end of the member; its checksum is then
 * correct, and *end is the position in the file behind it. Returns false if the data behind the first *got bytes are
 * damaged, or cannot be unpacked in pieces. */
bool gls_gzip_pieces_read(gls_gzip_pieces *pieces, void *data, size_t bytes, size_t *got, uint64_t *end);
/* Checksum of all bytes that gls_gzip_pieces_read() has stored. */
uint32_t gls_gzip_pieces_crc(const gls_gzip_pieces *pieces);

#endif
