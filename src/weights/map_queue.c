/* Collects streamlines in buffers, which the devices map, a thread for each device. What the devices map is stored in
 * the order of the streamlines. The CPU maps instead once a device has failed. */
#include "weights/map_queue.h"
#include "gpu/open_device.h"
#include "gpu/timer.h"
#include "weights/fixel_rows.h"
#include "weights/map_device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "util/status.h"

/* Streamlines for one device, and how far they are. A buffer is used again when all its rows are stored. */
typedef struct line_buffer {
    /* number of streamlines; number of streamlines and of points for which memory is allocated */
    size_t n, capacity, point_capacity;
    uint64_t *offset; /* first point of each streamline, and the end of the last: n + 1 values */
    float (*point)[3];
    uint64_t number;          /* index of this buffer among all that were handed to the devices */
    size_t done;              /* streamlines that the device has mapped */
    gls_mapper_result mapped; /* result of the last run, for the last mapped.n of the `done` streamlines; mapped.n 0:
                               * its rows are stored */
} line_buffer;

/* A device with its thread. */
typedef struct row_worker {
    struct gls_row_queue *queue;
    gls_device *device;
    gls_mapper *mapper; /* NULL before the first buffer */
    pthread_t thread;
    bool running;
} row_worker;

struct gls_row_queue {
    /* receives the rows, in the order of the streamlines */
    gls_rows *rows;
    uint64_t device_bytes;
    size_t points;  /* a buffer is mapped when it has this many points */
    bool by_device; /* false: a device has failed, and the CPU maps */
    size_t n_workers, n_buffers;
    row_worker *worker;
    line_buffer *buffer;  /* buffer k is at index k % n_buffers */
    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t changed;
    uint64_t filled, taken,
        stored; /* numbers of buffers that were handed to the devices, taken by a device, and stored completely */
    bool ends;
    gls_status status; /* the first failure of a thread; message: its text */
    char message[512];
};

/* The buffer that is filled as number `number`, counted from 0; the buffers form a ring. */
static line_buffer *buffer_at(const gls_row_queue *q, uint64_t number)
{
    return &q->buffer[number % q->n_buffers];
}

/* The streamlines of a buffer from index `first` on. */
static gls_streamlines view(const line_buffer *p, size_t first)
{
    return (gls_streamlines){.n = p->n - first, .offset = p->offset + first, .point = (const float(*)[3])p->point};
}

/* Stores the status and message of the first failure, after which all threads end. */
static void keep_failure(gls_row_queue *q, gls_status status)
{
    pthread_mutex_lock(&q->lock);
    if (!q->status) snprintf(q->message, sizeof q->message, "%s", gls_last_error());
    if (!q->status) q->status = status;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

/* Makes the mapper of a device. GLS_ERR_UNSUPPORTED also if entries take 5 bytes, which only the CPU makes. */
static gls_status create_mapper(row_worker *w)
{
    const gls_rows *rows = w->queue->rows;
    if (rows->wide) return gls_fail(GLS_ERR_UNSUPPORTED, "there are more than 2^%u fixels", rows->low_bits);
    const gls_mapper_source source = {.device = w->device,
                                      .device_bytes = w->queue->device_bytes,
                                      .fixels = rows->fixels,
                                      .mask = rows->mask,
                                      .grid = &rows->grid};
    return gls_mapper_create(&source, &w->mapper);
}

/* Appends the rows of the last run of a buffer, and counts the streamlines of the run that have fewer than two points,
 * or visit no voxel of the grid. */
static gls_status append_rows(gls_row_queue *q, line_buffer *p)
{
    const gls_mapper_result r = p->mapped;
    const uint64_t *offset = p->offset + (p->done - r.n);
    p->mapped = (gls_mapper_result){.n = 0};
    if (r.n == 0) return GLS_OK;
    gls_row_entries *row = malloc(r.n * sizeof *row);
    float *contribution = malloc(r.n * sizeof *contribution);
    gls_status status =
        row && contribution ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for %zu streamlines", r.n);
    for (size_t i = 0; i < r.n && !status; i++) {
        row[i] = (gls_row_entries){r.entries, NULL, r.mapped[i].first, r.mapped[i].n};
        contribution[i] = (float)r.mapped[i].contribution;
        q->rows->n_without_points += offset[i + 1] - offset[i] < 2;
        q->rows->n_outside += offset[i + 1] - offset[i] >= 2 && r.mapped[i].visits == 0;
    }
    if (!status) status = gls_rows_collect(q->rows, row, contribution, r.n);
    free(row);
    free(contribution);
    return status;
}

/* Waits until all earlier buffers are stored, then stores the last run of this buffer. If another thread fails
 * meanwhile, the run stays in the buffer, and the result is that failure. */
static gls_status store(gls_row_queue *q, line_buffer *p)
{
    pthread_mutex_lock(&q->lock);
    while (q->stored < p->number && !q->status) pthread_cond_wait(&q->changed, &q->lock);
    gls_status status = q->status;
    pthread_mutex_unlock(&q->lock);
    if (status) return status;
    const double start = gls_clock_seconds();
    const size_t n = p->mapped.n;
    status = append_rows(q, p);
    (void)gls_trace_phase("collect entries", start, n);
    pthread_mutex_lock(&q->lock);
    if (!status && p->done == p->n) q->stored++;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    return status;
}

/* Maps a buffer. While the device works on a run, stores the run before, that of the buffer *last, which may be this or
 * an earlier one. Does not release the device in between, because releasing waits for its work in some drivers. */
static gls_status map_lines(row_worker *w, line_buffer *p, line_buffer **last)
{
    const gls_streamlines s = view(p, 0);
    gls_device_hold(w->device);
    gls_status status = w->mapper ? GLS_OK : create_mapper(w);
    while (p->done < p->n && !status) {
        size_t n = p->n - p->done;
        double start = gls_clock_seconds();
        status = gls_mapper_start(w->mapper, &s, p->done, &n);
        (void)gls_trace_phase("begin mapping", start, n);
        if (!status && *last) status = store(w->queue, *last);
        if (status) break;
        *last = NULL;
        start = gls_clock_seconds();
        status = gls_mapper_finish(w->mapper, &p->mapped);
        (void)gls_trace_phase("read entries", start, n);
        if (status) break;
        p->done += n;
        *last = p;
    }
    gls_device_release(w->device);
    return status;
}

/* The next buffer that this thread shall map; NULL: there is none now, or no more. Called with the lock held. */
static line_buffer *take(gls_row_queue *q)
{
    return q->taken < q->filled ? buffer_at(q, q->taken++) : NULL;
}

/* Main function of the thread of a device. */
static void *work(void *user)
{
    row_worker *w = user;
    gls_row_queue *q = w->queue;
    line_buffer *last = NULL; /* buffer whose last run is mapped, but not stored */
    gls_trace_call_thread("mapping", "");
    pthread_mutex_lock(&q->lock);
    while (!q->status) {
        line_buffer *p = take(q);
        if (!p && !last && q->ends) break;
        if (!p && !last) {
            pthread_cond_wait(&q->changed, &q->lock);
            continue;
        }
        pthread_mutex_unlock(&q->lock);
        gls_status status = p ? map_lines(w, p, &last) : store(q, last);
        if (!p) last = NULL;
        if (status) keep_failure(q, status);
        pthread_mutex_lock(&q->lock);
    }
    pthread_mutex_unlock(&q->lock);
    gls_device_trace(w->device);
    return NULL;
}

/* Starts the threads that do not run yet. */
static void start(gls_row_queue *q)
{
    for (size_t i = 0; i < q->n_workers; i++) {
        row_worker *w = &q->worker[i];
        if (!w->running) w->running = pthread_create(&w->thread, NULL, work, w) == 0;
    }
    if (q->worker[0].running) return;
    gls_error_set("no thread can be started");
    keep_failure(q, GLS_ERR_UNSUPPORTED);
}

/* Lets the threads end when no buffer is left, and waits for them. */
static void stop(gls_row_queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->ends = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    for (size_t i = 0; i < q->n_workers; i++)
        if (q->worker[i].running) pthread_join(q->worker[i].thread, NULL);
    for (size_t i = 0; i < q->n_workers; i++) q->worker[i].running = false;
}

/* Ends the threads after a failure: stores what devices have mapped, and maps the rest of all buffers on the CPU. */
static gls_status give_up_devices(gls_row_queue *q)
{
    gls_log(GLS_LOG_INFO, "streamlines are mapped on the CPU: %s", q->message);
    stop(q);
    q->by_device = false;
    gls_status status = GLS_OK;
    for (; q->stored < q->filled && !status; q->stored++) {
        line_buffer *p = buffer_at(q, q->stored);
        status = append_rows(q, p);
        const gls_streamlines rest = view(p, p->done);
        if (!status && rest.n > 0) status = gls_rows_map(q->rows, &rest);
    }
    for (size_t i = 0; i < q->n_workers; i++) {
        gls_mapper_destroy(q->worker[i].mapper);
        q->worker[i].mapper = NULL;
    }
    return status;
}

/* Waits until at most n buffers are with the devices. If a device fails, maps the rest of all buffers on the CPU.
 * GLS_ERR_MEMORY if the host's memory ran out. */
static gls_status wait_for_devices(gls_row_queue *q, size_t n)
{
    if (!q->by_device) return GLS_OK;
    pthread_mutex_lock(&q->lock);
    while (q->filled - q->stored > n && !q->status) pthread_cond_wait(&q->changed, &q->lock);
    const gls_status status = q->status;
    pthread_mutex_unlock(&q->lock);
    if (!status) return GLS_OK;
    return status == GLS_ERR_MEMORY ? gls_fail(status, "%s", q->message) : give_up_devices(q);
}

/* Hands the filled buffer to the devices, or maps it on the CPU if a device has failed. Waits until the next buffer can
 * be filled. */
static gls_status flush(gls_row_queue *q)
{
    line_buffer *p = buffer_at(q, q->filled);
    gls_status status = GLS_OK;
    if (p->n == 0) return GLS_OK;
    if (!q->by_device) {
        const gls_streamlines s = view(p, 0);
        status = gls_rows_map(q->rows, &s);
        p->n = 0;
        return status;
    }
    p->number = q->filled;
    p->done = 0;
    pthread_mutex_lock(&q->lock);
    q->filled++;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    start(q);
    status = wait_for_devices(q, q->n_buffers - 1);
    if (!status) buffer_at(q, q->filled)->n = 0; /* after a failure a thread may still work on the buffer */
    return status;
}

/* Appends streamlines to the buffer that is being filled. */
static gls_status keep(gls_row_queue *q, const gls_streamlines *s)
{
    line_buffer *p = buffer_at(q, q->filled);
    const size_t n = p->n + s->n, before = p->n > 0 ? (size_t)p->offset[p->n] : 0,
                 points = before + (size_t)(s->offset[s->n] - s->offset[0]);
    if (n >= p->capacity) {
        uint64_t *to = realloc(p->offset, 2 * (n + 1) * sizeof *to);
        if (!to) return gls_fail(GLS_ERR_MEMORY, "out of memory for weights");
        p->offset = to;
        p->capacity = 2 * (n + 1);
    }
    if (!p->point || points > p->point_capacity) {
        const size_t capacity = points + points / 4 + q->points / 4;
        float(*to)[3] = realloc(p->point, capacity * sizeof *to);
        if (!to) return gls_fail(GLS_ERR_MEMORY, "out of memory for weights");
        p->point = to;
        p->point_capacity = capacity;
    }
    gls_status status = gls_rows_copy(q->rows, s, p->point + before);
    if (status) return status;
    for (size_t i = 0; i <= s->n; i++) p->offset[p->n + i] = before + s->offset[i] - s->offset[0];
    p->n = n;
    return GLS_OK;
}

gls_status gls_row_queue_create(gls_rows *rows, gls_device *const *devices, size_t n, uint64_t device_bytes,
                                size_t points, gls_row_queue **queue)
{
    gls_row_queue *q = calloc(1, sizeof *q);
    if (!q) return gls_fail(GLS_ERR_MEMORY, "out of memory for weights");
    /* there are two buffers for each device, one that it maps and one whose rows wait, and one buffer that is filled */
    *q = (gls_row_queue){.rows = rows,
                         .device_bytes = device_bytes,
                         .points = points,
                         .by_device = true,
                         .n_buffers = 2 * n + 1,
                         .worker = calloc(n, sizeof *q->worker),
                         .buffer = calloc(2 * n + 1, sizeof *q->buffer)};
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->changed, NULL);
    if (!q->worker || !q->buffer) {
        gls_row_queue_destroy(q);
        return gls_fail(GLS_ERR_MEMORY, "out of memory for weights");
    }
    for (; q->n_workers < n; q->n_workers++) {
        q->worker[q->n_workers] = (row_worker){.queue = q, .device = devices[q->n_workers]};
        gls_device_keep(devices[q->n_workers]);
    }
    *queue = q;
    return GLS_OK;
}

gls_status gls_row_queue_append(gls_row_queue *q, const gls_streamlines *s)
{
    gls_status status = s->n > 0 ? keep(q, s) : GLS_OK;
    const line_buffer *p = buffer_at(q, q->filled);
    return !status && p->n > 0 && p->offset[p->n] >= q->points ? flush(q) : status;
}

/* Takes the totals of fixels from the devices, if they have mapped all streamlines. */
static gls_status take_totals(const gls_row_queue *q)
{
    gls_rows *rows = q->rows;
    if (!q->by_device) return GLS_OK;
    rows->length = calloc(rows->fixels->n, sizeof *rows->length);
    rows->count = calloc(rows->fixels->n, sizeof *rows->count);
    gls_status status = rows->length && rows->count
                            ? GLS_OK
                            : gls_fail(GLS_ERR_MEMORY, "out of memory for %zu fixels", rows->fixels->n);
    for (size_t i = 0; i < q->n_workers && !status; i++)
        if (q->worker[i].mapper) status = gls_mapper_add_totals(q->worker[i].mapper, rows->length, rows->count);
    if (!status || status == GLS_ERR_MEMORY) return status;
    free(rows->length); /* a device failed at the end: let the CPU sum up the rows */
    free(rows->count);
    rows->length = NULL;
    rows->count = NULL;
    return GLS_OK;
}

gls_status gls_row_queue_end(gls_row_queue *q)
{
    gls_status status = flush(q);
    if (!status) status = wait_for_devices(q, 0);
    stop(q);
    return status ? status : take_totals(q);
}

void gls_row_queue_destroy(gls_row_queue *q)
{
    if (!q) return;
    stop(q);
    for (size_t i = 0; i < q->n_workers; i++) {
        gls_mapper_destroy(q->worker[i].mapper);
        gls_device_let_go(q->worker[i].device);
    }
    for (size_t k = 0; q->buffer && k < q->n_buffers; k++) {
        free(q->buffer[k].offset);
        free(q->buffer[k].point);
    }
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->lock);
    free(q->worker);
    free(q->buffer);
    free(q);
}
