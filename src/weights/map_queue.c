/* Collects streamlines in two buffers: a thread maps one on the device while the other is filled. Falls back to the CPU
 * if the device fails. */
#include "weights/fixel_rows.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/objects.h"
#include "util/clock.h"
#include "util/status.h"

/* Streamlines of one run of the device. */
typedef struct line_buffer {
    /* streamlines; room for streamlines; room for points */
    size_t n, capacity, point_capacity;
    uint64_t *offset; /* n + 1 values */
    float (*point)[3];
} line_buffer;

struct gls_row_queue {
    /* receives the rows, in the order of the streamlines */
    gls_rows *rows;
    gls_device *device, *kept; /* both name the same device; `device` is NULL once it has failed */
    uint64_t device_bytes;
    size_t points; /* a buffer is mapped when it has this many points */
    gls_mapper *mapper;
    /* one is filled while the other is mapped */
    line_buffer buffer[2];
    int filling; /* index of the buffer that is filled; the thread owns the other while busy */
    bool running, busy, ends;
    /* the thread that runs the device; valid while running */
    pthread_t thread;
    pthread_mutex_t lock; /* guards busy and ends */
    pthread_cond_t changed;
    /* result of the thread */
    gls_status status;
    /* its text, since messages belong to a thread */
    char message[512];
    /* streamlines of the buffer that are mapped */
    size_t done;
    gls_mapper_result mapped; /* the last run, whose rows are collected while the device works on the next */
};

/* The streamlines of a buffer as a block without columns; borrowed. */
static gls_streamlines view(const line_buffer *p)
{
    return (gls_streamlines){.n = p->n, .offset = p->offset, .point = (const float(*)[3])p->point};
}

/* Opens the kernel. Entries of more than 4 bytes, for very many fixels, are mapped on the CPU only. */
static gls_status create_mapper(gls_row_queue *q)
{
    const gls_rows *rows = q->rows;
    if (rows->wide) return gls_fail(GLS_ERR_UNSUPPORTED, "there are more than 2^%u fixels", rows->low_bits);
    const gls_mapper_source source = {.device = q->device,
                                      .device_bytes = q->device_bytes,
                                      .fixels = rows->fixels,
                                      .mask = rows->mask,
                                      .grid = &rows->grid};
    return gls_mapper_create(&source, &q->mapper);
}

/* Appends the rows of the last run. */
static gls_status collect(gls_row_queue *q)
{
    const gls_mapper_result r = q->mapped;
    q->mapped = (gls_mapper_result){.n = 0};
    if (r.n == 0) return GLS_OK;
    gls_placed *place = malloc(r.n * sizeof *place);
    float *contribution = malloc(r.n * sizeof *contribution);
    gls_status status =
        place && contribution ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "out of memory for %zu streamlines", r.n);
    for (size_t i = 0; i < r.n && !status; i++) {
        place[i] = (gls_placed){r.entries, NULL, r.mapped[i].first, r.mapped[i].n};
        contribution[i] = (float)r.mapped[i].contribution;
    }
    if (!status) status = gls_rows_collect(q->rows, place, contribution, r.n);
    free(place);
    free(contribution);
    return status;
}

/* Counts the mapped streamlines that have fewer than two points, or visit no voxel of the grid. */
static void count(const gls_row_queue *q, const gls_streamlines *s)
{
    for (size_t i = 0; i < q->mapped.n; i++) {
        const uint64_t *offset = &s->offset[q->done + i];
        q->rows->n_without_points += offset[1] - offset[0] < 2;
        q->rows->n_outside += offset[1] - offset[0] >= 2 && q->mapped.mapped[i].visits == 0;
    }
}

/* Maps the buffer that is not being filled. */
static void map_lines(gls_row_queue *q)
{
    const gls_streamlines s = view(&q->buffer[1 - q->filling]);
    q->done = 0;
    q->status = q->mapper ? GLS_OK : create_mapper(q);
    /* the entries of a run are collected while the device works on the next */
    while (q->done < s.n && !q->status) {
        size_t n = s.n - q->done;
        double start = gls_clock_seconds();
        q->status = gls_mapper_start(q->mapper, &s, q->done, &n);
        (void)gls_trace_phase("begin mapping", start, n);
        start = gls_clock_seconds();
        gls_status before = collect(q);
        (void)gls_trace_phase("collect entries", start, n);
        if (before) q->status = before;
        start = gls_clock_seconds();
        if (!q->status) q->status = gls_mapper_finish(q->mapper, &q->mapped);
        (void)gls_trace_phase("read entries", start, n);
        if (q->status) break;
        count(q, &s);
        q->done += n;
    }
    if (q->status) snprintf(q->message, sizeof q->message, "%s", gls_last_error());
}

/* The thread. It keeps the device current while it maps one buffer: in some drivers a thread's first call is slow, and
 * releasing a device waits for its work. */
static void *work(void *user)
{
    gls_row_queue *q = user;
    gls_device *device = q->device;
    gls_trace_call_thread("mapping", "");
    pthread_mutex_lock(&q->lock);
    while (!q->ends) {
        if (!q->busy) {
            pthread_cond_wait(&q->changed, &q->lock);
            continue;
        }
        pthread_mutex_unlock(&q->lock);
        gls_device_hold(device);
        map_lines(q);
        gls_device_release(device);
        pthread_mutex_lock(&q->lock);
        q->busy = false;
        pthread_cond_signal(&q->changed);
    }
    pthread_mutex_unlock(&q->lock);
    gls_device_trace(device);
    return NULL;
}

/* Lets the thread map the buffer that is not being filled. Without a thread the caller maps it. */
static void begin(gls_row_queue *q)
{
    if (!q->running) q->running = pthread_create(&q->thread, NULL, work, q) == 0;
    if (!q->running) {
        map_lines(q);
        return;
    }
    pthread_mutex_lock(&q->lock);
    q->busy = true;
    pthread_cond_signal(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

/* Waits until the thread has mapped its buffer. After return `status`, `done` and `mapped` belong to the caller. */
static void wait(gls_row_queue *q)
{
    pthread_mutex_lock(&q->lock);
    while (q->busy) pthread_cond_wait(&q->changed, &q->lock);
    pthread_mutex_unlock(&q->lock);
}

/* Waits for the batch at work, then ends the thread. Called by the thread that owns the queue. */
static void stop(gls_row_queue *q)
{
    if (!q->running) return;
    wait(q);
    pthread_mutex_lock(&q->lock);
    q->ends = true;
    pthread_cond_signal(&q->changed);
    pthread_mutex_unlock(&q->lock);
    pthread_join(q->thread, NULL);
    q->running = q->ends = false;
}

/* Waits until the device has mapped its buffer. If the device failed, maps the rest on the CPU. The rows of the last
 * run may still have to be collected. */
static gls_status wait_for_device(gls_row_queue *q)
{
    wait(q);
    if (!q->status) return GLS_OK;
    /* memory of the host: the CPU would fail, too */
    if (q->status == GLS_ERR_MEMORY) return gls_fail(q->status, "%s", q->message);
    gls_log(GLS_LOG_INFO, "streamlines are mapped on the CPU: %s", q->message);
    stop(q);
    q->device = NULL;
    q->status = GLS_OK;
    gls_status status = collect(q);
    gls_mapper_destroy(q->mapper);
    q->mapper = NULL;
    if (status) return status;
    /* the streamlines of the buffer that no finished run has mapped */
    gls_streamlines rest = view(&q->buffer[1 - q->filling]);
    rest.n -= q->done;
    rest.offset += q->done;
    return rest.n > 0 ? gls_rows_map(q->rows, &rest) : GLS_OK;
}

/* Hands the filled buffer to the device, or maps it on the CPU if the device has failed. */
static gls_status flush(gls_row_queue *q)
{
    gls_status status = wait_for_device(q);
    line_buffer *p = &q->buffer[q->filling];
    if (status || p->n == 0) return status;
    q->filling = 1 - q->filling;
    q->buffer[q->filling].n = 0;
    if (!q->device) {
        const gls_streamlines s = view(p);
        return gls_rows_map(q->rows, &s);
    }
    begin(q);
    return GLS_OK;
}

/* Appends streamlines to the buffer that is being filled. */
static gls_status keep(gls_row_queue *q, const gls_streamlines *s)
{
    line_buffer *p = &q->buffer[q->filling];
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

gls_status gls_row_queue_create(gls_rows *rows, gls_device *device, uint64_t device_bytes, size_t points,
                                gls_row_queue **queue)
{
    gls_row_queue *q = calloc(1, sizeof *q);
    if (!q) return gls_fail(GLS_ERR_MEMORY, "out of memory for weights");
    *q =
        (gls_row_queue){.rows = rows, .device = device, .kept = device, .device_bytes = device_bytes, .points = points};
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->changed, NULL);
    gls_device_keep(device);
    *queue = q;
    return GLS_OK;
}

gls_status gls_row_queue_append(gls_row_queue *q, const gls_streamlines *s)
{
    gls_status status = s->n > 0 ? keep(q, s) : GLS_OK;
    const line_buffer *p = &q->buffer[q->filling];
    return !status && p->n > 0 && p->offset[p->n] >= q->points ? flush(q) : status;
}

gls_status gls_row_queue_end(gls_row_queue *q)
{
    gls_status status = flush(q);
    if (!status) status = wait_for_device(q);
    stop(q);
    return status ? status : collect(q);
}

void gls_row_queue_destroy(gls_row_queue *q)
{
    if (!q) return;
    stop(q);
    gls_mapper_destroy(q->mapper);
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->lock);
    for (int k = 0; k < 2; k++) {
        free(q->buffer[k].offset);
        free(q->buffer[k].point);
    }
    gls_device_let_go(q->kept);
    free(q);
}
