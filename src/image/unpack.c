#include "image/unpack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "util/crc.h"
#include "image/deflate.h"

#define MAX_PARTS 16
/* Fewer lose more by looking for cuts and by unpacking twice than they gain. */
#define FEWEST_THREADS 4
#define MAX_HEADER 65536
/* Bytes of output for one of input. A part that packs better would take too much memory: from there on one thread
 * unpacks, which is fast with such data. */
#define MOST_OUTPUT 16
#define PIECE ((size_t)128 << 10)

/* From one cut to the next. */
typedef struct part {
    uint64_t first, end; /* bits of the file */
    unsigned char *out[2];
    size_t room[2];
    size_t n;     /* bytes of output */
    size_t n_two; /* of which so many may depend on the window */
    uint32_t crc;
    bool proved;
} part;

struct gls_unpacker {
    int fd, n_threads;
    uint64_t file_bytes;
    size_t stretch;
    unsigned char *in; /* of all parts, and one stretch more in which the next cut is looked for */
    uint64_t in_at;    /* byte of the file */
    size_t in_n;
    gls_inflater *inflater[2 * MAX_PARTS];
    part parts[MAX_PARTS];
    int n_parts, next;
    uint64_t place; /* bit of the file up to which everything is unpacked */
    unsigned char window[GLS_INFLATE_WINDOW], made_up[2][GLS_INFLATE_WINDOW],
        before[MAX_PARTS][GLS_INFLATE_WINDOW]; /* before: each part */
    size_t n_window;
    uint32_t crc;
    uint64_t n_out;
    bool over;
};

/* --- the file ------------------------------------------------------------- */

static size_t read_file(const gls_unpacker *u, uint64_t at, size_t n, unsigned char *to)
{
    size_t done = 0;
    while (done < n) {
        ssize_t got = pread(u->fd, to + done, n - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        done += (size_t)got;
    }
    return done;
}

/* Bytes of a member's header (RFC 1952), 0 if it is not one, is too long, or has a checksum of its own, which is left
 * to the inflater. */
static size_t header_bytes(const unsigned char *h, size_t n)
{
    enum { CHECKED = 2, EXTRA = 4, NAME = 8, COMMENT = 16 };
    size_t at = 10;
    if (n < 18 || h[0] != 0x1f || h[1] != 0x8b || h[2] != 8 || h[3] > 31 || h[3] & CHECKED) return 0;
    if (h[3] & EXTRA) at += 2 + (size_t)(h[10] | h[11] << 8);
    for (int text = NAME; text <= COMMENT; text *= 2) {
        if (!(h[3] & text)) continue;
        while (at < n && h[at]) at++;
        at++;
    }
    return at < n ? at : 0;
}

/* --- one part ------------------------------------------------------------- */

static bool make_room(part *p, int which, size_t wanted, size_t most)
{
    if (p->room[which] >= wanted) return true;
    size_t room = 2 * wanted < most ? 2 * wanted : most;
    unsigned char *larger = wanted <= most ? realloc(p->out[which], room) : NULL;
    if (!larger) return false;
    p->out[which] = larger;
    p->room[which] = room;
    return true;
}

/* Unpacks PIECE bytes, less at the end of the input only. False if the data are damaged, or do not end as they should.
 */
static bool unpack_piece(gls_inflater *inflater, gls_inflate_buffers *b, unsigned char *out, size_t *n)
{
    const char *reason;
    b->out = out;
    b->n_out = PIECE;
    gls_inflate_result result = gls_inflater_run(inflater, b, &reason);
    *n = PIECE - b->n_out;
    return result == GLS_INFLATE_MORE;
}

static bool windows_agree(const part *p)
{
    return p->n >= GLS_INFLATE_WINDOW && memcmp(p->out[0] + p->n - GLS_INFLATE_WINDOW,
                                                p->out[1] + p->n - GLS_INFLATE_WINDOW, GLS_INFLATE_WINDOW) == 0;
}

static const unsigned char *last_window(const gls_unpacker *u)
{
    return u->window + GLS_INFLATE_WINDOW - u->n_window;
}

/* known: the window is that of u. */
static bool unpack_part(gls_unpacker *u, part *p, gls_inflater *const inflater[2], bool known)
{
    size_t from = (size_t)(p->first / 8 - u->in_at), to = (size_t)((p->end + 7) / 8 - u->in_at);
    const size_t most = MOST_OUTPUT * (to - from) + 2 * PIECE;
    gls_inflate_buffers b[2];
    bool two = !known;
    p->n = p->n_two = 0;
    for (int i = 0; i <= two; i++) {
        gls_inflate_place place = {.bit = (unsigned)(p->first % 8),
                                   .window = known ? last_window(u) : u->made_up[i],
                                   .n_window = known ? u->n_window : GLS_INFLATE_WINDOW};
        b[i] = (gls_inflate_buffers){.in = u->in + from, .n_in = to - from};
        gls_inflater_start(inflater[i], &place, &b[i]);
    }
    for (size_t n = PIECE, n_other = 0; n == PIECE;) {
        if (!make_room(p, 0, p->n + PIECE, most) || !unpack_piece(inflater[0], &b[0], p->out[0] + p->n, &n))
            return false;
        if (two && (!make_room(p, 1, p->n + PIECE, most) ||
                    !unpack_piece(inflater[1], &b[1], p->out[1] + p->n, &n_other) || n_other != n))
            return false;
        p->n += n;
        if (two) p->n_two = p->n;
        two = two && !windows_agree(p);
    }
    return b[0].n_in == 0 && gls_inflater_between_blocks(inflater[0], (unsigned)(8 * ((p->end + 7) / 8) - p->end));
}

/* Byte i of one made-up window is the low byte of i; the other differs from it by one more than the high byte, which is
 * below 128. */
static void make_windows(gls_unpacker *u)
{
    for (size_t i = 0; i < GLS_INFLATE_WINDOW; i++) {
        u->made_up[0][i] = (unsigned char)(i & 255);
        u->made_up[1][i] = (unsigned char)((i & 255) ^ (1 + (i >> 8)));
    }
}

static void put_window(part *p, const unsigned char window[GLS_INFLATE_WINDOW], size_t from, size_t to)
{
    unsigned char *out = p->out[0];
    const unsigned char *other = p->out[1];
    for (size_t i = from; i < to; i++) {
        while (i + 8 < to && memcmp(out + i, other + i, 8) == 0) i += 8;
        if (out[i] != other[i]) out[i] = window[((out[i] ^ other[i]) - 1) << 8 | out[i]];
    }
}

/* The window behind a part, of which the last bytes are made right on the way. */
static void move_window(part *p, unsigned char window[GLS_INFLATE_WINDOW])
{
    size_t n = p->n < GLS_INFLATE_WINDOW ? p->n : GLS_INFLATE_WINDOW, keep = GLS_INFLATE_WINDOW - n, from = p->n - n;
    if (p->n_two > from) put_window(p, window, from, p->n_two);
    if (p->n_two > from) p->n_two = from;
    memmove(window, window + n, keep);
    if (n > 0) memcpy(window + keep, p->out[0] + from, n);
}

/* --- all parts ------------------------------------------------------------ */

/* Reads on from the place, and cuts what is there. */
static void cut(gls_unpacker *u)
{
    uint64_t cuts[MAX_PARTS + 1] = {u->place};
    size_t wanted = (size_t)(u->n_threads + 1) * u->stretch;
    bool there = true;
    u->in_at = u->place / 8;
    u->n_parts = 0;
    u->in_n = 0;
#pragma omp parallel num_threads(u->n_threads) reduction(&& : there)
    {
#pragma omp for schedule(static)
        for (int i = 0; i <= u->n_threads; i++) {
            uint64_t at = u->in_at + (uint64_t)i * u->stretch, left = at < u->file_bytes ? u->file_bytes - at : 0;
            size_t n = left < u->stretch ? (size_t)left : u->stretch;
            there = there && read_file(u, at, n, u->in + (size_t)i * u->stretch) == n;
        }
#pragma omp single
        u->in_n = u->file_bytes - u->in_at < wanted ? (size_t)(u->file_bytes - u->in_at) : wanted;
#pragma omp for schedule(dynamic, 1)
        for (int i = 1; i <= u->n_threads; i++) {
            uint64_t first = 8 * (uint64_t)i * u->stretch, last = first + 8 * (uint64_t)u->stretch,
                     found = gls_deflate_find_block(u->in, u->in_n, first, last);
            cuts[i] = found < last ? 8 * u->in_at + found : 0;
        }
    }
    if (!there) return;
    for (int i = 1; i <= u->n_threads; i++) {
        if (cuts[i] == 0) continue;
        part *p = &u->parts[u->n_parts++];
        p->first = u->n_parts == 1 ? u->place : p[-1].end;
        p->end = cuts[i];
    }
}

/* The last part that is proved, with all before it; then they are made right. */
static int prove(gls_unpacker *u)
{
    int n = 0;
    while (n < u->n_parts && u->parts[n].proved) {
        memcpy(u->before[n], u->window, sizeof u->before[n]);
        move_window(&u->parts[n++], u->window);
    }
#pragma omp parallel for num_threads(u->n_threads) schedule(dynamic, 1)
    for (int i = 0; i < n; i++) {
        part *p = &u->parts[i];
        put_window(p, u->before[i], 0, p->n_two);
        p->crc = gls_crc32(0, p->out[0], p->n);
    }
    for (int i = 0; i < n; i++) {
        u->crc = (uint32_t)crc32_combine(u->crc, u->parts[i].crc, (z_off_t)u->parts[i].n);
        u->n_out += u->parts[i].n;
        u->place = u->parts[i].end;
    }
    u->n_window = u->n_out < GLS_INFLATE_WINDOW ? (size_t)u->n_out : GLS_INFLATE_WINDOW;
    return n;
}

static void unpack_parts(gls_unpacker *u)
{
    cut(u);
#pragma omp parallel for num_threads(u->n_threads) schedule(dynamic, 1)
    for (int i = 0; i < u->n_parts; i++) {
        /* at the start of the member the window is known to be empty */
        u->parts[i].proved = unpack_part(u, &u->parts[i], &u->inflater[2 * i], i == 0);
    }
    int proved = prove(u);
    u->over = proved < u->n_parts || proved == 0;
    u->n_parts = proved;
    u->next = 0;
}

/* --- the unpacker --------------------------------------------------------- */

gls_unpacker *gls_unpacker_create(int fd, uint64_t file_bytes, size_t stretch, int n_threads)
{
    if (!gls_inflater_can_start() || n_threads < FEWEST_THREADS || file_bytes < 4 * (uint64_t)stretch) return NULL;
    gls_unpacker *u = calloc(1, sizeof *u);
    if (!u) return NULL;
    u->fd = fd;
    u->file_bytes = file_bytes;
    u->stretch = stretch;
    u->n_threads = n_threads < MAX_PARTS ? n_threads : MAX_PARTS;
    u->in = malloc((size_t)(u->n_threads + 1) * stretch + MAX_HEADER + GLS_DEFLATE_SLACK);
    bool made = u->in != NULL;
    for (int i = 0; i < 2 * u->n_threads && made; i++) made = (u->inflater[i] = gls_inflater_create()) != NULL;
    u->place = made ? 8 * (uint64_t)header_bytes(u->in, read_file(u, 0, MAX_HEADER, u->in)) : 0;
    if (u->place == 0) {
        gls_unpacker_destroy(u);
        return NULL;
    }
    memset(u->in, 0, (size_t)(u->n_threads + 1) * stretch + MAX_HEADER + GLS_DEFLATE_SLACK);
    make_windows(u);
    return u;
}

void gls_unpacker_destroy(gls_unpacker *u)
{
    if (!u) return;
    for (int i = 0; i < 2 * MAX_PARTS; i++) gls_inflater_destroy(u->inflater[i]);
    for (int i = 0; i < MAX_PARTS; i++) {
        free(u->parts[i].out[0]);
        free(u->parts[i].out[1]);
    }
    free(u->in);
    free(u);
}

int gls_unpacker_ready(const gls_unpacker *u)
{
    return u->n_parts - u->next;
}

bool gls_unpacker_next(gls_unpacker *u, const unsigned char **data, size_t *n)
{
    if (u->next == u->n_parts && !u->over) unpack_parts(u);
    if (u->next == u->n_parts) return false;
    const part *p = &u->parts[u->next++];
    *data = p->out[0];
    *n = p->n;
    return true;
}

uint64_t gls_unpacker_rest(const gls_unpacker *u, gls_inflate_place *place)
{
    *place = (gls_inflate_place){
        .bit = (unsigned)(u->place % 8),
        .window = last_window(u),
        .n_window = u->n_window,
        .to_end = true,
        .crc = u->crc,
        .n_out = u->n_out,
    };
    return u->place / 8;
}
