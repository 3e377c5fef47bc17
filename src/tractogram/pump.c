/* Hands all streamlines of a file to a sink. With more than one thread the next ones are read, unpacked and checked by
 * a thread of their own while the sink works on the last ones. */
#include "tractogram/reader.h"

#include <omp.h>
#include <pthread.h>
#include <stdio.h>

#include "util/status.h"

/* One parcel on its way. */
typedef struct parcel {
    gls_streamlines lines; /* n == 0: the end */
    gls_status status;
    double done;
    char message[1024];
} parcel;

typedef struct pump {
    gls_tractogram_reader *reader;
    gls_reader_room room; /* of the parcel below, while it is full */
    parcel parcel;
    bool full, stopped;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} pump;

static void read_parcel(gls_tractogram_reader *r, parcel *p)
{
    p->lines = (gls_streamlines){0};
    p->status = gls_tractogram_reader_next(r, &p->lines);
    p->done = p->lines.n > 0 ? r->done : 1;
    if (p->status != GLS_OK) snprintf(p->message, sizeof p->message, "%s", gls_last_error());
}

static void *read_ahead(void *user)
{
    pump *p = user;
    parcel next;
    bool last = false;
    while (!last) {
        read_parcel(p->reader, &next);
        pthread_mutex_lock(&p->lock);
        while (p->full && !p->stopped) pthread_cond_wait(&p->changed, &p->lock);
        last = p->stopped || next.status != GLS_OK || next.lines.n == 0;
        if (!p->stopped) {
            gls_reader_exchange(p->reader, &p->room);
            p->parcel = next;
            p->full = true;
            pthread_cond_signal(&p->changed);
        }
        pthread_mutex_unlock(&p->lock);
    }
    return NULL;
}

/* What the sink and the caller say to a parcel; *more: there is another one. */
static gls_status pass_on(const parcel *p, const gls_sink *sink, gls_tractogram_progress progress, void *user,
                          bool *more)
{
    *more = false;
    if (p->status != GLS_OK) return gls_fail(p->status, "%s", p->message);
    gls_status status = p->lines.n > 0 ? gls_sink_append(sink, &p->lines) : GLS_OK;
    if (status != GLS_OK) return status;
    if (progress && !progress(user, p->done)) return gls_fail(GLS_ERR_CANCELLED, "cancelled");
    *more = p->lines.n > 0;
    return GLS_OK;
}

static gls_status pump_alone(gls_tractogram_reader *r, const gls_sink *sink, gls_tractogram_progress progress,
                             void *user)
{
    gls_status status = GLS_OK;
    parcel p;
    for (bool more = true; more && status == GLS_OK;) {
        read_parcel(r, &p);
        status = pass_on(&p, sink, progress, user, &more);
    }
    return status;
}

static gls_status pump_ahead(pump *p, const gls_sink *sink, gls_tractogram_progress progress, void *user)
{
    gls_status status = GLS_OK;
    for (bool more = true; more && status == GLS_OK;) {
        pthread_mutex_lock(&p->lock);
        while (!p->full) pthread_cond_wait(&p->changed, &p->lock);
        pthread_mutex_unlock(&p->lock);
        status = pass_on(&p->parcel, sink, progress, user, &more);
        pthread_mutex_lock(&p->lock);
        p->full = false;
        p->stopped = !more;
        pthread_cond_signal(&p->changed);
        pthread_mutex_unlock(&p->lock);
    }
    return status;
}

gls_status gls_tractogram_pump(gls_tractogram_reader *r, const gls_sink *sink, gls_tractogram_progress progress,
                               void *user)
{
    GLS_REQUIRE(r && sink && sink->append);
    if (omp_get_max_threads() < 2) return pump_alone(r, sink, progress, user);
    pump p = {.reader = r, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    pthread_t thread;
    gls_status status = gls_reader_room_create(r, &p.room);
    if (status == GLS_OK && pthread_create(&thread, NULL, read_ahead, &p) != 0) {
        status = pump_alone(r, sink, progress, user);
    } else if (status == GLS_OK) {
        status = pump_ahead(&p, sink, progress, user);
        pthread_join(thread, NULL);
    }
    gls_reader_room_finish(r, &p.room);
    return status;
}
