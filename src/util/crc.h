/* CRC-32 of ZIP and gzip: by ISA-L where it was built in, else by zlib, which takes six times as long. */
#ifndef GLS_UTIL_CRC_H
#define GLS_UTIL_CRC_H

#include <stddef.h>
#include <stdint.h>

/* As zlib's crc32(): start with crc = 0. */
uint32_t gls_crc32(uint32_t crc, const void *data, size_t bytes);
/* That of data of which `first` is the sum of the beginning and `second` that of the rest, of so many bytes. */
uint32_t gls_crc32_join(uint32_t first, uint32_t second, uint64_t bytes);

#endif
