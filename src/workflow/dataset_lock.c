/* Locks between processes that write the same output of a data set. */
#include "workflow/dataset_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/status.h"

/* Whether the locked file still has its name. The previous holder may have removed it. */
static bool has_name(int fd, const char *path)
{
    struct stat open_one, named;
    return fstat(fd, &open_one) == 0 && stat(path, &named) == 0 && open_one.st_dev == named.st_dev &&
           open_one.st_ino == named.st_ino;
}

gls_status gls_dataset_lock(const char *path, bool wait, int *fd)
{
    /* again if the file was removed between open() and the lock: a lock on a nameless file locks nobody out */
    for (;;) {
        struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (*fd < 0) return gls_fail(GLS_ERR_OUTPUT, "%s: cannot be made: %s", path, strerror(errno));
        int result;
        /* locks of the open file, not of the process: they also hold between threads, and last until the file is
         * closed */
        do result = fcntl(*fd, wait ? F_OFD_SETLKW : F_OFD_SETLK, &whole);
        while (result != 0 && errno == EINTR);
        if (result != 0 && (errno == EAGAIN || errno == EACCES)) {
            close(*fd);
            *fd = -1;
            return GLS_OK;
        }
        if (result != 0)
            gls_log(GLS_LOG_WARNING, "%s: cannot be locked (%s): no other run may work on it now", path,
                    strerror(errno));
        if (result != 0 || has_name(*fd, path)) return GLS_OK;
        close(*fd);
    }
}

void gls_dataset_unlock(const char *path, int fd)
{
    struct stat info;
    if (fd < 0) return;
    if (fstat(fd, &info) == 0 && info.st_size == 0) unlink(path); /* Unlink while the lock is held. */
    close(fd);
}
