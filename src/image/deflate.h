/* Where blocks of a deflate stream may start, seen from the bits alone (RFC 1951). */
#ifndef GLS_IMAGE_DEFLATE_H
#define GLS_IMAGE_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes behind the data that have to be there, of any value. */
#define GLS_DEFLATE_SLACK 16

/* The first bit from first to last - 1 at which a block with codes of its own, not the stream's last one, can start:
 * its whole header is there and describes complete codes. Chance makes such a header once in 10^9 bits or less. last if
 * there is none. */
uint64_t gls_deflate_find_block(const unsigned char *data, size_t n, uint64_t first, uint64_t last);

#endif
