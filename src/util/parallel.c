/* A pool of threads that share the items of a job: whoever is free takes the next items. Work on a thread beside the
 * caller. */
#include "util/threads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

#include "util/clock.h"
#include "util/status.h"

/* A call of gls_parallel(). It lies on the stack of the caller, who leaves only when busy is 0. */
typedef struct job {
    /* function that works on items */
    gls_parallel_task task;
    /* argument of the task */
    void *user;
    /* number of items of the job, and of items that a thread takes at a time */
    size_t n, grain;
    /* index of the first item that no thread has taken */
    atomic_size_t next;
    int seats, taken, busy; /* seats: threads that may take part, with the caller; taken: threads that have begun to;
                               busy: threads at work beside the caller */
    pthread_cond_t left;    /* signalled when busy becomes 0 */
    /* next job of the list, an older one */
    struct job *following;
} job;

/* The workers and the jobs that they can see. `lock` guards everything but job.next. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t posted;
    job *jobs;             /* jobs from post() to withdraw(), the newest first */
    int n_workers, wanted; /* wanted: helpers that all jobs together could use */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .posted = PTHREAD_COND_INITIALIZER};

/* Resets the pool in a child process, which has no workers and no jobs. */
static void renew(void)
{
    pool.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    pool.posted = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    pool.jobs = NULL;
    pool.n_workers = pool.wanted = 0;
}
GLS_IN_COPIES(renew)

static _Thread_local bool inside; /* whether the calling thread is inside a task */

/* Works on items of a job until none is left. thread: number of this thread in the job, from 0. */
static void take_part(job *j, int thread)
{
    inside = true;
    for (;;) {
        /* take the next `grain` items */
        const size_t from = atomic_fetch_add(&j->next, j->grain);
        if (from >= j->n) break;
        j->task(j->user, thread, from, j->n - from < j->grain ? j->n : from + j->grain);
    }
    inside = false;
}

/* Returns the newest job with items and a free seat; NULL: none. The caller holds the lock. */
static job *find_job(void)
{
    job *j = pool.jobs;
    while (j && (j->taken == j->seats || atomic_load(&j->next) >= j->n)) j = j->following;
    return j;
}

/* Main function of a worker, which lives as long as the process. */
static void *work(void *user)
{
    (void)user;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        job *j = find_job();
        if (!j) {
            pthread_cond_wait(&pool.posted, &pool.lock);
            continue;
        }
        const int thread = j->taken++;
        j->busy++;
        pthread_mutex_unlock(&pool.lock);
        take_part(j, thread);
        pthread_mutex_lock(&pool.lock);
        if (--j->busy == 0) pthread_cond_signal(&j->left);
    }
    return NULL;
}

/* Starts detached workers until there are n, or as many as the system allows. Call with the lock held. */
static void start_workers(int n)
{
    pthread_t thread;
    pthread_attr_t attributes;
    if (pool.n_workers >= n || pthread_attr_init(&attributes) != 0) return;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    while (pool.n_workers < n && pthread_create(&thread, &attributes, work, NULL) == 0) pool.n_workers++;
    pthread_attr_destroy(&attributes);
}

/* Adds a job to the list from which workers take items, and starts more workers if too few exist. */
static void post(job *j)
{
    pthread_mutex_lock(&pool.lock);
    pool.wanted += j->seats - 1;
    start_workers(pool.wanted);
    j->following = pool.jobs;
    pool.jobs = j;
    for (int i = 1; i < j->seats; i++) pthread_cond_signal(&pool.posted);
    pthread_mutex_unlock(&pool.lock);
}

/* Removes the job from the list and waits for the threads that work on it. */
static void withdraw(job *j)
{
    pthread_mutex_lock(&pool.lock);
    job **link = &pool.jobs;
    while (*link != j) link = &(*link)->following;
    *link = j->following;
    pool.wanted -= j->seats - 1;
    while (j->busy > 0) pthread_cond_wait(&j->left, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
}

void gls_parallel(size_t n, size_t grain, int n_threads, gls_parallel_task task, void *user)
{
    job j = {.task = task, .user = user, .n = n, .grain = grain > 0 ? grain : 1, .taken = 1};
    if (n == 0) return;
    const size_t parts = (n - 1) / j.grain + 1;
    j.seats = parts < (size_t)n_threads ? (int)parts : n_threads;
    /* if one thread suffices, or in a call from inside a task, the caller does all items alone, without a job */
    if (inside || j.seats < 2 || pthread_cond_init(&j.left, NULL) != 0) {
        task(user, 0, 0, n);
        return;
    }
    post(&j);
    take_part(&j, 0);
    withdraw(&j);
    pthread_cond_destroy(&j.left);
}

/* Does the work, on the caller's thread or on a thread started for it, and keeps its status and message. */
static void *work_beside(void *user)
{
    gls_beside *b = user;
    const double start = gls_clock_seconds();
    b->status = b->work(b->user);
    if (b->status) snprintf(b->message, sizeof b->message, "%s", gls_last_error());
    (void)gls_trace_phase(b->name, start, 0);
    return NULL;
}

/* Main function of the thread of the work. */
static void *thread_main(void *user)
{
    const gls_beside *b = user;
    gls_threads_apply();
    gls_trace_call_thread(b->name, "");
    if (b->mutes_info) gls_log_mute_info(true);
    return work_beside(user);
}

gls_status gls_beside_begin(gls_beside *b)
{
    b->mutes_info = gls_log_info_muted();
    b->running = !b->at_once && pthread_create(&b->thread, NULL, thread_main, b) == 0;
    if (!b->running) (void)work_beside(b);
    if (b->logs_first) gls_log_defer();
    return b->running ? GLS_OK : b->status;
}

gls_status gls_beside_end(gls_beside *b, gls_status status)
{
    if (b->running) pthread_join(b->thread, NULL);
    b->running = false;
    if (b->logs_first) gls_log_deliver();
    return status || !b->status ? status : gls_fail(b->status, "%s", b->message);
}
