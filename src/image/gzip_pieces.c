/* Unpacks a gzip member on several threads. Programs that pack on several threads (this one, pigz -i) make pieces that
 * do not refer to bytes before their start; each piece ends on a byte boundary with an empty stored block, 00 00 ff ff.
 * This file finds these marks, and unpacks what lies between two marks by itself; the first piece begins at the start
 * of the member's data. If each piece ends a block exactly where the next piece begins, the pieces joined are what one
 * thread would unpack. The bytes of a mark also stand by chance in the data, about once in 32 GB: there the pieces
 * before and behind are one. Otherwise the caller has to unpack the member on one thread from its start, which finds
 * what is wrong. */

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "image/gzip_pieces.h"
#include "util/file.h"
#include "util/threads.h"

#ifdef GLS_HAVE_ISAL
#include <isa-l/igzip_lib.h>
#endif

/* PIECE_IN, PIECE_OUT: largest size of a piece, packed and unpacked, bytes. CHUNK: bytes in which a thread looks for
 * marks at a time. FIRST_CHUNKS: number of chunks that are searched first, to find out whether the member has
 * pieces. */
#define PIECE_OUT ((size_t)1 << 20)
#define PIECE_IN (PIECE_OUT + 4096)
#define CHUNK ((size_t)256 << 10)
#define FIRST_CHUNKS 5
#define MAX_THREADS 16
#define PIECES(n_threads) (2 * (n_threads) + 4) /* largest number of pieces that are unpacked together */
#define CHUNKS(n_threads) (8 * (n_threads))     /* number of chunks in which ends of pieces are looked for at a time */
#define MARKS 64  /* largest number of marks (00 00 ff ff) that a chunk yields; the next search begins behind them */
#define TRAILER 8 /* bytes behind the data of a member: checksum and size, little-endian */

/* A deflate block that ends the data: a head of PROBE_HEAD bytes, and PROBED bytes that it stores. Put behind a piece,
 * it is unpacked as a block only if the piece ends at the end of a block. */
#define PROBE_HEAD 5
#define PROBED 8
static const unsigned char probe[PROBE_HEAD + PROBED] = {1,    PROBED, 0,    0xff - PROBED, 0xff, 0x9d, 0x3b,
                                                         0xe2, 0x57,   0xc8, 0x14,          0x6f, 0xa1};

/* A piece: the compressed bytes between two marks 00 00 ff ff, and their unpacked bytes. */
typedef struct piece {
    uint64_t first, end; /* first: position in the file of its first byte; end: position behind its last byte */
    uint64_t at;         /* position of its unpacked bytes in those of the member */
    unsigned char *out;
    size_t n; /* number of unpacked bytes */
    uint32_t crc;
    bool fits, last; /* fits: unpacked, and ends with a block or with the member; last: ends with the member */
    unsigned char trailer[TRAILER];
} piece;

struct gls_gzip_pieces {
    int n_threads, n_pieces, n_chunks;
    bool to_end; /* true: no mark (00 00 ff ff) lies behind those that were found */
    const gls_input *input;
    uint64_t place;         /* position in the file behind the pieces that were unpacked */
    uint64_t n_out, n_read; /* n_out: number of bytes of the member unpacked so far; n_read: read or skipped */
    uint32_t crc;           /* checksum of the bytes that were unpacked */
    bool over;              /* true: the last piece was unpacked */
    unsigned char *in[MAX_THREADS];
    size_t n_marks, next; /* n_marks: number of marks (ends of pieces) found; next: index of the first unused one */
    size_t n_found[CHUNKS(MAX_THREADS)];
    uint64_t marks[CHUNKS(MAX_THREADS) * MARKS]; /* positions in the file behind the marks */
    piece pieces[PIECES(MAX_THREADS)];
};

void gls_gzip_pieces_destroy(gls_gzip_pieces *t)
{
    if (!t) return;
    for (int i = 0; i < t->n_threads; i++) free(t->in[i]);
    for (int i = 0; i < PIECES(t->n_threads); i++) free(t->pieces[i].out);
    free(t);
}

gls_gzip_pieces *gls_gzip_pieces_create(const gls_input *input, uint64_t place, uint64_t skipped, int n_threads)
{
    gls_gzip_pieces *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->n_threads = n_threads < MAX_THREADS ? n_threads : MAX_THREADS;
    t->input = input;
    t->place = place;
    t->n_read = skipped;
    t->n_chunks = FIRST_CHUNKS;
    bool made = true;
    for (int i = 0; i < t->n_threads; i++) made &= (t->in[i] = malloc(PIECE_IN + sizeof probe)) != NULL;
    for (int i = 0; i < PIECES(t->n_threads); i++) made &= (t->pieces[i].out = malloc(PIECE_OUT + PROBED)) != NULL;
    if (made) return t;
    gls_gzip_pieces_destroy(t);
    return NULL;
}

/* Finds the marks in chunks `from` .. `until` - 1, counted from t->place on; called by gls_parallel(). The three bits
 * before a mark, the head of its block, are 0. */
static void find_marks(void *user, int thread, size_t from, size_t until)
{
    gls_gzip_pieces *t = user;
    const unsigned char *p = t->in[thread];
    for (size_t c = from; c < until; c++) {
        const uint64_t at = t->place + c * CHUNK, left = at < t->input->bytes ? t->input->bytes - at : 0;
        const size_t n = left < CHUNK + 4 ? (size_t)left : CHUNK + 4;
        t->n_found[c] = 0;
        if (gls_regular_read(t->input->path, t->input->fd, at, t->in[thread], n)) continue;
        for (size_t i = 4; i < n && t->n_found[c] < MARKS; i += p[i] == 0xff ? 1 : p[i] == 0 ? 2 : 4) {
            if (p[i] == 0xff && p[i - 1] == 0xff && p[i - 2] == 0 && p[i - 3] == 0 && p[i - 4] < 0x20)
                t->marks[c * MARKS + t->n_found[c]++] = at + i + 1;
        }
    }
}

/* Finds the next marks. */
static void find_next(gls_gzip_pieces *t)
{
    bool all = true;
    t->next = t->n_marks = 0;
    gls_parallel((size_t)t->n_chunks, 1, t->n_threads, find_marks, t);
    for (int c = 0; c < t->n_chunks && all; c++) {
        memmove(t->marks + t->n_marks, t->marks + c * MARKS, t->n_found[c] * sizeof *t->marks);
        t->n_marks += t->n_found[c];
        all = t->n_found[c] < MARKS;
    }
    t->to_end = all && t->place + (uint64_t)t->n_chunks * CHUNK >= t->input->bytes;
    t->n_chunks = all ? CHUNKS(t->n_threads) : 1; /* after a chunk full of marks the next search takes one chunk */
}

/* Fills in the next pieces, at most PIECES(n_threads): from t->place to the first mark, from there to the second, and
 * so on; the last piece of the file ends with the file. */
static void cut_pieces(gls_gzip_pieces *t)
{
    uint64_t first = t->place;
    if (t->next == t->n_marks && !t->to_end) find_next(t);
    t->n_pieces = 0;
    while (t->n_pieces < PIECES(t->n_threads) && (t->next < t->n_marks || (t->to_end && first < t->input->bytes))) {
        piece *p = &t->pieces[t->n_pieces++];
        p->first = first;
        p->end = first = t->next < t->n_marks ? t->marks[t->next++] : t->input->bytes;
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

/* Unpacks a piece with the buffer of a thread. */
static void unpack_piece(const gls_gzip_pieces *t, int thread, piece *p)
{
    unsigned char *in = t->in[thread];
    const size_t n = p->end - p->first < PIECE_IN ? (size_t)(p->end - p->first) : PIECE_IN;
    size_t used;
    p->fits = p->last = false;
    if (gls_regular_read(t->input->path, t->input->fd, p->first, in, n)) return;
    memcpy(in + n, probe, sizeof probe);
    if (!unpack(in, n + sizeof probe, p->out, PIECE_OUT + PROBED, &used, &p->n)) return;
    if (used + TRAILER <= n) {
        p->fits = p->last = true;
        p->end = p->first + used + TRAILER;
        memcpy(p->trailer, in + used, TRAILER);
    } else if (used == n + sizeof probe && p->first + n == p->end && p->end < t->input->bytes && p->n >= PROBED) {
        p->n -= PROBED;
        /* if a stored block goes on behind the piece, the head of the probe comes out as data */
        p->fits = memcmp(p->out + p->n, probe + PROBE_HEAD, PROBED) == 0 &&
                  (p->n < PROBE_HEAD || memcmp(p->out + p->n - PROBE_HEAD, probe, PROBE_HEAD) != 0);
    }
    if (p->fits) p->crc = gls_crc32(0, p->out, p->n);
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
    const piece joined = p[1];
    p->end = joined.end;
    memmove(p + 1, p + 2, (size_t)(t->n_pieces - i - 2) * sizeof *p);
    t->pieces[--t->n_pieces] = joined; /* its buffer stays among those of the pieces */
    unpack_piece(t, 0, p);
}

/* Unpacks the next pieces. Returns false if a piece does not fit, even joined with pieces behind it; if the checksum or
 * size of the member is wrong; or if the member has no pieces. */
static bool unpack_next(gls_gzip_pieces *t)
{
    cut_pieces(t);
    if (t->n_pieces == 0 || (t->n_out == 0 && t->pieces[0].end == t->input->bytes)) return false;
    gls_parallel((size_t)t->n_pieces, 1, t->n_threads, unpack_some, t);
    for (int i = 0; i < t->n_pieces; i++) {
        piece *p = &t->pieces[i];
        while (!p->fits && i + 1 < t->n_pieces && p[1].end - p->first <= PIECE_IN) join_pieces(t, i);
        if (!p->fits && i > 0 && i + 1 == t->n_pieces) { /* the next call unpacks it with the piece behind it */
            t->n_pieces = i;
            break;
        }
        if (!p->fits) return false;
        p->at = t->n_out;
        t->n_out += p->n;
        t->crc = gls_crc32_join(t->crc, p->crc, p->n);
        t->place = p->end;
        t->over = p->last;
        if (p->last) t->n_pieces = i + 1;
        for (int k = 0; k < TRAILER && p->last; k++) {
            const uint32_t sum = k < 4 ? t->crc : (uint32_t)t->n_out;
            if (p->trailer[k] != (unsigned char)(sum >> 8 * (k % 4))) return false;
        }
    }
    return true;
}

/* A range of unpacked bytes that is copied. */
typedef struct copy {
    const gls_gzip_pieces *t;
    unsigned char *to;
    uint64_t first, end; /* positions in the member */
} copy;

/* Copies from each piece the bytes that lie in the range; called by gls_parallel(). */
static void copy_some(void *user, int thread, size_t from, size_t until)
{
    const copy *c = user;
    (void)thread;
    for (size_t i = from; i < until; i++) {
        const piece *p = &c->t->pieces[i];
        const uint64_t first = p->at > c->first ? p->at : c->first, after = p->at + p->n,
                       end = after < c->end ? after : c->end;
        if (first < end) memcpy(c->to + (first - c->first), p->out + (first - p->at), (size_t)(end - first));
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
        copy c = {t, (unsigned char *)data + *got, t->n_read, t->n_read + n};
        gls_parallel((size_t)t->n_pieces, 1, n > PIECE_OUT ? t->n_threads : 1, copy_some, &c);
        t->n_read += n;
        *got += (size_t)n;
    }
    *end = t->place;
    return true;
}
