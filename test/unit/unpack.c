/* Unpacking by several threads: where blocks start, against zlib; all of the output, whatever the data and the cuts;
 * damaged files, which have to be refused as zlib refuses them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <glslines/common.h>

#include "image/deflate.h"
#include "image/stream.h"
#include "image/unpack.h"

typedef struct bytes {
    unsigned char *data;
    size_t n;
} bytes;

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* --- data and files ------------------------------------------------------- */

enum { SERIES, MIXED, NOISE, ZEROS, TEXT, PLAIN, KINDS };

/* SERIES: 16-bit values as of a diffusion series, noise inside a head and nothing outside. PLAIN: packs to a tenth. */
static bytes make_data(int kind, size_t n, uint32_t seed)
{
    bytes b = {calloc(n + 1, 1), n};
    assert_non_null(b.data);
    for (size_t i = 0; i < n; i++) {
        size_t at = i / 2 % 6000;
        unsigned value = at > 1000 && at < 5000 ? 900 + (unsigned)(at * at / 9000 % 400) + next(&seed) % 64 : 0;
        switch (kind) {
        case SERIES: b.data[i] = (unsigned char)(i % 2 ? value >> 8 : value); break;
        case MIXED: b.data[i] = (unsigned char)(i % 50000 < 20000 ? next(&seed) : i / 1000); break;
        case NOISE: b.data[i] = (unsigned char)next(&seed); break;
        case ZEROS: b.data[i] = i % 300000 == 299999; break;
        case PLAIN: b.data[i] = (unsigned char)(i % 32 == 0 ? next(&seed) : i / 4096); break;
        case TEXT: b.data[i] = (unsigned char)"streamline of a tract "[(i * i / 7 + next(&seed) % 3) % 22]; break;
        }
    }
    return b;
}

/* Appends a member to packed. flush: a boundary in every so many bytes, 0 for none. */
static void pack(bytes *packed, const bytes *data, int level, int strategy, size_t flush)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, 15 + 16, 8, strategy), Z_OK);
    size_t room = deflateBound(&z, data->n) + 16 * (flush ? data->n / flush + 2 : 1);
    packed->data = realloc(packed->data, packed->n + room);
    assert_non_null(packed->data);
    z.next_in = data->data;
    z.next_out = packed->data + packed->n;
    z.avail_out = (uInt)room;
    for (size_t left = data->n; left > 0;) {
        z.avail_in = (uInt)(flush && flush < left ? flush : left);
        left -= z.avail_in;
        assert_int_equal(deflate(&z, left ? Z_SYNC_FLUSH : Z_NO_FLUSH), Z_OK);
    }
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    packed->n += room - z.avail_out;
    deflateEnd(&z);
}

static int temporary(const bytes *packed, size_t n)
{
    char path[] = "/tmp/gls_unpack_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(write(fd, packed->data, n), n);
    return fd;
}

/* --- what is tested ------------------------------------------------------- */

/* Unpacks a file of packed's first n bytes. False if it is damaged; *parallel: output of several threads. out has room
 * for one byte more than the data. */
static bool unpack(const bytes *packed, size_t n, size_t stretch, int n_threads, bytes *out, size_t room,
                   size_t *parallel)
{
    int fd = temporary(packed, n);
    gls_unpacker *u = gls_unpacker_create(fd, n, stretch, n_threads);
    gls_inflater *inflater = gls_inflater_create();
    gls_inflate_place place;
    const unsigned char *data;
    size_t got;
    assert_non_null(u);
    out->n = 0;
    while (gls_unpacker_next(u, &data, &got)) {
        assert_true(out->n + got <= room);
        memcpy(out->data + out->n, data, got);
        out->n += got;
    }
    *parallel = out->n;
    uint64_t rest = gls_unpacker_rest(u, &place);
    assert_true(rest < n);
    gls_inflate_buffers b = {packed->data + rest, n - rest, out->data + out->n, room - out->n};
    gls_inflater_start(inflater, &place, &b);
    const char *reason;
    gls_inflate_result result = gls_inflater_run(inflater, &b, &reason);
    out->n = room - b.n_out;
    gls_inflater_destroy(inflater);
    gls_unpacker_destroy(u);
    close(fd);
    return result == GLS_INFLATE_END;
}

static bool unpack_by_zlib(const bytes *packed, size_t n, bytes *out, size_t room)
{
    z_stream z = {.next_in = packed->data, .avail_in = (uInt)n, .next_out = out->data, .avail_out = (uInt)room};
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    int result = inflate(&z, Z_FINISH);
    out->n = room - z.avail_out;
    inflateEnd(&z);
    return result == Z_STREAM_END;
}

/* Also in a build without what this needs: then there is no unpacker. */
static bool unavailable(void)
{
    if (gls_inflater_can_start()) return false;
    bytes data = make_data(SERIES, 1 << 20, 1), packed = {0};
    pack(&packed, &data, 6, Z_DEFAULT_STRATEGY, 0);
    int fd = temporary(&packed, packed.n);
    assert_null(gls_unpacker_create(fd, packed.n, 4096, 4));
    close(fd);
    free(data.data), free(packed.data);
    return true;
}

/* Fractions of the data that have to be unpacked by several threads: data that pack too well, or into no blocks with
 * codes of their own, need not. */
static void all_data(void **state)
{
    (void)state;
    static const struct {
        int kind, level, strategy;
        size_t flush, stretch;
        int threads;
        double parallel;
    } cases[] = {
        {SERIES, 6, Z_DEFAULT_STRATEGY, 0, 65536, 4, 0.7},
        {SERIES, 1, Z_DEFAULT_STRATEGY, 0, 100000, 16, 0.7},
        {SERIES, 9, Z_DEFAULT_STRATEGY, 0, 70001, 7, 0.7},
        {SERIES, 6, Z_DEFAULT_STRATEGY, 100000, 65536, 4, 0.7},
        {SERIES, 6, Z_HUFFMAN_ONLY, 0, 65536, 5, 0.7},
        {SERIES, 6, Z_FIXED, 0, 65536, 4, 0},
        {SERIES, 0, Z_DEFAULT_STRATEGY, 0, 65536, 4, 0},
        {SERIES, 6, Z_DEFAULT_STRATEGY, 0, 5000, 16, 0},
        {MIXED, 6, Z_DEFAULT_STRATEGY, 0, 65536, 4, 0.2},
        {MIXED, 6, Z_DEFAULT_STRATEGY, 7000, 20000, 9, 0},
        {NOISE, 6, Z_DEFAULT_STRATEGY, 0, 65536, 4, 0},
        {PLAIN, 6, Z_DEFAULT_STRATEGY, 0, 20000, 6, 0.7},
        {ZEROS, 6, Z_DEFAULT_STRATEGY, 0, 1000, 4, 0},
        {TEXT, 6, Z_DEFAULT_STRATEGY, 0, 65536, 4, 0.3},
        {TEXT, 2, Z_RLE, 0, 30000, 12, 0},
    };
    if (unavailable()) return;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        bytes data = make_data(cases[c].kind, 4000000 + 12345 * c, (uint32_t)c), packed = {0},
              out = {malloc(data.n + 1), 0};
        size_t parallel;
        pack(&packed, &data, cases[c].level, cases[c].strategy, cases[c].flush);
        assert_true(unpack(&packed, packed.n, cases[c].stretch, cases[c].threads, &out, data.n + 1, &parallel));
        print_message("case %zu: packed to %.3f, %.3f unpacked by several threads\n", c,
                      (double)packed.n / (double)data.n, (double)parallel / (double)data.n);
        assert_int_equal(out.n, data.n);
        assert_memory_equal(out.data, data.data, data.n);
        assert_true((double)parallel >= cases[c].parallel * (double)data.n);
        free(data.data), free(packed.data), free(out.data);
    }
}

/* Every place that is found is one at which zlib starts a block, and none of these is passed over. */
static void blocks(void **state)
{
    (void)state;
    for (int kind = SERIES; kind < KINDS; kind++) {
        bytes data = make_data(kind, 1500000, 3), packed = {0};
        pack(&packed, &data, 6, Z_DEFAULT_STRATEGY, kind == TEXT ? 50000 : 0);
        packed.data = realloc(packed.data, packed.n + GLS_DEFLATE_SLACK);
        memset(packed.data + packed.n, 0, GLS_DEFLATE_SLACK);
        z_stream z = {.next_in = packed.data, .avail_in = (uInt)packed.n};
        unsigned char buffer[4096];
        uint64_t at = 0;
        size_t found = 0, n_blocks = 0;
        assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
        for (int result = Z_OK; result == Z_OK;) {
            z.next_out = buffer;
            z.avail_out = sizeof buffer;
            result = inflate(&z, Z_BLOCK);
            assert_true(result == Z_OK || result == Z_STREAM_END);
            if (result != Z_OK || !(z.data_type & 128)) continue;
            uint64_t bit = 8 * (packed.n - z.avail_in) - (unsigned)(z.data_type & 7);
            unsigned head = (unsigned)(packed.data[bit / 8] | packed.data[bit / 8 + 1] << 8) >> (bit % 8) & 7u;
            n_blocks++;
            if (head != 4 || packed.n - bit / 8 < 600) continue;
            assert_int_equal(gls_deflate_find_block(packed.data, packed.n, at, 8 * packed.n), bit);
            at = bit + 1;
            found++;
        }
        inflateEnd(&z);
        print_message("kind %d: %zu of %zu blocks found in %zu bytes\n", kind, found, n_blocks, packed.n);
        assert_true(found > 0 || kind == NOISE || kind == ZEROS);
        assert_true(gls_deflate_find_block(packed.data, packed.n, at, 8 * packed.n) == 8 * packed.n);
        free(data.data), free(packed.data);
    }
}

/* One byte changed, or the end cut off. */
static void damage(void **state)
{
    (void)state;
    if (unavailable()) return;
    bytes data = make_data(SERIES, 700000, 9), packed = {0}, out = {malloc(data.n + 1), 0},
          want = {malloc(data.n + 1), 0};
    uint32_t seed = 77;
    size_t parallel, n_refused = 0;
    pack(&packed, &data, 6, Z_DEFAULT_STRATEGY, 0);
    for (int round = 0; round < 300; round++) {
        size_t at = next(&seed) % packed.n, n = round % 10 == 9 ? at + 70000 : packed.n;
        if (n > packed.n) n = packed.n;
        if (at < 10) at = 10; /* the header may say what it likes of time and system */
        unsigned char was = packed.data[at];
        if (round % 10 != 9) packed.data[at] = (unsigned char)(was ^ (1u << next(&seed) % 8));
        bool good = unpack_by_zlib(&packed, n, &want, data.n + 1),
             got = unpack(&packed, n, 16384, 4, &out, data.n + 1, &parallel);
        assert_int_equal(got, good);
        if (good) assert_memory_equal(out.data, want.data, want.n);
        n_refused += !good;
        packed.data[at] = was;
    }
    print_message("%zu of 300 refused\n", n_refused);
    assert_true(n_refused > 250);
    free(data.data), free(packed.data), free(out.data), free(want.data);
}

/* Through a stream: two members, portions of all sizes, and spans. */
static void streams(void **state)
{
    (void)state;
    bytes data = make_data(SERIES, 24000000, 5), packed = {0};
    bytes parts[2] = {{data.data, 20000000}, {data.data + 20000000, 4000000}};
    for (int i = 0; i < 2; i++) pack(&packed, &parts[i], 6, Z_DEFAULT_STRATEGY, 0);
    char path[] = "/tmp/gls_unpack_XXXXXX";
    int fd = mkstemp(path), threads = omp_get_max_threads();
    assert_true(fd >= 0);
    assert_int_equal(write(fd, packed.data, packed.n), packed.n);
    close(fd);
    omp_set_num_threads(4);
    for (int spans = 0; spans < 2; spans++) {
        gls_stream *stream = NULL;
        unsigned char *got = malloc(data.n + 1);
        size_t at = 0, n = 1, by_spans = 0;
        uint32_t seed = 1;
        assert_int_equal(gls_stream_open(path, &stream), GLS_OK);
        while (at < data.n + 1 && n > 0) {
            gls_stream_span span[GLS_STREAM_SPANS];
            size_t n_spans = spans && next(&seed) % 3 ? gls_stream_spans(stream, next(&seed) % 3000000, span) : 0,
                   wanted = next(&seed) % 100000 + 1;
            for (size_t i = 0; i < n_spans; at += span[i++].n) {
                memcpy(got + at, span[i].data, span[i].n);
                by_spans += span[i].n;
            }
            if (n_spans > 0) continue;
            if (wanted > data.n + 1 - at) wanted = data.n + 1 - at;
            assert_int_equal(gls_stream_read(stream, got + at, wanted, &n), GLS_OK);
            at += n;
        }
        assert_int_equal(at, data.n);
        assert_memory_equal(got, data.data, data.n);
        assert_int_equal(by_spans > data.n / 4, spans && gls_inflater_can_start());
        gls_stream_close(stream);
        free(got);
    }
    omp_set_num_threads(threads);
    unlink(path);
    free(data.data), free(packed.data);
}

static void refused(void **state)
{
    (void)state;
    bytes data = make_data(SERIES, 300000, 2), packed = {0};
    pack(&packed, &data, 6, Z_DEFAULT_STRATEGY, 0);
    int fd = temporary(&packed, packed.n);
    assert_null(gls_unpacker_create(fd, packed.n, 4096, 1));         /* one thread */
    assert_null(gls_unpacker_create(fd, packed.n, packed.n / 2, 4)); /* a small file */
    close(fd);
    packed.data[2] = 7; /* not deflate */
    fd = temporary(&packed, packed.n);
    assert_null(gls_unpacker_create(fd, packed.n, 4096, 4));
    close(fd);
    memset(packed.data, 1, packed.n); /* a header without an end */
    memcpy(packed.data, "\x1f\x8b\x08\x08", 4);
    fd = temporary(&packed, packed.n);
    assert_null(gls_unpacker_create(fd, packed.n, 4096, 4));
    close(fd);
    free(data.data), free(packed.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks),  cmocka_unit_test(all_data), cmocka_unit_test(damage),
        cmocka_unit_test(streams), cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
