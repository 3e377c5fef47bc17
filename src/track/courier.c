/* Delivery of finished streamlines to the sink while the next batch is tracked. */
#include "track/internal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/status.h"

#define PARCELS 2

struct gls_courier {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    gls_track_sink sink;
    void *user;
    gls_parcel parcel[PARCELS];
    unsigned taken, sent, delivered; /* counters; parcel i % PARCELS */
    bool closing;
    gls_status status;
    char message[512];
};

gls_status gls_parcel_reserve(gls_parcel *parcel, size_t n, size_t n_points)
{
    if (n > parcel->capacity || !parcel->offset) {
        if (n == 0) n = 1; /* the end of no streamlines has a place, too */
        free(parcel->offset);
        free(parcel->seed_index);
        free(parcel->seed);
        parcel->capacity = 0;
        parcel->offset = malloc((n + 1) * sizeof *parcel->offset);
        parcel->seed_index = malloc(n * sizeof *parcel->seed_index);
        parcel->seed = malloc(n * sizeof *parcel->seed);
        if (!parcel->offset || !parcel->seed_index || !parcel->seed) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu streamlines", n);
        parcel->capacity = n;
    }
    if (n_points > parcel->point_capacity) {
        free(parcel->point);
        parcel->point_capacity = 0;
        parcel->point = malloc(n_points * sizeof *parcel->point);
        if (!parcel->point) return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu points", n_points);
        parcel->point_capacity = n_points;
    }
    return GLS_OK;
}

void gls_parcel_finish(gls_parcel *parcel)
{
    free(parcel->offset);
    free(parcel->seed_index);
    free(parcel->seed);
    free(parcel->point);
    *parcel = (gls_parcel){0};
}

static void *deliver(void *user)
{
    gls_courier *c = user;
    pthread_mutex_lock(&c->lock);
    for (;;) {
        while (c->delivered == c->sent && !c->closing) pthread_cond_wait(&c->changed, &c->lock);
        if (c->delivered == c->sent) break;
        gls_parcel *parcel = &c->parcel[c->delivered % PARCELS];
        if (c->status == GLS_OK && parcel->n > 0) {
            pthread_mutex_unlock(&c->lock);
            gls_streamlines streamlines = {parcel->n, parcel->offset, (const float(*)[3])parcel->point, parcel->seed_index, (const float(*)[3])parcel->seed};
            gls_status status = c->sink(c->user, &streamlines);
            pthread_mutex_lock(&c->lock);
            if (status != GLS_OK) {
                c->status = status;
                snprintf(c->message, sizeof c->message, "%s", gls_last_error());
            }
        }
        c->delivered++;
        pthread_cond_broadcast(&c->changed);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

gls_status gls_courier_create(gls_track_sink sink, void *user, gls_courier **out)
{
    gls_courier *c = calloc(1, sizeof *c);
    if (!c) return gls_fail(GLS_ERR_MEMORY, "out of memory for the output thread");
    c->sink = sink;
    c->user = user;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    if (pthread_create(&c->thread, NULL, deliver, c) != 0) {
        free(c);
        return gls_fail(GLS_ERR_MEMORY, "the output thread cannot be started");
    }
    *out = c;
    return GLS_OK;
}

gls_parcel *gls_courier_take(gls_courier *c)
{
    pthread_mutex_lock(&c->lock);
    while (c->taken - c->delivered == PARCELS && c->status == GLS_OK) pthread_cond_wait(&c->changed, &c->lock);
    gls_parcel *parcel = c->status == GLS_OK ? &c->parcel[c->taken++ % PARCELS] : NULL;
    pthread_mutex_unlock(&c->lock);
    if (parcel) parcel->n = 0;
    return parcel;
}

void gls_courier_send(gls_courier *c)
{
    pthread_mutex_lock(&c->lock);
    c->sent++;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
}

gls_status gls_courier_destroy(gls_courier *c)
{
    if (!c) return GLS_OK;
    pthread_mutex_lock(&c->lock);
    c->closing = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    pthread_join(c->thread, NULL);
    gls_status status = c->status == GLS_OK ? GLS_OK : gls_fail(c->status, "%s", c->message);
    for (int i = 0; i < PARCELS; i++) gls_parcel_finish(&c->parcel[i]);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    free(c);
    return status;
}
