/* Reads the streamlines of a file block by block, checks them, and hands them to a sink. With more than one thread, a
 * reading thread reads, decompresses and checks the next blocks while the sink works; a caller may start this thread
 * earlier, by gls_reader_ahead_start(). Also has the functions that the readers of all formats call. */
#include "tractogram/pump.h"
#include "tractogram/readers.h"

#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/file.h"
#include "util/status.h"
#include "util/text.h"

/* Memory for one block. A reader has the memory of its current block in members of its own; swap_memory() swaps these
 * with a block_memory. */
typedef struct block_memory {
    uint64_t *line_offset; /* max_lines + 1 elements */
    /* points of the block, in world mm, or as stored with in_stored_space */
    float (*point)[3];
    /* number of points for which memory is allocated */
    size_t point_capacity;
    gls_column *filled[3]; /* dps, dpv, groups */
} block_memory;

/* The largest numbers of streamlines and of points of a block are such that the streamlines with their values, and the
 * points with their values, each take at most this many bytes, or are a single row. */
#define MEMORY ((size_t)64 << 20)

void gls_reader_warn(const gls_tractogram_reader *r, const char *format, ...)
{
    char text[1024];
    va_list args;
    if (r->options.quiet) return;
    va_start(args, format);
    gls_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    gls_log(GLS_LOG_WARNING, "%s", text);
}

gls_status gls_reader_damaged(const gls_tractogram_reader *r, const char *what)
{
    return gls_fail(GLS_ERR_INPUT, "%s: damaged: %s", r->path, what);
}

gls_status gls_reader_set_grid(gls_tractogram_reader *r, const int32_t dim[3], const double affine[4][4],
                               const char *name)
{
    char why[256];
    const double *last = affine[3];
    /* the comparison also refuses NaN */
    if (!(fabs(last[0]) + fabs(last[1]) + fabs(last[2]) + fabs(last[3] - 1) <= 1e-6))
        return gls_fail(GLS_ERR_INPUT, "%s: damaged: the last row of %s is %g %g %g %g, not 0 0 0 1: is it transposed?",
                        r->path, name, last[0], last[1], last[2], last[3]);
    if (gls_grid_init(&r->info.grid, dim, affine) == GLS_OK) return GLS_OK;
    snprintf(why, sizeof why, "%s", gls_last_error());
    return gls_fail(GLS_ERR_INPUT, "%s: damaged: %s: %s", r->path, name, why);
}

gls_status gls_reader_no_memory(const gls_tractogram_reader *r)
{
    return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", r->path);
}

gls_status gls_reader_head(const gls_tractogram_reader *r, uint64_t from, void *data, size_t bytes)
{
    return gls_regular_read(r->path, r->fd, from, data, bytes);
}

gls_status gls_reader_add_column(gls_tractogram_reader *r, gls_reader_columns *columns, const char *name, gls_type type,
                                 uint32_t components)
{
    const size_t n = columns->n;
    if (gls_column_find(columns->shown, n, name))
        return gls_fail(GLS_ERR_INPUT, "%s: has two columns named %s", r->path, name);
    gls_column *shown = realloc(columns->shown, (n + 1) * sizeof *shown);
    if (shown) columns->shown = shown;
    gls_column *filled = realloc(columns->filled, (n + 1) * sizeof *filled);
    if (filled) columns->filled = filled;
    char *copy = strdup(name);
    if (!shown || !filled || !copy) {
        free(copy);
        return gls_reader_no_memory(r);
    }
    shown[n] = filled[n] = (gls_column){copy, type, components, NULL};
    columns->n++;
    return GLS_OK;
}

gls_status gls_reader_add_header(gls_tractogram_reader *r, const char *key, const char *value)
{
    gls_tractogram_info *info = &r->info;
    /* a key that exists already: values are joined by line ends, as MRtrix3 does */
    for (size_t i = 0; i < info->n_header; i++) {
        if (strcmp(r->header[i].key, key) != 0) continue;
        size_t n = strlen(r->header[i].value);
        char *joined = realloc((char *)r->header[i].value, n + strlen(value) + 2);
        if (!joined) return gls_reader_no_memory(r);
        joined[n] = '\n';
        strcpy(joined + n + 1, value);
        r->header[i].value = joined;
        return GLS_OK;
    }
    gls_header_field *header = realloc(r->header, (info->n_header + 1) * sizeof *header);
    if (!header) return gls_reader_no_memory(r);
    r->header = header;
    info->header = header;
    header[info->n_header] = (gls_header_field){strdup(key), strdup(value)};
    return header[info->n_header].key && header[info->n_header++].value ? GLS_OK : gls_reader_no_memory(r);
}

/* Bytes of a row of all columns of one kind. */
static size_t row_bytes(const gls_reader_columns *columns)
{
    size_t bytes = 0;
    for (size_t k = 0; k < columns->n; k++) bytes += gls_column_row_bytes(&columns->shown[k]);
    return bytes;
}

/* Number of rows of `bytes` bytes in a block: `most`, or fewer if MEMORY holds fewer, but at least 1. */
static size_t limit(size_t most, size_t bytes)
{
    size_t rows = MEMORY / bytes;
    return rows < 1 ? 1 : rows < most ? rows : most;
}

gls_status gls_reader_reserve(gls_tractogram_reader *r, uint64_t n)
{
    if (n <= r->point_capacity) return GLS_OK;
    size_t capacity = r->point_capacity;
    while (capacity < n) capacity += capacity / 2 + 256;
    /* points and their values grow together; each array that could be enlarged is kept, also after a failure */
    float(*point)[3] = realloc(r->point, capacity * sizeof *point);
    bool ok = point != NULL;
    if (ok) r->point = point;
    for (size_t k = 0; k < r->dpv.n && ok; k++) {
        gls_column *c = &r->dpv.filled[k];
        void *data = realloc((void *)c->data, capacity * gls_column_row_bytes(c));
        ok = data != NULL;
        if (ok) c->data = data;
    }
    if (!ok)
        return gls_fail(GLS_ERR_MEMORY, "%s: out of memory for a streamline of %llu points", r->path,
                        (unsigned long long)n);
    r->point_capacity = capacity;
    return GLS_OK;
}

/* Allocates the memory for one block. */
static gls_status make_room(gls_tractogram_reader *r)
{
    r->line_offset = calloc(r->max_lines + 1, sizeof *r->line_offset);
    if (!r->line_offset) return gls_reader_no_memory(r);
    gls_reader_columns *kinds[] = {&r->dps, &r->group};
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < kinds[i]->n; k++) {
            gls_column *c = &kinds[i]->filled[k];
            c->data = calloc(r->max_lines, gls_column_row_bytes(c));
            if (!c->data) return gls_reader_no_memory(r);
        }
    return gls_reader_reserve(r, 1);
}

/* Swaps two members of `bytes` bytes. */
static void exchange(void *a, void *b, size_t bytes)
{
    char keep[sizeof(block_memory)];
    memcpy(keep, a, bytes);
    memcpy(a, b, bytes);
    memcpy(b, keep, bytes);
}

/* Swaps the memory of the current block with *room. */
static void swap_memory(gls_tractogram_reader *r, block_memory *room)
{
    exchange(&r->line_offset, &room->line_offset, sizeof r->line_offset);
    exchange(&r->point, &room->point, sizeof r->point);
    exchange(&r->point_capacity, &room->point_capacity, sizeof r->point_capacity);
    exchange(&r->dps.filled, &room->filled[0], sizeof r->dps.filled);
    exchange(&r->dpv.filled, &room->filled[1], sizeof r->dpv.filled);
    exchange(&r->group.filled, &room->filled[2], sizeof r->group.filled);
}

/* Copies the descriptions of columns, without data. NULL: memory ran out. */
static gls_column *copy_columns(const gls_reader_columns *columns)
{
    gls_column *copy = calloc(columns->n + 1, sizeof *copy);
    for (size_t k = 0; copy && k < columns->n; k++) copy[k] = columns->shown[k];
    return copy;
}

/* Allocates memory for another block of an open reader. Free it even after a failure. */
static gls_status create_memory(gls_tractogram_reader *r, block_memory *room)
{
    *room = (block_memory){.filled = {copy_columns(&r->dps), copy_columns(&r->dpv), copy_columns(&r->group)}};
    if (!room->filled[0] || !room->filled[1] || !room->filled[2]) return gls_reader_no_memory(r);
    /* make_room() works on the reader's own block, so the new memory takes its place meanwhile */
    swap_memory(r, room);
    gls_status status = make_room(r);
    swap_memory(r, room);
    return status;
}

/* Frees the memory of a block. Accepts a zeroed one. */
static void finish_memory(const gls_tractogram_reader *r, block_memory *room)
{
    const size_t n[] = {r->dps.n, r->dpv.n, r->group.n};
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; room->filled[i] && k < n[i]; k++) free((void *)room->filled[i][k].data);
        free(room->filled[i]);
    }
    free(room->line_offset);
    free(room->point);
    *room = (block_memory){0};
}

gls_status gls_reader_prepare(gls_tractogram_reader *r)
{
    gls_tractogram_info *info = &r->info;
    info->n_dps = r->dps.n;
    info->n_dpv = r->dpv.n;
    info->n_groups = r->group.n;
    info->dps = r->dps.shown;
    info->dpv = r->dpv.shown;
    info->group = r->group.shown;
    info->group_size = r->group_size;
    info->dpg = r->dpg;
    /* blocks are limited by rows of streamlines, with an offset of 8 bytes, and by points of 12 bytes */
    r->max_lines = limit(GLS_READER_LINES, 8 + row_bytes(&r->dps) + row_bytes(&r->group));
    r->max_points = limit(GLS_READER_POINTS, 12 + row_bytes(&r->dpv));
    return make_room(r);
}

/* Fails if a coordinate of the block is NaN or infinite. The largest exponent of all numbers says so for the whole
 * block, in a loop that compilers vectorise. */
static gls_status check_finite(const gls_tractogram_reader *r, size_t n)
{
    const uint32_t exponent = 0x7f800000;
    const float *x = r->point[0];
    size_t end = 3 * (size_t)r->line_offset[n], at = 0, line = 0;
    uint32_t largest = 0, bits;
    for (size_t i = 0; i < end; i++) {
        memcpy(&bits, &x[i], sizeof bits);
        bits &= exponent;
        largest = bits > largest ? bits : largest;
    }
    if (largest < exponent) return GLS_OK;
    /* at least one coordinate is not finite: find the first, and its streamline */
    while (isfinite(x[at])) at++;
    while (r->line_offset[line + 1] <= at / 3) line++;
    return gls_fail(GLS_ERR_INPUT,
                    "%s: a point of streamline %llu (counted from 0) is not finite; 'glslines edit --invalid drop' "
                    "leaves such streamlines out",
                    r->path, (unsigned long long)(r->lines_read + line));
}

gls_status gls_tractogram_reader_next(gls_tractogram_reader *r, gls_streamlines *lines)
{
    GLS_REQUIRE(r && lines);
    size_t n = 0;
    r->line_offset[0] = 0;
    r->seen_finite = false;
    gls_status status = r->driver->next(r, &n);
    if (!status && !r->options.allow_invalid && !r->seen_finite) status = check_finite(r, n);
    if (status) return status;
    r->lines_read += n;
    r->points_read += r->line_offset[n];
    *lines = (gls_streamlines){.n = n,
                               .offset = r->line_offset,
                               .point = (const float(*)[3])r->point,
                               .n_dps = r->dps.n,
                               .n_dpv = r->dpv.n,
                               .n_groups = r->group.n,
                               .dps = r->dps.filled,
                               .dpv = r->dpv.filled,
                               .group = r->group.filled};
    return GLS_OK;
}

/* A block of streamlines, or the end of the file, or an error. */
typedef struct block {
    /* borrowed from the reader's memory; valid until the slot is filled again */
    gls_streamlines lines; /* n == 0: end of the file */
    /* status of the reader, with its message, since each thread has its own last error */
    gls_status status;
    /* share of the file that was read, 0 .. 1 */
    double done;
    /* message of `status` */
    char message[1024];
} block;

/* A slot in the ring: a block and its memory. */
typedef struct slot {
    /* memory to which the reader writes the block */
    block_memory room;
    block block;
} slot;

/* A ring of blocks between the reading thread and the one that calls the sink. `lock` guards first, n_full and stopped.
 */
typedef struct gls_reader_ahead {
    /* used by the reading thread alone */
    gls_tractogram_reader *reader;
    /* the thread that fills slots ahead of the caller */
    pthread_t thread;
    size_t n_slots, first, n_full; /* slots in the ring, index of the first full slot, number of full slots */
    bool stopped;
    pthread_mutex_t lock;
    /* signalled when a slot becomes full or free, and at the end */
    pthread_cond_t changed;
    /* n_slots entries */
    slot slot[];
} ahead;

/* Reads the next block into *p, with its status, message and progress. */
static void read_block(gls_tractogram_reader *r, block *p)
{
    p->lines = (gls_streamlines){0};
    p->status = gls_tractogram_reader_next(r, &p->lines);
    p->done = p->lines.n > 0 ? r->done : 1;
    if (p->status) snprintf(p->message, sizeof p->message, "%s", gls_last_error());
}

/* The reading thread: fills the ring of blocks, and waits while it is full. Ends after the last block, a failure, or a
 * stop. */
static void *read_ahead(void *user)
{
    ahead *a = user;
    block next;
    bool last = false;
    while (!last) {
        read_block(a->reader, &next);
        pthread_mutex_lock(&a->lock);
        while (a->n_full == a->n_slots && !a->stopped) pthread_cond_wait(&a->changed, &a->lock);
        /* the last block carries the end or the failure to the other thread */
        last = a->stopped || next.status || next.lines.n == 0;
        if (!a->stopped) {
            slot *to = &a->slot[(a->first + a->n_full) % a->n_slots];
            /* the memory of this block goes to the ring; the memory of an older block goes to the reader */
            swap_memory(a->reader, &to->room);
            to->block = next;
            a->n_full++;
            pthread_cond_signal(&a->changed);
        }
        pthread_mutex_unlock(&a->lock);
    }
    return NULL;
}

/* Frees the ring and the memory of its blocks. The reading thread has ended. */
static void finish(ahead *a)
{
    for (size_t i = 0; i < a->n_slots; i++) finish_memory(a->reader, &a->slot[i].room);
    pthread_cond_destroy(&a->changed);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

gls_status gls_reader_ahead_start(gls_tractogram_reader *r, size_t n_blocks)
{
    if (r->ahead || omp_get_max_threads() < 2) return GLS_OK;
    ahead *a = calloc(1, sizeof *a + n_blocks * sizeof *a->slot);
    if (!a) return gls_reader_no_memory(r);
    a->reader = r;
    a->n_slots = n_blocks;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->changed, NULL);
    gls_status status = GLS_OK;
    for (size_t i = 0; i < n_blocks && !status; i++) status = create_memory(r, &a->slot[i].room);
    /* if no thread can be started, the caller reads; that is not a failure */
    if (!status && pthread_create(&a->thread, NULL, read_ahead, a) == 0)
        r->ahead = a;
    else
        finish(a);
    return status;
}

void gls_reader_ahead_stop(gls_tractogram_reader *r)
{
    ahead *a = r->ahead;
    if (!a) return;
    pthread_mutex_lock(&a->lock);
    a->stopped = true;
    pthread_cond_signal(&a->changed);
    pthread_mutex_unlock(&a->lock);
    pthread_join(a->thread, NULL);
    r->ahead = NULL;
    finish(a);
}

/* Hands a block to the sink and reports progress. *more: another block follows. */
static gls_status pass_on(const block *p, const gls_sink *sink, gls_tractogram_progress progress, void *user,
                          bool *more)
{
    *more = false;
    if (p->status) return gls_fail(p->status, "%s", p->message);
    gls_status status = p->lines.n > 0 ? gls_sink_append(sink, &p->lines) : GLS_OK;
    if (status) return status;
    if (progress && !progress(user, p->done)) return gls_fail(GLS_ERR_CANCELLED, "cancelled");
    *more = p->lines.n > 0;
    return GLS_OK;
}

/* Reads and hands on blocks on the calling thread. */
static gls_status pump_alone(gls_tractogram_reader *r, const gls_sink *sink, gls_tractogram_progress progress,
                             void *user)
{
    gls_status status = GLS_OK;
    block p;
    for (bool more = true; more && !status;) {
        read_block(r, &p);
        status = pass_on(&p, sink, progress, user, &more);
    }
    return status;
}

/* Hands on the blocks of the ring; waits while the reading thread has none ready. */
static gls_status pump_ahead(ahead *a, const gls_sink *sink, gls_tractogram_progress progress, void *user)
{
    gls_status status = GLS_OK;
    for (bool more = true; more && !status;) {
        pthread_mutex_lock(&a->lock);
        while (a->n_full == 0) pthread_cond_wait(&a->changed, &a->lock);
        pthread_mutex_unlock(&a->lock);
        /* the sink works without the lock: the slot stays full, so that the reading thread does not touch it */
        status = pass_on(&a->slot[a->first].block, sink, progress, user, &more);
        pthread_mutex_lock(&a->lock);
        a->first = (a->first + 1) % a->n_slots;
        a->n_full--;
        pthread_cond_signal(&a->changed);
        pthread_mutex_unlock(&a->lock);
    }
    return status;
}

gls_status gls_tractogram_pump(gls_tractogram_reader *r, const gls_sink *sink, gls_tractogram_progress progress,
                               void *user)
{
    GLS_REQUIRE(r && sink && sink->append);
    gls_status status = gls_reader_ahead_start(r, 1);
    if (status) return status;
    status = r->ahead ? pump_ahead(r->ahead, sink, progress, user) : pump_alone(r, sink, progress, user);
    gls_reader_ahead_stop(r);
    return status;
}
