/* Queue and writer, with threads in place of devices: whatever they do, every seed comes once and in order, and no
 * worker runs too far ahead. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lines.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "track/run/writer_thread.h"
#include "track/seeds.h"
#include "util/status.h"

#define MAX_WORKERS 8
#define LINES_OF(seed) ((seed) % 3) /* streamlines of a seed: some have none */

typedef struct scene {
    gls_queue queue;
    gls_writer_thread *writer;
    gls_result_store results;
    gls_sink sink;
    unsigned n_alive; /* under the queue's lock */
    uint64_t n_taken; /* seeds that were handed out, including those that came back */
    unsigned failures, gave_way;
    /* state of the sink, on the writer's thread */
    uint64_t next_seed;
    uint32_t next_line;
    unsigned calls, fail_at;
    bool sound;
} scene;

typedef struct worker {
    scene *scene;
    size_t place;
    pthread_t thread;
    uint64_t random;
    bool may_fail;
} worker;

static uint64_t draw(uint64_t *state, uint64_t n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 33) % n;
}

static void rest(unsigned microseconds)
{
    nanosleep(&(struct timespec){0, (long)microseconds * 1000}, NULL);
}

/* Takes lines 0, 1 ... of seed after seed. */
static gls_status sink(void *user, const gls_streamlines *s)
{
    scene *sc = user;
    const uint32_t *seed_index = seed_index_of(s);
    const float(*seed)[3] = seed_of(s);
    if (++sc->calls == sc->fail_at) return gls_fail(GLS_ERR_OUTPUT, "the disk is full");
    for (size_t i = 0; i < s->n; i++) {
        while (sc->next_line == LINES_OF(sc->next_seed)) {
            sc->next_seed++;
            sc->next_line = 0;
        }
        sc->sound = sc->sound && seed_index[i] == (uint32_t)sc->next_seed && seed[i][0] == (float)sc->next_line;
        sc->next_line++;
    }
    return GLS_OK;
}

static void fill(gls_batch_result *result, uint64_t first, uint64_t end)
{
    assert_int_equal(gls_batch_result_reserve(result, 2 * (size_t)(end - first), 2 * (size_t)(end - first)), GLS_OK);
    result->offset[0] = 0;
    for (uint64_t seed = first; seed < end; seed++)
        for (uint32_t k = 0; k < LINES_OF(seed); k++) {
            result->seed_index[result->n] = (uint32_t)seed;
            result->seed[result->n][0] = (float)k;
            result->n++;
            result->offset[result->n] = result->n;
        }
}

/* Tracks one range. Returns false if the worker fails for good. */
static bool work_range(worker *w, gls_seed_range *range)
{
    scene *s = w->scene;
    while (range->first < range->end) {
        gls_batch_result *result = NULL;
        uint64_t n = 1 + draw(&w->random, range->end - range->first);
        rest((unsigned)draw(&w->random, 200));
        if (gls_writer_thread_take(s->writer, w->place, range->first, &result) != GLS_OK) return true;
        pthread_mutex_lock(&s->queue.lock);
        bool fails = w->may_fail && draw(&w->random, 60) == 0 && s->n_alive > 1;
        s->failures += fails;
        s->n_alive -= fails;
        s->gave_way += !result;
        pthread_mutex_unlock(&s->queue.lock);
        if (fails && result) gls_writer_thread_give_back(s->writer, result);
        if (fails || !result) return !fails;
        fill(result, range->first, range->first + n);
        pthread_mutex_lock(&s->queue.lock);
        gls_writer_thread_send(s->writer, result, range->first + n);
        pthread_mutex_unlock(&s->queue.lock);
        range->first += n;
    }
    return true;
}

/* Works as workers do: the next range may be one that came back. */
static bool take_range(gls_queue *q, uint64_t limit, gls_seed_range *range)
{
    pthread_mutex_lock(&q->lock);
    bool found = gls_queue_take(q, limit, true, range);
    pthread_mutex_unlock(&q->lock);
    return found;
}

static void return_range(gls_queue *q, gls_seed_range rest)
{
    pthread_mutex_lock(&q->lock);
    gls_queue_give_back(q, rest);
    pthread_mutex_unlock(&q->lock);
}

static void *work(void *user)
{
    worker *w = user;
    gls_seed_range range;
    bool alive = true;
    while (alive && take_range(&w->scene->queue, 1 + draw(&w->random, 40), &range)) {
        pthread_mutex_lock(&w->scene->queue.lock);
        w->scene->n_taken += range.end - range.first;
        pthread_mutex_unlock(&w->scene->queue.lock);
        alive = work_range(w, &range);
        return_range(&w->scene->queue, range);
    }
    return NULL;
}

static void start(scene *s, worker *workers, size_t n, uint64_t first, uint64_t total, uint64_t seed, bool may_fail)
{
    s->sink = (gls_sink){.append = sink, .user = s};
    s->sound = true;
    s->next_seed = first;
    s->n_alive = (unsigned)n;
    gls_queue_init(&s->queue, first, first + total, false, n);
    assert_int_equal(gls_writer_thread_create(&s->queue, &s->results, &(gls_writer_task){.sink = &s->sink}, &s->writer),
                     GLS_OK);
    for (size_t i = 0; i < n; i++) {
        workers[i] = (worker){.scene = s, .place = i, .random = seed * 1000 + i, .may_fail = may_fail};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
}

/* Joins those that were started, and ends the writer. */
static gls_status finish(scene *s, worker *workers, size_t n)
{
    for (size_t i = 0; i < n; i++) pthread_join(workers[i].thread, NULL);
    gls_status status = gls_writer_thread_destroy(s->writer);
    gls_result_store_finish(&s->results);
    return status;
}

static void assert_all(const scene *s, uint64_t end)
{
    assert_true(s->sound);
    uint64_t seed = s->next_seed;
    uint32_t line = s->next_line;
    while (seed < end && line == LINES_OF(seed)) {
        seed++;
        line = 0;
    }
    assert_int_equal(seed, end);
}

/* Checks that all seeds were tracked. */
static bool is_done(gls_queue *q)
{
    pthread_mutex_lock(&q->lock);
    bool done = q->next == q->end && q->n_returned == 0 && q->n_out == 0;
    pthread_mutex_unlock(&q->lock);
    return done;
}

static void any_order(void **state)
{
    (void)state;
    unsigned failures = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        scene s = {0};
        worker workers[MAX_WORKERS];
        size_t n = 1 + seed % MAX_WORKERS;
        uint64_t first = seed % 3 == 0 ? 17 : 0, total = 200 + 20 * seed;
        start(&s, workers, n, first, total, seed, true);
        assert_int_equal(finish(&s, workers, n), GLS_OK);
        assert_true(is_done(&s.queue));
        assert_all(&s, first + total);
        failures += s.failures;
        gls_queue_finish(&s.queue);
    }
    assert_true(failures > 20);
}

/* A worker holds the first seeds and does nothing: the others wait. Once it gives them back, one of the others lets go
 * of its own for them. */
static void running_ahead(void **state)
{
    (void)state;
    scene s = {0};
    worker workers[2];
    gls_seed_range held;
    const uint64_t total = 100000;
    uint64_t before, after;
    s.sink = (gls_sink){.append = sink, .user = &s};
    s.sound = true;
    s.n_alive = 3;
    gls_queue_init(&s.queue, 0, total, false, 3);
    assert_int_equal(gls_writer_thread_create(&s.queue, &s.results, &(gls_writer_task){.sink = &s.sink}, &s.writer),
                     GLS_OK);
    assert_true(take_range(&s.queue, 10, &held));
    for (size_t i = 0; i < 2; i++) {
        workers[i] = (worker){.scene = &s, .place = 1 + i, .random = 5 + i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    rest(300000);
    pthread_mutex_lock(&s.queue.lock);
    before = s.n_taken;
    pthread_mutex_unlock(&s.queue.lock);
    rest(300000);
    pthread_mutex_lock(&s.queue.lock);
    after = s.n_taken;
    assert_int_equal(s.gave_way, 0);
    pthread_mutex_unlock(&s.queue.lock);
    assert_int_equal(before, after);
    assert_true(after > 0 && after <= 2 * 17 * 40);
    assert_int_equal(s.calls, 0);
    return_range(&s.queue, held);
    assert_int_equal(finish(&s, workers, 2), GLS_OK);
    assert_true(s.gave_way > 0 && is_done(&s.queue));
    assert_all(&s, total);
    gls_queue_finish(&s.queue);
}

static void failing_sink(void **state)
{
    (void)state;
    for (unsigned fail_at = 1; fail_at < 20; fail_at += 6) {
        scene s = {.fail_at = fail_at};
        worker workers[3];
        start(&s, workers, 3, 0, 5000, fail_at, false);
        assert_int_equal(finish(&s, workers, 3), GLS_ERR_OUTPUT);
        assert_string_equal(gls_last_error(), "the disk is full");
        assert_true(s.sound && s.calls == fail_at && gls_queue_is_stopped(&s.queue) && !is_done(&s.queue));
        gls_queue_finish(&s.queue);
    }
}

/* Ranges come in order, are at most as long as asked for, and never cross the end of the lower half of a seed's index.
 * A range that comes back is handed out first. */
static void ranges(void **state)
{
    (void)state;
    gls_queue q;
    gls_seed_range a, b, c;
    const uint64_t word = (uint64_t)1 << 32;
    gls_queue_init(&q, word - 5, word + 100, false, 1);
    assert_true(take_range(&q, 50, &a) && a.first == word - 5 && a.end == word);
    assert_true(take_range(&q, 50, &b) && b.first == word && b.end == word + 50);
    assert_false(gls_queue_is_waiting(&q, word - 5));
    a.first += 2;
    return_range(&q, a);
    assert_true(gls_queue_is_waiting(&q, word - 3) && !gls_queue_is_waiting(&q, word));
    return_range(&q, b); /* joins the other */
    assert_int_equal(q.n_returned, 1);
    assert_true(take_range(&q, 50, &c) && c.first == word - 3 && c.end == word);
    c.first = c.end;
    return_range(&q, c);
    assert_true(take_range(&q, 20, &a) && a.first == word && a.end == word + 20);
    assert_true(take_range(&q, 80, &b) && b.first == word + 20 && b.end == word + 50);
    assert_true(take_range(&q, 80, &c) && c.first == word + 50 && c.end == word + 100);
    return_range(&q, c); /* apart from each other */
    return_range(&q, a);
    assert_int_equal(q.n_returned, 2);
    assert_int_equal(gls_queue_taken(&q), 35);
    assert_false(gls_queue_take(&q, 80, false, &c)); /* they lie before the range that was taken last */
    return_range(&q, b);
    assert_int_equal(q.n_returned, 1);
    assert_false(is_done(&q));
    assert_true(take_range(&q, 1000, &a) && a.first == word && a.end == word + 100);
    a.first = a.end;
    return_range(&q, a);
    assert_true(is_done(&q) && !take_range(&q, 1, &a));
    gls_queue_finish(&q);
    gls_queue_init(&q, UINT64_MAX - 10, UINT64_MAX, false, 1); /* the last word has no end */
    assert_true(take_range(&q, 50, &a) && a.first == UINT64_MAX - 10 && a.end == UINT64_MAX);
    gls_queue_finish(&q);
    gls_queue_init(&q, 0, 100, false, 1);
    assert_true(gls_queue_take(&q, 200, false, &a) && a.end == 100 && gls_queue_taken(&q) == 100);
    assert_false(gls_queue_take(&q, 200, false, &b)); /* does not wait for the range of the other worker */
    gls_queue_finish(&q);
    gls_queue_init(&q, 7, 7, false, 2);
    assert_true(is_done(&q) && !take_range(&q, 1, &a));
    gls_queue_finish(&q);
}

/* Seeds that come in rounds of 1 to 40: each round is asked for once all seeds before it have been delivered, and the
 * last one is empty. */
typedef struct rounds {
    scene s;
    gls_seeds *seeds;
    uint64_t random, left;
    float position[40][3];
    unsigned n;
    bool sound;
} rounds;

static gls_status next_round(void *user)
{
    rounds *r = user;
    uint64_t n = 1 + draw(&r->random, 40);
    /* the lines of all seeds so far have come, unless the last ones have none */
    uint64_t seed = r->s.next_seed;
    uint32_t line = r->s.next_line;
    while (seed < gls_seeds_end(r->seeds) && line == LINES_OF(seed)) seed++, line = 0;
    r->sound = r->sound && seed == gls_seeds_end(r->seeds);
    if (n > r->left) n = r->left;
    if (r->n++ == 500) return gls_fail(GLS_ERR_INPUT, "too many rounds");
    r->left -= n;
    gls_seeds_add_round(r->seeds, n, (const float(*)[3])r->position, (const float(*)[3])r->position);
    return GLS_OK;
}

static void growing(void **state)
{
    (void)state;
    for (uint64_t total = 3000; total <= 30000; total *= 10) {
        rounds r = {.random = total, .left = total, .sound = true};
        worker workers[3];
        assert_int_equal(gls_seeds_create_in_rounds(total, &r.seeds), GLS_OK);
        assert_int_equal(next_round(&r), GLS_OK);
        r.s.sink = (gls_sink){.append = sink, .user = &r.s};
        r.s.sound = true;
        r.s.n_alive = 3;
        gls_queue_init(&r.s.queue, 0, gls_seeds_end(r.seeds), true, 3);
        const gls_writer_task task = {.sink = &r.s.sink, .seeds = r.seeds, .next_round = next_round, .round_user = &r};
        assert_int_equal(gls_writer_thread_create(&r.s.queue, &r.s.results, &task, &r.s.writer), GLS_OK);
        for (size_t i = 0; i < 3; i++) {
            workers[i] = (worker){.scene = &r.s, .place = i, .random = total + i};
            assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
        }
        /* the longer run has more rounds than its function gives, and so fails */
        const gls_status status = finish(&r.s, workers, 3);
        assert_int_equal(status, total == 3000 ? GLS_OK : GLS_ERR_INPUT);
        assert_true(r.sound && r.n > 60);
        if (!status) assert_all(&r.s, total);
        gls_queue_finish(&r.s.queue);
        gls_seeds_destroy(r.seeds);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_order), cmocka_unit_test(running_ahead),
                                       cmocka_unit_test(failing_sink), cmocka_unit_test(ranges),
                                       cmocka_unit_test(growing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
