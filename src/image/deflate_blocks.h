/* Entering deflate data in the middle. */
#ifndef GLS_IMAGE_DEFLATE_BLOCKS_H
#define GLS_IMAGE_DEFLATE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Deflate data refer to at most this many bytes before what they unpack to. */
#define GLS_DEFLATE_WINDOW 32768

/* Position in bits of the first place in data[n] that looks like the start of a block with codes of its own, other than
 * the last block of a member; UINT64_MAX: none. Places in the last 400 bytes are not found. */
uint64_t gls_deflate_find_block(const unsigned char *data, size_t n);
/* Finds the end of raw deflate data that begin with a block at data[0]: *end is the position in bits behind the last
 * block. Bytes to which the data refer before their start may be any. Returns false if there is no last block. n: below
 * 2^32. */
bool gls_deflate_find_end(const unsigned char *data, size_t n, uint64_t *end);

#endif
