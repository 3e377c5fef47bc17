/* Items shared among threads: each once, whoever else asks at the same time. Work on a thread beside the caller. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "util/threads.h"

enum { ITEMS = 1000, THREADS = 3 };

typedef struct tally {
    int times[ITEMS];
    atomic_int inside[THREADS]; /* number of calls of each thread at this moment */
    atomic_int clashes;
    bool nested;
} tally;

static void count_in(void *user, int thread, size_t from, size_t until)
{
    (void)thread;
    atomic_fetch_add((atomic_int *)user, (int)(until - from));
}

static void visit(void *user, int thread, size_t from, size_t until)
{
    tally *t = user;
    atomic_int inner = 0;
    if (thread < 0 || thread >= THREADS || atomic_fetch_add(&t->inside[thread], 1) > 0)
        atomic_fetch_add(&t->clashes, 1);
    for (size_t i = from; i < until; i++) t->times[i]++;
    if (t->nested) gls_parallel(10, 2, THREADS, count_in, &inner);
    if (t->nested && atomic_load(&inner) != 10) atomic_fetch_add(&t->clashes, 1);
    atomic_fetch_sub(&t->inside[thread], 1);
}

static void check(tally *t)
{
    for (size_t i = 0; i < ITEMS; i++) assert_int_equal(t->times[i], 1);
    assert_int_equal(atomic_load(&t->clashes), 0);
}

static void test_each_once(void **state)
{
    static const size_t grains[] = {0, 1, 7, 64, ITEMS, 5000};
    (void)state;
    for (size_t g = 0; g < sizeof grains / sizeof *grains; g++)
        for (int n = 1; n <= THREADS; n++) {
            tally t = {.nested = g % 2};
            gls_parallel(ITEMS, grains[g], n, visit, &t);
            check(&t);
        }
    gls_parallel(0, 1, THREADS, visit, NULL);
}

static void *repeat(void *user)
{
    for (int i = 0; i < 100; i++) {
        tally t = {.nested = false};
        gls_parallel(ITEMS, 16, THREADS, visit, &t);
        for (size_t k = 0; k < ITEMS; k++)
            if (t.times[k] != 1) return user;
        if (atomic_load(&t.clashes) > 0) return user;
    }
    return NULL;
}

static void test_at_the_same_time(void **state)
{
    pthread_t other;
    void *wrong = NULL;
    (void)state;
    assert_int_equal(pthread_create(&other, NULL, repeat, &wrong), 0);
    assert_null(repeat(&wrong));
    pthread_join(other, &wrong);
    assert_null(wrong);
}

/* Two calls of two items, none of which ends before all four have begun. */
typedef struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t all;
    int begun;
    bool failed;
} meeting;

static void meet(void *user, int thread, size_t from, size_t until)
{
    meeting *m = user;
    struct timespec limit;
    (void)thread;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 60;
    pthread_mutex_lock(&m->lock);
    m->begun += (int)(until - from);
    pthread_cond_broadcast(&m->all);
    while (m->begun < 4 && !m->failed)
        if (pthread_cond_timedwait(&m->all, &m->lock, &limit) != 0) m->failed = true;
    /* each thread has to get one item; a thread that got both fails the test */
    if (until - from != 1) m->failed = true;
    pthread_mutex_unlock(&m->lock);
}

static void *call(void *user)
{
    gls_parallel(2, 1, 2, meet, user);
    return NULL;
}

static void test_each_call_gets_threads(void **state)
{
    meeting m = {.lock = PTHREAD_MUTEX_INITIALIZER, .all = PTHREAD_COND_INITIALIZER};
    pthread_t other;
    (void)state;
    assert_int_equal(pthread_create(&other, NULL, call, &m), 0);
    call(&m);
    pthread_join(other, NULL);
    assert_false(m.failed);
}

/* Lines in the order in which they were logged: 'b' beside, 'c' by the caller. */
static char lines[8];
static atomic_bool caller_logs;

static void keep_line(void *user, gls_log_level level, const char *line)
{
    const size_t n = strlen(lines);
    (void)user, (void)level;
    if (n + 1 < sizeof lines) lines[n] = line[0];
}

static gls_status log_late(void *user)
{
    for (int i = 0; i < 10000 && !atomic_load(&caller_logs); i++) nanosleep(&(struct timespec){0, 1000000}, NULL);
    nanosleep(&(struct timespec){0, 30000000}, NULL);
    gls_log(GLS_LOG_WARNING, "beside");
    gls_log(GLS_LOG_INFO, "beside, muted");
    gls_log(GLS_LOG_WARNING, "beside");
    return *(gls_status *)user ? gls_fail(*(gls_status *)user, "failed beside") : GLS_OK;
}

/* The caller's line comes behind those of the work beside it, for which it does not wait; the caller's own failure is
 * returned, else that of the work. */
static void check_beside(gls_status own, gls_status beside, const char *message)
{
    gls_beside b = {.name = "late", .work = log_late, .user = &beside, .logs_first = true};
    memset(lines, 0, sizeof lines);
    atomic_store(&caller_logs, false);
    gls_log_set(keep_line, NULL, GLS_LOG_INFO);
    gls_log_mute_info(true);
    gls_beside_begin(&b);
    /* the work ends only after the caller has logged */
    gls_log(GLS_LOG_WARNING, "caller");
    atomic_store(&caller_logs, true);
    if (own) gls_error_set("failed itself");
    assert_int_equal(gls_beside_end(&b, own), own ? own : beside);
    gls_log_mute_info(false);
    gls_log_set(NULL, NULL, GLS_LOG_WARNING);
    assert_string_equal(lines, "bbc");
    if (message) assert_string_equal(gls_last_error(), message);
}

static void test_beside(void **state)
{
    gls_beside none = {.running = false};
    (void)state;
    check_beside(GLS_OK, GLS_OK, NULL);
    check_beside(GLS_OK, GLS_ERR_INPUT, "failed beside");
    check_beside(GLS_ERR_DEVICE, GLS_ERR_INPUT, "failed itself");
    assert_int_equal(gls_beside_end(&none, GLS_OK), GLS_OK);
    /* work that is done at once is over, with its status, when it was begun */
    gls_status failure = GLS_ERR_DEVICE;
    gls_beside b = {.name = "at once", .work = log_late, .user = &failure, .at_once = true};
    atomic_store(&caller_logs, true);
    assert_int_equal(gls_beside_begin(&b), GLS_ERR_DEVICE);
    assert_false(b.running);
    assert_int_equal(gls_beside_end(&b, GLS_OK), GLS_ERR_DEVICE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_once), cmocka_unit_test(test_at_the_same_time),
                                       cmocka_unit_test(test_each_call_gets_threads), cmocka_unit_test(test_beside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
