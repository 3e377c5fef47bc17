/* Unpacks a gzip member on several threads, piece by piece. A piece begins and ends between two blocks of the deflate
 * data. Programs that pack on several threads (this one, pigz) end pieces on a byte boundary with an empty stored
 * block, 00 00 ff ff: this file looks for these marks. Without marks it looks for places that look like the start of a
 * block (image/deflate_blocks.h). If each piece ends a block exactly where the next piece begins, the pieces joined are
 * what one thread would unpack. A place may look like a start by chance: there the pieces before and behind are one.
 * Otherwise the caller has to unpack the member on one thread from its start, which finds what is wrong.
 *
 * A piece may refer to the 32 KiB before its start, which other threads unpack meanwhile. It is then unpacked twice,
 * with two fillings of these 32 KiB that differ in each byte; both give the place of a byte. Bytes that come out
 * the same are the member's; the others are replaced by what the piece before ends with. */

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "image/deflate_blocks.h"
#include "image/gzip_pieces.h"
#include "util/file.h"
#include "util/threads.h"

#ifdef GLS_HAVE_ISAL
#include <isa-l/igzip_lib.h>
#endif

/* PIECE_IN, PIECE_OUT: largest size of a piece, packed and unpacked, bytes; MAX_OUT: the same of a piece that refers
 * to bytes before it. CHUNK: bytes in which a thread looks for marks at a time. CHUNK_OF_BLOCKS: distance of the places
 * from which a thread looks for the start of one block, in SEARCHED bytes: zlib's blocks are shorter. FIRST_CHUNKS:
 * number of chunks that are searched first, to find out whether the member has such places. */
#define PIECE_OUT ((size_t)1 << 20)
#define PIECE_IN (PIECE_OUT + 4096)
#define MAX_OUT ((size_t)4 << 20)
#define CHUNK ((size_t)256 << 10)
#define CHUNK_OF_BLOCKS ((size_t)128 << 10)
#define SEARCHED ((size_t)64 << 10)
#define FIRST_CHUNKS 5
/* Unpacking pieces twice takes three times the processor time: with eight threads it gains nothing, with 16 a fifth of
 * a second of a file of 127 MB. */
#define THREADS_FOR_TWICE 12
#define MAX_THREADS 16
#define PIECES(n_threads) (2 * (n_threads) + 4) /* largest number of pieces that are unpacked together */
#define CHUNKS(n_threads) (8 * (n_threads))     /* number of chunks in which ends of pieces are looked for at a time */
#define MARKS 64 /* largest number of marks (00 00 ff ff) that a chunk yields; the next search begins behind them */
#define ROOM_IN (PIECE_IN + 64)
#define TRAILER 8 /* bytes behind the data of a member: checksum and size, little-endian */

/* A deflate block that ends the data: three bits, 1, 0, 0, then from the next whole byte on a head of PROBE_HEAD bytes,
 * and PROBED bytes that it stores. Put behind a piece, it is unpacked as a block only if the piece ends at the end of a
 * block. */
#define PROBE_HEAD 4
#define PROBED 8
static const unsigned char probe[PROBE_HEAD + PROBED] = {PROBED, 0,    0xff - PROBED, 0xff, 0x9d, 0x3b,
                                                         0xe2,   0x57, 0xc8,          0x14, 0x6f, 0xa1};

/* A piece: the compressed data between two places, and their unpacked bytes. */
typedef struct piece {
    uint64_t first, end;   /* positions in the file of its first bit, and behind its last bit */
    uint64_t behind;       /* position in the file of the first bit behind it, or behind the member that it ends */
    uint64_t at;           /* position of its unpacked bytes in those of the member */
    unsigned char *out[2]; /* out[1]: what the second filling of the bytes before makes of it, if refers is true */
    size_t room[2];
    size_t n; /* number of unpacked bytes */
    uint32_t crc;
    bool fits, last; /* fits: unpacked, and ends with a block or with the member; last: ends with the member */
    bool refers;     /* bytes of out[0] that differ from out[1] are places in `before` */
    unsigned char before[GLS_DEFLATE_WINDOW]; /* if refers: the member's bytes before the piece */
    unsigned char trailer[TRAILER];
} piece;

struct gls_gzip_pieces {
    int n_threads, n_pieces, n_chunks;
    bool blocks; /* true: pieces begin where blocks seem to; false: behind marks */
    bool to_end; /* true: no place for a piece to begin lies behind those that were found */
    const gls_input *input;
    uint64_t place;         /* position in the file, in bits, behind the pieces that were unpacked */
    uint64_t n_out, n_read; /* n_out: number of bytes of the member unpacked so far; n_read: read or skipped */
    uint32_t crc;           /* checksum of the bytes that were unpacked */
    uint32_t crc_read;      /* checksum of the bytes that were read */
    bool over;              /* true: the last piece was unpacked */
    unsigned char *in[MAX_THREADS];
    size_t n_marks, next; /* n_marks: number of marks (ends of pieces) found; next: index of the first unused one */
    size_t n_found[CHUNKS(MAX_THREADS)];
    uint64_t marks[CHUNKS(MAX_THREADS) * MARKS]; /* positions in the file, in bits, behind the marks */
    uint64_t begin;                              /* position in the file, in bits, of the member's data */
    piece pieces[PIECES(MAX_THREADS)], spare;
    unsigned char window[GLS_DEFLATE_WINDOW]; /* the last bytes of the pieces that were unpacked */
};

void gls_gzip_pieces_destroy(gls_gzip_pieces *t)
{
    if (!t) return;
    for (int i = 0; i < t->n_threads; i++) free(t->in[i]);
    for (int i = 0; i < PIECES(t->n_threads); i++) free(t->pieces[i].out[0]), free(t->pieces[i].out[1]);
    free(t);
}

gls_gzip_pieces *gls_gzip_pieces_create(const gls_input *input, uint64_t place, uint64_t skipped, int n_threads)
{
    gls_gzip_pieces *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->n_threads = n_threads < MAX_THREADS ? n_threads : MAX_THREADS;
    t->input = input;
    t->place = t->begin = 8 * place;
    t->n_read = skipped;
    t->n_chunks = FIRST_CHUNKS;
    bool made = true;
    for (int i = 0; i < t->n_threads; i++) made &= (t->in[i] = malloc(ROOM_IN)) != NULL;
    for (int i = 0; i < PIECES(t->n_threads); i++) {
        t->pieces[i].room[0] = PIECE_OUT + PROBED;
        made &= (t->pieces[i].out[0] = malloc(PIECE_OUT + PROBED)) != NULL;
    }
    if (made) return t;
    gls_gzip_pieces_destroy(t);
    return NULL;
}

/* Finds places where pieces may begin in chunks `from` .. `until` - 1, counted from t->place on; called by
 * gls_parallel(). The three bits before a mark, the head of its block, are 0. */
static void find_some(void *user, int thread, size_t from, size_t until)
{
    gls_gzip_pieces *t = user;
    const unsigned char *p = t->in[thread];
    const size_t chunk = t->blocks ? CHUNK_OF_BLOCKS : CHUNK, looks = t->blocks ? SEARCHED : CHUNK + 4;
    for (size_t c = from; c < until; c++) {
        /* a block begins at t->place itself: the next piece begins a chunk behind it */
        const uint64_t at = t->place / 8 + (t->blocks ? c + 1 : c) * chunk,
                       left = at < t->input->bytes ? t->input->bytes - at : 0;
        const size_t n = left < looks ? (size_t)left : looks;
        t->n_found[c] = 0;
        if (gls_regular_read(t->input->path, t->input->fd, at, t->in[thread], n)) continue;
        if (t->blocks) {
            const uint64_t found = gls_deflate_find_block(p, n);
            if (found != UINT64_MAX) t->marks[c * MARKS + t->n_found[c]++] = 8 * at + found;
            continue;
        }
        for (size_t i = 4; i < n && t->n_found[c] < MARKS; i += p[i] == 0xff ? 1 : p[i] == 0 ? 2 : 4) {
            if (p[i] == 0xff && p[i - 1] == 0xff && p[i - 2] == 0 && p[i - 3] == 0 && p[i - 4] < 0x20)
                t->marks[c * MARKS + t->n_found[c]++] = 8 * (at + i + 1);
        }
    }
}

/* Finds the next places where pieces may begin. */
static void find_next(gls_gzip_pieces *t)
{
    const size_t chunk = t->blocks ? CHUNK_OF_BLOCKS : CHUNK;
    bool all = true;
    t->next = t->n_marks = 0;
    gls_parallel((size_t)t->n_chunks, 1, t->n_threads, find_some, t);
    for (int c = 0; c < t->n_chunks && all; c++) {
        memmove(t->marks + t->n_marks, t->marks + c * MARKS, t->n_found[c] * sizeof *t->marks);
        t->n_marks += t->n_found[c];
        all = t->n_found[c] < MARKS;
    }
    t->to_end = all && t->place / 8 + (uint64_t)t->n_chunks * chunk >= t->input->bytes;
    t->n_chunks = all ? CHUNKS(t->n_threads) : 1; /* after a chunk full of marks the next search takes one chunk */
}

/* Fills in the next pieces, at most PIECES(n_threads): from t->place to the first mark, from there to the second, and
 * so on; the last piece of the file ends with the file. */
static void cut_pieces(gls_gzip_pieces *t)
{
    uint64_t first = t->place;
    if (t->next == t->n_marks && !t->to_end) find_next(t);
    t->n_pieces = 0;
    while (t->n_pieces < PIECES(t->n_threads) && (t->next < t->n_marks || (t->to_end && first / 8 < t->input->bytes))) {
        piece *p = &t->pieces[t->n_pieces++];
        p->first = first;
        p->end = first = t->next < t->n_marks ? t->marks[t->next++] : 8 * t->input->bytes;
    }
}

/* Unpacks raw deflate data from their start to the end of a last block. *used: bytes that this took of n. Returns false
 * if there is no last block, the output has no room, or the data refer to bytes before their start. */
static bool unpack(const unsigned char *in, size_t n, unsigned char *out, size_t room, size_t *used, size_t *n_out)
{
#ifdef GLS_HAVE_ISAL
    struct inflate_state z;
    isal_inflate_init(&z);
    z.next_in = (uint8_t *)(uintptr_t)in; /* the library only reads it */
#else
    z_stream z = {.next_in = (unsigned char *)(uintptr_t)in};
    if (inflateInit2(&z, -15) != Z_OK) return false;
#endif
    z.avail_in = (uint32_t)n;
    z.next_out = out;
    z.avail_out = (uint32_t)room;
#ifdef GLS_HAVE_ISAL
    const bool ok = isal_inflate_stateless(&z) == ISAL_DECOMP_OK && z.block_state == ISAL_BLOCK_FINISH;
#else
    const bool ok = inflate(&z, Z_FINISH) == Z_STREAM_END;
    inflateEnd(&z);
#endif
    *used = n - z.avail_in;
    *n_out = room - z.avail_out;
    return ok;
}

/* Gives output k of a piece more room. */
static bool grow(piece *p, int k)
{
    const size_t twice = p->room[k] > 0 ? 2 * p->room[k] : PIECE_OUT, room = twice < MAX_OUT ? twice : MAX_OUT;
    unsigned char *out = room > p->room[k] ? realloc(p->out[k], room) : NULL;
    if (!out) return false;
    p->out[k] = out;
    p->room[k] = room;
    return true;
}

/* Unpacks raw deflate data to output k of a piece, like unpack(), with bytes before their start. before: these bytes;
 * NULL: there are none. */
static bool unpack_behind(const unsigned char *in, size_t n, const unsigned char *before, piece *p, int k, size_t *used)
{
    bool over = false, more = true;
    size_t made = 0;
#ifdef GLS_HAVE_ISAL
    struct inflate_state z;
    isal_inflate_init(&z);
    if (before && isal_inflate_set_dict(&z, (uint8_t *)(uintptr_t)before, GLS_DEFLATE_WINDOW) != ISAL_DECOMP_OK)
        return false;
#else
    z_stream z = {0};
    if (inflateInit2(&z, -15) != Z_OK) return false;
    if (before) inflateSetDictionary(&z, before, GLS_DEFLATE_WINDOW);
#endif
    z.next_in = (unsigned char *)(uintptr_t)in; /* the libraries only read it */
    z.avail_in = (uint32_t)n;
    while (more && !over) {
        if (made == p->room[k] && !grow(p, k)) break;
        z.next_out = p->out[k] + made;
        z.avail_out = (uint32_t)(p->room[k] - made);
#ifdef GLS_HAVE_ISAL
        more = isal_inflate(&z) == ISAL_DECOMP_OK;
        over = more && z.block_state == ISAL_BLOCK_FINISH;
#else
        const int result = inflate(&z, Z_NO_FLUSH);
        more = result == Z_OK;
        over = result == Z_STREAM_END;
#endif
        made = p->room[k] - z.avail_out;
        more &= z.avail_out == 0; /* else all input is used */
    }
#ifndef GLS_HAVE_ISAL
    inflateEnd(&z);
#endif
    p->n = made;
    *used = n - z.avail_in;
    return over;
}

/* Unpacks data to both outputs of a piece, with two fillings of the bytes before. Byte i of the fillings is the lower
 * byte of i, and this plus 1 .. 128, from which the upper byte follows. */
static bool unpack_twice(const unsigned char *in, size_t n, piece *p, size_t *used)
{
    unsigned char before[2][GLS_DEFLATE_WINDOW];
    for (unsigned i = 0; i < GLS_DEFLATE_WINDOW; i++) {
        before[0][i] = (unsigned char)i;
        before[1][i] = (unsigned char)(i + 1 + (i >> 8));
    }
    p->refers = true;
    if (!unpack_behind(in, n, before[0], p, 0, used)) return false;
    const size_t made = p->n;
    return unpack_behind(in, n, before[1], p, 1, used) && p->n == made;
}

/* Reads a piece from the file to in[ROOM_IN]. Its first bits are those of empty blocks, where it begins within a byte,
 * and the probe stands behind it. *start: position in the file, in bits, that in[0] would have. Returns the number of
 * bytes, with the probe; 0: the file cannot be read, or the piece is too large. */
static size_t read_piece(const gls_gzip_pieces *t, const piece *p, unsigned char *in, uint64_t *start)
{
    unsigned char filling[GLS_DEFLATE_FILLING];
    const unsigned lead = gls_deflate_fill(p->first % 8, filling) / 8, kept = (1u << p->first % 8) - 1,
                   rest = p->end % 8;
    const uint64_t first = p->first / 8, behind = (p->end + 7) / 8;
    size_t n = lead + (size_t)(p->end / 8 - first);
    if (behind - first > PIECE_IN ||
        gls_regular_read(t->input->path, t->input->fd, first, in + lead, (size_t)(behind - first)))
        return 0;
    memcpy(in, filling, lead);
    in[lead] = (unsigned char)((filling[lead] & kept) | (in[lead] & ~kept));
    *start = 8 * first - 8 * (uint64_t)lead;
    /* the bits 1, 0, 0 behind the last bit of the piece, and 0 up to a whole byte */
    in[n] = (unsigned char)((rest > 0 ? in[n] & ((1u << rest) - 1) : 0) | 1u << rest);
    if (rest > 5) in[++n] = 0;
    memcpy(in + n + 1, probe, sizeof probe);
    return n + 1 + sizeof probe;
}

/* Whether a piece ends with the probe, which is then taken off. */
static bool take_probe(piece *p)
{
    if (p->n < PROBED || memcmp(p->out[0] + p->n - PROBED, probe + PROBE_HEAD, PROBED) != 0) return false;
    p->n -= PROBED;
    /* if a stored block goes on behind the piece, the head of the probe comes out as data */
    return p->n < PROBE_HEAD || memcmp(p->out[0] + p->n - PROBE_HEAD, probe, PROBE_HEAD) != 0;
}

/* Unpacks a piece with the buffer of a thread. */
static void unpack_piece(const gls_gzip_pieces *t, int thread, piece *p)
{
    unsigned char *in = t->in[thread];
    const bool begins = p->first == t->begin;
    size_t used = 0;
    uint64_t start, end;
    p->fits = p->last = p->refers = false;
    p->behind = p->end;
    const size_t n = read_piece(t, p, in, &start);
    if (n == 0) return;
    bool over = t->blocks ? begins && unpack_behind(in, n, NULL, p, 0, &used)
                          : unpack(in, n, p->out[0], PIECE_OUT + PROBED, &used, &p->n);
    if (!over && !begins && t->n_threads >= THREADS_FOR_TWICE) over = unpack_twice(in, n, p, &used);
    if (!over) return;
    if (used == n) {
        p->fits = p->end / 8 < t->input->bytes && take_probe(p);
    } else if (gls_deflate_find_end(in, n, &end) && start + end <= p->end) {
        const uint64_t trailer = (start + end + 7) / 8;
        p->fits = p->last = trailer + TRAILER <= t->input->bytes &&
                            !gls_regular_read(t->input->path, t->input->fd, trailer, p->trailer, TRAILER);
        p->behind = 8 * (trailer + TRAILER);
    }
    if (p->fits && !p->refers) p->crc = gls_crc32(0, p->out[0], p->n);
}

/* Unpacks pieces; called by gls_parallel(). */
static void unpack_some(void *user, int thread, size_t from, size_t until)
{
    gls_gzip_pieces *t = user;
    for (size_t i = from; i < until; i++) unpack_piece(t, thread, &t->pieces[i]);
}

/* Makes one piece of piece i and the next one, because the mark between them stands in the data by chance. */
static void join_pieces(gls_gzip_pieces *t, int i)
{
    piece *p = &t->pieces[i];
    piece *joined = &t->spare;
    *joined = p[1];
    p->end = joined->end;
    memmove(p + 1, p + 2, (size_t)(t->n_pieces - i - 2) * sizeof *p);
    t->pieces[--t->n_pieces] = *joined; /* its buffer stays among those of the pieces */
    unpack_piece(t, 0, p);
}

/* Puts the member's bytes in place of those from byte `from` on of a piece that refer to bytes before it. */
static void resolve(piece *p, size_t from)
{
    unsigned char *a = p->out[0];
    const unsigned char *b = p->out[1];
    for (size_t i = from; i < p->n;) {
        if (p->n - i >= 8 && memcmp(a + i, b + i, 8) == 0) {
            i += 8;
            continue;
        }
        for (const size_t end = p->n - i < 8 ? p->n : i + 8; i < end; i++)
            if (a[i] != b[i]) a[i] = p->before[a[i] | (unsigned char)(b[i] - a[i] - 1) << 8];
    }
}

/* Resolves pieces but for their last GLS_DEFLATE_WINDOW bytes, which are resolved; called by gls_parallel(). */
static void resolve_some(void *user, int thread, size_t from, size_t until)
{
    gls_gzip_pieces *t = user;
    (void)thread;
    for (size_t i = from; i < until; i++) {
        piece *p = &t->pieces[i];
        if (!p->refers) continue;
        const size_t n = p->n;
        p->n = n > GLS_DEFLATE_WINDOW ? n - GLS_DEFLATE_WINDOW : 0;
        resolve(p, 0);
        p->n = n;
        p->crc = gls_crc32(0, p->out[0], n);
    }
}

/* Gives a piece the bytes before it, and resolves its last GLS_DEFLATE_WINDOW bytes, which the next piece needs.
 * Returns false if the member has too few bytes before the piece. */
static bool connect(gls_gzip_pieces *t, piece *p)
{
    const size_t n = p->n < GLS_DEFLATE_WINDOW ? p->n : GLS_DEFLATE_WINDOW;
    if (p->refers && t->n_out < GLS_DEFLATE_WINDOW) return false;
    if (p->refers) {
        memcpy(p->before, t->window, GLS_DEFLATE_WINDOW);
        resolve(p, p->n - n);
        memcpy(p->out[1] + p->n - n, p->out[0] + p->n - n, n);
    }
    memmove(t->window, t->window + n, GLS_DEFLATE_WINDOW - n);
    memcpy(t->window + GLS_DEFLATE_WINDOW - n, p->out[0] + p->n - n, n);
    return true;
}

/* Cuts the first pieces, at marks or, if there are none, where blocks seem to begin. Returns false if the member has no
 * pieces. */
static bool cut_first(gls_gzip_pieces *t)
{
    cut_pieces(t);
    if ((t->n_pieces == 0 || t->pieces[0].end == 8 * t->input->bytes) && t->n_threads >= THREADS_FOR_TWICE) {
        t->blocks = true;
        t->to_end = false;
        t->n_marks = t->next = 0;
        t->n_chunks = FIRST_CHUNKS;
        cut_pieces(t);
    }
    return t->n_pieces > 0 && t->pieces[0].end < 8 * t->input->bytes;
}

/* Unpacks the next pieces. Returns false if a piece does not fit, even joined with pieces behind it; if the checksum or
 * size of the member is wrong; or if the member has no pieces. */
static bool unpack_next(gls_gzip_pieces *t)
{
    if (t->n_out == 0 && !cut_first(t)) return false;
    if (t->n_out > 0) cut_pieces(t);
    if (t->n_pieces == 0) return false;
    gls_parallel((size_t)t->n_pieces, 1, t->n_threads, unpack_some, t);
    for (int i = 0; i < t->n_pieces; i++) {
        piece *p = &t->pieces[i];
        while (!p->fits && i + 1 < t->n_pieces && p[1].end - p->first <= 8 * PIECE_IN) join_pieces(t, i);
        if (!p->fits && i > 0 && i + 1 == t->n_pieces) { /* the next call unpacks it with the piece behind it */
            t->n_pieces = i;
            break;
        }
        if (!p->fits || !connect(t, p)) return false;
        p->at = t->n_out;
        t->n_out += p->n;
        t->place = p->behind;
        t->over = p->last;
        if (p->last) t->n_pieces = i + 1;
    }
    gls_parallel((size_t)t->n_pieces, 1, t->n_threads, resolve_some, t);
    for (int i = 0; i < t->n_pieces; i++) t->crc = gls_crc32_join(t->crc, t->pieces[i].crc, t->pieces[i].n);
    const piece *last = &t->pieces[t->n_pieces - 1];
    for (int k = 0; k < TRAILER && t->over; k++) {
        const uint32_t sum = k < 4 ? t->crc : (uint32_t)t->n_out;
        if (last->trailer[k] != (unsigned char)(sum >> 8 * (k % 4))) return false;
    }
    return true;
}

/* A range of unpacked bytes that is copied. n, crc: number and checksum of the bytes that come from a piece. */
typedef struct copy {
    const gls_gzip_pieces *t;
    unsigned char *to;
    uint64_t first, end; /* positions in the member */
    size_t n[PIECES(MAX_THREADS)];
    uint32_t crc[PIECES(MAX_THREADS)];
} copy;

/* Copies from each piece the bytes that lie in the range; called by gls_parallel(). */
static void copy_some(void *user, int thread, size_t from, size_t until)
{
    copy *c = user;
    (void)thread;
    for (size_t i = from; i < until; i++) {
        const piece *p = &c->t->pieces[i];
        const uint64_t first = p->at > c->first ? p->at : c->first, after = p->at + p->n,
                       end = after < c->end ? after : c->end;
        c->n[i] = first < end ? (size_t)(end - first) : 0;
        if (c->n[i] == 0) continue;
        memcpy(c->to + (first - c->first), p->out[0] + (first - p->at), c->n[i]);
        c->crc[i] = gls_crc32(0, p->out[0] + (first - p->at), c->n[i]);
    }
}

bool gls_gzip_pieces_read(gls_gzip_pieces *t, void *data, size_t bytes, size_t *got, uint64_t *end)
{
    for (*got = 0; *got < bytes;) {
        while (t->n_read >= t->n_out && !t->over) {
            if (!unpack_next(t)) return false;
        }
        /* a file that changed meanwhile may have fewer bytes than were read before */
        if (t->n_read > t->n_out) return false;
        const uint64_t left = t->n_out - t->n_read, n = left < bytes - *got ? left : bytes - *got;
        if (n == 0) break;
        copy c = {.t = t, .to = (unsigned char *)data + *got, .first = t->n_read, .end = t->n_read + n};
        gls_parallel((size_t)t->n_pieces, 1, n > PIECE_OUT ? t->n_threads : 1, copy_some, &c);
        for (int i = 0; i < t->n_pieces; i++)
            if (c.n[i] > 0) t->crc_read = gls_crc32_join(t->crc_read, c.crc[i], c.n[i]);
        t->n_read += n;
        *got += (size_t)n;
    }
    *end = t->place / 8;
    return true;
}

uint32_t gls_gzip_pieces_crc(const gls_gzip_pieces *t)
{
    return t->crc_read;
}
