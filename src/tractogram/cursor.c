/* Reads a part of a file from front to back, decompressed on the way if it is deflated. */
#include "tractogram/cursor.h"
#include "tractogram/readers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "util/file.h"
#include "util/status.h"

/* Bytes of the buffer of a cursor. */
#define BUFFER_BYTES ((size_t)256 << 10)
/* Number of compressed bytes that are read at a time. */
#define INPUT_BYTES ((size_t)64 << 10)

/* State of inflate for one cursor, with its buffer of compressed bytes. */
typedef struct unpacker {
    /* state of zlib */
    z_stream stream;
    /* true: inflate has seen the end of the deflated data */
    bool ended;
    /* compressed bytes from the file */
    unsigned char input[INPUT_BYTES];
} unpacker;

/* Allocates the buffer: small if little is left to read, because a file may have hundreds of small arrays. */
static gls_status make_buffer(gls_cursor *c)
{
    free(c->buffer);
    c->capacity = c->left < BUFFER_BYTES ? (size_t)c->left : BUFFER_BYTES;
    c->buffer = malloc(c->capacity + 1);
    return c->buffer ? GLS_OK : gls_fail(GLS_ERR_MEMORY, "%s: out of memory", c->path);
}

gls_status gls_cursor_init(gls_cursor *c, const char *path, int fd, uint64_t at, uint64_t end)
{
    *c = (gls_cursor){.path = path, .fd = fd, .at = at, .end = end, .left = end - at};
    return make_buffer(c);
}

gls_status gls_cursor_unpack(gls_cursor *c, uint64_t bytes)
{
    unpacker *u = calloc(1, sizeof *u);
    if (!u || inflateInit2(&u->stream, -MAX_WBITS) != Z_OK) {
        free(u);
        return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", c->path);
    }
    c->unpacker = u;
    c->left = bytes;
    return make_buffer(c);
}

void gls_cursor_finish(gls_cursor *c)
{
    unpacker *u = c->unpacker;
    if (u) inflateEnd(&u->stream);
    free(u);
    if (c->buffer && c->owns_fd) close(c->fd);
    free(c->buffer);
    *c = (gls_cursor){.fd = -1};
}

uint64_t gls_cursor_left(const gls_cursor *c)
{
    return c->left + (c->n - c->next);
}

/* Reads the next bytes of the file, compressed or not. */
static gls_status read_file(gls_cursor *c, void *data, size_t bytes)
{
    gls_status status = gls_regular_read(c->path, c->fd, c->at, data, bytes);
    if (!status) c->at += bytes;
    return status;
}

/* Unpacks `bytes` bytes. GLS_ERR_INPUT if the deflated data are damaged, or end too early. */
static gls_status unpack(gls_cursor *c, void *data, size_t bytes)
{
    unpacker *u = c->unpacker;
    u->stream.next_out = data;
    u->stream.avail_out = (unsigned)bytes;
    do {
        /* the compressed bytes in memory are used up: read the next bytes of the file */
        if (u->stream.avail_in == 0 && c->at < c->end) {
            size_t n = c->end - c->at < INPUT_BYTES ? (size_t)(c->end - c->at) : INPUT_BYTES;
            gls_status status = read_file(c, u->input, n);
            if (status) return status;
            u->stream.next_in = u->input;
            u->stream.avail_in = (unsigned)n;
        }
        int result = inflate(&u->stream, Z_NO_FLUSH);
        u->ended = result == Z_STREAM_END;
        if (result == Z_MEM_ERROR) return gls_fail(GLS_ERR_MEMORY, "%s: out of memory", c->path);
        if (u->ended || result != Z_OK) break;
    } while (u->stream.avail_out > 0);
    if (u->stream.avail_out > 0)
        return gls_fail(GLS_ERR_INPUT, "%s: damaged: its compressed data are not valid, or end too early", c->path);
    return GLS_OK;
}

bool gls_cursor_ends(gls_cursor *c)
{
    unpacker *u = c->unpacker;
    /* ask for one byte more than the entry promises: if the deflated data end there, inflate gives none and reports the
     * end */
    unsigned char more;
    if (!u || u->ended) return true;
    return unpack(c, &more, 1) != GLS_OK && u->ended;
}

gls_status gls_cursor_fill(gls_cursor *c, size_t bytes)
{
    if (c->n - c->next >= bytes || c->left == 0) return GLS_OK;
    /* unread bytes move to the front, and the rest of the buffer is filled */
    memmove(c->buffer, c->buffer + c->next, c->n - c->next);
    c->n -= c->next;
    c->next = 0;
    size_t room = c->capacity - c->n, n = c->left < room ? (size_t)c->left : room;
    gls_status status = c->unpacker ? unpack(c, c->buffer + c->n, n) : read_file(c, c->buffer + c->n, n);
    if (status) return status;
    if (c->checked) c->crc = gls_crc32(c->crc, c->buffer + c->n, n);
    c->n += n;
    c->left -= n;
    return GLS_OK;
}

gls_status gls_cursor_ended(const gls_cursor *c)
{
    /* in deflated data the position in the file means nothing to a user */
    if (c->unpacker) return gls_fail(GLS_ERR_INPUT, "%s: truncated or damaged: its data end too early", c->path);
    return gls_fail(GLS_ERR_INPUT, "%s: truncated or damaged: its data end too early, at byte %" PRIu64, c->path,
                    c->end);
}

gls_status gls_cursor_read(gls_cursor *c, void *data, size_t bytes)
{
    char *to = data;
    if (bytes > gls_cursor_left(c)) return gls_cursor_ended(c);
    while (bytes > 0) {
        if (c->next == c->n) {
            gls_status status = gls_cursor_fill(c, 1);
            if (status) return status;
        }
        size_t n = c->n - c->next < bytes ? c->n - c->next : bytes;
        memcpy(to, c->buffer + c->next, n);
        c->next += n;
        to += n;
        bytes -= n;
    }
    return GLS_OK;
}
