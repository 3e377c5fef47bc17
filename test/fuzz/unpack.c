/* Any bytes as a packed file: unpacked by several threads as by one, or refused as by one, never a crash. */
#include "image/unpack.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROOM ((size_t)4 << 20)
#define STRETCH 600 /* a little more than the longest header of a block */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

typedef struct unpacked {
    unsigned char *data;
    size_t n;
    bool whole;
} unpacked;

static void run(gls_inflater *inflater, gls_inflate_buffers b, unpacked *out)
{
    const char *reason;
    b.out = out->data + out->n;
    b.n_out = ROOM - out->n;
    out->whole = gls_inflater_run(inflater, &b, &reason) == GLS_INFLATE_END;
    out->n = ROOM - b.n_out;
}

static bool by_several(const uint8_t *data, size_t bytes, gls_inflater *inflater, unpacked *out)
{
    int fd = memfd_create("packed", 0);
    if (fd < 0 || write(fd, data, bytes) != (ssize_t)bytes) abort();
    gls_unpacker *u = gls_unpacker_create(fd, bytes, STRETCH, 4);
    const unsigned char *part;
    size_t n;
    bool fits = u != NULL;
    while (fits && gls_unpacker_next(u, &part, &n)) {
        fits = n <= ROOM - out->n;
        if (!fits) break;
        memcpy(out->data + out->n, part, n);
        out->n += n;
    }
    if (fits) {
        gls_inflate_place place;
        uint64_t rest = gls_unpacker_rest(u, &place);
        if (rest > bytes) abort();
        gls_inflate_buffers b = {.in = data + rest, .n_in = bytes - rest};
        gls_inflater_start(inflater, &place, &b);
        run(inflater, b, out);
    }
    gls_unpacker_destroy(u);
    close(fd);
    return fits;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    gls_inflater *inflater = gls_inflater_create();
    unpacked one = {malloc(ROOM), 0, false}, several = {malloc(ROOM), 0, false};
    if (!inflater || !one.data || !several.data) abort();
    if (by_several(data, bytes, inflater, &several)) {
        gls_inflater_reset(inflater);
        run(inflater, (gls_inflate_buffers){.in = data, .n_in = bytes}, &one);
        if (one.whole != several.whole ||
            (one.whole && (one.n != several.n || memcmp(one.data, several.data, one.n) != 0)))
            abort();
    }
    gls_inflater_destroy(inflater);
    free(one.data);
    free(several.data);
    return 0;
}
