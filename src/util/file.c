#include "util/file.h"
#include "util/status.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Linux moves at most 0x7ffff000 bytes in one call; smaller pieces keep interruptions short. */
#define MAX_PIECE ((size_t)1 << 30)

bool gls_fd_write(int fd, const void *data, size_t bytes)
{
    const char *p = data;
    while (bytes > 0) {
        ssize_t n = write(fd, p, bytes < MAX_PIECE ? bytes : MAX_PIECE);
        if (n < 0 && errno == EINTR) continue;
        if (n == 0) errno = ENOSPC;
        if (n <= 0) return false;
        p += n;
        bytes -= (size_t)n;
    }
    return true;
}

int64_t gls_fd_read(int fd, void *data, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) {
        size_t piece = bytes - done < MAX_PIECE ? bytes - done : MAX_PIECE;
        ssize_t n = read(fd, (char *)data + done, piece);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        if (n == 0) break;
        done += (size_t)n;
    }
    return (int64_t)done;
}

gls_status gls_file_read(const char *path, size_t max_bytes, char **data, size_t *n)
{
    gls_status status = GLS_OK;
    size_t capacity = 1 << 16, used = 0;
    char *text = NULL;
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return gls_fail(GLS_ERR_INPUT, "%s: cannot open: %s", path, strerror(errno));
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        if ((uint64_t)st.st_size > max_bytes) {
            status = gls_fail(GLS_ERR_INPUT, "%s: too large: %lld bytes, at most %zu expected", path,
                              (long long)st.st_size, max_bytes);
            goto fail;
        }
        capacity = (size_t)st.st_size + 1;
    }
    for (;;) {
        char *grown = realloc(text, capacity + 1);
        if (!grown) {
            status = gls_fail(GLS_ERR_MEMORY, "%s: no memory for %zu bytes", path, capacity);
            goto fail;
        }
        text = grown;
        int64_t got = gls_fd_read(fd, text + used, capacity - used);
        if (got < 0) {
            status = gls_fail(GLS_ERR_INPUT, "%s: cannot read: %s", path, strerror(errno));
            goto fail;
        }
        used += (size_t)got;
        if (used < capacity) break;
        if (used > max_bytes) {
            status = gls_fail(GLS_ERR_INPUT, "%s: too large: more than %zu bytes", path, max_bytes);
            goto fail;
        }
        capacity *= 2;
    }
    close(fd);
    text[used] = '\0';
    *data = text;
    *n = used;
    return GLS_OK;
fail:
    close(fd);
    free(text);
    return status;
}
