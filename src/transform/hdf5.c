/* Reads the few datasets that a composite transform of ITK consists of. The library of HDF5 would do it, too, but is
 * larger than this program's own library, and brings one for networks and one for encryption along. */
#include "transform/hdf5.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "util/file.h"
#include "util/status.h"

#define MAX_BYTES ((size_t)8 << 30)
#define MAX_AXES 8      /* axes of a dataset */
#define MAX_DEPTH 8     /* levels of a tree, and of names within each other */
#define MAX_BLOCKS 4096 /* blocks of a header */
#define MAX_VISITS 1000000
#define MAX_PACKING 1100 /* deflate packs no more than 1032 bytes in one */
#define NOWHERE UINT64_MAX

enum { SPACE = 0x01, LINKS = 0x02, TYPE = 0x03, LINK = 0x06, LAYOUT = 0x08, FILTERS = 0x0B, MORE = 0x10, TABLE = 0x11 };
enum { COMPACT, CONTIGUOUS, CHUNKED };
enum { DEFLATE = 1, SHUFFLE = 2 };
enum { INTEGER = 0, FLOATING = 1, STRING = 3, VARIABLE = 9 };

struct gls_hdf5 {
    const char *path;
    unsigned char *data;
    size_t n;
    uint64_t root; /* header of the outermost group */
    int visits;    /* nodes of trees that the call has gone to: a damaged tree may lead in circles */
};

static gls_status damaged(gls_hdf5 *f, const char *what)
{
    return gls_fail(GLS_ERR_INPUT, "%s: damaged, or of a kind of HDF5 that is not read: %s", f->path, what);
}

/* The n bytes at a place of the file; NULL: it does not have them. */
static const unsigned char *bytes_at(gls_hdf5 *f, uint64_t at, uint64_t n)
{
    return at <= f->n && n <= f->n - at ? f->data + at : NULL;
}

/* Little-endian number of 1 to 8 bytes. */
static uint64_t number(const unsigned char *p, int bytes)
{
    uint64_t v = 0;
    for (int i = bytes; i-- > 0;) v = v << 8 | p[i];
    return v;
}

gls_status gls_hdf5_open(const char *path, gls_hdf5 **file)
{
    static const unsigned char signature[8] = "\x89HDF\r\n\x1a\n";
    gls_hdf5 *f = calloc(1, sizeof *f);
    if (!f) return gls_no_memory();
    f->path = path;
    gls_status status = gls_file_read(path, MAX_BYTES, (char **)&f->data, &f->n);
    if (!status && (f->n < 96 || memcmp(f->data, signature, 8) != 0))
        status = gls_fail(GLS_ERR_INPUT, "%s: is no file of HDF5", path);
    if (!status) {
        const unsigned char version = f->data[8];
        const size_t sizes = version < 2 ? 13 : 9, base = version < 2 ? 24 + 4 * (version == 1) : 12;
        if (version > 3 || f->data[sizes] != 8 || f->data[sizes + 1] != 8 || number(f->data + base, 8) != 0)
            status = damaged(f, "its superblock");
        /* version 0 and 1: four places, then an entry of a table whose second member is the header */
        f->root = number(f->data + (version < 2 ? base + 40 : 36), 8);
    }
    if (status)
        gls_hdf5_close(f);
    else
        *file = f;
    return status;
}

void gls_hdf5_close(gls_hdf5 *f)
{
    if (!f) return;
    free(f->data);
    free(f);
}

/* --- Headers: lists of messages. */

/* A walk through the messages of a header, which may lie in several blocks. */
typedef struct walk {
    gls_hdf5 *f;
    int version, flags, n_blocks;
    uint64_t at, end;                             /* what is left of the block */
    uint64_t next_at[MAX_DEPTH], next[MAX_DEPTH]; /* blocks to come: place and size */
    int n_next;
    /* the message */
    int kind;
    const unsigned char *body;
    size_t n;
} walk;

static gls_status begin_walk(gls_hdf5 *f, uint64_t header, walk *w)
{
    *w = (walk){.f = f};
    const unsigned char *p = bytes_at(f, header, 16);
    if (!p) return damaged(f, "the place of a header");
    w->version = memcmp(p, "OHDR", 4) == 0 ? 2 : 1;
    if (w->version == 1 && p[0] != 1) return damaged(f, "the version of a header");
    w->at = header + 16;
    w->end = w->at + number(p + 8, 4);
    if (w->version == 2) {
        w->flags = p[5];
        const int width = 1 << (w->flags & 3);
        w->at = header + 6 + (w->flags & 0x20 ? 16 : 0) + (w->flags & 0x10 ? 4 : 0);
        p = bytes_at(f, w->at, 8);
        if (!p) return damaged(f, "a header");
        w->at += (uint64_t)width;
        w->end = w->at + number(p, width);
    }
    return GLS_OK;
}

/* Goes to the next block of a header. Returns false behind the last one. */
static bool next_block(walk *w)
{
    if (w->n_next == 0 || ++w->n_blocks > MAX_BLOCKS) return false;
    w->n_next--;
    w->at = w->next_at[w->n_next];
    w->end = w->at + w->next[w->n_next];
    if (w->version == 2) { /* a signature in front, a sum behind */
        if (!bytes_at(w->f, w->at, w->next[w->n_next]) || w->next[w->n_next] < 8) return false;
        w->at += 4;
        w->end -= 4;
    }
    return true;
}

/* Goes to the next message. Returns false behind the last one, or where the file ends before. */
static bool next_message(walk *w)
{
    const size_t head = w->version == 1 ? 8 : w->flags & 4 ? 6 : 4;
    for (;;) {
        if (w->end < w->at || w->end - w->at < head) {
            if (!next_block(w)) return false;
            continue;
        }
        const unsigned char *p = bytes_at(w->f, w->at, head);
        if (!p) return false;
        w->kind = (int)number(p, w->version == 1 ? 2 : 1);
        w->n = number(p + (w->version == 1 ? 2 : 1), 2);
        w->body = bytes_at(w->f, w->at + head, w->n);
        w->at += head + w->n;
        if (!w->body || w->at > w->end) return false;
        if (w->kind != MORE || w->n < 16 || w->n_next == MAX_DEPTH) return true;
        w->next_at[w->n_next] = number(w->body, 8);
        w->next[w->n_next++] = number(w->body + 8, 8);
    }
}

/* --- Groups. */

/* Looks for a name in a table of symbols: a tree whose leaves name places in a heap. */
static gls_status find_in_tree(gls_hdf5 *f, uint64_t node, uint64_t heap, const char *name, size_t n, int depth,
                               uint64_t *header)
{
    const unsigned char *p = bytes_at(f, node, 24), *h = bytes_at(f, heap, 32);
    if (!p || !h || memcmp(h, "HEAP", 4) != 0 || depth > MAX_DEPTH || ++f->visits > MAX_VISITS)
        return damaged(f, "a group");
    const uint64_t names = number(h + 24, 8), size = number(h + 8, 8);
    if (memcmp(p, "TREE", 4) == 0) {
        const uint64_t children = number(p + 6, 2);
        if (p[4] != 0 || !(p = bytes_at(f, node + 24, 16 * children + 8))) return damaged(f, "the tree of a group");
        gls_status status = GLS_OK;
        for (uint64_t i = 0; i < children && !status && *header == 0; i++)
            status = find_in_tree(f, number(p + 16 * i + 8, 8), heap, name, n, depth + 1, header);
        return status;
    }
    const uint64_t symbols = number(p + 6, 2);
    const char *text = (const char *)bytes_at(f, names, size);
    if (memcmp(p, "SNOD", 4) != 0 || !text || !(p = bytes_at(f, node + 8, 40 * symbols)))
        return damaged(f, "the symbols of a group");
    for (uint64_t i = 0; i < symbols; i++) {
        const uint64_t from = number(p + 40 * i, 8);
        if (from < size && size - from > n && memcmp(text + from, name, n) == 0 && text[from + n] == '\0')
            *header = number(p + 40 * i + 8, 8);
    }
    return GLS_OK;
}

/* Takes the header from a link, if its name is this one. */
static void take_link(const unsigned char *p, size_t bytes, const char *name, size_t n, uint64_t *header)
{
    const int flags = bytes > 2 ? p[1] : 0, width = 1 << (flags & 3);
    const size_t at = 2 + (flags & 8 ? 1 : 0) + (flags & 4 ? 8 : 0) + (flags & 16 ? 1 : 0);
    if (bytes < at + (size_t)width + n + 8 || (flags & 8 && p[2] != 0) || number(p + at, width) != n) return;
    if (memcmp(p + at + width, name, n) == 0) *header = number(p + at + width + n, 8);
}

/* Finds a member of a group. */
static gls_status find_member(gls_hdf5 *f, uint64_t group, const char *name, size_t n, uint64_t *header)
{
    walk w;
    bool elsewhere = false;
    gls_status status = begin_walk(f, group, &w);
    *header = 0;
    while (!status && *header == 0 && next_message(&w)) {
        if (w.kind == LINK) take_link(w.body, w.n, name, n, header);
        if (w.kind == TABLE && w.n >= 16)
            status = find_in_tree(f, number(w.body, 8), number(w.body + 8, 8), name, n, 0, header);
        if (w.kind == LINKS && w.n >= 18) elsewhere = number(w.body + (w.body[1] & 1 ? 10 : 2), 8) != NOWHERE;
    }
    if (!status && *header == 0 && elsewhere) return damaged(f, "a group of more than eight members");
    return status;
}

gls_status gls_hdf5_find(gls_hdf5 *f, const char *name, uint64_t *header)
{
    gls_status status = GLS_OK;
    f->visits = 0;
    *header = f->root;
    while (*name && *header && !status) {
        const size_t n = strcspn(name, "/");
        status = find_member(f, *header, name, n, header);
        name += n + (name[n] == '/');
    }
    return status;
}

/* --- Datasets. */

typedef struct dataset {
    int axes;
    uint64_t dim[MAX_AXES], count;
    int class;
    size_t size; /* bytes of a value */
    bool is_signed;
    int layout;
    const unsigned char *compact;
    uint64_t place, bytes; /* of the values, or of the tree of chunks */
    uint64_t chunk[MAX_AXES];
    int filter[2], n_filters;
} dataset;

static bool take_space(const walk *w, dataset *d)
{
    const size_t head = w->n > 1 && w->body[0] == 1 ? 8 : 4;
    d->axes = w->n >= head ? w->body[1] : 0;
    d->count = 1;
    if (d->axes > MAX_AXES || w->n < head + 8 * (size_t)d->axes) return false;
    for (int a = 0; a < d->axes; a++) {
        d->dim[a] = number(w->body + head + 8 * (size_t)a, 8);
        if (__builtin_mul_overflow(d->count, d->dim[a], &d->count)) return false;
    }
    return d->count <= MAX_BYTES;
}

static bool take_type(const walk *w, dataset *d)
{
    if (w->n < 8) return false;
    d->class = w->body[0] & 15;
    d->is_signed = w->body[1] & 8;
    d->size = number(w->body + 4, 4);
    if (d->class == STRING) return d->size > 0;
    if (d->class == VARIABLE) return d->size == 16 && (w->body[1] & 15) == 1;
    return (w->body[1] & 1) == 0 && ((d->class == FLOATING && (d->size == 4 || d->size == 8)) ||
                                     (d->class == INTEGER && d->size >= 1 && d->size <= 8));
}

static bool take_layout(const walk *w, dataset *d)
{
    if (w->n < 4 || w->body[0] != 3) return false;
    d->layout = w->body[1];
    if (d->layout == COMPACT) {
        d->bytes = number(w->body + 2, 2);
        d->compact = w->body + 4;
        return d->bytes <= w->n - 4;
    }
    if (d->layout == CONTIGUOUS && w->n >= 18) {
        d->place = number(w->body + 2, 8);
        d->bytes = number(w->body + 10, 8);
        return true;
    }
    const int axes = w->body[2] - 1;
    if (d->layout != CHUNKED || axes < 1 || axes > MAX_AXES || w->n < 11 + 4 * (size_t)(axes + 1)) return false;
    d->place = number(w->body + 3, 8);
    for (int a = 0; a < axes; a++) d->chunk[a] = number(w->body + 11 + 4 * a, 4);
    return true;
}

static bool take_filters(const walk *w, dataset *d)
{
    const unsigned char *p = w->body, *end = w->body + w->n;
    if (w->n < 2 || p[0] < 1 || p[0] > 2 || p[1] > 2) return false;
    const bool first = p[0] == 1;
    d->n_filters = p[1];
    p += first ? 8 : 2;
    for (int i = 0; i < d->n_filters; i++) {
        if (end - p < 8) return false;
        d->filter[i] = (int)number(p, 2);
        const uint64_t name = first ? number(p + 2, 2) : 0, values = number(p + (first ? 6 : 4), 2);
        const uint64_t skip = (first ? 8 : 6) + (name + 7) / 8 * 8 + 4 * (values + (first ? values % 2 : 0));
        if ((d->filter[i] != DEFLATE && d->filter[i] != SHUFFLE) || skip > (uint64_t)(end - p)) return false;
        p += skip;
    }
    return true;
}

/* Reads the header of a dataset. */
static gls_status read_dataset(gls_hdf5 *f, uint64_t header, dataset *d)
{
    walk w;
    int seen = 0;
    *d = (dataset){.axes = 0};
    gls_status status = begin_walk(f, header, &w);
    while (!status && next_message(&w)) {
        bool good = true;
        if (w.kind == SPACE) good = take_space(&w, d), seen |= 1;
        if (w.kind == TYPE) good = take_type(&w, d), seen |= 2;
        if (w.kind == LAYOUT) good = take_layout(&w, d), seen |= 4;
        if (w.kind == FILTERS) good = take_filters(&w, d);
        if (!good)
            status = damaged(f, w.kind == SPACE    ? "the size of a dataset"
                                : w.kind == TYPE   ? "the type of a dataset"
                                : w.kind == LAYOUT ? "how a dataset is laid out"
                                                   : "a filter of a dataset that is not gzip or shuffle");
    }
    return status || seen == 7 ? status : damaged(f, "a dataset without size, type or layout");
}

/* Undoes the filters of a chunk, the last one first. out: n bytes. */
static bool unpack(const dataset *d, const unsigned char *in, size_t packed, uint32_t left_out, unsigned char *out,
                   size_t n)
{
    const unsigned char *from = in;
    unsigned char *memory = NULL;
    size_t left = packed;
    bool good = true;
    for (int i = d->n_filters; i-- > 0 && good;) {
        if (left_out >> i & 1) continue;
        unsigned char *to = malloc(n);
        good = to && (d->filter[i] == DEFLATE || left == n);
        if (good && d->filter[i] == DEFLATE) {
            uLongf got = n;
            good = uncompress(to, &got, from, left) == Z_OK && got == n;
            left = n;
        } else if (good) {
            for (size_t v = 0; v < n / d->size; v++)
                for (size_t b = 0; b < d->size; b++) to[v * d->size + b] = from[b * (n / d->size) + v];
        }
        free(memory);
        memory = to;
        from = to;
    }
    good = good && left == n;
    if (good) memcpy(out, from, n);
    free(memory);
    return good;
}

/* Copies a chunk, which begins at `at`, to its place among the values. */
static void place_chunk(const dataset *d, const unsigned char *chunk, const uint64_t *at, unsigned char *out)
{
    uint64_t i[MAX_AXES] = {0};
    for (size_t v = 0;; v++) {
        uint64_t to = 0;
        bool inside = true;
        for (int a = 0; a < d->axes; a++) {
            inside = inside && at[a] + i[a] < d->dim[a];
            to = to * d->dim[a] + at[a] + i[a];
        }
        if (inside) memcpy(out + to * d->size, chunk + v * d->size, d->size);
        int a = d->axes - 1;
        for (; a >= 0 && ++i[a] == d->chunk[a]; a--) i[a] = 0;
        if (a < 0) return;
    }
}

/* Reads the chunks below a node of a tree. */
static gls_status read_chunks(gls_hdf5 *f, const dataset *d, uint64_t node, int depth, unsigned char *out)
{
    const unsigned char *p = bytes_at(f, node, 24);
    const size_t key = 8 + 8 * (size_t)(d->axes + 1);
    if (!p || memcmp(p, "TREE", 4) != 0 || p[4] != 1 || depth > MAX_DEPTH || ++f->visits > MAX_VISITS)
        return damaged(f, "a tree of chunks");
    const bool leaf = p[5] == 0;
    const uint64_t n = number(p + 6, 2);
    uint64_t values = 1, at[MAX_AXES];
    for (int a = 0; a < d->axes; a++)
        if (d->chunk[a] == 0 || __builtin_mul_overflow(values, d->chunk[a], &values) ||
            values > MAX_PACKING * (uint64_t)f->n / d->size)
            return damaged(f, "the size of a chunk");
    if (!(p = bytes_at(f, node + 24, n * (key + 8)))) return damaged(f, "a tree of chunks");
    unsigned char *chunk = leaf ? malloc(values * d->size) : NULL;
    gls_status status = leaf && !chunk ? gls_no_memory() : GLS_OK;
    for (uint64_t i = 0; i < n && !status; i++, p += key + 8) {
        const uint64_t place = number(p + key, 8), packed = number(p, 4);
        if (!leaf) {
            status = read_chunks(f, d, place, depth + 1, out);
            continue;
        }
        for (int a = 0; a < d->axes; a++) at[a] = number(p + 8 + 8 * (size_t)a, 8);
        const unsigned char *raw = bytes_at(f, place, packed);
        if (!raw || !unpack(d, raw, packed, (uint32_t)number(p + 4, 4), chunk, values * d->size))
            status = damaged(f, "a chunk that cannot be unpacked");
        for (int a = 0; a < d->axes && !status; a++)
            if (at[a] >= d->dim[a]) status = damaged(f, "the place of a chunk");
        if (!status) place_chunk(d, chunk, at, out);
    }
    free(chunk);
    return status;
}

/* Reads the bytes of all values. *out comes from malloc. */
static gls_status read_values(gls_hdf5 *f, const dataset *d, unsigned char **out)
{
    uint64_t bytes;
    const bool chunked = d->layout == CHUNKED;
    const uint64_t most = chunked ? MAX_PACKING * (uint64_t)f->n : f->n; /* a lie about the size must not cost memory */
    if (__builtin_mul_overflow(d->count, (uint64_t)d->size, &bytes) || bytes > most)
        return damaged(f, "a dataset that is longer than the file");
    const unsigned char *p = d->layout == COMPACT ? d->compact : chunked ? NULL : bytes_at(f, d->place, bytes);
    if (!chunked && bytes > 0 && (d->bytes < bytes || !p)) return damaged(f, "a dataset that is longer than the file");
    *out = calloc(bytes + 1, 1);
    if (!*out) return gls_no_memory();
    f->visits = 0;
    if (chunked) return d->place == NOWHERE ? GLS_OK : read_chunks(f, d, d->place, 0, *out);
    if (bytes > 0) memcpy(*out, p, bytes);
    return GLS_OK;
}

gls_status gls_hdf5_numbers(gls_hdf5 *f, uint64_t header, double **value, size_t *n)
{
    dataset d;
    unsigned char *raw = NULL;
    gls_status status = read_dataset(f, header, &d);
    *value = NULL;
    *n = 0;
    if (!status && d.class != INTEGER && d.class != FLOATING) status = damaged(f, "a dataset that has no numbers");
    if (!status && d.count > 0) status = read_values(f, &d, &raw);
    if (!status && d.count > 0 && !(*value = malloc(d.count * sizeof **value))) status = gls_no_memory();
    for (size_t i = 0; i < d.count && !status; i++) {
        const unsigned char *p = raw + i * d.size;
        float narrow;
        if (d.class == INTEGER) {
            const uint64_t bits = number(p, (int)d.size);
            const int shift = 64 - 8 * (int)d.size;
            (*value)[i] = d.is_signed ? (double)((int64_t)(bits << shift) >> shift) : (double)bits;
        } else if (d.size == 4) {
            memcpy(&narrow, p, sizeof narrow);
            (*value)[i] = (double)narrow;
        } else {
            memcpy(&(*value)[i], p, sizeof **value);
        }
    }
    if (!status) *n = d.count;
    free(raw);
    return status;
}

/* A text of variable length: its length, and object `index` of a collection of the file. */
static const unsigned char *heap_object(gls_hdf5 *f, uint64_t collection, uint64_t index, size_t *n)
{
    const unsigned char *p = bytes_at(f, collection, 16);
    if (!p || memcmp(p, "GCOL", 4) != 0) return NULL;
    const uint64_t end = collection + number(p + 8, 8);
    for (uint64_t at = collection + 16; at < end && (p = bytes_at(f, at, 16)) && number(p, 2) != 0;) {
        const uint64_t bytes = number(p + 8, 8);
        p = bytes_at(f, at + 16, bytes);
        if (!p) return NULL;
        if (number(p - 16, 2) == index) {
            *n = bytes;
            return p;
        }
        at += 16 + (bytes + 7) / 8 * 8;
    }
    return NULL;
}

gls_status gls_hdf5_text(gls_hdf5 *f, uint64_t header, char *text, size_t size)
{
    dataset d;
    unsigned char *raw = NULL;
    *text = '\0';
    gls_status status = read_dataset(f, header, &d);
    if (!status && ((d.class != STRING && d.class != VARIABLE) || d.count < 1))
        status = damaged(f, "a dataset that has no text");
    if (!status) status = read_values(f, &d, &raw);
    if (!status) {
        const unsigned char *from = raw;
        size_t n = d.size;
        if (d.class == VARIABLE) {
            from = heap_object(f, number(raw + 4, 8), number(raw + 12, 4), &n);
            if (from && number(raw, 4) < n) n = number(raw, 4);
        }
        if (!from) status = damaged(f, "a text");
        for (size_t i = 0; from && i < n && i + 1 < size && from[i]; i++) text[i] = (char)from[i], text[i + 1] = '\0';
    }
    free(raw);
    return status;
}
