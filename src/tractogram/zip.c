#include "tractogram/formats.h"

#include <stdlib.h>
#include <string.h>
#include "util/status.h"

#define ZIP64_LIMIT 0x7fffffffu
#define DOS_DATE 0x0021 /* 1 January 1980: the same run gives the same bytes */
#define CENTRAL_MAX (46 + GLS_ZIP_NAME + 28)

/* Little-endian fields written one after the other. */
typedef struct bytes {
    unsigned char *p;
} bytes;

static void put(bytes *to, uint64_t value, int n)
{
    for (int i = 0; i < n; i++) *to->p++ = (unsigned char)(value >> (8 * i));
}

static void put_name(bytes *to, const char *name)
{
    size_t n = strlen(name);
    memcpy(to->p, name, n);
    to->p += n;
}

static bool is_large(uint64_t value)
{
    return value > ZIP64_LIMIT;
}

size_t gls_zip_local_bytes(const gls_zip_entry *entry)
{
    return 30 + strlen(entry->name) + (is_large(entry->bytes) ? 20 : 0);
}

/* Fields that local and central headers share: version needed to extra length. */
static void put_common(bytes *to, const gls_zip_entry *e, bool zip64, size_t extra)
{
    put(to, zip64 ? 45 : 20, 2);
    put(to, 0, 2); /* flags */
    put(to, 0, 2); /* stored */
    put(to, 0, 2); /* time */
    put(to, DOS_DATE, 2);
    put(to, e->crc, 4);
    put(to, is_large(e->bytes) ? 0xffffffffu : e->bytes, 4);
    put(to, is_large(e->bytes) ? 0xffffffffu : e->bytes, 4);
    put(to, strlen(e->name), 2);
    put(to, extra, 2);
}

size_t gls_zip_local(const gls_zip_entry *e, unsigned char *start)
{
    bytes to = {start};
    bool large = is_large(e->bytes);
    put(&to, 0x04034b50, 4);
    put_common(&to, e, large, large ? 20 : 0);
    put_name(&to, e->name);
    if (large) {
        put(&to, 1, 2);
        put(&to, 16, 2);
        put(&to, e->bytes, 8);
        put(&to, e->bytes, 8);
    }
    return (size_t)(to.p - start);
}

static size_t central(const gls_zip_entry *e, unsigned char *start)
{
    bytes to = {start};
    bool large = is_large(e->bytes), far = is_large(e->offset);
    size_t extra = (large ? 16 : 0) + (far ? 8 : 0);
    put(&to, 0x02014b50, 4);
    put(&to, 3 << 8 | (extra ? 45 : 20), 2); /* made on Unix */
    put_common(&to, e, extra > 0, extra ? extra + 4 : 0);
    put(&to, 0, 2); /* comment length */
    put(&to, 0, 2); /* disk */
    put(&to, 0, 2); /* internal attributes */
    put(&to, (uint64_t)0100644 << 16, 4);
    put(&to, far ? 0xffffffffu : e->offset, 4);
    put_name(&to, e->name);
    if (extra) {
        put(&to, 1, 2);
        put(&to, extra, 2);
        if (large) put(&to, e->bytes, 8);
        if (large) put(&to, e->bytes, 8);
        if (far) put(&to, e->offset, 8);
    }
    return (size_t)(to.p - start);
}

static size_t end_records(uint64_t n, uint64_t size, uint64_t offset, unsigned char *start)
{
    bytes to = {start};
    if (is_large(size) || is_large(offset)) {
        put(&to, 0x06064b50, 4); /* ZIP64 end of central directory */
        put(&to, 44, 8);
        put(&to, 45, 2);
        put(&to, 45, 2);
        put(&to, 0, 4);
        put(&to, 0, 4);
        put(&to, n, 8);
        put(&to, n, 8);
        put(&to, size, 8);
        put(&to, offset, 8);
        put(&to, 0x07064b50, 4); /* its locator */
        put(&to, 0, 4);
        put(&to, offset + size, 8);
        put(&to, 1, 4);
    }
    put(&to, 0x06054b50, 4);
    put(&to, 0, 2);
    put(&to, 0, 2);
    put(&to, n, 2);
    put(&to, n, 2);
    put(&to, size < 0xffffffffu ? size : 0xffffffffu, 4);
    put(&to, is_large(offset) ? 0xffffffffu : offset, 4);
    put(&to, 0, 2);
    return (size_t)(to.p - start);
}

gls_status gls_zip_finish(gls_output *output, const gls_zip_entry *entries, size_t n, uint64_t position)
{
    size_t used = 0;
    unsigned char *text = malloc(n * CENTRAL_MAX + 128);
    if (!text) return gls_fail(GLS_ERR_MEMORY, "%s: no memory", output->path);
    for (size_t i = 0; i < n; i++) used += central(&entries[i], text + used);
    used += end_records(n, used, position, text + used);
    gls_status status = gls_output_write(output, text, used);
    free(text);
    return status;
}
