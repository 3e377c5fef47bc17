#include "tractogram/pieces.h"

#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/crc.h"
#include "util/parallel.h"
#include "util/status.h"

/* Alone, a piece stays in the cache between its checks and its write; among several threads each writes long enough
 * that the wait for its turn counts for nothing. */
#define PIECE_ALONE ((uint64_t)1 << 20)
#define PIECE_OF_MANY ((uint64_t)4 << 20)
/* The others track, and copy what comes from the device. */
#define CORES_EACH 4

void gls_piece_rooms_finish(gls_piece_rooms *rooms)
{
    for (int i = 0; i < GLS_PIECE_THREADS; i++) free(rooms->room[i].data);
    *rooms = (gls_piece_rooms){0};
}

static int threads(void)
{
    int n = omp_get_max_threads() / CORES_EACH;
    return n < 1 ? 1 : n > GLS_PIECE_THREADS ? GLS_PIECE_THREADS : n;
}

bool gls_pieces_wanted(uint64_t bytes)
{
    return threads() > 1 && bytes >= 2 * PIECE_OF_MANY;
}

typedef struct job {
    const gls_pieces *p;
    uint64_t piece, position; /* bytes of a piece; where the first begins */
    uint32_t *crc;            /* of each; NULL: not wanted */
    pthread_mutex_t turn;     /* of writing, and of what follows */
    gls_status status;
    char message[1024];
} job;

/* The first unit that begins at so many bytes or behind. */
static size_t unit_at(const gls_pieces *p, uint64_t bytes)
{
    size_t low = 0, high = p->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->place(p->user, middle) < bytes)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static gls_status make_room(struct gls_piece_room *room, size_t bytes)
{
    if (bytes <= room->bytes) return GLS_OK;
    free(room->data);
    room->data = malloc(bytes);
    room->bytes = room->data ? bytes : 0;
    return room->data ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for a piece of a tractogram");
}

static gls_status write_in_turn(job *j, uint64_t offset, const void *data, size_t bytes)
{
    pthread_mutex_lock(&j->turn);
    gls_status status = j->status == GLS_OK ? gls_output_write_at(j->p->output, offset, data, bytes) : GLS_OK;
    pthread_mutex_unlock(&j->turn);
    return status;
}

static gls_status one_piece(job *j, int thread, size_t i)
{
    const gls_pieces *p = j->p;
    const size_t from = unit_at(p, i * j->piece), until = unit_at(p, (i + 1) * j->piece);
    const uint64_t at = p->place(p->user, from);
    const size_t bytes = (size_t)(p->place(p->user, until) - at);
    if (bytes == 0) return GLS_OK; /* a long streamline began in a piece before */
    struct gls_piece_room *room = p->rooms ? &p->rooms->room[thread] : NULL;
    gls_status status = room ? make_room(room, bytes) : GLS_OK;
    const void *data = room ? room->data : NULL;
    if (status == GLS_OK) status = p->form(p->user, from, until, room ? room->data : NULL, &data);
    if (status != GLS_OK) return status;
    if (j->crc) j->crc[i] = gls_crc32(0, data, bytes);
    return write_in_turn(j, j->position + at, data, bytes);
}

static void some_pieces(void *user, int thread, size_t from, size_t until)
{
    job *j = user;
    for (size_t i = from; i < until; i++) {
        gls_status status = one_piece(j, thread, i);
        if (status == GLS_OK) continue;
        pthread_mutex_lock(&j->turn);
        if (j->status == GLS_OK) {
            j->status = status;
            snprintf(j->message, sizeof j->message, "%s", gls_last_error());
        }
        pthread_mutex_unlock(&j->turn);
        return;
    }
}

/* The sum of all from the sums of the pieces. */
static void join_sums(const job *j, size_t n_pieces)
{
    const gls_pieces *p = j->p;
    for (size_t i = 0; i < n_pieces; i++) {
        uint64_t from = p->place(p->user, unit_at(p, i * j->piece)),
                 until = p->place(p->user, unit_at(p, (i + 1) * j->piece));
        if (until > from) *p->crc = gls_crc32_join(*p->crc, j->crc[i], until - from);
    }
}

gls_status gls_pieces_append(const gls_pieces *p)
{
    const uint64_t bytes = p->place(p->user, p->n);
    const int n_threads = gls_pieces_wanted(bytes) ? threads() : 1;
    job j = {.p = p, .piece = n_threads > 1 ? PIECE_OF_MANY : PIECE_ALONE, .turn = PTHREAD_MUTEX_INITIALIZER};
    const size_t n_pieces = (size_t)((bytes + j.piece - 1) / j.piece);
    if (n_pieces == 0) return GLS_OK;
    if (p->crc && !(j.crc = calloc(n_pieces, sizeof *j.crc)))
        return gls_fail(GLS_ERR_MEMORY, "%s: no memory", p->output->path);
    gls_status status = gls_output_reserve(p->output, bytes, &j.position);
    if (status == GLS_OK) {
        gls_parallel(n_pieces, 1, n_threads, some_pieces, &j);
        if (j.status != GLS_OK) status = gls_fail(j.status, "%s", j.message);
    }
    if (status == GLS_OK && p->crc) join_sums(&j, n_pieces);
    free(j.crc);
    return status;
}
