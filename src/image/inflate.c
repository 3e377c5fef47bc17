/* One interface to the libraries that unpack gzip. */
#include "image/inflate.h"

#include <stdlib.h>

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

gls_inflater *gls_inflater_create(void)
{
    gls_inflater *i = malloc(sizeof *i);
    if (i) gls_inflater_reset(i);
    return i;
}

void gls_inflater_destroy(gls_inflater *i)
{
    free(i);
}

void gls_inflater_reset(gls_inflater *i)
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

/* Calls a function of the library with the buffers, and moves them past what it read and wrote. */
static int call(gls_inflater *i, gls_inflate_buffers *b, int (*inflate)(struct inflate_state *))
{
    struct inflate_state *s = &i->state;
    uint32_t n_in = portion(b->n_in), n_out = portion(b->n_out);
    s->next_in = (uint8_t *)(uintptr_t)b->in; /* the library only reads it */
    s->avail_in = n_in;
    s->next_out = b->out;
    s->avail_out = n_out;
    int result = inflate(s);
    b->in = s->next_in;
    b->n_in -= n_in - s->avail_in;
    b->out = s->next_out;
    b->n_out -= n_out - s->avail_out;
    return result;
}

gls_inflate_result gls_inflater_run(gls_inflater *i, gls_inflate_buffers *b, const char **reason)
{
    int result = call(i, b, isal_inflate);
    if (result < 0 || result == ISAL_NEED_DICT) {
        *reason = reason_of(result);
        return GLS_INFLATE_DAMAGED;
    }
    return i->state.block_state == ISAL_BLOCK_FINISH ? GLS_INFLATE_END : GLS_INFLATE_MORE;
}

bool gls_inflater_run_raw(gls_inflater *i, gls_inflate_buffers *b)
{
    isal_inflate_init(&i->state);
    i->state.crc_flag = ISAL_DEFLATE;
    return call(i, b, isal_inflate_stateless) == ISAL_DECOMP_OK && i->state.block_state == ISAL_BLOCK_FINISH;
}

#else

struct gls_inflater {
    z_stream z;
};

gls_inflater *gls_inflater_create(void)
{
    gls_inflater *i = calloc(1, sizeof *i);
    if (i && inflateInit2(&i->z, 15 + 16) != Z_OK) {
        free(i);
        i = NULL;
    }
    return i;
}

void gls_inflater_destroy(gls_inflater *i)
{
    if (!i) return;
    inflateEnd(&i->z);
    free(i);
}

void gls_inflater_reset(gls_inflater *i)
{
    inflateReset(&i->z);
}

static int call(gls_inflater *i, gls_inflate_buffers *b, int flush)
{
    uint32_t n_in = portion(b->n_in), n_out = portion(b->n_out);
    i->z.next_in = (unsigned char *)(uintptr_t)b->in; /* the library only reads it */
    i->z.avail_in = n_in;
    i->z.next_out = b->out;
    i->z.avail_out = n_out;
    int result = inflate(&i->z, flush);
    b->in = i->z.next_in;
    b->n_in -= n_in - i->z.avail_in;
    b->out = i->z.next_out;
    b->n_out -= n_out - i->z.avail_out;
    return result;
}

gls_inflate_result gls_inflater_run(gls_inflater *i, gls_inflate_buffers *b, const char **reason)
{
    int result = call(i, b, Z_NO_FLUSH);
    if (result == Z_STREAM_END) return GLS_INFLATE_END;
    if (result == Z_MEM_ERROR) return GLS_INFLATE_MEMORY;
    if (result == Z_OK || result == Z_BUF_ERROR) return GLS_INFLATE_MORE;
    *reason = i->z.msg ? i->z.msg : "invalid stream";
    return GLS_INFLATE_DAMAGED;
}

bool gls_inflater_run_raw(gls_inflater *i, gls_inflate_buffers *b)
{
    return inflateReset2(&i->z, -15) == Z_OK && call(i, b, Z_FINISH) == Z_STREAM_END;
}
#endif
