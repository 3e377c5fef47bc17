/* Files that are read: waiting for a pipe without a writer, or for a silent one, ends when the program asks for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/file.h"

static char path[64];
static atomic_int asked, patience;
static atomic_bool stopped;

static bool few_times(void *user)
{
    (void)user;
    return atomic_fetch_add(&asked, 1) < atomic_load(&patience);
}

static bool until_stopped(void *user)
{
    (void)user;
    return !atomic_load(&stopped);
}

static int setup(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/glslines_input_%d", (int)getpid());
    unlink(path);
    atomic_store(&asked, 0);
    atomic_store(&patience, 3);
    atomic_store(&stopped, false);
    return mkfifo(path, 0600);
}

static int teardown(void **state)
{
    (void)state;
    gls_set_wait(NULL, NULL);
    unlink(path);
    return 0;
}

static gls_status read_some(size_t *got)
{
    gls_input input;
    char text[16];
    assert_int_equal(gls_input_open(path, &input), GLS_OK);
    assert_false(input.regular);
    gls_status status = gls_input_read(&input, text, sizeof text, got);
    gls_input_close(&input);
    assert_int_equal(input.fd, -1);
    return status;
}

static void test_no_writer(void **state)
{
    (void)state;
    size_t got = 99;
    gls_set_wait(few_times, NULL);
    assert_int_equal(read_some(&got), GLS_ERR_CANCELLED);
    assert_non_null(strstr(gls_last_error(), path));
    assert_int_equal(got, 99);
    assert_int_equal(atomic_load(&asked), 4);
}

static void test_silent_writer(void **state)
{
    (void)state;
    char *text = NULL;
    size_t n = 0;
    int writer = open(path, O_RDWR | O_CLOEXEC);
    assert_true(writer >= 0);
    assert_true(gls_fd_write(writer, "some", 4));
    gls_set_wait(few_times, NULL);
    /* bytes that have come already do not count, because the file is not complete */
    assert_int_equal(gls_file_read(path, 100, &text, &n), GLS_ERR_CANCELLED);
    assert_null(text);
    close(writer);
}

static void *write_slowly(void *user)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    (void)user;
    for (int i = 0; i < 3 && fd >= 0; i++) {
        usleep(150000); /* longer than the interval between two calls of the function */
        gls_fd_write(fd, "abc", 3);
    }
    if (fd >= 0) close(fd);
    return NULL;
}

static void test_late_writer(void **state)
{
    (void)state;
    pthread_t writer;
    gls_wait_callback ask[] = {NULL, until_stopped};
    for (size_t i = 0; i < 2; i++) {
        char *text = NULL;
        size_t n = 0;
        gls_set_wait(ask[i], NULL);
        assert_int_equal(pthread_create(&writer, NULL, write_slowly, NULL), 0);
        assert_int_equal(gls_file_read(path, 100, &text, &n), GLS_OK);
        assert_int_equal(n, 9);
        assert_string_equal(text, "abcabcabc");
        gls_free(text);
        pthread_join(writer, NULL);
    }
}

static bool no_longer(void *user)
{
    return !atomic_load((atomic_bool *)user);
}

static void *stop_soon(void *user)
{
    usleep(250000);
    gls_set_wait(no_longer, user); /* the wait began long ago, and there is no function to call */
    return NULL;
}

static void test_set_during_wait(void **state)
{
    (void)state;
    static atomic_bool over = true;
    pthread_t setter;
    size_t got = 99;
    assert_int_equal(pthread_create(&setter, NULL, stop_soon, &over), 0);
    assert_int_equal(read_some(&got), GLS_ERR_CANCELLED);
    assert_int_equal(got, 99);
    pthread_join(setter, NULL);
}

static void stop_on(int number)
{
    (void)number;
    atomic_store(&stopped, true);
}

static void nothing(int number)
{
    (void)number;
}

static void *signal_twice(void *user)
{
    pthread_t *reader = user;
    usleep(100000);
    pthread_kill(*reader, SIGUSR1); /* this signal does not end the wait */
    usleep(250000);
    pthread_kill(*reader, SIGUSR2);
    return NULL;
}

/* Whether the handlers have system calls go on (SA_RESTART) makes no difference. */
static void test_signals(void **state)
{
    (void)state;
    const int flags[] = {0, SA_RESTART};
    for (size_t i = 0; i < 2; i++) {
        struct sigaction idle = {.sa_handler = nothing, .sa_flags = flags[i]};
        struct sigaction end = {.sa_handler = stop_on, .sa_flags = flags[i]};
        pthread_t self = pthread_self(), sender;
        size_t got = 0;
        atomic_store(&stopped, false);
        sigaction(SIGUSR1, &idle, NULL);
        sigaction(SIGUSR2, &end, NULL);
        gls_set_wait(until_stopped, NULL);
        assert_int_equal(pthread_create(&sender, NULL, signal_twice, &self), 0);
        assert_int_equal(read_some(&got), GLS_ERR_CANCELLED);
        assert_true(atomic_load(&stopped));
        pthread_join(sender, NULL);
    }
}

static void test_kinds(void **state)
{
    (void)state;
    gls_input input;
    uint64_t bytes = 1;
    char text[8] = "";
    size_t got = 0;
    int fd = 7;
    assert_int_equal(gls_regular_open(path, &fd, &bytes), GLS_ERR_INPUT);
    assert_int_equal(fd, -1);
    assert_int_equal(gls_regular_open("/dev/null", &fd, &bytes), GLS_ERR_INPUT);
    unlink(path);
    assert_int_equal(gls_input_open(path, &input), GLS_ERR_INPUT);
    assert_int_equal(input.fd, -1);
    gls_input_close(&input);
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(gls_fd_write(fd, "12345", 5));
    close(fd);
    gls_set_wait(few_times, NULL); /* a regular file is never waited for */
    assert_int_equal(gls_input_open(path, &input), GLS_OK);
    assert_true(input.regular);
    assert_int_equal(input.bytes, 5);
    assert_int_equal(gls_input_read(&input, text, sizeof text, &got), GLS_OK);
    assert_int_equal(got, 5);
    assert_memory_equal(text, "12345", 5);
    assert_int_equal(atomic_load(&asked), 0);
    gls_input_close(&input);
    assert_int_equal(gls_regular_open(path, &fd, &bytes), GLS_OK);
    assert_int_equal(bytes, 5);
    assert_int_equal(gls_regular_read(path, fd, 3, text, 2), GLS_OK);
    assert_memory_equal(text, "45", 2);
    assert_int_equal(gls_regular_read(path, fd, 3, text, 3), GLS_ERR_INPUT);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_no_writer, setup, teardown),
        cmocka_unit_test_setup_teardown(test_silent_writer, setup, teardown),
        cmocka_unit_test_setup_teardown(test_late_writer, setup, teardown),
        cmocka_unit_test_setup_teardown(test_set_during_wait, setup, teardown),
        cmocka_unit_test_setup_teardown(test_signals, setup, teardown),
        cmocka_unit_test_setup_teardown(test_kinds, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
