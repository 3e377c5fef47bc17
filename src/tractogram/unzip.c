/* Reads the directory of a ZIP archive of any program. */
#include "tractogram/cursor.h"
#include "tractogram/zip.h"
#include "util/input.h"
#include "util/status.h"

#include <stdlib.h>
#include <string.h>

#define END_BYTES 22
#define LOCATOR_BYTES 20
#define END64_BYTES 56
#define MAX_COMMENT 65535
#define MAX_DIRECTORY ((uint64_t)64 << 20)
#define LOCAL_BYTES 30
#define MAX_RATIO 1032 /* of deflate: more bytes than this from one there cannot be */

typedef struct archive {
    const char *path;
    int fd;
    uint64_t bytes;
    uint64_t start, size, n; /* of the directory */
} archive;

static uint64_t get(const unsigned char *p, int n)
{
    uint64_t value = 0;
    while (n-- > 0) value = value << 8 | p[n];
    return value;
}

static gls_status damaged(const archive *a, const char *what)
{
    return gls_fail(GLS_ERR_INPUT, "%s: truncated or damaged: %s", a->path, what);
}

/* The records of ZIP64 before the end record, where that refers to them. */
static gls_status read_end64(archive *a, uint64_t end_at)
{
    unsigned char locator[LOCATOR_BYTES], end[END64_BYTES];
    if (end_at < LOCATOR_BYTES) return GLS_OK;
    gls_status status = gls_regular_read(a->path, a->fd, end_at - LOCATOR_BYTES, locator, sizeof locator);
    if (status != GLS_OK || get(locator, 4) != 0x07064b50) return status;
    uint64_t at = get(locator + 8, 8);
    if (end_at < LOCATOR_BYTES + END64_BYTES || at > end_at - LOCATOR_BYTES - END64_BYTES)
        return damaged(a, "the ZIP64 record lies outside");
    status = gls_regular_read(a->path, a->fd, at, end, sizeof end);
    if (status != GLS_OK) return status;
    if (get(end, 4) != 0x06064b50) return damaged(a, "no ZIP64 record where there should be one");
    if (get(end + 16, 4) != 0 || get(end + 20, 4) != 0)
        return gls_fail(GLS_ERR_INPUT, "%s: is a part of a split archive", a->path);
    a->n = get(end + 32, 8);
    a->size = get(end + 40, 8);
    a->start = get(end + 48, 8);
    return GLS_OK;
}

/* The end record stands at the very end, behind it only its comment. */
static gls_status find_directory(archive *a)
{
    gls_status status = GLS_OK;
    size_t have = a->bytes < END_BYTES + MAX_COMMENT ? (size_t)a->bytes : END_BYTES + MAX_COMMENT, at;
    unsigned char *tail = malloc(have + 1), *end = NULL;
    if (!tail) return gls_fail(GLS_ERR_MEMORY, "%s: no memory", a->path);
    status = gls_regular_read(a->path, a->fd, a->bytes - have, tail, have);
    for (at = have; status == GLS_OK && !end && at-- > 0;)
        if (at + END_BYTES <= have && get(tail + at, 4) == 0x06054b50 &&
            get(tail + at + 20, 2) == have - at - END_BYTES)
            end = tail + at;
    if (status == GLS_OK && !end) status = damaged(a, "it has no directory of a ZIP archive at its end");
    if (status == GLS_OK) {
        uint64_t disks = get(end + 4, 4);
        a->n = get(end + 10, 2);
        a->size = get(end + 12, 4);
        a->start = get(end + 16, 4);
        status = read_end64(a, a->bytes - have + at);
        if (status == GLS_OK && disks != 0 && disks != 0xffffffffu)
            status = gls_fail(GLS_ERR_INPUT, "%s: is a part of a split archive", a->path);
    }
    free(tail);
    if (status != GLS_OK) return status;
    if (a->size > a->bytes || a->start > a->bytes - a->size || a->size > MAX_DIRECTORY || a->n > a->size / 46)
        return damaged(a, "the directory of the archive lies outside");
    return GLS_OK;
}

/* Values that do not fit into 32 bits stand in the field of ZIP64. */
static bool read_extra(const unsigned char *p, size_t n, uint64_t *bytes, uint64_t *packed, uint64_t *offset)
{
    uint64_t *values[] = {bytes, packed, offset};
    while (n >= 4) {
        size_t field = get(p + 2, 2);
        if (field > n - 4) return false;
        const unsigned char *v = p + 4, *end = p + 4 + field;
        for (int i = 0; get(p, 2) == 1 && i < 3; i++) {
            if (*values[i] != 0xffffffffu) continue;
            if (end - v < 8) return false;
            *values[i] = get(v, 8);
            v += 8;
        }
        p += 4 + field;
        n -= 4 + field;
    }
    return true;
}

/* One record of the directory; *used gets its bytes. */
static gls_status read_record(const archive *a, const unsigned char *p, size_t left, gls_zip_item *item, size_t *used)
{
    unsigned char local[LOCAL_BYTES];
    if (left < 46 || get(p, 4) != 0x02014b50) return damaged(a, "the directory of the archive");
    size_t name = get(p + 28, 2), extra = get(p + 30, 2), comment = get(p + 32, 2);
    *used = 46 + name + extra + comment;
    if (*used > left || name == 0 || memchr(p + 46, '\0', name)) return damaged(a, "the directory of the archive");
    item->name = strndup((const char *)p + 46, name);
    if (!item->name) return gls_fail(GLS_ERR_MEMORY, "%s: no memory", a->path);
    unsigned flags = (unsigned)get(p + 8, 2), method = (unsigned)get(p + 10, 2);
    uint64_t at = get(p + 42, 4);
    item->crc = (uint32_t)get(p + 16, 4);
    item->packed = get(p + 20, 4);
    item->bytes = get(p + 24, 4);
    item->deflated = method == 8;
    if (!read_extra(p + 46 + name, extra, &item->bytes, &item->packed, &at))
        return damaged(a, "the directory of the archive");
    if (flags & 0x2041) return gls_fail(GLS_ERR_INPUT, "%s: %s is encrypted", a->path, item->name);
    if (method != 0 && method != 8)
        return gls_fail(GLS_ERR_INPUT, "%s: %s is packed by a method other than deflate", a->path, item->name);
    if (at > a->start || a->start - at < LOCAL_BYTES) return damaged(a, "an entry lies outside");
    gls_status status = gls_regular_read(a->path, a->fd, at, local, sizeof local);
    if (status != GLS_OK) return status;
    if (get(local, 4) != 0x04034b50) return damaged(a, "no entry where there should be one");
    item->at = at + LOCAL_BYTES + get(local + 26, 2) + get(local + 28, 2);
    if (item->at > a->start || item->packed > a->start - item->at) return damaged(a, "an entry lies outside");
    if (item->deflated ? item->bytes / MAX_RATIO > item->packed + 1 : item->bytes != item->packed)
        return damaged(a, "the size of an entry");
    return GLS_OK;
}

gls_status gls_zip_read(const char *path, int fd, uint64_t bytes, gls_zip_item **items, size_t *n_items)
{
    archive a = {.path = path, .fd = fd, .bytes = bytes};
    unsigned char *directory = NULL;
    gls_zip_item *item = NULL;
    size_t n = 0, at = 0, used = 0;
    gls_status status = find_directory(&a);
    if (status != GLS_OK) return status;
    directory = malloc((size_t)a.size + 1);
    item = calloc((size_t)a.n + 1, sizeof *item);
    if (!directory || !item) {
        status = gls_fail(GLS_ERR_MEMORY, "%s: no memory", path);
        goto fail;
    }
    status = gls_regular_read(path, fd, a.start, directory, (size_t)a.size);
    for (; n < a.n && status == GLS_OK; n++, at += used)
        status = read_record(&a, directory + at, (size_t)a.size - at, &item[n], &used);
    if (status == GLS_OK && at != a.size) status = damaged(&a, "the directory of the archive");
    if (status != GLS_OK) goto fail;
    free(directory);
    *items = item;
    *n_items = n;
    return GLS_OK;
fail:
    free(directory);
    gls_zip_free(item, n);
    return status;
}

void gls_zip_free(gls_zip_item *items, size_t n)
{
    if (!items) return;
    for (size_t i = 0; i < n; i++) free(items[i].name);
    free(items);
}
