/* Lets several devices work at the same time, each on a thread of its own; one device works on the calling thread. A
 * driver finishes the work of a context before its thread turns to another context, so that several devices on one
 * thread would work one after the other. */
#include "gpu/device_team.h"
#include "gpu/devices.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/status.h"
#include "util/threads.h"

/* One device with its thread. */
typedef struct member {
    gls_device_team *team;
    gls_device *device;
    pthread_t thread;
    bool running;      /* the thread runs */
    bool busy;         /* true: the work of the device is not done; guarded by the lock of the team */
    gls_status status; /* status of the last work; message: text of the status */
    char message[512];
} member;

struct gls_device_team {
    size_t n;
    member *member;
    gls_device_work work; /* the function that busy members call */
    void *user;
    pthread_mutex_t lock; /* guards `busy` of all members, and `closing` */
    pthread_cond_t changed;
    bool closing;
};

/* Does the work of one device, and holds the device meanwhile: in some drivers releasing a device waits for its work.
 */
static void work_on(member *m)
{
    gls_device_team *t = m->team;
    gls_device_hold(m->device);
    m->status = t->work(t->user, (size_t)(m - t->member));
    if (m->status) snprintf(m->message, sizeof m->message, "%s", gls_last_error());
    gls_device_release(m->device);
}

/* Main function of the thread of one device. The thread lives as long as the team, because in some drivers the first
 * calls of a thread are slow. */
static void *serve(void *user)
{
    member *m = user;
    gls_device_team *t = m->team;
    pthread_mutex_lock(&t->lock);
    while (!t->closing) {
        if (!m->busy) {
            pthread_cond_wait(&t->changed, &t->lock);
            continue;
        }
        pthread_mutex_unlock(&t->lock);
        gls_threads_apply();
        work_on(m);
        pthread_mutex_lock(&t->lock);
        m->busy = false;
        pthread_cond_broadcast(&t->changed);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

gls_status gls_device_team_create(gls_device *const *devices, size_t n, gls_device_team **team)
{
    gls_device_team *t = calloc(1, sizeof *t);
    member *members = calloc(n, sizeof *members);
    if (!t || !members) {
        free(t);
        free(members);
        return gls_fail(GLS_ERR_MEMORY, "out of memory for %zu devices", n);
    }
    *t = (gls_device_team){.n = n, .member = members};
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    bool started = true;
    for (size_t i = 0; i < n; i++) members[i] = (member){.team = t, .device = devices[i]};
    for (size_t i = 0; i < n && n > 1 && started; i++)
        started = members[i].running = pthread_create(&members[i].thread, NULL, serve, &members[i]) == 0;
    if (!started) {
        gls_device_team_destroy(t);
        return gls_fail(GLS_ERR_MEMORY, "a thread for each of %zu devices cannot be started", n);
    }
    *team = t;
    return GLS_OK;
}

void gls_device_team_begin(gls_device_team *t, gls_device_work work, void *user)
{
    pthread_mutex_lock(&t->lock);
    t->work = work;
    t->user = user;
    for (size_t i = 0; i < t->n; i++) t->member[i].busy = t->member[i].running;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
    if (!t->member[0].running) work_on(&t->member[0]);
}

gls_status gls_device_team_end(gls_device_team *t)
{
    pthread_mutex_lock(&t->lock);
    for (size_t i = 0; i < t->n; i++)
        while (t->member[i].busy) pthread_cond_wait(&t->changed, &t->lock);
    pthread_mutex_unlock(&t->lock);
    gls_status status = GLS_OK;
    for (size_t i = 0; i < t->n && !status; i++) status = gls_device_team_status(t, i);
    return status;
}

gls_status gls_device_team_run(gls_device_team *t, gls_device_work work, void *user)
{
    gls_device_team_begin(t, work, user);
    return gls_device_team_end(t);
}

gls_status gls_device_team_status(const gls_device_team *t, size_t i)
{
    const member *m = &t->member[i];
    return m->status ? gls_fail(m->status, "%s", m->message) : GLS_OK;
}

void gls_device_team_destroy(gls_device_team *t)
{
    if (!t) return;
    pthread_mutex_lock(&t->lock);
    t->closing = true;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
    for (size_t i = 0; i < t->n; i++)
        if (t->member[i].running) pthread_join(t->member[i].thread, NULL);
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    free(t->member);
    free(t);
}
