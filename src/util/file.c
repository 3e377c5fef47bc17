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

gls_status gls_file_write(const char *path, bool overwrite, const void *data, size_t bytes)
{
    gls_output output;
    gls_status status = gls_output_create(path, overwrite, &output);
    if (status == GLS_OK) status = gls_output_write(&output, data, bytes);
    if (status == GLS_OK) return gls_output_commit(&output);
    gls_output_discard(&output);
    return status;
}

/* "dir/name" -> "dir/", "name" -> "": what goes before another name in the same directory. */
static int directory_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

/* A name beside path that nothing else uses at the same time. NULL: no memory. */
static char *temporary_name(const char *path, unsigned attempt)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int dir = directory_length(path);
    char *name = NULL;
    uint64_t unique = (uint64_t)now.tv_nsec * 2654435761u + (uint64_t)now.tv_sec + attempt;
    /* the final name is cut so that the temporary one never exceeds NAME_MAX */
    if (asprintf(&name, "%.*s.%.100s.%d-%llx.part", dir, path, path + dir, (int)getpid(),
                 (unsigned long long)(unique & 0xffffffffffu)) < 0)
        return NULL;
    return name;
}

/* A nameless file in the directory of path, or -1 where the file system cannot. A name is given later through /proc, so
 * that must be there too. */
static int open_nameless(const char *path)
{
#ifdef O_TMPFILE
    int dir = directory_length(path);
    char *folder = dir ? strndup(path, (size_t)dir) : strdup(".");
    int fd = folder && access("/proc/self/fd", X_OK) == 0 ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666) : -1;
    free(folder);
    return fd;
#else
    (void)path;
    return -1;
#endif
}

/* A file under a temporary name; -1 with errno set. */
static int open_named(const char *path, char **name)
{
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        *name = temporary_name(path, attempt);
        if (!*name) {
            errno = ENOMEM;
            return -1;
        }
        int fd = open(*name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) return fd;
        int reason = errno;
        free(*name);
        *name = NULL;
        errno = reason;
        if (reason != EEXIST) return -1;
    }
    return -1;
}

/* Checks what stands under the final name and stores its permissions; *replaced tells whether there is anything. */
static gls_status check_target(const char *path, bool overwrite, bool *replaced, mode_t *mode)
{
    struct stat st;
    *replaced = false;
    if (stat(path, &st) != 0) return GLS_OK;
    if (S_ISDIR(st.st_mode)) return gls_fail(GLS_ERR_OUTPUT, "%s: cannot create: is a directory", path);
    if (!S_ISREG(st.st_mode))
        return gls_fail(GLS_ERR_OUTPUT, "%s: cannot create: exists and is not a regular file", path);
    if (!overwrite) return gls_fail(GLS_ERR_OUTPUT, "%s: exists already and is not overwritten", path);
    if (access(path, W_OK) != 0) return gls_fail(GLS_ERR_OUTPUT, "%s: cannot overwrite: %s", path, strerror(errno));
    *replaced = true;
    *mode = st.st_mode & 07777;
    return GLS_OK;
}

gls_status gls_output_create(const char *path, bool overwrite, gls_output *output)
{
    *output = GLS_OUTPUT_NONE;
    bool replaced;
    mode_t mode = 0;
    gls_status status = check_target(path, overwrite, &replaced, &mode);
    if (status != GLS_OK) return status;
    output->overwrite = overwrite;
    output->path = replaced ? realpath(path, NULL) : strdup(path);
    if (!output->path) {
        gls_output_discard(output);
        return gls_fail(GLS_ERR_OUTPUT, "%s: cannot create: %s", path, strerror(errno));
    }
    output->fd = open_nameless(output->path);
    if (output->fd < 0) output->fd = open_named(output->path, &output->temporary);
    if (output->fd < 0) {
        int reason = errno;
        gls_output_discard(output);
        return gls_fail(GLS_ERR_OUTPUT, "%s: cannot create: %s", path, strerror(reason));
    }
    if (replaced && fchmod(output->fd, mode) != 0) {
        int reason = errno;
        gls_output_discard(output);
        return gls_fail(GLS_ERR_OUTPUT, "%s: cannot keep the permissions: %s", path, strerror(reason));
    }
    return GLS_OK;
}

gls_status gls_output_write(gls_output *output, const void *data, size_t bytes)
{
    if (gls_fd_write(output->fd, data, bytes)) return GLS_OK;
    return gls_fail(GLS_ERR_OUTPUT, "%s: cannot write: %s", output->path, strerror(errno));
}

gls_status gls_output_write_at(gls_output *output, uint64_t offset, const void *data, size_t bytes)
{
    const char *p = data;
    while (bytes > 0) {
        ssize_t n = pwrite(output->fd, p, bytes < MAX_PIECE ? bytes : MAX_PIECE, (off_t)offset);
        if (n < 0 && errno == EINTR) continue;
        if (n == 0) errno = ENOSPC;
        if (n <= 0) return gls_fail(GLS_ERR_OUTPUT, "%s: cannot write: %s", output->path, strerror(errno));
        p += n;
        offset += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return GLS_OK;
}

gls_status gls_output_truncate(gls_output *output, uint64_t bytes)
{
    if (ftruncate(output->fd, (off_t)bytes) == 0 && lseek(output->fd, (off_t)bytes, SEEK_SET) >= 0) return GLS_OK;
    return gls_fail(GLS_ERR_OUTPUT, "%s: cannot write: %s", output->path, strerror(errno));
}

/* Moves name to path; without overwrite never over an existing file. 0 or -1 with errno set. */
static int move_file(const char *name, const char *path, bool overwrite)
{
    if (overwrite) return rename(name, path);
    if (renameat2(AT_FDCWD, name, AT_FDCWD, path, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return -1;
    /* file systems without that flag */
    struct stat st;
    if (lstat(path, &st) == 0) {
        errno = EEXIST;
        return -1;
    }
    return rename(name, path);
}

/* Gives a nameless file its name; where another file has it, through a temporary name, since links never replace. */
static int link_file(gls_output *output)
{
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", output->fd);
    if (linkat(AT_FDCWD, self, AT_FDCWD, output->path, AT_SYMLINK_FOLLOW) == 0) return 0;
    if (errno != EEXIST || !output->overwrite) return -1;
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        free(output->temporary);
        output->temporary = temporary_name(output->path, attempt);
        if (!output->temporary) {
            errno = ENOMEM;
            return -1;
        }
        if (linkat(AT_FDCWD, self, AT_FDCWD, output->temporary, AT_SYMLINK_FOLLOW) == 0)
            return rename(output->temporary, output->path);
        if (errno != EEXIST) break;
    }
    int reason = errno;
    free(output->temporary);
    output->temporary = NULL;
    errno = reason;
    return -1;
}

gls_status gls_output_commit(gls_output *output)
{
    gls_status status = GLS_OK;
    int result;
    if (output->temporary) {
        /* some network file systems report a failed write only now */
        result = close(output->fd);
        output->fd = -1;
        if (result != 0)
            status = gls_fail(GLS_ERR_OUTPUT, "%s: cannot write: %s", output->path, strerror(errno));
        else
            result = move_file(output->temporary, output->path, output->overwrite);
    } else {
        result = link_file(output);
    }
    if (status == GLS_OK && result != 0) {
        if (errno == EEXIST)
            status = gls_fail(GLS_ERR_OUTPUT, "%s: exists already and is not overwritten", output->path);
        else
            status = gls_fail(GLS_ERR_OUTPUT, "%s: cannot create: %s", output->path, strerror(errno));
    }
    if (status == GLS_OK) {
        free(output->temporary);
        output->temporary = NULL;
    }
    gls_output_discard(output);
    return status;
}

void gls_output_discard(gls_output *output)
{
    if (output->fd >= 0) close(output->fd);
    if (output->temporary) unlink(output->temporary);
    free(output->temporary);
    free(output->path);
    *output = GLS_OUTPUT_NONE;
}

gls_status gls_output_scratch(const gls_output *output, int *fd)
{
    *fd = open_nameless(output->path);
    if (*fd >= 0) return GLS_OK;
    char *name = NULL;
    *fd = open_named(output->path, &name);
    if (*fd < 0)
        return gls_fail(GLS_ERR_OUTPUT, "%s: cannot create a temporary file beside it: %s", output->path,
                        strerror(errno));
    unlink(name);
    free(name);
    return GLS_OK;
}
