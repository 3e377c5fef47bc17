/* The UNIX socket on which the server of the window may listen. A server that was killed leaves its socket behind; no
 * other file is removed. */
#include "view/socket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "util/status.h"

bool gls_view_is_socket(const char *listen)
{
    return listen && strchr(listen, '/');
}

/* Whether no program listens on a socket. */
static bool is_left_over(const struct sockaddr_un *address)
{
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const bool left =
        fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof *address) != 0 && errno == ECONNREFUSED;
    if (fd >= 0) close(fd);
    return left;
}

gls_status gls_view_socket_make_way(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat entry;
    if (strlen(path) >= sizeof address.sun_path)
        return gls_fail(GLS_ERR_ARGUMENT, "--listen: %s: a socket may have a path of %zu bytes: give a shorter one",
                        path, sizeof address.sun_path - 1);
    memcpy(address.sun_path, path, strlen(path) + 1);
    if (lstat(path, &entry) != 0) return GLS_OK;
    if (!S_ISSOCK(entry.st_mode))
        return gls_fail(GLS_ERR_OUTPUT, "--listen: %s: exists and is no socket: give another path", path);
    if (!is_left_over(&address))
        return gls_fail(GLS_ERR_OUTPUT, "--listen: %s: another program listens there: give another path", path);
    if (unlink(path) != 0) return gls_fail(GLS_ERR_OUTPUT, "--listen: %s: %s: remove it", path, strerror(errno));
    return GLS_OK;
}
