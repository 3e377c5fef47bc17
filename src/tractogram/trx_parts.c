/* Lists and opens the arrays of a TRX file: entries of a ZIP archive, or files of a folder. */
#include "tractogram/trx_parts.h"
#include "tractogram/cursor.h"
#include "tractogram/file_formats.h"
#include "tractogram/pump.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tractogram/readers.h"
#include "util/file.h"
#include "util/status.h"
#include "util/text.h"

/* --- Directory of a ZIP archive, written by any program ---------------- */

/* Sizes of the end record without comment, the ZIP64 locator, and the ZIP64 end record. */
#define END_BYTES 22
#define LOCATOR_BYTES 20
#define END64_BYTES 56
/* Largest comment behind the end record. */
#define MAX_COMMENT 65535
/* Largest directory of a ZIP archive that is read, bytes. */
#define MAX_DIRECTORY ((uint64_t)64 << 20)
/* Size of a local header without its name and extra field. */
#define LOCAL_BYTES 30
#define MAX_RATIO 1032 /* deflate cannot shrink data by a larger factor */

/* A ZIP archive and where its central directory lies. */
typedef struct archive {
    /* for messages */
    const char *path;
    /* open for reading; the caller closes it */
    int fd;
    /* size of the file */
    uint64_t bytes;
    uint64_t start, size, n; /* position and size of the directory in bytes, number of entries */
} archive;

/* Reads a little-endian number of n bytes. */
static uint64_t get(const unsigned char *p, int n)
{
    uint64_t value = 0;
    while (n-- > 0) value = value << 8 | p[n];
    return value;
}

/* Error for an archive that contradicts itself. */
static gls_status damaged(const archive *a, const char *what)
{
    return gls_fail(GLS_ERR_INPUT, "%s: truncated or damaged: %s", a->path, what);
}

/* Reads the ZIP64 records, if they lie in front of the end record. end_at: position of the end record. */
static gls_status read_end64(archive *a, uint64_t end_at)
{
    unsigned char locator[LOCATOR_BYTES], end[END64_BYTES];
    if (end_at < LOCATOR_BYTES) return GLS_OK;
    gls_status status = gls_regular_read(a->path, a->fd, end_at - LOCATOR_BYTES, locator, sizeof locator);
    if (status || get(locator, 4) != 0x07064b50) return status;
    uint64_t at = get(locator + 8, 8);
    if (end_at < LOCATOR_BYTES + END64_BYTES || at > end_at - LOCATOR_BYTES - END64_BYTES)
        return damaged(a, "its ZIP64 record lies outside the file");
    status = gls_regular_read(a->path, a->fd, at, end, sizeof end);
    if (status) return status;
    if (get(end, 4) != 0x06064b50) return damaged(a, "it has no ZIP64 record where there should be one");
    if (get(end + 16, 4) != 0 || get(end + 20, 4) != 0)
        return gls_fail(GLS_ERR_INPUT, "%s: is a part of a split archive: join the parts first", a->path);
    /* the ZIP64 record replaces the numbers of the end record */
    a->n = get(end + 32, 8);
    a->size = get(end + 40, 8);
    a->start = get(end + 48, 8);
    return GLS_OK;
}

/* Finds the directory: by the end record, which is at the end of the file, followed only by its comment. */
static gls_status find_directory(archive *a)
{
    gls_status status = GLS_OK;
    size_t have = a->bytes < END_BYTES + MAX_COMMENT ? (size_t)a->bytes : END_BYTES + MAX_COMMENT, at;
    unsigned char *tail = malloc(have + 1), *end = NULL;
    if (!tail) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", a->path);
    status = gls_regular_read(a->path, a->fd, a->bytes - have, tail, have);
    /* search backwards for the signature of the end record whose comment ends where the file ends */
    for (at = have; !status && !end && at-- > 0;)
        if (at + END_BYTES <= have && get(tail + at, 4) == 0x06054b50 &&
            get(tail + at + 20, 2) == have - at - END_BYTES)
            end = tail + at;
    if (!status && !end) status = damaged(a, "it has no directory of a ZIP archive at its end");
    if (!status) {
        uint64_t disks = get(end + 4, 4);
        a->n = get(end + 10, 2);
        a->size = get(end + 12, 4);
        a->start = get(end + 16, 4);
        status = read_end64(a, a->bytes - have + at);
        if (!status && disks != 0 && disks != 0xffffffffu)
            status = gls_fail(GLS_ERR_INPUT, "%s: is a part of a split archive: join the parts first", a->path);
    }
    free(tail);
    if (status) return status;
    /* every entry takes 46 bytes at least */
    if (a->size > a->bytes || a->start > a->bytes - a->size || a->size > MAX_DIRECTORY || a->n > a->size / 46)
        return damaged(a, "the directory of the archive lies outside the file");
    return GLS_OK;
}

/* Replaces the values that do not fit into 32 bits by those of the ZIP64 field. p, n: the extra fields of a record and
 * their bytes. Returns false if the fields contradict their length. */
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

/* Reads one record of the directory. *used: its size. */
static gls_status read_record(const archive *a, const unsigned char *p, size_t left, gls_zip_item *item, size_t *used)
{
    unsigned char local[LOCAL_BYTES];
    if (left < 46 || get(p, 4) != 0x02014b50) return damaged(a, "the directory of the archive is not valid");
    /* lengths of the name, the extra field and the comment (APPNOTE 4.3.12) */
    size_t name = get(p + 28, 2), extra = get(p + 30, 2), comment = get(p + 32, 2);
    *used = 46 + name + extra + comment;
    if (*used > left || name == 0 || memchr(p + 46, '\0', name))
        return damaged(a, "the directory of the archive is not valid");
    item->name = strndup((const char *)p + 46, name);
    if (!item->name) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", a->path);
    unsigned flags = (unsigned)get(p + 8, 2), method = (unsigned)get(p + 10, 2);
    uint64_t at = get(p + 42, 4);
    item->crc = (uint32_t)get(p + 16, 4);
    item->packed = get(p + 20, 4);
    item->bytes = get(p + 24, 4);
    item->deflated = method == 8;
    if (!read_extra(p + 46 + name, extra, &item->bytes, &item->packed, &at))
        return damaged(a, "the directory of the archive is not valid");
    /* bits 0 and 6: encryption; bit 13: encrypted directory */
    if (flags & 0x2041) return gls_fail(GLS_ERR_INPUT, "%s: %s is encrypted", a->path, item->name);
    if (method != 0 && method != 8)
        return gls_fail(GLS_ERR_INPUT, "%s: %s is packed by a method other than deflate", a->path, item->name);
    if (at > a->start || a->start - at < LOCAL_BYTES)
        return damaged(a, "an entry lies outside the part before its directory");
    gls_status status = gls_regular_read(a->path, a->fd, at, local, sizeof local);
    if (status) return status;
    /* the local header has its own name and extra field, whose lengths give the position of the data */
    if (get(local, 4) != 0x04034b50) return damaged(a, "it has no entry where its directory names one");
    item->at = at + LOCAL_BYTES + get(local + 26, 2) + get(local + 28, 2);
    if (item->at > a->start || item->packed > a->start - item->at)
        return damaged(a, "an entry lies outside the part before its directory");
    /* a damaged size must not ask for memory that the data cannot fill */
    if (item->deflated ? item->bytes / MAX_RATIO > item->packed + 1 : item->bytes != item->packed)
        return damaged(a, "the size of an entry does not fit its data");
    return GLS_OK;
}

/* Frees a list with its names. Accepts NULL. */
static void zip_free(gls_zip_item *items, size_t n)
{
    if (!items) return;
    for (size_t i = 0; i < n; i++) free(items[i].name);
    free(items);
}

/* Lists the entries of an archive in the order of its directory; the caller frees the list by zip_free(). Sizes are
 * checked against the file. GLS_ERR_INPUT: truncated, damaged, encrypted, split, or compressed by a method other than
 * deflate. */
static gls_status zip_read(const char *path, int fd, uint64_t bytes, gls_zip_item **items, size_t *n_items)
{
    archive a = {.path = path, .fd = fd, .bytes = bytes};
    unsigned char *directory = NULL;
    gls_zip_item *item = NULL;
    size_t n = 0, at = 0, used = 0;
    /* the end of the file leads to the directory */
    gls_status status = find_directory(&a);
    if (status) return status;
    directory = malloc((size_t)a.size + 1);
    item = calloc((size_t)a.n + 1, sizeof *item);
    if (!directory || !item) {
        status = gls_fail(GLS_ERR_MEMORY, "%s: out of memory", path);
        goto fail;
    }
    status = gls_regular_read(path, fd, a.start, directory, (size_t)a.size);
    /* records have no fixed length: the length of each gives where the next begins */
    for (; n < a.n && !status; n++, at += used)
        status = read_record(&a, directory + at, (size_t)a.size - at, &item[n], &used);
    if (!status && at != a.size) status = damaged(&a, "the directory of the archive is not valid");
    if (status) goto fail;
    free(directory);
    *items = item;
    *n_items = n;
    return GLS_OK;
fail:
    free(directory);
    zip_free(item, n);
    return status;
}

#define MAX_DEPTH 3 /* depth of dpg/GROUP/FIELD */
/* Largest number of files in an archive or folder. */
#define MAX_PARTS 100000

/* The list of arrays while it is made. */
typedef struct tree {
    /* for its path and messages */
    gls_tractogram_reader *reader;
    /* owned; n of them */
    gls_trx_part *part;
    /* parts so far: used and allocated */
    size_t n, capacity;
} tree;

/* Adds a copy of `like` with this name. */
static gls_status add(tree *t, const char *name, const gls_trx_part *like)
{
    if (t->n >= MAX_PARTS) return gls_fail(GLS_ERR_INPUT, "%s: has more than %d files", t->reader->path, MAX_PARTS);
    if (t->n == t->capacity) {
        size_t capacity = 2 * t->capacity + 16;
        gls_trx_part *part = realloc(t->part, capacity * sizeof *part);
        if (!part) return gls_reader_no_memory(t->reader);
        t->part = part;
        t->capacity = capacity;
    }
    t->part[t->n] = *like;
    t->part[t->n].name = strdup(name);
    return t->part[t->n++].name ? GLS_OK : gls_reader_no_memory(t->reader);
}

/* Lists the entries of an archive. */
static gls_status read_archive(tree *t)
{
    gls_tractogram_reader *r = t->reader;
    gls_zip_item *item = NULL;
    size_t n = 0;
    gls_status status = zip_read(r->path, r->fd, r->info.bytes, &item, &n);
    for (size_t i = 0; i < n && !status; i++) {
        size_t length = strlen(item[i].name);
        if (item[i].name[length - 1] == '/') continue; /* a folder has no data */
        r->info.is_packed |= item[i].deflated;
        status = add(t, item[i].name,
                     &(gls_trx_part){.at = item[i].at,
                                     .packed = item[i].packed,
                                     .bytes = item[i].bytes,
                                     .deflated = item[i].deflated,
                                     .has_crc = true,
                                     .crc = item[i].crc});
    }
    zip_free(item, n);
    return status;
}

static gls_status read_folder(tree *t, const char *folder, int depth);

/* Adds a regular file, or the files of a folder down to MAX_DEPTH levels; others, such as pipes, are left out. name:
 * path below the root. */
static gls_status add_file(tree *t, const char *name, int depth)
{
    gls_tractogram_reader *r = t->reader;
    struct stat info;
    char *path = NULL;
    gls_status status = GLS_OK;
    if (gls_asprintf(&path, "%s/%s", r->path, name) < 0) return gls_reader_no_memory(r);
    if (stat(path, &info) != 0)
        status = gls_fail(GLS_ERR_INPUT, "%s: cannot be read", path);
    else if (S_ISDIR(info.st_mode))
        status = depth < MAX_DEPTH ? read_folder(t, name, depth + 1) : GLS_OK;
    else if (S_ISREG(info.st_mode))
        status = add(t, name, &(gls_trx_part){.packed = (uint64_t)info.st_size, .bytes = (uint64_t)info.st_size});
    free(path);
    return status;
}

/* Filter for scandir(): leaves out hidden files, . and .. alike. */
static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Lists the files of a folder that are not hidden, "" for the root, in alphabetical order, so that columns have the
 * same order on every machine. */
static gls_status read_folder(tree *t, const char *folder, int depth)
{
    gls_tractogram_reader *r = t->reader;
    struct dirent **entry;
    char *path = NULL, *name;
    gls_status status = GLS_OK;
    if (gls_asprintf(&path, "%s/%s", r->path, folder) < 0) return gls_reader_no_memory(r);
    int n = scandir(path, &entry, is_shown, alphasort);
    if (n < 0) status = gls_fail(GLS_ERR_INPUT, "%s: cannot be read", path);
    free(path);
    for (int i = 0; i < n; i++) {
        if (!status && gls_asprintf(&name, "%s%s%s", folder, *folder ? "/" : "", entry[i]->d_name) >= 0) {
            status = add_file(t, name, depth);
            free(name);
        }
        free(entry[i]);
    }
    if (n >= 0) free(entry);
    return status;
}

gls_status gls_trx_parts_read(gls_tractogram_reader *r, gls_trx_part **parts, size_t *n)
{
    tree t = {.reader = r};
    gls_status status = r->fd >= 0 ? read_archive(&t) : read_folder(&t, "", 1);
    if (status) {
        gls_trx_parts_free(t.part, t.n);
        return status;
    }
    if (r->fd < 0)
        for (size_t i = 0; i < t.n; i++) r->info.bytes += t.part[i].bytes;
    *parts = t.part;
    *n = t.n;
    return GLS_OK;
}

void gls_trx_parts_free(gls_trx_part *parts, size_t n)
{
    for (size_t i = 0; i < n; i++) free(parts[i].name);
    free(parts);
}

gls_status gls_trx_part_open(const gls_tractogram_reader *r, const gls_trx_part *part, gls_cursor *cursor)
{
    gls_status status;
    if (r->fd >= 0) {
        status = gls_cursor_init(cursor, r->path, r->fd, part->at, part->at + part->packed);
        if (!status && part->deflated) status = gls_cursor_unpack(cursor, part->bytes);
        cursor->checked = true;
        return status;
    }
    char *path = NULL;
    uint64_t bytes;
    /* the size is checked again: the folder may have changed since it was listed */
    int fd;
    if (gls_asprintf(&path, "%s/%s", r->path, part->name) < 0) return gls_reader_no_memory(r);
    status = gls_regular_open(path, &fd, &bytes);
    if (!status && bytes != part->bytes) {
        status = gls_fail(GLS_ERR_INPUT, "%s: changed while it was read: run the command again", path);
        close(fd);
    }
    free(path);
    if (status) return status;
    status = gls_cursor_init(cursor, r->path, fd, 0, bytes);
    cursor->owns_fd = true;
    if (status) close(fd);
    return status;
}

const char *gls_trx_type_name(gls_type type)
{
    return type == GLS_TYPE_BOOL ? "bit" : gls_type_name(type);
}
