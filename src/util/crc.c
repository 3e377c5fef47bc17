#include "util/file.h"

#include <zlib.h>

uint32_t gls_crc32_join(uint32_t first, uint32_t second, uint64_t bytes)
{
    return (uint32_t)crc32_combine(first, second, (z_off_t)bytes);
}

#ifdef GLS_HAVE_ISAL
#include <isa-l/crc.h>

uint32_t gls_crc32(uint32_t crc, const void *data, size_t bytes)
{
    return crc32_gzip_refl(crc, data, bytes);
}
#else
uint32_t gls_crc32(uint32_t crc, const void *data, size_t bytes)
{
    return (uint32_t)crc32_z(crc, data, bytes);
}
#endif
