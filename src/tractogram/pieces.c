/* Helpers of the writers of all formats: a buffer for small appends, pieces that several threads format and write,
 * checks of points, and the list of columns that a format cannot hold. */
#include "tractogram/pieces.h"
#include "tractogram/writers.h"

#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/file.h"
#include "util/status.h"
#include "util/threads.h"

/* Size of a piece. A thread working alone uses pieces that stay in its cache; among several threads pieces are so large
 * that handing them over costs little. */
#define PIECE_ALONE ((uint64_t)1 << 20)
#define PIECE_OF_MANY ((uint64_t)2 << 20)
/* Size of the first pieces: they are shorter so that the writing thread does not wait long. The size doubles after
 * every n_threads pieces, up to PIECE_OF_MANY. */
#define PIECE_FIRST ((uint64_t)256 << 10)
/* A piece ends only after a whole streamline or value. Its memory has this many bytes more than its size, so that it
 * seldom has to grow. */
#define ROOM_SPARE ((uint64_t)64 << 10)
/* One thread for each four cores: the other cores track, and copy what comes from the device. */
#define CORES_EACH 4

/* One thread for each CORES_EACH cores, but at least 2 (1 if there is one core) and at most GLS_PIECE_THREADS. */
int gls_pieces_threads(void)
{
    int most = omp_get_max_threads(), n = most / CORES_EACH;
    return most < 2 ? 1 : n < 2 ? 2 : n > GLS_PIECE_THREADS ? GLS_PIECE_THREADS : n;
}

bool gls_pieces_wanted(uint64_t bytes)
{
    return gls_pieces_threads() > 1 && bytes >= 2 * PIECE_OF_MANY;
}

/* A piece in the form of the file. */
typedef struct piece {
    /* position in the file, bytes */
    uint64_t offset;
    size_t bytes;
    /* the bytes of the piece, in `room` or where form() found them */
    const void *data;
    struct gls_piece_room *room; /* memory for the data; not used if p->rooms is NULL: the data stay where they are */
} piece;

/* One append of data, which several threads share. `lock` guards everything from `next` on. */
typedef struct job {
    /* functions and output of the append */
    const gls_pieces *p;
    uint64_t most, position; /* most: largest size of a piece, bytes; position: where the append begins in the file */
    size_t n_pieces;
    uint64_t *start; /* n_pieces + 1 offsets in the append: piece i has the units that begin at start[i] or behind it,
                        but before start[i + 1] */
    uint32_t *crc;   /* CRC-32 of each piece; NULL: not wanted */
    pthread_mutex_t lock;
    /* signalled when a piece, a room or the writer changes its state */
    pthread_cond_t changed;
    size_t next;                   /* index of the next piece to format */
    int forming, n_ready, n_rooms; /* forming: number of pieces that are being formatted; n_ready, n_rooms: number of
                                    * elements of `ready` and `room` */
    bool has_aside;                /* true: p->aside() has not been called yet */
    piece ready[GLS_PIECE_ROOMS];  /* pieces ready to be written, the oldest first */
    struct gls_piece_room *room[GLS_PIECE_ROOMS]; /* memory that no piece uses */
    bool has_writer;                              /* true: a thread has taken the role of the writer */
    /* first failure; it ends all threads */
    gls_status status;
    /* its message, since each thread has its own last error */
    char message[1024];
} job;

/* Index of the first unit (see gls_pieces.n) that begins at offset `bytes` of the append or later; n: none. */
static size_t unit_at(const gls_pieces *p, uint64_t bytes)
{
    size_t low = 0, high = p->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->offset(p->user, middle) < bytes)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Makes sure that a room has at least this many bytes; its content is lost when it grows. */
static gls_status make_room(struct gls_piece_room *room, size_t bytes)
{
    if (bytes <= room->bytes) return GLS_OK;
    free(room->data);
    room->data = malloc(bytes);
    room->bytes = room->data ? bytes : 0;
    return room->data ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for a piece of a tractogram");
}

/* Formats piece i. Its size is 0 if a long unit that began in an earlier piece covers it. */
static gls_status form_piece(const job *j, size_t i, piece *out)
{
    const gls_pieces *p = j->p;
    const size_t from = unit_at(p, j->start[i]), until = unit_at(p, j->start[i + 1]);
    const uint64_t at = p->offset(p->user, from);
    out->bytes = (size_t)(p->offset(p->user, until) - at);
    out->offset = j->position + at;
    if (out->bytes == 0) return GLS_OK;
    const size_t usual = (size_t)(j->most + ROOM_SPARE);
    /* rooms get the usual size at once, so that later pieces need no new memory */
    gls_status status = p->rooms ? make_room(out->room, out->bytes < usual ? usual : out->bytes) : GLS_OK;
    out->data = p->rooms ? out->room->data : NULL;
    if (!status) status = p->form(p->user, from, until, p->rooms ? out->room->data : NULL, &out->data);
    if (!status && j->crc) j->crc[i] = gls_crc32(0, out->data, out->bytes);
    return status;
}

/* --- Functions of a job, to be called with its lock held. */

/* Keeps the first failure of any thread, with its message. */
static void note(job *j, gls_status status)
{
    if (!status || j->status) return;
    j->status = status;
    snprintf(j->message, sizeof j->message, "%s", gls_last_error());
}

/* Whether a piece is left to be formatted and memory for it is free. */
static bool can_form(const job *j)
{
    return !j->status && j->next < j->n_pieces && j->n_rooms > 0;
}

/* Formats the next piece and adds it to the pieces that are ready. */
static void form_next(job *j)
{
    const size_t i = j->next++;
    piece done = {.room = j->room[--j->n_rooms]};
    j->forming++;
    pthread_mutex_unlock(&j->lock);
    gls_status status = form_piece(j, i, &done);
    pthread_mutex_lock(&j->lock);
    j->forming--;
    note(j, status);
    if (!status && done.bytes > 0)
        j->ready[j->n_ready++] = done;
    else
        j->room[j->n_rooms++] = done.room;
    pthread_cond_broadcast(&j->changed);
}

/* Writes the oldest piece that is ready. Call with the lock held; the lock is released while the file is written. */
static void write_next(job *j)
{
    const piece due = j->ready[0];
    for (int i = 1; i < j->n_ready; i++) j->ready[i - 1] = j->ready[i];
    j->n_ready--;
    pthread_mutex_unlock(&j->lock);
    gls_status status = gls_output_write_at(j->p->output, due.offset, due.data, due.bytes);
    pthread_mutex_lock(&j->lock);
    note(j, status);
    j->room[j->n_rooms++] = due.room;
    pthread_cond_broadcast(&j->changed);
}

/* Calls p->aside(), the other work of this append. Call with the lock held; the lock is released while the work goes
 * on. */
static void work_aside(job *j)
{
    j->has_aside = false;
    pthread_mutex_unlock(&j->lock);
    gls_status status = j->p->aside(j->p->user);
    pthread_mutex_lock(&j->lock);
    note(j, status);
    pthread_cond_broadcast(&j->changed);
}

/* --- Roles of the threads --------------------------------------------------------- */

/* The work of one thread. The first thread writes pieces that are ready, and formats pieces when none is ready; all
 * other threads format pieces. A thread that can do neither calls p->aside(), once in all. */
static void take_part(void *user, int thread, size_t from, size_t until)
{
    job *j = user;
    (void)thread;
    (void)from;
    (void)until;
    /* the first thread that comes is the writer */
    pthread_mutex_lock(&j->lock);
    const bool writes = !j->has_writer;
    j->has_writer = true;
    for (;;) {
        /* the writer's first task is to write; formatting comes second, other work third */
        if (writes && !j->status && j->n_ready > 0)
            write_next(j);
        else if (can_form(j))
            form_next(j);
        else if (!j->status && j->has_aside)
            work_aside(j);
        /* ends when every piece is formatted and, for the writer, written */
        else if (j->status || (j->next == j->n_pieces && (!writes || j->forming == 0)))
            break;
        else
            pthread_cond_wait(&j->changed, &j->lock);
    }
    pthread_mutex_unlock(&j->lock);
}

/* Joins the CRC-32 of all pieces to the CRC-32 of the file so far. */
static void join_sums(const job *j)
{
    const gls_pieces *p = j->p;
    for (size_t i = 0; i < j->n_pieces; i++) {
        uint64_t from = p->offset(p->user, unit_at(p, j->start[i])),
                 until = p->offset(p->user, unit_at(p, j->start[i + 1]));
        if (until > from) *p->crc = gls_crc32_join(*p->crc, j->crc[i], until - from);
    }
}

/* Determines where pieces begin. */
static gls_status cut(job *j, uint64_t bytes, int n_threads)
{
    const uint64_t most = j->most = n_threads > 1 ? PIECE_OF_MANY : PIECE_ALONE;
    const size_t capacity = (size_t)(bytes / most) + 8 * (size_t)n_threads + 2;
    j->start = malloc(capacity * sizeof *j->start);
    if (j->p->crc) j->crc = calloc(capacity, sizeof *j->crc);
    if (!j->start || (j->p->crc && !j->crc)) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", j->p->output->path);
    /* the first n_threads pieces are small; the size doubles after every n_threads pieces, up to `most` */
    uint64_t at = 0;
    for (uint64_t piece = n_threads > 1 ? PIECE_FIRST : most; at < bytes; at += piece) {
        if (j->n_pieces > 0 && j->n_pieces % (size_t)n_threads == 0 && piece < most) piece *= 2;
        j->start[j->n_pieces++] = at;
    }
    j->start[j->n_pieces] = bytes;
    return GLS_OK;
}

gls_status gls_pieces_append(const gls_pieces *p)
{
    static gls_piece_rooms none; /* data that stay where they are need no memory */
    const uint64_t bytes = p->offset(p->user, p->n);
    const int n_threads = gls_pieces_wanted(bytes) ? gls_pieces_threads() : 1;
    job j = {.p = p,
             .lock = PTHREAD_MUTEX_INITIALIZER,
             .changed = PTHREAD_COND_INITIALIZER,
             .has_aside = p->aside,
             .n_rooms = n_threads > 1 ? 2 * n_threads : 1};
    for (int i = 0; i < j.n_rooms; i++) j.room[i] = p->rooms ? &p->rooms->room[i] : &none.room[i];
    /* the range of the file is reserved before the threads start, so that pieces may be written in any order */
    gls_status status = cut(&j, bytes, n_threads);
    if (!status) status = gls_output_reserve(p->output, bytes, &j.position);
    if (!status) {
        gls_parallel((size_t)n_threads, 1, n_threads, take_part, &j);
        if (j.status) status = gls_fail(j.status, "%s", j.message);
    }
    if (!status && p->crc) join_sums(&j);
    free(j.start);
    free(j.crc);
    return status;
}

/* Bytes of the buffer for small appends. */
#define PACKER_BYTES ((size_t)1 << 20)

gls_status gls_packer_init(gls_packer *packer, gls_output *output)
{
    *packer = (gls_packer){.output = output, .data = malloc(PACKER_BYTES), .capacity = PACKER_BYTES};
    return packer->data ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "%s: out of memory", output->path);
}

void gls_packer_finish(gls_packer *packer)
{
    free(packer->data);
    packer->data = NULL;
}

gls_status gls_packer_flush(gls_packer *packer)
{
    size_t n = packer->n;
    packer->n = 0;
    if (packer->checked) packer->crc = gls_crc32(packer->crc, packer->data, n);
    return gls_output_write(packer->output, packer->data, n);
}

gls_status gls_packer_write(gls_packer *packer, const void *data, size_t bytes)
{
    while (bytes > 0) {
        size_t room = packer->capacity - packer->n, n = bytes < room ? bytes : room;
        memcpy(packer->data + packer->n, data, n);
        packer->n += n;
        data = (const char *)data + n;
        bytes -= n;
        if (packer->n == packer->capacity) {
            gls_status status = gls_packer_flush(packer);
            if (status) return status;
        }
    }
    return GLS_OK;
}

gls_status gls_packer_write_pieces(gls_packer *packer, const gls_pieces *pieces)
{
    gls_pieces all = *pieces;
    all.output = packer->output;
    all.crc = packer->checked ? &packer->crc : NULL;
    gls_status status = gls_packer_flush(packer);
    return !status ? gls_pieces_append(&all) : status;
}

/* Whether n values are finite. x * 0 is NaN for infinities and NaN, so the sum is 0 if all are finite; compilers
 * vectorise this. */
static bool all_finite(const float *x, size_t n)
{
    float sum = 0.0f, part[8] = {0};
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        for (int k = 0; k < 8; k++) part[k] += x[i + (size_t)k] * 0.0f;
    }
    for (; i < n; i++) sum += x[i] * 0.0f;
    for (int k = 0; k < 8; k++) sum += part[k];
    return sum == 0.0f;
}

gls_status gls_writer_check_points(const gls_tractogram_writer *w, const float (*point)[3], size_t n)
{
    if (all_finite(point[0], 3 * n)) return GLS_OK;
    return gls_fail(GLS_ERR_ARGUMENT, "%s: a point to be written is not finite", w->output.path);
}

void gls_writer_lose(gls_tractogram_writer *w, size_t column)
{
    const char *kind = column < w->n_dps ? "dps" : column < w->n_dps + w->n_dpv ? "dpv" : "group";
    gls_text_printf(&w->lost, "%s%s %s", w->lost.length > 0 ? ", " : "", kind, w->column[column].name);
}
