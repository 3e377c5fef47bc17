#include "util/crc.h"

#ifdef GLS_HAVE_ISAL
#include <isa-l/crc.h>

uint32_t gls_crc32(uint32_t crc, const void *data, size_t bytes)
{
    return crc32_gzip_refl(crc, data, bytes);
}
#else
#include <zlib.h>

uint32_t gls_crc32(uint32_t crc, const void *data, size_t bytes)
{
    return (uint32_t)crc32_z(crc, data, bytes);
}
#endif
