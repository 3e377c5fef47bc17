#include "util/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct job {
    gls_parallel_task task;
    void *user;
    size_t n, grain;
    atomic_size_t next;
    int seats, taken; /* threads that may take part, and do or did */
} job;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t posted, left;
    job *job; /* NULL: none */
    int n_workers, busy;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .posted = PTHREAD_COND_INITIALIZER, .left = PTHREAD_COND_INITIALIZER};

static void take_part(job *j, int thread)
{
    for (;;) {
        const size_t from = atomic_fetch_add(&j->next, j->grain);
        if (from >= j->n) return;
        j->task(j->user, thread, from, j->n - from < j->grain ? j->n : from + j->grain);
    }
}

static void *work(void *user)
{
    (void)user;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        job *j = pool.job;
        if (!j || j->taken == j->seats || atomic_load(&j->next) >= j->n) {
            pthread_cond_wait(&pool.posted, &pool.lock);
            continue;
        }
        const int thread = j->taken++;
        pool.busy++;
        pthread_mutex_unlock(&pool.lock);
        take_part(j, thread);
        pthread_mutex_lock(&pool.lock);
        if (--pool.busy == 0) pthread_cond_signal(&pool.left);
    }
    return NULL;
}

/* With the lock held. */
static void start_workers(int n)
{
    pthread_t thread;
    pthread_attr_t attributes;
    if (pool.n_workers >= n || pthread_attr_init(&attributes) != 0) return;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    while (pool.n_workers < n && pthread_create(&thread, &attributes, work, NULL) == 0) pool.n_workers++;
    pthread_attr_destroy(&attributes);
}

void gls_parallel(size_t n, size_t grain, int n_threads, gls_parallel_task task, void *user)
{
    job j = {.task = task, .user = user, .n = n, .grain = grain > 0 ? grain : 1, .seats = n_threads, .taken = 1};
    if (n == 0) return;
    pthread_mutex_lock(&pool.lock);
    const bool shared = n_threads > 1 && n > j.grain && !pool.job;
    if (shared) {
        start_workers(n_threads - 1);
        pool.job = &j;
        pthread_cond_broadcast(&pool.posted);
    }
    pthread_mutex_unlock(&pool.lock);
    if (!shared) {
        task(user, 0, 0, n);
        return;
    }
    take_part(&j, 0);
    pthread_mutex_lock(&pool.lock);
    while (pool.busy > 0) pthread_cond_wait(&pool.left, &pool.lock);
    pool.job = NULL;
    pthread_mutex_unlock(&pool.lock);
}
