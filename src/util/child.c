/* Runs work that may crash or hang in a child process and reads the lines that it writes. */
#include "util/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/clock.h"

/* Time that a child has to end after SIGTERM, seconds. */
#define GRACE 5

/* Exit handler of the child, which ends the child before the exit handlers of the parent would run: the child must not
 * flush or close what belongs to the parent. */
static void leave(void)
{
    _exit(1);
}

/* Prepares the child: it dies with its parent, handles signals in the default way, leaves no core file and writes
 * nothing to standard output; if quiet, nothing to standard error. */
static void begin_copy(pid_t parent, bool quiet)
{
    static const int handled[] = {SIGINT,  SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGSEGV, SIGBUS,
                                  SIGABRT, SIGFPE,  SIGILL, SIGPIPE, SIGTRAP, SIGSYS};
    const struct rlimit no_core = {0, 0};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* the parent may have ended before prctl() */
    if (getppid() != parent) _exit(1);
    for (size_t i = 0; i < sizeof handled / sizeof *handled; i++) signal(handled[i], SIG_DFL);
    setrlimit(RLIMIT_CORE, &no_core);
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere >= 0) dup2(nowhere, 1);
    if (nowhere >= 0 && quiet) dup2(nowhere, 2);
    atexit(leave);
}

bool gls_child_fork(gls_child *child, bool quiet, void (*work)(void *user, int fd), void *user)
{
    int ends[2];
    pid_t parent = getpid();
    child->go_on = NULL;
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    child->pid = fork();
    if (child->pid == 0) {
        begin_copy(parent, quiet);
        close(ends[0]);
        work(user, ends[1]);
        /* exit without exit handlers and without flushing buffers, because they belong to the parent */
        _exit(0);
    }
    close(ends[1]);
    child->fd = ends[0];
    if (child->pid > 0) return true;
    close(ends[0]);
    return false;
}

bool gls_child_spawn(gls_child *child, char *const *arguments, char *const *environment)
{
    int ends[2];
    posix_spawn_file_actions_t actions;
    child->go_on = NULL;
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    errno = posix_spawn(&child->pid, "/proc/self/exe", &actions, NULL, arguments, environment);
    bool started = errno == 0;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    child->fd = ends[0];
    if (!started) close(ends[0]);
    return started;
}

/* Reads lines until the child closes its end of the pipe; text behind the last line end is dropped. Returns false when
 * the time is over, or poll() fails. */
static bool read_lines(const gls_child *child, double seconds, gls_child_line line, void *user)
{
    char text[8192];
    size_t used = 0;
    const int fd = child->fd;
    double end = gls_clock_seconds() + seconds;
    for (bool asked = child->go_on;;) {
        struct pollfd waiting = {.fd = fd, .events = POLLIN};
        if (asked && !child->go_on()) {
            kill(child->pid, SIGTERM);
            asked = false;
            end = gls_clock_seconds() + GRACE;
        }
        double left = end - gls_clock_seconds();
        if (left <= 0) return false;
        int ready = poll(&waiting, 1, asked ? 100 : (int)(left * 1000) + 1);
        if (ready < 0 && errno != EINTR) return false;
        if (ready <= 0) continue;
        ssize_t n = read(fd, text + used, sizeof text - 1 - used);
        if (n <= 0) return true;
        used += (size_t)n;
        /* hand every whole line to the caller, and move the rest to the front */
        text[used] = '\0';
        char *at = text, *stop;
        while ((stop = strchr(at, '\n'))) {
            *stop = '\0';
            if (line(user, at)) end = gls_clock_seconds() + seconds;
            at = stop + 1;
        }
        used = strlen(at);
        memmove(text, at, used + 1);
        if (used == sizeof text - 1) used = 0; /* drop the start of an overlong line: no caller needs such lines */
    }
}

gls_child_end gls_child_attend(gls_child *child, double seconds, gls_child_line line, void *user)
{
    int state = 0;
    gls_child_end end = {.late = !read_lines(child, seconds, line, user)};
    close(child->fd);
    /* a child whose time is over may hang in a driver, where only SIGKILL ends it */
    if (end.late) kill(child->pid, SIGKILL);
    pid_t waited;
    while ((waited = waitpid(child->pid, &state, 0)) < 0 && errno == EINTR) continue;
    /* where the calling program ignores SIGCHLD, the system forgets how the child ended */
    if (waited < 0) end.code = -1;
    if (WIFSIGNALED(state)) end.signal = WTERMSIG(state);
    if (waited > 0 && WIFEXITED(state)) end.code = WEXITSTATUS(state);
    return end;
}
