/* Bytes that can be written to the output only later: they wait in a buffer and, if it is too small, in a scratch
 * file. */
#include "tractogram/spool.h"
#include "util/file.h"
#include "util/output_file.h"
#include "util/status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Bytes that stay in memory; most runs need no scratch file. */
#define BUFFER_BYTES ((size_t)256 << 10)

gls_status gls_spool_init(gls_spool *s, const gls_output *output)
{
    *s = (gls_spool){.output = output, .fd = -1, .buffer = malloc(BUFFER_BYTES)};
    return s->buffer ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "%s: out of memory", output->path);
}

void gls_spool_finish(gls_spool *s)
{
    if (!s->buffer) return;
    if (s->fd >= 0) close(s->fd);
    free(s->buffer);
    s->buffer = NULL;
}

/* Moves the buffer to the scratch file, which is made at the first call. */
static gls_status flush(gls_spool *s)
{
    if (s->fd < 0) {
        gls_status status = gls_output_scratch(s->output, &s->fd);
        if (status) return status;
    }
    if (!gls_fd_write(s->fd, s->buffer, s->n))
        return gls_fail(GLS_ERR_OUTPUT, "%s: cannot write a temporary file beside it: %s", s->output->path,
                        strerror(errno));
    s->n = 0;
    return GLS_OK;
}

gls_status gls_spool_append(gls_spool *s, const void *data, size_t bytes)
{
    s->bytes += bytes;
    while (bytes > 0) {
        size_t room = BUFFER_BYTES - s->n, n = bytes < room ? bytes : room;
        memcpy(s->buffer + s->n, data, n);
        s->n += n;
        data = (const char *)data + n;
        bytes -= n;
        /* more bytes wait, so the buffer is full */
        if (bytes > 0) {
            gls_status status = flush(s);
            if (status) return status;
        }
    }
    return GLS_OK;
}

gls_status gls_spool_rewind(gls_spool *s)
{
    if (s->fd >= 0) {
        gls_status status = flush(s);
        if (status) return status;
        if (lseek(s->fd, 0, SEEK_SET) != 0)
            return gls_fail(GLS_ERR_OUTPUT, "%s: cannot read a temporary file beside it: %s", s->output->path,
                            strerror(errno));
    }
    s->n = 0; /* from now on n is the reading position in the buffer */
    return GLS_OK;
}

gls_status gls_spool_read(gls_spool *s, void *data, size_t bytes)
{
    /* everything is in the buffer */
    if (s->fd < 0) {
        memcpy(data, s->buffer + s->n, bytes);
        s->n += bytes;
        return GLS_OK;
    }
    int64_t got = gls_fd_read(s->fd, data, bytes);
    if (got == (int64_t)bytes) return GLS_OK;
    return gls_fail(GLS_ERR_OUTPUT, "%s: cannot read a temporary file beside it: %s", s->output->path,
                    got < 0 ? strerror(errno) : "it is too short");
}

gls_status gls_spool_read_at(const gls_spool *s, uint64_t from, void *data, size_t bytes)
{
    if (s->fd < 0) {
        memcpy(data, s->buffer + from, bytes);
        return GLS_OK;
    }
    for (size_t done = 0; done < bytes;) {
        ssize_t n = pread(s->fd, (char *)data + done, bytes - done, (off_t)(from + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0)
            return gls_fail(GLS_ERR_OUTPUT, "%s: cannot read a temporary file beside it: %s", s->output->path,
                            n < 0 ? strerror(errno) : "it is too short");
        done += (size_t)n;
    }
    return GLS_OK;
}
