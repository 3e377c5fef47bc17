/* Entering deflate data in the middle. */
#ifndef GLS_IMAGE_DEFLATE_BLOCKS_H
#define GLS_IMAGE_DEFLATE_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Deflate data refer to at most this many bytes before what they unpack to. */
#define GLS_DEFLATE_WINDOW 32768
/* No header of a block is longer than 17 + 19 x 3 bits and 316 lengths of at most 7 + 7 bits; and a look at its last
 * bits takes up to 8 bytes. */
#define GLS_DEFLATE_HEADER 640
/* Bytes that gls_deflate_fill() writes at most. */
#define GLS_DEFLATE_FILLING 16

/* Position in bits of the first place in data[n] that looks like the start of a block with codes of its own, other than
 * the last block of a member; UINT64_MAX: none. Places in the last GLS_DEFLATE_HEADER bytes are not found. */
uint64_t gls_deflate_find_block(const unsigned char *data, size_t n);
/* Writes blocks without any bytes whose bits, divided by 8, leave `rest`, 0 to 7, and 0 behind them. Put before a block
 * that begins at bit `rest` of a byte, they leave what follows on the byte borders that it has in its file, where
 * stored blocks begin. Returns the number of bits. */
unsigned gls_deflate_fill(unsigned rest, unsigned char out[GLS_DEFLATE_FILLING]);
/* Finds the end of raw deflate data that begin with a block at data[0]: *end is the position in bits behind the last
 * block. Bytes to which the data refer before their start may be any. Returns false if there is no last block. n: below
 * 2^32. */
bool gls_deflate_find_end(const unsigned char *data, size_t n, uint64_t *end);

#endif
