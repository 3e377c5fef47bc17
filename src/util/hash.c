/* Hashes of data and files with xxHash, and CRC-32 with ISA-L or zlib. */
#include "util/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include <zlib.h>

#include "util/status.h"

uint64_t gls_hash(const void *data, size_t bytes)
{
    return XXH3_64bits(data, bytes);
}

gls_status gls_hash_open_file(const char *path, int fd, uint64_t *hash)
{
    enum { BYTES = 1 << 20 };
    char *data = malloc(BYTES);
    XXH3_state_t *state = data ? XXH3_createState() : NULL;
    gls_status status = GLS_OK;
    if (!state || XXH3_64bits_reset(state) != XXH_OK) status = gls_fail(GLS_ERR_MEMORY, "%s: no memory", path);
    ssize_t n = 1;
    /* pread() does not move the position of the file */
    for (off_t at = 0; !status && n != 0; at += n > 0 ? n : 0) {
        n = pread(fd, data, BYTES, at);
        if (n < 0 && errno != EINTR) status = gls_fail(GLS_ERR_INPUT, "%s: cannot read: %s", path, strerror(errno));
        if (n > 0) XXH3_64bits_update(state, data, (size_t)n);
    }
    if (!status) *hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    free(data);
    return status;
}

gls_status gls_hash_parts(const char *path, int fd, uint64_t bytes, uint64_t *hash)
{
    enum { PARTS = 64, BYTES = 1 << 18 };
    const size_t n = bytes < BYTES ? (size_t)bytes : BYTES;
    char *data = malloc(BYTES);
    /* sum[0]: hash of the last sum and of the hash of the next part, so that the order of the parts counts */
    uint64_t sum[2] = {bytes, 0};
    gls_status status = data ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "%s: no memory", path);
    for (uint64_t i = 0; i < PARTS && !status; i++) {
        status = gls_regular_read(path, fd, (bytes - n) / (PARTS - 1) * i + (bytes - n) % (PARTS - 1) * i / (PARTS - 1),
                                  data, n);
        if (!status) sum[1] = gls_hash(data, n);
        sum[0] = gls_hash(sum, sizeof sum);
    }
    if (!status) *hash = sum[0];
    free(data);
    return status;
}

gls_status gls_hash_file(const char *path, uint64_t *hash)
{
    uint64_t size = 0;
    int fd;
    gls_status status = gls_regular_open(path, &fd, &size);
    if (status) return status;
    status = gls_hash_open_file(path, fd, hash);
    close(fd);
    return status;
}

char *gls_hash_text(uint64_t hash, char text[17])
{
    snprintf(text, 17, "%016" PRIx64, hash);
    return text;
}

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
