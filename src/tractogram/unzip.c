/* Reads the directory of archives that zip.c writes: what is found is written again, and has to be what stands in the
 * file. */
#include "tractogram/zip.h"
#include "util/status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define END_BYTES 22
#define LOCATOR_BYTES 20
#define END64_BYTES 56
#define MAX_DIRECTORY 4096

static uint64_t get(const unsigned char *p, int n)
{
    uint64_t value = 0;
    while (n-- > 0) value = value << 8 | p[n];
    return value;
}

static gls_status read_at(const char *path, int fd, uint64_t from, void *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t n = pread(fd, (char *)data + done, bytes - done, (off_t)(from + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0)
            return gls_fail(GLS_ERR_INPUT, "%s: cannot read: %s", path, n < 0 ? strerror(errno) : "it is truncated");
        done += (size_t)n;
    }
    return GLS_OK;
}

static gls_status not_ours(const char *path)
{
    return gls_fail(GLS_ERR_INPUT, "%s: truncated, damaged, or not a TRX file that glslines wrote", path);
}

/* Where the directory begins, its bytes and entries: from the end records. */
static gls_status find_directory(const char *path, int fd, uint64_t bytes, uint64_t *start, uint64_t *size, uint64_t *n)
{
    unsigned char end[END64_BYTES + LOCATOR_BYTES + END_BYTES], *last = end + sizeof end - END_BYTES;
    if (bytes < END_BYTES) return not_ours(path);
    size_t have = bytes < sizeof end ? (size_t)bytes : sizeof end;
    gls_status status = read_at(path, fd, bytes - have, end + sizeof end - have, have);
    if (status != GLS_OK) return status;
    if (get(last, 4) != 0x06054b50) return not_ours(path);
    *n = get(last + 10, 2);
    *size = get(last + 12, 4);
    *start = get(last + 16, 4);
    uint64_t records = END_BYTES;
    if (*start == 0xffffffffu) {
        if (have < sizeof end || get(end, 4) != 0x06064b50 || get(end + END64_BYTES, 4) != 0x07064b50)
            return not_ours(path);
        *size = get(end + 40, 8);
        *start = get(end + 48, 8);
        records = sizeof end;
    }
    if (*size > MAX_DIRECTORY || records + *size > bytes || *start != bytes - records - *size) return not_ours(path);
    return GLS_OK;
}

/* One record of the directory; returns its bytes, or 0 if it is none. */
static size_t read_entry(const unsigned char *p, size_t left, gls_zip_entry *e)
{
    if (left < 46 || get(p, 4) != 0x02014b50) return 0;
    size_t name = get(p + 28, 2), extra = get(p + 30, 2), bytes = 46 + name + extra;
    if (bytes > left || name == 0 || name >= sizeof e->name) return 0;
    *e = (gls_zip_entry){.crc = (uint32_t)get(p + 16, 4), .bytes = get(p + 24, 4), .offset = get(p + 42, 4)};
    memcpy(e->name, p + 46, name);
    const unsigned char *field = p + 46 + name + 4, *end = p + bytes;
    if (e->bytes == 0xffffffffu) {
        if (end < field + 16) return 0;
        e->bytes = get(field, 8);
        field += 16;
    }
    if (e->offset == 0xffffffffu) {
        if (end < field + 8) return 0;
        e->offset = get(field, 8);
    }
    return bytes;
}

gls_status gls_zip_read(const char *path, int fd, uint64_t bytes, gls_zip_entry *entries, size_t max, size_t *n_entries)
{
    unsigned char directory[MAX_DIRECTORY], header[GLS_ZIP_LOCAL_MAX], expected[GLS_ZIP_LOCAL_MAX];
    uint64_t start = 0, size = 0, n = 0, position = 0;
    gls_status status = find_directory(path, fd, bytes, &start, &size, &n);
    if (status == GLS_OK) status = read_at(path, fd, start, directory, (size_t)size);
    if (status != GLS_OK) return status;
    if (n > max) return not_ours(path);
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        size_t used = read_entry(directory + at, (size_t)size - at, &entries[i]);
        if (used == 0 || entries[i].offset != position) return not_ours(path);
        at += used;
        size_t head = gls_zip_local(&entries[i], expected);
        if (entries[i].bytes > start || start - entries[i].bytes < position + head) return not_ours(path);
        status = read_at(path, fd, position, header, head);
        if (status != GLS_OK) return status;
        if (memcmp(header, expected, head) != 0) return not_ours(path);
        position += head + entries[i].bytes;
    }
    if (at != size || position != start) return not_ours(path);
    *n_entries = (size_t)n;
    return GLS_OK;
}
