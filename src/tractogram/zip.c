/* Makes the headers and the directory of a ZIP archive whose entries are stored without compression. The caller writes
 * the data of the entries. */
#include "tractogram/zip.h"
#include "tractogram/file_formats.h"

#include <stdlib.h>
#include <string.h>
#include "util/status.h"
#include "util/text.h"

/* Above this size Python's zipfile writes a ZIP64 field; the format itself asks for it only from 2^32 - 1 on. */
#define ZIP64_LIMIT 0x7fffffffu
#define DOS_DATE 0x0021 /* 1 January 1980: the same run must give the same bytes */
/* Largest directory record of an entry: 46 bytes, the name, and a ZIP64 field of 28. */
#define CENTRAL_MAX (46 + GLS_ZIP_NAME + 28)

/* A buffer to which little-endian fields are appended. */
typedef struct bytes {
    /* where the next field goes */
    unsigned char *p;
} bytes;

/* Appends the lower n bytes of a value. */
static void store(bytes *to, uint64_t value, int n)
{
    for (int i = 0; i < n; i++) *to->p++ = (unsigned char)(value >> (8 * i));
}

/* Appends a name without its NUL. */
static void store_name(bytes *to, const char *name)
{
    size_t n = strlen(name);
    memcpy(to->p, name, n);
    to->p += n;
}

/* Whether a name is UTF-8 with characters beyond ASCII. Readers take other names for code page 437. */
static bool is_unicode(const char *name)
{
    bool wide = false;
    for (size_t n; *name; name += n) {
        n = gls_utf8_bytes(name);
        if (n == 0) return false;
        wide = wide || n > 1;
    }
    return wide;
}

/* Whether a size or position gets a ZIP64 field. */
static bool is_large(uint64_t value)
{
    return value > ZIP64_LIMIT;
}

size_t gls_zip_local_bytes(const gls_zip_entry *entry)
{
    return 30 + strlen(entry->name) + (is_large(entry->bytes) ? 20 : 0);
}

/* Stores the fields that local and central headers share, from the version needed to the length of the extra field. */
static void store_common(bytes *to, const gls_zip_entry *e, bool zip64, size_t extra)
{
    store(to, zip64 ? 45 : 20, 2);
    store(to, is_unicode(e->name) ? 1 << 11 : 0, 2); /* flags: the name is UTF-8 */
    store(to, 0, 2);                                 /* method: stored, not compressed */
    store(to, 0, 2);                                 /* time */
    store(to, DOS_DATE, 2);
    store(to, e->crc, 4);
    store(to, is_large(e->bytes) ? 0xffffffffu : e->bytes, 4);
    store(to, is_large(e->bytes) ? 0xffffffffu : e->bytes, 4);
    store(to, strlen(e->name), 2);
    store(to, extra, 2);
}

size_t gls_zip_local(const gls_zip_entry *e, unsigned char *start)
{
    bytes to = {start};
    bool large = is_large(e->bytes);
    store(&to, 0x04034b50, 4);
    store_common(&to, e, large, large ? 20 : 0);
    store_name(&to, e->name);
    if (large) {
        store(&to, 1, 2);
        store(&to, 16, 2);
        store(&to, e->bytes, 8);
        store(&to, e->bytes, 8);
    }
    return (size_t)(to.p - start);
}

/* Stores the directory record of an entry (APPNOTE 4.3.12), with the ZIP64 extra field where a size or position is
 * above ZIP64_LIMIT. Returns its length. */
static size_t central(const gls_zip_entry *e, unsigned char *start)
{
    bytes to = {start};
    bool large = is_large(e->bytes), far = is_large(e->offset);
    size_t extra = (large ? 16 : 0) + (far ? 8 : 0);
    store(&to, 0x02014b50, 4);
    store(&to, 3 << 8 | (extra ? 45 : 20), 2); /* made on Unix */
    store_common(&to, e, extra > 0, extra ? extra + 4 : 0);
    store(&to, 0, 2); /* comment length */
    store(&to, 0, 2); /* disk */
    store(&to, 0, 2); /* internal attributes */
    /* regular file, readable by all: the upper half of the external attributes */
    store(&to, (uint64_t)0100644 << 16, 4);
    store(&to, far ? 0xffffffffu : e->offset, 4);
    store_name(&to, e->name);
    if (extra) {
        store(&to, 1, 2);
        store(&to, extra, 2);
        if (large) store(&to, e->bytes, 8);
        if (large) store(&to, e->bytes, 8);
        if (far) store(&to, e->offset, 8);
    }
    return (size_t)(to.p - start);
}

/* Stores the end of the central directory (APPNOTE 4.3.14 to 4.3.16). Returns its length. */
static size_t end_records(uint64_t n, uint64_t size, uint64_t offset, unsigned char *start)
{
    bytes to = {start};
    if (is_large(size) || is_large(offset)) {
        store(&to, 0x06064b50, 4); /* ZIP64 end of central directory */
        store(&to, 44, 8);
        store(&to, 45, 2);
        store(&to, 45, 2);
        store(&to, 0, 4);
        store(&to, 0, 4);
        store(&to, n, 8);
        store(&to, n, 8);
        store(&to, size, 8);
        store(&to, offset, 8);
        store(&to, 0x07064b50, 4); /* ZIP64 end of central directory locator */
        store(&to, 0, 4);
        store(&to, offset + size, 8);
        store(&to, 1, 4);
    }
    store(&to, 0x06054b50, 4);
    store(&to, 0, 2);
    store(&to, 0, 2);
    store(&to, n, 2);
    store(&to, n, 2);
    store(&to, size < 0xffffffffu ? size : 0xffffffffu, 4);
    store(&to, is_large(offset) ? 0xffffffffu : offset, 4);
    store(&to, 0, 2);
    return (size_t)(to.p - start);
}

gls_status gls_zip_finish(gls_output *output, const gls_zip_entry *entries, size_t n, uint64_t position)
{
    size_t used = 0;
    unsigned char *text = malloc(n * CENTRAL_MAX + 128);
    if (!text) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", output->path);
    for (size_t i = 0; i < n; i++) used += central(&entries[i], text + used);
    used += end_records(n, used, position, text + used);
    gls_status status = gls_output_write(output, text, used);
    free(text);
    return status;
}
