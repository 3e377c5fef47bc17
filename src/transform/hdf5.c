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
#define MAX_AXES 8        /* axes of a dataset */
#define MAX_DEPTH 8       /* levels of a tree, and of names within each other */
#define MAX_MESSAGES 4096 /* messages of a header: those of ITK have less than twenty */
#define MAX_NAME 256      /* bytes of a name */
#define MAX_MEMBERS 4096
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
    int visits;    /* nodes and members of trees that the call has gone to: a damaged tree may lead in circles */
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

static uint32_t turn(uint32_t x, int bits)
{
    return x << bits | x >> (32 - bits);
}

/* The sum of HDF5's headers: Jenkins' lookup3 of n bytes, n > 0. */
static uint32_t sum_of(const unsigned char *p, size_t n)
{
    static const int mixed[6] = {4, 6, 8, 16, 19, 4}, last[7] = {14, 11, 25, 16, 4, 14, 24};
    uint32_t v[3];
    for (int i = 0; i < 3; i++) v[i] = 0xdeadbeef + (uint32_t)n;
    for (; n > 12; n -= 12, p += 12) {
        for (int i = 0; i < 3; i++) v[i] += (uint32_t)number(p + 4 * i, 4);
        for (int k = 0; k < 6; k++) {
            uint32_t *a = &v[k % 3], *b = &v[(k + 1) % 3], *c = &v[(k + 2) % 3];
            *a = (*a - *c) ^ turn(*c, mixed[k]);
            *c += *b;
        }
    }
    for (size_t i = 0; i < n; i++) v[i / 4] += (uint32_t)p[i] << 8 * (i % 4);
    for (int k = 0; k < 7; k++) {
        uint32_t *a = &v[(k + 2) % 3], *b = &v[(k + 1) % 3];
        *a = (*a ^ *b) - turn(*b, last[k]);
    }
    return v[2];
}

/* Whether the n bytes at a place are followed by their sum. */
static bool is_sound(gls_hdf5 *f, uint64_t at, uint64_t n)
{
    const unsigned char *p = n > 0 && n <= f->n ? bytes_at(f, at, n + 4) : NULL;
    return p && sum_of(p, n) == number(p + n, 4);
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
        if (version > 3 || f->data[sizes] != 8 || f->data[sizes + 1] != 8 || number(f->data + base, 8) != 0 ||
            (version >= 2 && !is_sound(f, 0, 44)))
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
    int version, flags;
    int n_messages, expected; /* messages so far, and what the header says; expected -1: it does not say it */
    bool broken;              /* the walk ended before the header does */
    uint64_t at, end;         /* what is left of the block */
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
    w->expected = w->version == 1 ? (int)number(p + 2, 2) : -1;
    if (p[w->version == 1 ? 0 : 4] != w->version) return damaged(f, "the version of a header");
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
        if (w->end < w->at || !is_sound(f, header, w->end - header)) return damaged(f, "a header");
    }
    return GLS_OK;
}

/* Goes to the next block of a header. Returns false behind the last one. */
static bool next_block(walk *w)
{
    if (w->n_next == 0) return false;
    w->n_next--;
    const uint64_t at = w->next_at[w->n_next], n = w->next[w->n_next];
    const unsigned char *p = bytes_at(w->f, at, n);
    const uint64_t around = w->version == 2 ? 4 : 0; /* a signature in front, a sum behind */
    w->broken = !p || n < 2 * around || (around && (memcmp(p, "OCHK", 4) != 0 || !is_sound(w->f, at, n - around)));
    w->at = at + around;
    w->end = at + n - around;
    return !w->broken;
}

/* Goes to the next message. Returns false behind the last one, and where the header is broken. */
static bool next_message(walk *w)
{
    const size_t head = w->version == 1 ? 8 : w->flags & 4 ? 6 : 4;
    for (;;) {
        if (w->end < w->at || w->end - w->at < head) {
            if (next_block(w)) continue;
            w->broken |= w->expected >= 0 && w->n_messages != w->expected;
            return false;
        }
        const unsigned char *p = bytes_at(w->f, w->at, head);
        w->broken = !p || ++w->n_messages > MAX_MESSAGES;
        if (w->broken) return false;
        w->kind = (int)number(p, w->version == 1 ? 2 : 1);
        w->n = number(p + (w->version == 1 ? 2 : 1), 2);
        w->body = bytes_at(w->f, w->at + head, w->n);
        w->at += head + w->n;
        w->broken = !w->body || w->at > w->end || (w->kind == MORE && (w->n < 16 || w->n_next == MAX_DEPTH));
        if (w->broken) return false;
        if (w->kind != MORE) return true;
        w->next_at[w->n_next] = number(w->body, 8);
        w->next[w->n_next++] = number(w->body + 8, 8);
    }
}

/* Ends a walk: an error where the header was broken. */
static gls_status end_walk(walk *w, gls_status status)
{
    return !status && w->broken ? damaged(w->f, "a header") : status;
}

/* --- Groups. */

/* The member of a group that is looked for, and what was found of it. */
typedef struct member {
    const char *name;
    size_t n;        /* bytes of the name */
    uint64_t header; /* 0: there is none of this name */
    size_t members;  /* of the group */
} member;

/* Goes through a table of symbols: a tree whose leaves name places in a heap. */
static gls_status search_tree(gls_hdf5 *f, uint64_t node, uint64_t heap, int depth, member *m)
{
    const unsigned char *p = bytes_at(f, node, 24), *h = bytes_at(f, heap, 32);
    if (!p || !h || memcmp(h, "HEAP", 4) != 0 || depth > MAX_DEPTH || ++f->visits > MAX_VISITS)
        return damaged(f, "a group");
    const uint64_t names = number(h + 24, 8), size = number(h + 8, 8);
    if (memcmp(p, "TREE", 4) == 0) {
        const uint64_t children = number(p + 6, 2);
        if (p[4] != 0 || !(p = bytes_at(f, node + 24, 16 * children + 8))) return damaged(f, "the tree of a group");
        gls_status status = GLS_OK;
        for (uint64_t i = 0; i < children && !status; i++)
            status = search_tree(f, number(p + 16 * i + 8, 8), heap, depth + 1, m);
        return status;
    }
    const uint64_t symbols = number(p + 6, 2);
    const char *text = (const char *)bytes_at(f, names, size);
    f->visits += (int)symbols;
    if (memcmp(p, "SNOD", 4) != 0 || !text || !(p = bytes_at(f, node + 8, 40 * symbols)))
        return damaged(f, "the symbols of a group");
    for (uint64_t i = 0; i < symbols; i++) {
        const uint64_t from = number(p + 40 * i, 8);
        const uint64_t most = from < size && size - from > MAX_NAME ? MAX_NAME : from < size ? size - from : 0;
        if (most == 0 || !memchr(text + from, '\0', most)) return damaged(f, "the names of a group");
        if (++m->members > MAX_MEMBERS) return damaged(f, "a group of thousands of members");
        if (strncmp(text + from, m->name, m->n) == 0 && text[from + m->n] == '\0')
            m->header = number(p + 40 * i + 8, 8);
    }
    return GLS_OK;
}

/* Takes the header from a link, if its name is that of the member. Returns false where the link is damaged. */
static bool take_link(const walk *w, member *m)
{
    const unsigned char *p = w->body;
    const int flags = w->n > 2 ? p[1] : 0, width = 1 << (flags & 3);
    const size_t at = 2 + (flags & 8 ? 1 : 0) + (flags & 4 ? 8 : 0) + (flags & 16 ? 1 : 0);
    if (w->n < at + (size_t)width || p[0] != 1) return false;
    const uint64_t length = number(p + at, width);
    if (length == 0 || length > w->n - at - (size_t)width) return false;
    m->members++;
    if ((flags & 8 && p[2] != 0) || length != m->n || memcmp(p + at + width, m->name, m->n) != 0) return true;
    if (w->n < at + (size_t)width + length + 8) return false;
    m->header = number(p + at + width + length, 8);
    return true;
}

/* Finds a member of a group, and counts all. */
static gls_status search_group(gls_hdf5 *f, uint64_t group, member *m)
{
    walk w;
    bool elsewhere = false;
    m->header = 0;
    m->members = 0;
    gls_status status = begin_walk(f, group, &w);
    while (!status && next_message(&w)) {
        if (w.kind == LINK && !take_link(&w, m)) status = damaged(f, "a link of a group");
        if (w.kind == TABLE)
            status = w.n < 16 ? damaged(f, "a group") : search_tree(f, number(w.body, 8), number(w.body + 8, 8), 0, m);
        if (w.kind == LINKS && w.n >= 18) elsewhere = number(w.body + (w.body[1] & 1 ? 10 : 2), 8) != NOWHERE;
    }
    status = end_walk(&w, status);
    return !status && elsewhere ? damaged(f, "a group of more than eight members") : status;
}

gls_status gls_hdf5_count(gls_hdf5 *f, uint64_t group, size_t *n)
{
    member m = {.name = ""};
    f->visits = 0;
    gls_status status = search_group(f, group, &m);
    *n = m.members;
    return status;
}

gls_status gls_hdf5_find(gls_hdf5 *f, const char *name, uint64_t *header)
{
    gls_status status = GLS_OK;
    f->visits = 0;
    *header = f->root;
    while (*name && *header && !status) {
        member m = {.name = name, .n = strcspn(name, "/")};
        status = search_group(f, *header, &m);
        *header = m.header;
        name += m.n + (name[m.n] == '/');
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
    int chunk_axes;
    uint64_t chunk[MAX_AXES], chunk_value; /* values along each axis, bytes of one */
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
    const int axes = d->chunk_axes = w->body[2] - 1;
    if (d->layout != CHUNKED || axes < 1 || axes > MAX_AXES || w->n < 11 + 4 * (size_t)(axes + 1)) return false;
    d->place = number(w->body + 3, 8);
    for (int a = 0; a < axes; a++) d->chunk[a] = number(w->body + 11 + 4 * a, 4);
    d->chunk_value = number(w->body + 11 + 4 * axes, 4);
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
    status = end_walk(&w, status);
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

/* Bytes of a chunk that is unpacked; 0: the layout is damaged. */
static uint64_t chunk_bytes(const dataset *d)
{
    uint64_t bytes = d->size;
    if (d->chunk_axes != d->axes || d->chunk_value != d->size) return 0;
    for (int a = 0; a < d->axes; a++)
        if (d->chunk[a] == 0 || d->chunk[a] > d->dim[a] || __builtin_mul_overflow(bytes, d->chunk[a], &bytes)) return 0;
    return bytes;
}

/* Progress through the chunks, which a tree lists in the order of their places. */
typedef struct chunks {
    uint64_t bytes;          /* of a chunk */
    uint64_t next[MAX_AXES]; /* place of the next chunk; its first member is that of the dataset behind the last one */
    unsigned char *chunk;    /* memory for one; NULL: the tree is checked alone */
    unsigned char *out;
} chunks;

/* Takes one chunk. key: its size, the filters that it leaves out, and its place. */
static gls_status take_chunk(gls_hdf5 *f, const dataset *d, const unsigned char *key, uint64_t place, chunks *c)
{
    const uint64_t packed = number(key, 4);
    const unsigned char *raw = bytes_at(f, place, packed);
    for (int a = 0; a < d->axes; a++)
        if (number(key + 8 + 8 * (size_t)a, 8) != c->next[a] || c->next[0] >= d->dim[0])
            return damaged(f, "a chunk is missing, or is not where it should be");
    if (!raw || c->bytes > MAX_PACKING * (packed + 1)) return damaged(f, "the size of a chunk");
    if (c->chunk) {
        if (!unpack(d, raw, packed, (uint32_t)number(key + 4, 4), c->chunk, c->bytes))
            return damaged(f, "a chunk that cannot be unpacked");
        place_chunk(d, c->chunk, c->next, c->out);
    }
    for (int a = d->axes - 1; a >= 0; a--) {
        c->next[a] += d->chunk[a];
        if (c->next[a] < d->dim[a] || a == 0) break;
        c->next[a] = 0;
    }
    return GLS_OK;
}

/* Goes through the chunks below a node of a tree. */
static gls_status walk_chunks(gls_hdf5 *f, const dataset *d, uint64_t node, int depth, chunks *c)
{
    const unsigned char *p = bytes_at(f, node, 24);
    const size_t key = 8 + 8 * (size_t)(d->axes + 1);
    if (!p || memcmp(p, "TREE", 4) != 0 || p[4] != 1 || depth > MAX_DEPTH || ++f->visits > MAX_VISITS)
        return damaged(f, "a tree of chunks");
    const bool leaf = p[5] == 0;
    const uint64_t n = number(p + 6, 2);
    if (!(p = bytes_at(f, node + 24, n * (key + 8)))) return damaged(f, "a tree of chunks");
    gls_status status = GLS_OK;
    for (uint64_t i = 0; i < n && !status; i++, p += key + 8) {
        const uint64_t place = number(p + key, 8);
        status = leaf ? take_chunk(f, d, p, place, c) : walk_chunks(f, d, place, depth + 1, c);
    }
    return status;
}

/* Goes through all chunks of a dataset. */
static gls_status all_chunks(gls_hdf5 *f, const dataset *d, chunks *c)
{
    memset(c->next, 0, sizeof c->next);
    f->visits = 0;
    gls_status status = walk_chunks(f, d, d->place, 0, c);
    return !status && c->next[0] < d->dim[0] ? damaged(f, "a chunk is missing, or is not where it should be") : status;
}

/* Reads the bytes of all values of a dataset in chunks. Nothing is allocated before the tree has turned out to have all
 * chunks, because the sizes in a damaged file are any. */
static gls_status read_chunked(gls_hdf5 *f, const dataset *d, uint64_t bytes, unsigned char **out)
{
    chunks c = {.bytes = chunk_bytes(d)};
    if (c.bytes == 0) return damaged(f, "the size of a chunk");
    gls_status status = all_chunks(f, d, &c);
    if (status) return status;
    c.chunk = malloc(c.bytes);
    c.out = *out = malloc(bytes);
    status = c.chunk && c.out ? all_chunks(f, d, &c) : gls_no_memory();
    free(c.chunk);
    return status;
}

/* Reads the bytes of all values, one at least. *out comes from malloc, also after a failure. */
static gls_status read_values(gls_hdf5 *f, const dataset *d, unsigned char **out)
{
    uint64_t bytes;
    if (__builtin_mul_overflow(d->count, (uint64_t)d->size, &bytes)) return damaged(f, "the size of a dataset");
    if (d->layout == CHUNKED) return read_chunked(f, d, bytes, out);
    const unsigned char *p = d->layout == COMPACT ? d->compact : bytes_at(f, d->place, bytes);
    if (d->bytes != bytes || !p) return damaged(f, "a dataset that is longer than the file");
    *out = malloc(bytes);
    if (!*out) return gls_no_memory();
    memcpy(*out, p, bytes);
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
