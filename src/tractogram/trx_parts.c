#include "tractogram/trx_parts.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tractogram/zip.h"
#include "util/input.h"
#include "util/status.h"

#define MAX_DEPTH 3 /* dpg/GROUP/FIELD */
#define MAX_PARTS 100000

typedef struct tree {
    gls_tractogram_reader *reader;
    gls_trx_part *part;
    size_t n, capacity;
} tree;

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

static gls_status read_archive(tree *t)
{
    gls_tractogram_reader *r = t->reader;
    gls_zip_item *item = NULL;
    size_t n = 0;
    gls_status status = gls_zip_read(r->path, r->fd, r->info.bytes, &item, &n);
    for (size_t i = 0; i < n && status == GLS_OK; i++) {
        size_t length = strlen(item[i].name);
        if (item[i].name[length - 1] == '/') continue; /* a folder */
        r->info.is_packed |= item[i].deflated;
        status = add(t, item[i].name,
                     &(gls_trx_part){.at = item[i].at,
                                     .packed = item[i].packed,
                                     .bytes = item[i].bytes,
                                     .deflated = item[i].deflated,
                                     .has_crc = true,
                                     .crc = item[i].crc});
    }
    gls_zip_free(item, n);
    return status;
}

static gls_status read_folder(tree *t, const char *folder, int depth);

/* A file or folder of that name below the root. */
static gls_status add_file(tree *t, const char *name, int depth)
{
    gls_tractogram_reader *r = t->reader;
    struct stat info;
    char *path = NULL;
    gls_status status = GLS_OK;
    if (asprintf(&path, "%s/%s", r->path, name) < 0) return gls_reader_no_memory(r);
    if (stat(path, &info) != 0)
        status = gls_fail(GLS_ERR_INPUT, "%s: cannot be read", path);
    else if (S_ISDIR(info.st_mode))
        status = depth < MAX_DEPTH ? read_folder(t, name, depth + 1) : GLS_OK;
    else if (S_ISREG(info.st_mode))
        status = add(t, name, &(gls_trx_part){.packed = (uint64_t)info.st_size, .bytes = (uint64_t)info.st_size});
    free(path);
    return status;
}

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* "" is the root. In alphabetical order, so that columns come in the same order on every machine. */
static gls_status read_folder(tree *t, const char *folder, int depth)
{
    gls_tractogram_reader *r = t->reader;
    struct dirent **entry;
    char *path = NULL, *name;
    gls_status status = GLS_OK;
    if (asprintf(&path, "%s/%s", r->path, folder) < 0) return gls_reader_no_memory(r);
    int n = scandir(path, &entry, is_shown, alphasort);
    if (n < 0) status = gls_fail(GLS_ERR_INPUT, "%s: cannot be read", path);
    free(path);
    for (int i = 0; i < n; i++) {
        if (status == GLS_OK && asprintf(&name, "%s%s%s", folder, *folder ? "/" : "", entry[i]->d_name) >= 0) {
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
    if (status != GLS_OK) {
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
        if (status == GLS_OK && part->deflated) status = gls_cursor_unpack(cursor, part->bytes);
        cursor->checked = true;
        return status;
    }
    char *path = NULL;
    uint64_t bytes;
    int fd;
    if (asprintf(&path, "%s/%s", r->path, part->name) < 0) return gls_reader_no_memory(r);
    status = gls_regular_open(path, &fd, &bytes);
    if (status == GLS_OK && bytes != part->bytes) {
        status = gls_fail(GLS_ERR_INPUT, "%s: changed while it was read", path);
        close(fd);
    }
    free(path);
    if (status != GLS_OK) return status;
    status = gls_cursor_init(cursor, r->path, fd, 0, bytes);
    cursor->owns_fd = true;
    if (status != GLS_OK) close(fd);
    return status;
}

gls_status gls_trx_part_check(const gls_tractogram_reader *r, const gls_trx_part *part, gls_cursor *c)
{
    if (gls_cursor_left(c) > 0 || !gls_cursor_ends(c))
        return gls_fail(GLS_ERR_INPUT, "%s: damaged: more data in %s than there should be", r->path, part->name);
    if (part->has_crc && c->crc != part->crc)
        return gls_fail(GLS_ERR_INPUT, "%s: damaged: %s does not have the checksum in the archive", r->path,
                        part->name);
    return GLS_OK;
}

const char *gls_trx_type_name(gls_type type)
{
    return type == GLS_TYPE_BOOL ? "bit" : gls_type_name(type);
}

bool gls_trx_field_parse(const char *file_name, gls_trx_field *field)
{
    const char *dot = strchr(file_name, '.'), *type = dot ? dot + 1 : NULL;
    field->components = 1;
    if (!dot || dot == file_name || dot - file_name >= GLS_TRX_NAME) return false;
    memcpy(field->name, file_name, (size_t)(dot - file_name));
    field->name[dot - file_name] = '\0';
    const char *second = strchr(type, '.');
    if (second) {
        char *end;
        if (*type < '1' || *type > '9') return false;
        unsigned long components = strtoul(type, &end, 10);
        if (end != second || components > INT32_MAX) return false;
        field->components = (uint32_t)components;
        type = second + 1;
    }
    for (int t = 0; t < GLS_TYPE_COUNT; t++) {
        if (strcmp(type, gls_trx_type_name((gls_type)t)) != 0) continue;
        field->type = (gls_type)t;
        return true;
    }
    return false;
}
