/* Unpacking of gzip files: one member or several, in portions of any size, and what is wrong with damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <glslines/common.h>

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

/* Numbers that pack badly, then repeats that pack well. */
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

/* The file in portions of that size, up to its end. */
static gls_status load(size_t portion, bytes *out)
{
    gls_stream *stream = NULL;
    unsigned char *buffer = malloc(portion);
    size_t got = portion;
    *out = (bytes){0};
    gls_status status = gls_stream_open(path, &stream);
    while (status == GLS_OK && got == portion) {
        status = gls_stream_read(stream, buffer, portion, &got);
        append(out, buffer, got);
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

/* No change of a byte goes unnoticed, except in the header's time, system and flags of no consequence. */
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

static int finish(void **state)
{
    (void)state;
    return remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_member), cmocka_unit_test(several_members),
                                       cmocka_unit_test(cut_short), cmocka_unit_test(damaged)};
    int fd = mkstemp(path);
    if (fd < 0) return 1;
    close(fd);
    return cmocka_run_group_tests(tests, NULL, finish);
}
