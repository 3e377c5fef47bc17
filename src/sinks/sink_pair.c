/* A sink that passes streamlines to two sinks at the same time: to one on the caller's thread, to the other on a thread
 * of its own. A large tractogram is written while maps and weights are made. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "sinks/sink_pair.h"
#include "util/clock.h"
#include "util/status.h"
#include "util/threads.h"

/* The two sinks. `lock` guards due, closing, status and message. closing: true: the thread shall end. */
typedef struct pair {
    gls_sink first, second; /* the sinks; `second` is called on the thread */
    /* runs serve() */
    pthread_t thread;
    pthread_mutex_t lock;
    /* signalled when due or closing change */
    pthread_cond_t changed;
    const gls_streamlines *due; /* batch for the second sink; NULL: the thread waits */
    bool closing;
    gls_status status; /* status of the second sink */
    /* message of the second sink, since each thread has its own last error */
    char message[GLS_MESSAGE_BYTES];
} pair;

/* Main function of the thread: appends each batch to the second sink until the pair closes. */
static void *serve(void *user)
{
    pair *p = user;
    /* use as many OpenMP threads as the caller chose */
    gls_threads_apply();
    gls_trace_call_thread("results", "");
    pthread_mutex_lock(&p->lock);
    while (!p->closing) {
        const gls_streamlines *due = p->due;
        if (!due) {
            pthread_cond_wait(&p->changed, &p->lock);
            continue;
        }
        pthread_mutex_unlock(&p->lock);
        const double start = gls_clock_seconds();
        /* append without the lock, because a batch takes long */
        const gls_status status = gls_sink_append(&p->second, due);
        (void)gls_trace_phase("take", start, 0);
        pthread_mutex_lock(&p->lock);
        p->status = status;
        if (status) snprintf(p->message, sizeof p->message, "%s", gls_last_error());
        p->due = NULL;
        pthread_cond_broadcast(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Passes a batch to the thread, appends it to the first sink, and waits for the thread. */
static gls_status append(void *user, const gls_streamlines *streamlines)
{
    pair *p = user;
    pthread_mutex_lock(&p->lock);
    p->due = streamlines;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    const gls_status status = gls_sink_append(&p->first, streamlines);
    pthread_mutex_lock(&p->lock);
    /* the batch belongs to the caller, who may change it after the return */
    while (p->due) pthread_cond_wait(&p->changed, &p->lock);
    pthread_mutex_unlock(&p->lock);
    return status || !p->status ? status : gls_fail(p->status, "%s", p->message);
}

/* Lets the thread end after the batch that it works on, and waits for the end of the thread. */
static void end_thread(pair *p)
{
    pthread_mutex_lock(&p->lock);
    p->closing = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->changed);
}

/* Function `abort` of the sink: ends the thread, then aborts both sinks. */
static void give_up(void *user)
{
    pair *p = user;
    end_thread(p);
    gls_sink_abort(&p->first);
    gls_sink_abort(&p->second);
    free(p);
}

/* Finishes the first sink, then the second; if the first fails, aborts the second. */
static gls_status finish(void *user)
{
    pair *p = user;
    end_thread(p);
    gls_status status = gls_sink_finish(&p->first);
    if (!status) status = gls_sink_finish(&p->second);
    gls_sink_abort(&p->first);
    gls_sink_abort(&p->second);
    free(p);
    return status;
}

gls_status gls_sink_pair(const gls_sink *first, const gls_sink *second, gls_sink *out)
{
    pair *p = calloc(1, sizeof *p);
    if (!p) return gls_no_memory();
    *p = (pair){
        .first = *first, .second = *second, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    if (pthread_create(&p->thread, NULL, serve, p) != 0) {
        free(p);
        return gls_fail(GLS_ERR_MEMORY, "a thread for the results cannot be started");
    }
    *out = (gls_sink){append, finish, give_up, p};
    return GLS_OK;
}
