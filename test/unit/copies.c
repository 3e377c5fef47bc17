/* A copy of the process that fork() makes while another thread holds the library's locks works, and its callbacks are
 * called. A child that tries drivers ends by signals. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <glslines/glslines.h>

#include "util/status.h"
#include "util/threads.h"

static pthread_barrier_t reached, copied; /* reached: a callback has begun; copied: the copy is made */
static atomic_bool in_copy;
static atomic_int asked, calls;

static void stand_still(void)
{
    atomic_fetch_add(&asked, 1);
    if (atomic_load(&in_copy)) return;
    pthread_barrier_wait(&reached);
    pthread_barrier_wait(&copied);
}

static void on_log(void *user, gls_log_level level, const char *line)
{
    (void)user, (void)level, (void)line;
    stand_still();
}

static bool on_wait(void *user)
{
    (void)user;
    stand_still();
    return false;
}

static void on_items(void *user, int thread, size_t from, size_t until)
{
    (void)thread;
    (void)from;
    if (atomic_fetch_add(&calls, 1) == 0)
        while (atomic_load(&calls) < 2) sched_yield(); /* for another thread */
    atomic_fetch_add((atomic_int *)user, (int)(until - from));
}

static void log_line(void)
{
    gls_log(GLS_LOG_WARNING, "a line");
}

static void read_pipe(void)
{
    gls_image *image = NULL;
    int ends[2];
    char name[64];
    if (pipe(ends) != 0) return;
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    if (gls_image_read(name, GLS_IMAGE_ANY, &image) == GLS_OK) gls_image_destroy(image);
    close(ends[0]);
    close(ends[1]);
}

static void share_items(void)
{
    atomic_int seen = 0;
    atomic_store(&calls, 0);
    gls_parallel(100, 1, 2, on_items, &seen);
    if (atomic_load(&in_copy) && atomic_load(&seen) == 100) atomic_fetch_add(&asked, 1);
}

static void *work(void *user)
{
    (*(void (**)(void))user)();
    return NULL;
}

/* A copy calls the function, which returns. */
static void check_copy(void (*function)(void))
{
    int status;
    pid_t copy = fork();
    if (copy == 0) {
        alarm(20);
        atomic_store(&in_copy, true);
        atomic_store(&asked, 0);
        function();
        _exit(atomic_load(&asked) == 1 ? 42 : 1);
    }
    assert_int_equal(waitpid(copy, &status, 0), copy);
    assert_false(WIFSIGNALED(status));
    assert_int_equal(WEXITSTATUS(status), 42);
}

/* The same while another thread is in a callback of that function. */
static void check(void (*function)(void))
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, work, &function), 0);
    pthread_barrier_wait(&reached);
    check_copy(function);
    pthread_barrier_wait(&copied);
    pthread_join(thread, NULL);
}

static void test_log(void **state)
{
    (void)state;
    gls_log_set(on_log, NULL, GLS_LOG_WARNING);
    check(log_line);
    gls_log_set(NULL, NULL, GLS_LOG_ERROR);
}

static void test_wait(void **state)
{
    (void)state;
    gls_set_wait(on_wait, NULL);
    check(read_pipe);
    gls_set_wait(NULL, NULL);
}

static void test_parallel(void **state)
{
    (void)state;
    /* starts the thread that a copy does not have; AddressSanitizer waits forever in copies made while a thread starts,
     * so it is one thread alone, which has taken an item */
    share_items();
    check_copy(share_items);
}

static bool no_line(void *user, const char *line)
{
    (void)user, (void)line;
    return false;
}

/* Crashes a child process: raises the signal, which ends it although the program catches or ignores that signal. */
static void raise_signal(void *user, int fd)
{
    (void)fd;
    raise(*(int *)user);
}

static void on_signal(int number)
{
    (void)number;
}

/* A child ends by each signal that its driver or the terminal sends, whatever the program does with the signal. */
static void test_signals(void **state)
{
    (void)state;
    int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGSEGV, SIGABRT, SIGTRAP};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        for (int ignores = 0; ignores < 2; ignores++) {
            void (*before)(int) = signal(signals[i], ignores ? SIG_IGN : on_signal);
            gls_child child;
            assert_true(gls_child_fork(&child, true, raise_signal, &signals[i]));
            signal(signals[i], before);
            const gls_child_end end = gls_child_attend(&child, 20, no_line, NULL);
            assert_false(end.late);
            assert_int_equal(end.signal, signals[i]);
        }
}

int main(void)
{
    pthread_barrier_init(&reached, NULL, 2);
    pthread_barrier_init(&copied, NULL, 2);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_wait),
        cmocka_unit_test(test_parallel),
        cmocka_unit_test(test_signals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
