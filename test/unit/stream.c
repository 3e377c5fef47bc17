/* Unpacking of gzip files: one member or several, in portions of any size, by one thread or several; and damaged files
 * are refused. */
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

#include "image/gzip_pieces.h"
#include "image/stream.h"
#include "image/formats.h"

static char path[] = "/tmp/gls_stream_XXXXXX";

typedef struct bytes {
    unsigned char *data;
    size_t n, room;
} bytes;

static void append(bytes *b, const void *data, size_t n)
{
    if (!b->data || b->n + n > b->room) {
        b->room = 2 * (b->n + n) + 16;
        b->data = realloc(b->data, b->room);
        assert_non_null(b->data);
    }
    memcpy(b->data + b->n, data, n);
    b->n += n;
}

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Fills memory with numbers that pack badly, then repeats that pack well. */
static bytes make_data(size_t n, uint32_t seed)
{
    bytes b = {0};
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)(i % 50000 < 20000 ? next(&seed) : i / 1000);
        append(&b, &c, 1);
    }
    return b;
}

/* Appends a member; with_name: with a name, a comment and a field of its own in its header. */
static void pack(bytes *out, const void *data, size_t n, int level, bool with_name)
{
    z_stream z = {0};
    unsigned char buffer[4096], extra[] = "something";
    gz_header header = {.name = (unsigned char *)(uintptr_t) "a name",
                        .comment = (unsigned char *)(uintptr_t) "a comment",
                        .extra = extra,
                        .extra_len = sizeof extra - 1,
                        .hcrc = 1};
    assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    if (with_name) assert_int_equal(deflateSetHeader(&z, &header), Z_OK);
    z.next_in = (unsigned char *)(uintptr_t)data;
    z.avail_in = (uInt)n;
    int result = Z_OK;
    while (result == Z_OK) {
        z.next_out = buffer;
        z.avail_out = sizeof buffer;
        result = deflate(&z, Z_FINISH);
        append(out, buffer, sizeof buffer - z.avail_out);
    }
    assert_int_equal(result, Z_STREAM_END);
    deflateEnd(&z);
}

static void save(const bytes *b, size_t n)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(b->data, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

/* Reads the file in portions of that size, up to its end. The first portion is small, as that of a header. */
static gls_status load(size_t portion, bytes *out)
{
    gls_stream *stream = NULL;
    unsigned char *buffer = malloc(portion);
    size_t wanted = portion < 348 ? portion : 348, got = wanted;
    *out = (bytes){0};
    gls_status status = gls_stream_open(path, &stream);
    while (status == GLS_OK && got == wanted) {
        status = gls_stream_read(stream, buffer, wanted, &got);
        append(out, buffer, got);
        if (got == wanted) got = wanted = portion;
    }
    gls_stream_close(stream);
    free(buffer);
    return status;
}

static void check_same(const bytes *want, size_t portion)
{
    bytes got;
    assert_int_equal(load(portion, &got), GLS_OK);
    assert_int_equal(got.n, want->n);
    assert_memory_equal(got.data, want->data, want->n);
    free(got.data);
}

static void one_member(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 1000, 262144, 3000000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int level = 0; level <= 9; level += 3) {
            bytes data = make_data(sizes[i], 7), packed = {0};
            append(&data, "", 0);
            pack(&packed, data.data, data.n, level, level == 6);
            save(&packed, packed.n);
            check_same(&data, 4096);
            check_same(&data, 1 << 20);
            if (data.n <= 1000)
                check_same(&data, 1);
            else
                check_same(&data, 99991);
            free(data.data);
            free(packed.data);
        }
}

/* Members whose ends fall on and about the reader's own portions of 256 KiB, and what may follow the last one. */
static void several_members(void **state)
{
    (void)state;
    for (int shift = -20; shift <= 20; shift++) {
        bytes data = make_data(300000, 3), packed = {0}, whole = {0};
        size_t first = 0;
        /* stored blocks: the packed size grows byte by byte with the data */
        for (size_t n = 262144 + 20; packed.n == 0 || packed.n > (size_t)(262144 + shift); n--) {
            packed.n = 0;
            pack(&packed, data.data, first = n, 0, false);
        }
        append(&whole, data.data, first);
        pack(&packed, data.data, 0, 6, false);
        pack(&packed, data.data, data.n, 6, true);
        append(&whole, data.data, data.n);
        pack(&packed, "end", 3, 1, false);
        append(&whole, "end", 3);
        append(&packed, "\0\0\0\0\0", (size_t)(shift + 20) % 6);
        save(&packed, packed.n);
        check_same(&whole, 65536);
        check_same(&whole, whole.n + 100);
        free(data.data);
        free(packed.data);
        free(whole.data);
    }
}

static void check_fails(const char *word)
{
    bytes got;
    assert_int_equal(load(50000, &got), GLS_ERR_INPUT);
    if (!strstr(gls_last_error(), path) || !strstr(gls_last_error(), word))
        fail_msg("'%s' does not name the file or '%s'", gls_last_error(), word);
    free(got.data);
}

static void cut_short(void **state)
{
    (void)state;
    bytes data = make_data(400000, 11), packed = {0};
    pack(&packed, data.data, data.n, 6, true);
    for (size_t cut = 1; cut < 40; cut++) {
        save(&packed, packed.n - cut);
        check_fails("truncated");
    }
    for (size_t left = 2; left < packed.n; left += packed.n / 50) {
        save(&packed, left);
        check_fails("truncated");
    }
    free(data.data);
    free(packed.data);
}

/* Every change of a byte is noticed, except in the time, system and flags of the header, which do not matter. */
static void damaged(void **state)
{
    (void)state;
    bytes data = make_data(60000, 19), packed = {0};
    pack(&packed, data.data, data.n, 6, false);
    for (size_t at = 10; at < packed.n; at += at + 60 < packed.n ? 997 : 1) {
        packed.data[at] ^= 0x5a;
        save(&packed, packed.n);
        bytes got;
        gls_status status = load(50000, &got);
        if (status == GLS_OK) fail_msg("byte %zu of %zu", at, packed.n);
        assert_int_equal(status, GLS_ERR_INPUT);
        assert_non_null(strstr(gls_last_error(), path));
        free(got.data);
        packed.data[at] ^= 0x5a;
    }
    packed.data[packed.n - 8] ^= 1;
    save(&packed, packed.n);
    check_fails("incorrect data check");
    free(data.data);
    free(packed.data);
}

/* Appends pieces of `size` bytes as a member. own: each has a window of its own, as this program and pigz -i write. */
static void pack_pieces(bytes *out, const bytes *data, size_t size, int level, bool own, bool with_name)
{
    static const unsigned char head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 'a', 0};
    const size_t room = size + size / 100 + 1000;
    unsigned char *buffer = malloc(room), trailer[8];
    z_stream z = {0};
    const uint32_t sum[2] = {(uint32_t)crc32(0, data->data, (uInt)data->n), (uint32_t)data->n};
    append(out, head, with_name ? 12 : 10);
    if (with_name) out->data[out->n - 9] = 8;
    assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
    for (size_t first = 0; first < data->n; first += size) {
        const bool last = first + size >= data->n;
        z.next_in = data->data + first;
        z.avail_in = (uInt)(last ? data->n - first : size);
        z.next_out = buffer;
        z.avail_out = (uInt)room;
        assert_int_equal(deflate(&z, last ? Z_FINISH : Z_SYNC_FLUSH), last ? Z_STREAM_END : Z_OK);
        append(out, buffer, room - z.avail_out);
        if (own) deflateReset(&z);
    }
    deflateEnd(&z);
    for (int i = 0; i < 8; i++) trailer[i] = (unsigned char)(sum[i / 4] >> (8 * (i % 4)));
    append(out, trailer, 8);
    free(buffer);
}

/* Whether the first member of the file, whose data begin at `place`, is unpacked piece by piece. Fails if a read from
 * behind the end of the member, as of a file that became shorter, is no failure. */
static bool is_in_pieces(const bytes *want, uint64_t place)
{
    gls_input input;
    unsigned char *data = malloc(want->n + 1);
    size_t got;
    uint64_t end;
    assert_int_equal(gls_input_open(path, &input), GLS_OK);
    gls_gzip_pieces *pieces = gls_gzip_pieces_create(&input, place, want->n + 1, 12);
    assert_false(gls_gzip_pieces_read(pieces, data, want->n + 1, &got, &end));
    gls_gzip_pieces_destroy(pieces);
    pieces = gls_gzip_pieces_create(&input, place, 0, 12);
    bool fits = gls_gzip_pieces_read(pieces, data, want->n + 1, &got, &end);
    if (fits) {
        assert_int_equal(got, want->n);
        assert_memory_equal(data, want->data, got);
    }
    gls_gzip_pieces_destroy(pieces);
    gls_input_close(&input);
    free(data);
    return fits;
}

/* Checks that the first n bytes of a file give the same with twelve threads as with one: data, or an error. */
static void check_threads(const bytes *packed, size_t n)
{
    static const size_t portions[] = {131072, 1 << 20};
    save(packed, n);
    for (size_t i = 0; i < sizeof portions / sizeof *portions; i++) {
        bytes want, got;
        char message[300] = "";
        omp_set_num_threads(1);
        const gls_status status = load(portions[i], &want);
        if (status) snprintf(message, sizeof message, "%s", gls_last_error());
        omp_set_num_threads(12);
        assert_int_equal(load(portions[i], &got), status);
        if (status) assert_string_equal(gls_last_error(), message);
        if (!status) assert_int_equal(got.n, want.n);
        if (!status && want.n > 0) assert_memory_equal(got.data, want.data, want.n);
        free(want.data);
        free(got.data);
    }
}

/* Pieces of several sizes; bytes, members of either kind and nothing behind them. */
static void pieces(void **state)
{
    (void)state;
    static const size_t sizes[] = {65536, 131072, 1 << 20};
    for (int k = 0; k < 12; k++) {
        const size_t size = sizes[k % 3];
        bytes data = make_data(4 * size + 12345, 5), packed = {0};
        pack_pieces(&packed, &data, size, k % 4 * 3, true, k % 2 == 1);
        if (k >= 6) append(&packed, "\0\0\xff\xff bytes", 10);
        save(&packed, packed.n);
        assert_true(is_in_pieces(&data, k % 2 == 1 ? 12 : 10));
        check_same(&data, 200000);
        check_threads(&packed, packed.n);
        if (k < 6) {
            pack(&packed, data.data, 200000, 6, false);
            pack_pieces(&packed, &data, size, 3, true, false);
            check_threads(&packed, packed.n);
        }
        free(data.data);
        free(packed.data);
    }
}

/* Marks that stand by chance in stored blocks, one or several in a piece, also in the last of the pieces that are
 * unpacked together. */
static void marks_in_data(void **state)
{
    static const size_t every[] = {30000, 70001, 1200007};
    (void)state;
    for (size_t k = 0; k < sizeof every / sizeof *every; k++) {
        bytes data = make_data(6000000, 13), packed = {0};
        for (size_t i = 0; i + 5 < data.n; i += every[k]) memcpy(data.data + i, "\0\0\0\xff\xff", 5);
        pack_pieces(&packed, &data, 100000, 0, true, false);
        check_threads(&packed, packed.n);
        assert_true(is_in_pieces(&data, 10));
        free(data.data);
        free(packed.data);
    }
}

/* Numbers of 16 bits near the one three rows before, as in an image: what is packed refers far back. zeros: so many
 * bytes in the middle are 0. */
static bytes make_image(size_t n, uint32_t seed, size_t zeros)
{
    const size_t row = 3 * 212;
    bytes b = {0};
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)(i % 2 == 0                         ? next(&seed) & 15
                                          : i < row || next(&seed) % 16 == 0 ? next(&seed)
                                                                             : b.data[i - row]);
        if (i >= n / 2 && i < n / 2 + zeros) c = 0;
        append(&b, &c, 1);
    }
    return b;
}

/* Packs data as a member of one window, which is what other programs do, with marks after each `size` bytes. */
static void pack_image(bytes *packed, const bytes *data, size_t size, int level)
{
    packed->n = 0;
    pack_pieces(packed, data, size, level, false, false);
    save(packed, packed->n);
}

/* Members of one window are unpacked from block to block; with marks, from mark to mark. */
static void one_window(void **state)
{
    (void)state;
    static const int levels[] = {1, 6, 9};
    bytes packed = {0};
    for (int k = 0; k < 6; k++) {
        bytes data = make_image(5000000 + (size_t)k, 11, k % 2 * 2500000);
        pack_image(&packed, &data, data.n, levels[k / 2]);
        assert_true(packed.n > 1000000);
        assert_true(is_in_pieces(&data, 10));
        check_threads(&packed, packed.n);
        pack_image(&packed, &data, 131072, levels[k / 2]);
        assert_true(is_in_pieces(&data, 10));
        check_threads(&packed, packed.n);
        if (k == 2) { /* stored blocks, which begin on byte borders, between the others */
            bytes noisy = make_data(6000000, 5);
            pack_image(&packed, &noisy, noisy.n, 6);
            assert_true(is_in_pieces(&noisy, 10));
            check_threads(&packed, packed.n);
            free(noisy.data);
        }
        if (k == 3) { /* another member, and bytes, behind it */
            pack_image(&packed, &data, data.n, 6);
            pack(&packed, data.data, 200000, 6, false);
            append(&packed, "\0\0\0", 3);
            check_threads(&packed, packed.n);
        }
        free(data.data);
    }
    free(packed.data);
}

/* A member whose data end with the bytes that the reader puts behind a piece, before a member with marks: all of the
 * packed bytes have to be used, or the second member would be skipped. */
static void ends_like_a_piece(void **state)
{
    (void)state;
    static const unsigned char end[] = {0x9d, 0x3b, 0xe2, 0x57, 0xc8, 0x14, 0x6f, 0xa1};
    bytes first = make_data(200000, 3), second = make_data(3000000, 5), packed = {0};
    append(&first, end, sizeof end);
    pack(&packed, first.data, first.n, 6, false);
    pack_pieces(&packed, &second, 65536, 6, true, false);
    check_threads(&packed, packed.n);
    append(&first, second.data, second.n);
    check_same(&first, 1 << 20);
    free(first.data);
    free(second.data);
    free(packed.data);
}

/* Members of one window that are cut short, or have a wrong byte, checksum or size. */
static void damaged_window(void **state)
{
    (void)state;
    bytes data = make_image(1500000, 29, 100000), packed = {0};
    pack_image(&packed, &data, data.n, 6);
    for (size_t at = 10; at < packed.n; at += at + 20 < packed.n ? packed.n / 40 : 1) {
        check_threads(&packed, at);
        packed.data[at] ^= 0x10;
        check_threads(&packed, packed.n);
        packed.data[at] ^= 0x10;
    }
    free(data.data);
    free(packed.data);
}

/* Tests members that are not unpacked in pieces: too short, of stored blocks, with zeros that would take too much
 * memory, with pieces that are too large. */
static void no_pieces(void **state)
{
    (void)state;
    bytes data = make_data(300000, 13), packed = {0};
    pack_image(&packed, &data, data.n, 6);
    check_threads(&packed, packed.n);
    assert_false(is_in_pieces(&data, 10));
    free(data.data);
    data = make_data(3000000, 13);
    pack_image(&packed, &data, data.n, 0);
    check_threads(&packed, packed.n);
    assert_false(is_in_pieces(&data, 10));
    packed.n = 0;
    pack_pieces(&packed, &data, 1200000, 6, true, false);
    check_threads(&packed, packed.n);
    assert_false(is_in_pieces(&data, 10));
    free(data.data);
    data = make_image(22000000, 13, 18000000);
    pack_image(&packed, &data, data.n, 6);
    check_threads(&packed, packed.n);
    assert_false(is_in_pieces(&data, 10));
    free(data.data);
    free(packed.data);
}

/* Puts the mark of a block's start into the last stored block, at different distances from its end. At one distance,
 * the bytes that the reader adds behind a piece, to test whether a block ends there, would fill this block exactly. */
static void mark_near_end(void **state)
{
    (void)state;
    for (size_t behind = 0; behind < 40; behind++) {
        const size_t first = 150000, n = 1000 + behind;
        bytes data = make_data(first + n, 17), packed = {0}, front = {.data = data.data, .n = first + 1};
        memcpy(data.data + first + 995, "\0\0\0\xff\xff", 5);
        const uint32_t sum[2] = {(uint32_t)crc32(0, data.data, (uInt)data.n), (uint32_t)data.n};
        const unsigned char head[5] = {1, (unsigned char)n, (unsigned char)(n >> 8), (unsigned char)~n,
                                       (unsigned char)(~n >> 8)};
        pack_pieces(&packed, &front, 50000, 6, true, false);
        /* drop the piece of one byte, 3 packed bytes, and the trailer */
        packed.n -= 3 + 8;
        append(&packed, head, 5);
        append(&packed, data.data + first, n);
        for (int i = 0; i < 8; i++) append(&packed, &(unsigned char){(unsigned char)(sum[i / 4] >> (8 * (i % 4)))}, 1);
        save(&packed, packed.n);
        assert_true(is_in_pieces(&data, 10));
        check_same(&data, 1 << 20);
        check_threads(&packed, packed.n);
        free(data.data);
        free(packed.data);
    }
}

/* Pieces that are cut short or have a wrong byte, a wrong checksum or a wrong size. */
static void damaged_pieces(void **state)
{
    (void)state;
    bytes data = make_data(700000, 23), packed = {0};
    pack_pieces(&packed, &data, 131072, 6, true, false);
    for (size_t at = 10; at < packed.n; at += at + 20 < packed.n ? packed.n / 50 : 1) {
        check_threads(&packed, at);
        packed.data[at] ^= 0x10;
        check_threads(&packed, packed.n);
        packed.data[at] ^= 0x10;
    }
    for (size_t at = 4; at < packed.n; at++) {
        if (memcmp(packed.data + at - 4, "\0\0\xff\xff", 4) == 0) check_threads(&packed, at);
    }
    check_threads(&packed, packed.n);
    free(data.data);
    free(packed.data);
}

static int finish(void **state)
{
    (void)state;
    return remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_member),    cmocka_unit_test(several_members), cmocka_unit_test(cut_short),
        cmocka_unit_test(damaged),       cmocka_unit_test(pieces),          cmocka_unit_test(no_pieces),
        cmocka_unit_test(marks_in_data), cmocka_unit_test(mark_near_end),   cmocka_unit_test(damaged_pieces),
        cmocka_unit_test(one_window),    cmocka_unit_test(damaged_window),  cmocka_unit_test(ends_like_a_piece)};
    int fd = mkstemp(path);
    if (fd < 0) return 1;
    close(fd);
    return cmocka_run_group_tests(tests, NULL, finish);
}
