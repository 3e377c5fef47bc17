#include "tractogram/cursor.h"
#include "util/crc.h"
#include "util/status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_BYTES ((size_t)256 << 10)

gls_status gls_cursor_init(gls_cursor *c, const char *path, int fd, uint64_t at, uint64_t end)
{
    *c = (gls_cursor){.path = path, .fd = fd, .at = at, .end = end, .buffer = malloc(BUFFER_BYTES)};
    return c->buffer ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "%s: no memory", path);
}

void gls_cursor_finish(gls_cursor *c)
{
    free(c->buffer);
    c->buffer = NULL;
}

uint64_t gls_cursor_left(const gls_cursor *c)
{
    return c->end - c->at + (c->n - c->next);
}

static gls_status refill(gls_cursor *c)
{
    uint64_t left = c->end - c->at;
    size_t bytes = left < BUFFER_BYTES ? (size_t)left : BUFFER_BYTES;
    for (c->next = c->n = 0; c->n < bytes;) {
        ssize_t got = pread(c->fd, c->buffer + c->n, bytes - c->n, (off_t)(c->at + c->n));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return gls_fail(GLS_ERR_INPUT, "%s: cannot read: %s", c->path, strerror(errno));
        if (got == 0) return gls_fail(GLS_ERR_INPUT, "%s: truncated while it was read", c->path);
        c->n += (size_t)got;
    }
    c->at += c->n;
    c->crc = gls_crc32(c->crc, c->buffer, c->n);
    return GLS_OK;
}

gls_status gls_cursor_read(gls_cursor *c, void *data, size_t bytes)
{
    char *to = data;
    if (bytes > gls_cursor_left(c))
        return gls_fail(GLS_ERR_INPUT, "%s: truncated or damaged: its data end too early", c->path);
    while (bytes > 0) {
        if (c->next == c->n) {
            gls_status status = refill(c);
            if (status != GLS_OK) return status;
        }
        size_t n = c->n - c->next < bytes ? c->n - c->next : bytes;
        memcpy(to, c->buffer + c->next, n);
        c->next += n;
        to += n;
        bytes -= n;
    }
    return GLS_OK;
}
