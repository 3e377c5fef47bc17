/* Opens and reads files and pipes without blocking for ever. */
#include "util/file.h"
#include "util/threads.h"
#include "util/status.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Milliseconds between two questions to the host whether to go on waiting. */
#define WAIT_MS 100
/* Linux moves at most 0x7ffff000 bytes in one call; smaller pieces keep interruptions short. */
#define MAX_PIECE ((size_t)1 << 30)

/* The callback of gls_set_wait(), for all threads. */
static struct {
    pthread_mutex_t lock; /* held while the callback runs, too */
    gls_wait_callback go_on;
    void *user;
} host = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Renews the lock in a child process, where it may be held by a thread that only the parent has. */
static void renew(void)
{
    host.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}
GLS_IN_COPIES(renew)

void gls_set_wait(gls_wait_callback go_on, void *user)
{
    pthread_mutex_lock(&host.lock);
    host.go_on = go_on;
    host.user = user;
    pthread_mutex_unlock(&host.lock);
}

/* Asks the host whether to go on waiting; without a callback: yes. */
static bool host_goes_on(void)
{
    pthread_mutex_lock(&host.lock);
    bool go_on = !host.go_on || host.go_on(host.user);
    pthread_mutex_unlock(&host.lock);
    return go_on;
}

/* Opens a file or pipe for reading. Returns its descriptor, or -1 with errno set. */
static int open_for_reading(const char *path)
{
    /* O_NONBLOCK: opening a pipe without a writer must not block */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    /* EWOULDBLOCK: another program holds a lease on the regular file. Opening without O_NONBLOCK waits until it
     * releases the lease. */
    if (fd < 0 && errno == EWOULDBLOCK) fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd;
}

gls_status gls_input_open(const char *path, gls_input *input)
{
    struct stat info;
    *input = (gls_input){.path = path, .fd = open_for_reading(path)};
    if (input->fd < 0) return gls_fail(GLS_ERR_INPUT, "%s: cannot open: %s", path, strerror(errno));
    input->regular = fstat(input->fd, &info) == 0 && S_ISREG(info.st_mode);
    if (input->regular) input->bytes = (uint64_t)info.st_size;
    return GLS_OK;
}

void gls_input_close(gls_input *input)
{
    if (input->fd >= 0) close(input->fd);
    input->fd = -1;
}

/* Returns the error for a failed read; errno is the reason. */
static gls_status cannot_read(const gls_input *input)
{
    return gls_fail(GLS_ERR_INPUT, "%s: cannot read: %s", input->path, strerror(errno));
}

/* Waits until bytes or the end of the input arrive; a pipe without a writer counts as waiting. poll() may miss a signal
 * that arrives just before it, and the host may change its mind without a signal, so the host is asked every tenth of a
 * second. */
static gls_status wait_for_bytes(const gls_input *input)
{
    struct pollfd ready = {.fd = input->fd, .events = POLLIN};
    for (int n = 0; n == 0;) {
        if (!host_goes_on())
            return gls_fail(GLS_ERR_CANCELLED, "interrupted while waiting for the data of %s", input->path);
        n = poll(&ready, 1, WAIT_MS);
        if (n < 0 && errno != EINTR && errno != EAGAIN) return cannot_read(input);
        if (n < 0) n = 0;
    }
    return GLS_OK;
}

gls_status gls_input_read(const gls_input *input, void *data, size_t bytes, size_t *got)
{
    size_t done = 0;
    while (done < bytes) {
        size_t piece = bytes - done < MAX_PIECE ? bytes - done : MAX_PIECE;
        gls_status status = input->regular ? GLS_OK : wait_for_bytes(input);
        if (status) return status;
        ssize_t n = read(input->fd, (char *)data + done, piece);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (n < 0) return cannot_read(input);
        if (n == 0) break;
        done += (size_t)n;
    }
    *got = done;
    return GLS_OK;
}

gls_status gls_regular_open(const char *path, int *fd, uint64_t *bytes)
{
    gls_input input;
    *fd = -1;
    gls_status status = gls_input_open(path, &input);
    if (status) return status;
    if (!input.regular) {
        gls_input_close(&input);
        return gls_fail(GLS_ERR_INPUT, "%s: is not a regular file: write the data to a regular file first", path);
    }
    *fd = input.fd;
    *bytes = input.bytes;
    return GLS_OK;
}

gls_status gls_regular_read(const char *path, int fd, uint64_t from, void *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t n = pread(fd, (char *)data + done, bytes - done, (off_t)(from + done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return gls_fail(GLS_ERR_INPUT, "%s: cannot read: %s", path, strerror(errno));
        if (n == 0) return gls_fail(GLS_ERR_INPUT, "%s: truncated: it ends too early", path);
        done += (size_t)n;
    }
    return GLS_OK;
}
