/* Streams of bytes from files, decompressed on the way. */
#include "image/stream.h"
#include "image/formats.h"
#include "image/gzip_pieces.h"

#include <omp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "util/status.h"

/* --- Unpacking gzip members, by ISA-L if the build has it, which is several times as fast, else by zlib. */

typedef struct gls_inflater gls_inflater;

typedef struct gls_inflate_buffers {
    const unsigned char *in;
    size_t n_in; /* number of bytes of input; `in` and n_in move past what was read */
    unsigned char *out;
    size_t n_out; /* number of bytes of memory for output; `out` and n_out move past what was written */
} gls_inflate_buffers;

typedef enum gls_inflate_result {
    GLS_INFLATE_MORE, /* the call ended because all input is used, or the output is full */
    GLS_INFLATE_END,  /* the call ended at the end of the member, whose checksum is correct if it was verified; bytes
                         after the member stay in the input */
    GLS_INFLATE_DAMAGED,
    GLS_INFLATE_MEMORY,
} gls_inflate_result;

static void inflater_reset(gls_inflater *i);

/* Number of bytes of a buffer that one call processes, because the libraries count in 32 bits. */
static uint32_t portion(size_t n)
{
    return n < ((size_t)1 << 30) ? (uint32_t)n : (uint32_t)1 << 30;
}

#ifdef GLS_HAVE_ISAL

#include <isa-l/igzip_lib.h>

struct gls_inflater {
    struct inflate_state state;
};

/* Returns NULL if memory runs out. */
static gls_inflater *inflater_create(void)
{
    gls_inflater *i = malloc(sizeof *i);
    if (i) inflater_reset(i);
    return i;
}

static void inflater_destroy(gls_inflater *i)
{
    free(i);
}

/* Prepares the inflater for the next gzip member. */
static void inflater_reset(gls_inflater *i)
{
    isal_inflate_init(&i->state);
    i->state.crc_flag = ISAL_GZIP;
}

/* Returns words for a message from a result of ISA-L. */
static const char *reason_of(int result)
{
    switch (result) {
    case ISAL_INVALID_BLOCK: return "invalid block";
    case ISAL_INVALID_SYMBOL: return "invalid symbol";
    case ISAL_INVALID_LOOKBACK: return "invalid distance";
    case ISAL_INVALID_WRAPPER: return "invalid header";
    case ISAL_UNSUPPORTED_METHOD: return "unknown compression method";
    case ISAL_INCORRECT_CHECKSUM: return "incorrect data check";
    default: return "invalid stream";
    }
}

/* Unpacks until the input is used up, the output is full or the member ends. Output may be pending when the input is
 * used up. *reason: what is damaged, a constant text. */
static gls_inflate_result inflater_run(gls_inflater *i, gls_inflate_buffers *b, const char **reason)
{
    struct inflate_state *s = &i->state;
    uint32_t n_in = portion(b->n_in), n_out = portion(b->n_out);
    s->next_in = (uint8_t *)(uintptr_t)b->in; /* the library only reads it */
    s->avail_in = n_in;
    s->next_out = b->out;
    s->avail_out = n_out;
    int result = isal_inflate(s);
    b->in = s->next_in;
    b->n_in -= n_in - s->avail_in;
    b->out = s->next_out;
    b->n_out -= n_out - s->avail_out;
    if (result < 0 || result == ISAL_NEED_DICT) {
        *reason = reason_of(result);
        return GLS_INFLATE_DAMAGED;
    }
    return s->block_state == ISAL_BLOCK_FINISH ? GLS_INFLATE_END : GLS_INFLATE_MORE;
}

#else

struct gls_inflater {
    z_stream z;
};

static gls_inflater *inflater_create(void)
{
    gls_inflater *i = calloc(1, sizeof *i);
    if (i && inflateInit2(&i->z, 15 + 16) != Z_OK) {
        free(i);
        i = NULL;
    }
    return i;
}

static void inflater_destroy(gls_inflater *i)
{
    if (!i) return;
    inflateEnd(&i->z);
    free(i);
}

static void inflater_reset(gls_inflater *i)
{
    inflateReset(&i->z);
}

static gls_inflate_result inflater_run(gls_inflater *i, gls_inflate_buffers *b, const char **reason)
{
    uint32_t n_in = portion(b->n_in), n_out = portion(b->n_out);
    i->z.next_in = (unsigned char *)(uintptr_t)b->in; /* the library only reads it */
    i->z.avail_in = n_in;
    i->z.next_out = b->out;
    i->z.avail_out = n_out;
    int result = inflate(&i->z, Z_NO_FLUSH);
    b->in = i->z.next_in;
    b->n_in -= n_in - i->z.avail_in;
    b->out = i->z.next_out;
    b->n_out -= n_out - i->z.avail_out;
    if (result == Z_STREAM_END) return GLS_INFLATE_END;
    if (result == Z_MEM_ERROR) return GLS_INFLATE_MEMORY;
    if (result == Z_OK || result == Z_BUF_ERROR) return GLS_INFLATE_MORE;
    *reason = i->z.msg ? i->z.msg : "invalid stream";
    return GLS_INFLATE_DAMAGED;
}
#endif

/* Bytes of compressed data that are read at a time. */
#define IN_BYTES ((size_t)256 << 10)
/* gzip data are verified to their end if the end lies at most this many bytes behind the values */
#define VERIFIED ((uint64_t)16 << 20)
/* Smallest number of wanted bytes for which several threads unpack pieces: fewer bytes may be a header, behind which
 * nothing is wanted. */
#define BYTES_FOR_PIECES ((size_t)128 << 10)

struct gls_stream {
    char *path;
    gls_input input;
    bool at_end;             /* true: the end of the gzip data was reached */
    bool file_ended;         /* true: all bytes of the file were read */
    gls_inflater *inflater;  /* NULL: the data are not compressed */
    int n_threads;           /* number of threads that may unpack */
    uint64_t n_unpacked;     /* number of bytes that the inflater unpacked */
    uint64_t n_read;         /* number of bytes that were read from the pieces */
    uint64_t pieces_at;      /* position in the file of the first member's data; 0: do not look for pieces */
    gls_gzip_pieces *pieces; /* pieces of the first member, while they are read; NULL: none */
    size_t in_pos, in_n;     /* the bytes in_pos .. in_n - 1 of `in` are not read yet */
    unsigned char in[IN_BYTES];
};

/* Reads the next bytes of the file into the buffer. */
static gls_status refill(gls_stream *s)
{
    size_t n = 0;
    gls_status status = gls_input_read(&s->input, s->in, IN_BYTES, &n);
    s->in_pos = 0;
    s->in_n = n;
    s->file_ended = n == 0;
    return status;
}

/* Position of the data in a gzip member whose header has no optional field, or only the name of a file; 0: any other
 * header. */
static size_t data_position(const unsigned char *header, size_t n)
{
    const size_t fixed = 10;
    if (n <= fixed || header[2] != 8 || (header[3] & ~8) != 0) return 0;
    if (header[3] == 0) return fixed;
    const unsigned char *end = memchr(header + fixed, 0, n - fixed);
    return end ? (size_t)(end + 1 - header) : 0;
}

/* Opens a file; one that begins with the mark of gzip, 1f 8b, is decompressed. again: the file will be read twice,
 * which a pipe does not allow. */
static gls_status open_stream(const char *path, bool again, gls_stream **stream)
{
    gls_stream *s = malloc(sizeof *s);
    if (!s) return gls_fail(GLS_ERR_MEMORY, "%s: no memory", path);
    memset(s, 0, offsetof(gls_stream, in));
    s->n_threads = omp_get_max_threads();
    s->input.fd = -1;
    s->path = strdup(path);
    gls_status status = s->path ? gls_input_open(s->path, &s->input) : gls_fail(GLS_ERR_MEMORY, "%s: no memory", path);
    if (!status && again && !s->input.regular)
        status =
            gls_fail(GLS_ERR_INPUT, "%s: is not a regular file, but is read twice: write it to a file first", path);
    if (!status) status = refill(s);
    if (status) goto fail;
    if (s->in_n >= 2 && s->in[0] == 0x1f && s->in[1] == 0x8b) {
        s->inflater = inflater_create();
        if (!s->inflater) {
            status = gls_fail(GLS_ERR_MEMORY, "%s: no memory", path);
            goto fail;
        }
        if (s->input.regular) s->pieces_at = data_position(s->in, s->in_n);
    }
    *stream = s;
    return GLS_OK;
fail:
    gls_stream_close(s);
    return status;
}

gls_status gls_stream_open(const char *path, gls_stream **stream)
{
    return open_stream(path, false, stream);
}

gls_status gls_stream_open_regular(const char *path, gls_stream **stream)
{
    return open_stream(path, true, stream);
}

void gls_stream_close(gls_stream *s)
{
    if (!s) return;
    inflater_destroy(s->inflater);
    gls_gzip_pieces_destroy(s->pieces);
    gls_input_close(&s->input);
    free(s->path);
    free(s);
}

int gls_stream_fd(const gls_stream *s)
{
    return s->input.regular && !s->inflater ? s->input.fd : -1;
}

uint64_t gls_stream_bound(const gls_stream *s)
{
    /* deflate cannot shrink data by more than a factor of 1032 */
    const uint64_t size = s->input.bytes;
    if (!s->input.regular || size > UINT64_MAX / 1040) return UINT64_MAX;
    return s->inflater ? size * 1032 + 1032 : size;
}

/* Reads bytes of a file that is not compressed: first the bytes left in the buffer, then bytes of the file. */
static gls_status read_plain(gls_stream *s, void *data, size_t bytes, size_t *got)
{
    size_t n = s->in_n - s->in_pos < bytes ? s->in_n - s->in_pos : bytes;
    memcpy(data, s->in + s->in_pos, n);
    s->in_pos += n;
    *got = n;
    if (n == bytes) return GLS_OK;
    size_t more = 0;
    gls_status status = gls_input_read(&s->input, (char *)data + n, bytes - n, &more);
    *got += more;
    return status;
}

/* Call at the end of a gzip member. If the next byte begins a member, prepares for it; any other byte is padding, which
 * ends the data. */
static gls_status next_member(gls_stream *s)
{
    s->pieces_at = 0;
    if (s->in_pos == s->in_n) {
        gls_status status = refill(s);
        if (status) return status;
    }
    if (s->in_n > s->in_pos && s->in[s->in_pos] == 0x1f)
        inflater_reset(s->inflater);
    else
        s->at_end = true;
    return GLS_OK;
}

/* Unpacks the next bytes on this thread. */
static gls_status read_packed(gls_stream *s, void *data, size_t bytes, size_t *got)
{
    *got = 0;
    while (*got < bytes && !s->at_end) {
        gls_status status = s->in_pos == s->in_n && !s->file_ended ? refill(s) : GLS_OK;
        if (status) return status;
        const char *reason = "";
        gls_inflate_buffers b = {s->in + s->in_pos, s->in_n - s->in_pos, (unsigned char *)data + *got, bytes - *got};
        gls_inflate_result result = inflater_run(s->inflater, &b, &reason);
        bool stuck = bytes - *got == b.n_out && s->in_n - s->in_pos == b.n_in;
        s->in_pos = s->in_n - b.n_in;
        s->n_unpacked += bytes - b.n_out - *got;
        *got = bytes - b.n_out;
        switch (result) {
        case GLS_INFLATE_END: status = next_member(s); break;
        case GLS_INFLATE_MORE:
            if (stuck && s->file_ended)
                status = gls_fail(GLS_ERR_INPUT, "%s: truncated: the compressed data end too early", s->path);
            else if (stuck)
                status = gls_fail(GLS_ERR_INPUT, "%s: damaged compressed data: invalid stream", s->path);
            break;
        case GLS_INFLATE_DAMAGED:
            status = gls_fail(GLS_ERR_INPUT, "%s: damaged compressed data: %s", s->path, reason);
            break;
        case GLS_INFLATE_MEMORY: status = gls_fail(GLS_ERR_MEMORY, "%s: no memory", s->path);
        }
        if (status) return status;
    }
    return GLS_OK;
}

/* Reads from the pieces; behind the last one, prepares for the next member, if there is one. If the pieces do not fit
 * together, goes back to the inflater, which still stands where the pieces began, and skips what was read of them, if
 * it is the same. */
static gls_status read_pieces(gls_stream *s, void *data, size_t bytes, size_t *got)
{
    unsigned char again[32768];
    uint64_t end;
    const bool fit = gls_gzip_pieces_read(s->pieces, data, bytes, got, &end);
    s->n_read += *got;
    if (*got == bytes) return GLS_OK;
    const uint32_t crc_read = gls_gzip_pieces_crc(s->pieces);
    uint32_t crc = 0;
    gls_gzip_pieces_destroy(s->pieces);
    s->pieces = NULL;
    if (fit) {
        lseek(s->input.fd, (off_t)end, SEEK_SET);
        s->in_pos = s->in_n = 0;
        return next_member(s);
    }
    for (uint64_t left = s->n_read; left > 0 && !s->at_end;) {
        size_t n;
        gls_status status = read_packed(s, again, left < sizeof again ? (size_t)left : sizeof again, &n);
        if (status) return status;
        crc = gls_crc32(crc, again, n);
        left -= n;
    }
    if (crc == crc_read) return GLS_OK;
    return gls_fail(GLS_ERR_INPUT, "%s: several threads unpacked other bytes than one does: set OMP_NUM_THREADS=1",
                    s->path);
}

gls_status gls_stream_read(gls_stream *s, void *data, size_t bytes, size_t *got)
{
    gls_status status = GLS_OK;
    size_t more = 0;
    *got = 0;
    if (!s->inflater) return read_plain(s, data, bytes, got);
    if (s->pieces_at > 0 && bytes >= BYTES_FOR_PIECES && s->n_threads > 1) {
        s->pieces = gls_gzip_pieces_create(&s->input, s->pieces_at, s->n_unpacked, s->n_threads);
        s->pieces_at = 0;
    }
    if (s->pieces) status = read_pieces(s, data, bytes, got);
    if (!status) status = read_packed(s, (char *)data + *got, bytes - *got, &more);
    *got += more;
    return status;
}

gls_status gls_stream_verify(gls_stream *s)
{
    uint64_t limit = VERIFIED;
    char rest[4096];
    while (s->inflater && !s->at_end && limit > 0) {
        size_t got, n = limit < sizeof rest ? (size_t)limit : sizeof rest;
        gls_status status = gls_stream_read(s, rest, n, &got);
        if (status) return status;
        limit -= got;
    }
    return GLS_OK;
}
