/* Reads voxel values from a stream with two threads: one unpacks, the other converts. */
#include "image/formats.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/status.h"

/* Size of a block: a multiple of every value size, and small enough that the block is still in the cache when it is
 * converted. */
#define BLOCK_BYTES ((size_t)256 << 10)
#define RING 4

typedef struct reader {
    gls_stream *stream;
    const char *path;
    const gls_values *values;
    uint64_t bytes; /* size of all values */
    float *out;
} reader;

static gls_status truncated(const reader *r, uint64_t found)
{
    return gls_fail(GLS_ERR_INPUT, "%s: truncated: %llu of %llu bytes of voxel values are there", r->path,
                    (unsigned long long)found, (unsigned long long)r->bytes);
}

/* A ring of blocks: one thread unpacks into it while the caller's thread converts. */
typedef struct pipeline {
    const reader *r;
    unsigned char *ring; /* RING blocks of BLOCK_BYTES */
    uint64_t n_blocks;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t filled, emptied; /* numbers of blocks */
    gls_status status;
    char message[1024]; /* error of the reading thread; stored here because messages belong to a thread */
} pipeline;

static size_t block_bytes(const reader *r, uint64_t block)
{
    uint64_t left = r->bytes - block * BLOCK_BYTES;
    return left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES;
}

static gls_status fill_block(const reader *r, uint64_t block, void *to)
{
    size_t got, bytes = block_bytes(r, block);
    gls_status status = gls_stream_read(r->stream, to, bytes, &got);
    if (!status && got < bytes) status = truncated(r, block * BLOCK_BYTES + got);
    return status;
}

static void *unpack(void *argument)
{
    pipeline *p = argument;
    for (uint64_t b = 0; b < p->n_blocks; b++) {
        pthread_mutex_lock(&p->lock);
        while (b - p->emptied >= RING) pthread_cond_wait(&p->changed, &p->lock);
        pthread_mutex_unlock(&p->lock);
        gls_status status = fill_block(p->r, b, p->ring + b % RING * BLOCK_BYTES);
        pthread_mutex_lock(&p->lock);
        if (!status)
            p->filled++;
        else
            snprintf(p->message, sizeof p->message, "%s", gls_last_error());
        p->status = status;
        pthread_cond_signal(&p->changed);
        pthread_mutex_unlock(&p->lock);
        if (status) break;
    }
    return NULL;
}

/* Converts blocks as they arrive. */
static void convert(pipeline *p)
{
    const reader *r = p->r;
    for (uint64_t b = 0; b < p->n_blocks; b++) {
        pthread_mutex_lock(&p->lock);
        while (p->filled <= b && !p->status) pthread_cond_wait(&p->changed, &p->lock);
        bool there = p->filled > b;
        pthread_mutex_unlock(&p->lock);
        if (!there) return;
        gls_values_read(r->values, p->ring + b % RING * BLOCK_BYTES, block_bytes(r, b) / r->values->bytes,
                        r->out + b * (BLOCK_BYTES / r->values->bytes));
        pthread_mutex_lock(&p->lock);
        p->emptied++;
        pthread_cond_signal(&p->changed);
        pthread_mutex_unlock(&p->lock);
    }
}

static gls_status read_pipeline(const reader *r)
{
    pthread_t thread;
    pipeline p = {.r = r, .ring = malloc(RING * BLOCK_BYTES), .n_blocks = (r->bytes + BLOCK_BYTES - 1) / BLOCK_BYTES};
    if (!p.ring) return gls_fail(GLS_ERR_MEMORY, "%s: no memory", r->path);
    pthread_mutex_init(&p.lock, NULL);
    pthread_cond_init(&p.changed, NULL);
    if (pthread_create(&thread, NULL, unpack, &p) == 0) {
        convert(&p);
        pthread_join(thread, NULL);
        if (p.status) gls_fail(p.status, "%s", p.message);
    } else {
        p.status = gls_fail(GLS_ERR_MEMORY, "%s: cannot start a thread", r->path);
    }
    pthread_cond_destroy(&p.changed);
    pthread_mutex_destroy(&p.lock);
    free(p.ring);
    return p.status;
}

gls_status gls_nifti_read_stream(gls_stream *stream, const char *path, const gls_nifti_header *header, float *out)
{
    reader r = {.stream = stream, .path = path, .values = &header->values, .bytes = header->bytes, .out = out};
    gls_status status;
    if (gls_values_plain(r.values)) {
        size_t got;
        status = gls_stream_read(stream, out, (size_t)r.bytes, &got);
        if (!status && got < r.bytes) status = truncated(&r, got);
    } else {
        status = read_pipeline(&r);
    }
    return !status ? gls_stream_verify(stream) : status;
}
