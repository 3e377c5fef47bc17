/* Tractogram files, byte by byte: the ZIP rules of TRX, header fields of TRK and TCK, and points that come back
 * unchanged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "files.h"
#include "lines.h"
#include "tractogram/zip.h"
#include "util/file.h"
#include "util/maths.h"
#include "tractogram/writers.h"
#include "tractogram/file_formats.h"
#include <glslines/tractogram.h>
#include <locale.h>
#include <math.h>
#include <zlib.h>

enum { N = 3 };
static const uint64_t offsets[N + 1] = {0, 5, 6, 15};
static const uint32_t indices[N] = {3, 3, 70000};
static float points[15][3], seeds[N][3];

static const double affine[3][4] = {{-1.7, 0.1, 0.2, 80}, {0.15, 1.9, -0.4, -100}, {0.1, 0.3, 3.0, -60}};

static gls_grid make_grid(void)
{
    const int32_t dim[3] = {91, 109, 61};
    gls_grid grid;
    assert_int_equal(gls_grid_init(&grid, dim, affine), GLS_OK);
    return grid;
}

static gls_streamlines make_lines(void)
{
    for (int i = 0; i < 45; i++) points[i / 3][i % 3] = (float)(i * i % 37) * 1.25f - 7.0f;
    for (int i = 0; i < N; i++) memcpy(seeds[i], points[offsets[i]], sizeof seeds[i]);
    static gls_column column[2];
    return make_streamlines(N, offsets, (const float(*)[3])points, indices, (const float(*)[3])seeds, column);
}

static void write_file(const char *path, gls_tractogram_options options, const gls_streamlines *lines, int times)
{
    gls_tractogram_format format;
    gls_tractogram_writer *writer;
    gls_grid grid = make_grid();
    options.overwrite = true;
    assert_int_equal(gls_tractogram_format_parse(path, &format), GLS_OK);
    if (gls_tractogram_writer_create(path, format, &grid, &options, &writer) != GLS_OK)
        fail_msg("%s", gls_last_error());
    for (int i = 0; i < times; i++) {
        if (gls_tractogram_writer_append(writer, lines) != GLS_OK) fail_msg("%s", gls_last_error());
    }
    if (gls_tractogram_writer_finish(writer) != GLS_OK) fail_msg("%s", gls_last_error());
}

static uint64_t get(const unsigned char *p, int n)
{
    uint64_t value = 0;
    for (int i = n; i-- > 0;) value = value << 8 | p[i];
    return value;
}

static float get_float(const unsigned char *p)
{
    float f;
    memcpy(&f, p, sizeof f);
    return f;
}

typedef struct entry {
    char name[64];
    const unsigned char *data;
    size_t offset, bytes;
} entry;

/* Walks the local headers from the first byte, as niivue does, and checks each rule; then the central directory against
 * them. */
static size_t walk_zip(const unsigned char *file, size_t bytes, entry *entries)
{
    size_t n = 0, at = 0;
    for (; get(file + at, 4) == 0x04034b50; n++) {
        const unsigned char *h = file + at;
        entry *e = &entries[n];
        assert_int_equal(get(h + 4, 2), 20);
        assert_int_equal(get(h + 6, 2), 0);  /* flags: no descriptor */
        assert_int_equal(get(h + 8, 2), 0);  /* stored */
        assert_int_equal(get(h + 28, 2), 0); /* no extra field in small entries */
        size_t name = get(h + 26, 2);
        snprintf(e->name, sizeof e->name, "%.*s", (int)name, (const char *)h + 30);
        e->offset = at;
        e->data = h + 30 + name;
        e->bytes = get(h + 22, 4);
        assert_int_equal(get(h + 18, 4), e->bytes);
        assert_int_equal(get(h + 14, 4), crc32(0, e->data, (unsigned)e->bytes));
        at += 30 + name + e->bytes; /* no gap before the next entry */
    }
    size_t directory = at;
    for (size_t i = 0; i < n; i++) {
        const unsigned char *h = file + at, *local = file + entries[i].offset;
        assert_int_equal(get(h, 4), 0x02014b50);
        assert_memory_equal(h + 6, local + 4, 24); /* version needed ... name length */
        assert_int_equal(get(h + 30, 2), 0);
        assert_int_equal(get(h + 42, 4), entries[i].offset);
        assert_memory_equal(h + 46, entries[i].name, strlen(entries[i].name));
        at += 46 + strlen(entries[i].name);
    }
    assert_int_equal(get(file + at, 4), 0x06054b50);
    assert_int_equal(get(file + at + 8, 2), n);
    assert_int_equal(get(file + at + 10, 2), n);
    assert_int_equal(get(file + at + 12, 4), at - directory);
    assert_int_equal(get(file + at + 16, 4), directory);
    assert_int_equal(at + 22, bytes);
    return n;
}

static void test_trx(void **state)
{
    (void)state;
    static const char *const names[] = {"header.json", "positions.3.float32", "offsets.uint32", "dps/seeds.3.float32",
                                        "dps/seed_index.uint32"};
    gls_streamlines lines = make_lines();
    entry e[8];
    size_t bytes;
    write_file(scratch("a.trx"), gls_tractogram_options_default(), &lines, 2);
    unsigned char *file = get_file(scratch("a.trx"), &bytes);
    assert_int_equal(walk_zip(file, bytes, e), 5);
    for (int i = 0; i < 5; i++) assert_string_equal(e[i].name, names[i]);
    static const char json[] =
        "{\"VOXEL_TO_RASMM\": [[-1.7, 0.1, 0.2, 80], [0.15, 1.9, -0.4, -100], [0.1, 0.3, 3, -60], [0, 0, 0, 1]], "
        "\"DIMENSIONS\": [91, 109, 61], \"NB_STREAMLINES\": 6, \"NB_VERTICES\": 30}";
    assert_memory_equal(e[0].data, json, sizeof json - 1);
    for (size_t i = sizeof json - 1; i < e[0].bytes; i++) assert_int_equal(e[0].data[i], ' ');
    assert_int_equal((e[1].data - file) % 64, 0);
    assert_int_equal(e[1].bytes, 2 * sizeof points);
    assert_memory_equal(e[1].data, points, sizeof points);
    assert_memory_equal(e[1].data + sizeof points, points, sizeof points);
    static const uint32_t expected[7] = {0, 5, 6, 15, 20, 21, 30}; /* the number of points comes last */
    assert_int_equal(e[2].bytes, sizeof expected);
    assert_memory_equal(e[2].data, expected, sizeof expected);
    assert_int_equal(e[3].bytes, 2 * sizeof seeds);
    assert_memory_equal(e[3].data + sizeof seeds, seeds, sizeof seeds);
    assert_memory_equal(e[4].data, indices, sizeof indices);
    free(file);
}

/* Offsets have 64 bits from 2^32 points on; the test sets the count beyond that. */
static void test_trx_wide_offsets(void **state)
{
    (void)state;
    gls_streamlines lines = make_lines();
    gls_tractogram_writer *writer;
    gls_grid grid = make_grid();
    entry e[8];
    size_t bytes;
    for (int wide = 0; wide < 2; wide++) {
        const char *path = scratch(wide ? "wide.trx" : "narrow.trx");
        assert_int_equal(gls_tractogram_writer_create(path, GLS_FORMAT_TRX, &grid, NULL, &writer), GLS_OK);
        assert_int_equal(gls_tractogram_writer_append(writer, &lines), GLS_OK);
        writer->n_points = (uint64_t)UINT32_MAX + (uint64_t)wide;
        assert_int_equal(gls_tractogram_writer_finish(writer), GLS_OK);
        unsigned char *file = get_file(path, &bytes);
        assert_int_equal(walk_zip(file, bytes, e), 5);
        assert_string_equal(e[2].name, wide ? "offsets.uint64" : "offsets.uint32");
        assert_int_equal(e[2].bytes, wide ? 32 : 16);
        for (int i = 0; i <= N; i++) assert_int_equal(get(e[2].data + i * (wide ? 8 : 4), wide ? 8 : 4), offsets[i]);
        free(file);
    }
}

static void test_trx_locale(void **state)
{
    (void)state;
    size_t bytes;
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) leave_out("LOCALE", "the locale de_DE.UTF-8");
    gls_streamlines lines = make_lines();
    write_file(scratch("l.trx"), gls_tractogram_options_default(), &lines, 1);
    setlocale(LC_ALL, "C");
    unsigned char *file = get_file(scratch("l.trx"), &bytes);
    assert_memory_equal(file + 41, "{\"VOXEL_TO_RASMM\": [[-1.7, 0.1, 0.2, 80], [0.15, ", 49);
    free(file);
}

static void test_trx_half(void **state)
{
    (void)state;
    gls_streamlines lines = make_lines();
    gls_tractogram_options options = gls_tractogram_options_default();
    gls_tractogram_writer *writer;
    gls_grid grid = make_grid();
    entry e[8];
    size_t bytes;
    options.precision = GLS_PRECISION_HALF;
    lines.n_dps = 0;
    write_file(scratch("h.trx"), options, &lines, 1);
    unsigned char *file = get_file(scratch("h.trx"), &bytes);
    assert_int_equal(walk_zip(file, bytes, e), 3);
    assert_string_equal(e[1].name, "positions.3.float16");
    assert_int_equal(e[1].bytes, sizeof points / 2);
    for (int i = 0; i < 45; i++) assert_int_equal(get(e[1].data + 2 * i, 2), gls_half(points[i / 3][i % 3]));
    free(file);
    points[4][1] = 70000.0f;
    options.overwrite = true;
    assert_int_equal(gls_tractogram_writer_create(scratch("h.trx"), GLS_FORMAT_TRX, &grid, &options, &writer), GLS_OK);
    assert_int_equal(gls_tractogram_writer_append(writer, &lines), GLS_ERR_UNSUPPORTED);
    assert_non_null(strstr(gls_last_error(), "/h.trx: a coordinate exceeds 65504 mm: give --output-precision float"));
    gls_tractogram_writer_abort(writer);
}

/* Expected values: numpy.float16. */
static void test_half(void **state)
{
    (void)state;
    static const struct {
        float value;
        uint16_t half;
    } cases[] = {{0.0f, 0},
                 {-0.0f, 0x8000},
                 {1.0f, 0x3c00},
                 {-2.0f, 0xc000},
                 {65504.0f, 0x7bff},
                 {65519.9f, 0x7bff},
                 {65520.0f, 0x7c00},
                 {1e30f, 0x7c00},
                 {INFINITY, 0x7c00},
                 {0x1p-14f, 0x0400},
                 {0x1p-24f, 0x0001},
                 {0x1p-25f, 0x0000},
                 {0x1.8p-24f, 0x0002},
                 {0x1.8p-25f, 0x0001},
                 {0x1.ffcp-15f, 0x0400},
                 {1.00048828125f, 0x3c00},
                 {1.00146484375f, 0x3c02},
                 {100.06f, 0x5641}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) assert_int_equal(gls_half(cases[i].value), cases[i].half);
    assert_true((gls_half(NAN) & 0x7fff) > 0x7c00);
    /* the vector path gives the same bits */
    float in[1003];
    uint16_t out[1003];
    for (int i = 0; i < 1003; i++)
        in[i] = ldexpf(1.0f + (float)(i * 7919 % 4096) / 4096.0f, i % 40 - 26) * (i & 1 ? -1.0f : 1.0f);
    assert_true(gls_half_convert(in, 1003, out));
    for (int i = 0; i < 1003; i++) assert_int_equal(out[i], gls_half(in[i]));
    in[500] = 65520.0f;
    assert_false(gls_half_convert(in, 1003, out));
    in[500] = 1.0f;
    in[1002] = -1e9f;
    assert_false(gls_half_convert(in, 1003, out));
}

static void test_crc(void **state)
{
    (void)state;
    unsigned char data[3000];
    for (int i = 0; i < 3000; i++) data[i] = (unsigned char)(i * i * 31 >> 3);
    for (unsigned start = 0; start < 20; start++) {
        for (unsigned n = 0; n < 2900; n += n < 600 ? 1 : 97)
            assert_int_equal(gls_crc32(start * 0x9E3779B9u, data + start, n),
                             crc32(start * 0x9E3779B9u, data + start, n));
    }
}

/* The exact limit at which the ZIP64 field appears, and what it holds. */
static void test_zip64(void **state)
{
    (void)state;
    unsigned char h[GLS_ZIP_LOCAL_MAX];
    gls_zip_entry e = {.name = "positions.3.float32", .crc = 1, .bytes = 2147483647};
    assert_int_equal(gls_zip_local_bytes(&e), 49);
    assert_int_equal(gls_zip_local(&e, h), 49);
    assert_int_equal(get(h + 18, 4), 2147483647);
    e.bytes++;
    assert_int_equal(gls_zip_local_bytes(&e), 69);
    assert_int_equal(gls_zip_local(&e, h), 69);
    assert_int_equal(get(h + 4, 2), 45);
    assert_int_equal(get(h + 18, 4), 0xffffffff);
    assert_int_equal(get(h + 22, 4), 0xffffffff);
    assert_int_equal(get(h + 28, 2), 20);
    assert_int_equal(get(h + 49, 2), 1);
    assert_int_equal(get(h + 51, 2), 16);
    assert_int_equal(get(h + 53, 8), 2147483648);
    assert_int_equal(get(h + 61, 8), 2147483648);

    gls_output output;
    size_t bytes;
    assert_int_equal(gls_output_create(scratch("end"), true, &output), GLS_OK);
    e.offset = (uint64_t)5 << 30;
    assert_int_equal(gls_zip_finish(&output, &e, 1, (uint64_t)8 << 30), GLS_OK);
    assert_int_equal(gls_output_commit(&output), GLS_OK);
    unsigned char *end = get_file(scratch("end"), &bytes);
    size_t central = 46 + 19 + 28;
    assert_int_equal(bytes, central + 56 + 20 + 22);
    assert_int_equal(get(end + 42, 4), 0xffffffff);
    assert_int_equal(get(end + 30, 2), 28);
    assert_int_equal(get(end + 65 + 4 + 16, 8), (uint64_t)5 << 30);
    assert_int_equal(get(end + central, 4), 0x06064b50);
    assert_int_equal(get(end + central + 48, 8), (uint64_t)8 << 30);
    assert_int_equal(get(end + central + 56, 4), 0x07064b50);
    assert_int_equal(get(end + central + 56 + 8, 8), ((uint64_t)8 << 30) + central);
    assert_int_equal(get(end + central + 76, 4), 0x06054b50);
    assert_int_equal(get(end + central + 76 + 16, 4), 0xffffffff);
    free(end);
}

static void test_trk(void **state)
{
    (void)state;
    gls_streamlines lines = make_lines();
    gls_grid grid = make_grid();
    size_t bytes;
    write_file(scratch("a.trk"), gls_tractogram_options_default(), &lines, 2);
    unsigned char *file = get_file(scratch("a.trk"), &bytes), *p = file + 1000;
    assert_int_equal(bytes, 1000 + 6 * (4 + 16) + 2 * sizeof points);
    assert_memory_equal(file, "TRACK\0", 6);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(get(file + 6 + 2 * i, 2), grid.dim[i]);
        assert_true(get_float(file + 12 + 4 * i) == (float)grid.voxel_size[i]);
        for (int c = 0; c < 4; c++) assert_true(get_float(file + 440 + 16 * i + 4 * c) == (float)affine[i][c]);
    }
    assert_int_equal(get(file + 36, 2), 0);
    assert_int_equal(get(file + 238, 2), 4);
    assert_memory_equal(file + 240,
                        "seeds\0"
                        "3\0\0\0\0\0\0\0\0\0\0\0\0",
                        20);
    assert_memory_equal(file + 260, "seed_index\0\0\0\0\0\0\0\0\0", 20);
    assert_true(get_float(file + 500) == 1.0f);
    assert_memory_equal(file + 948, "LAS\0LAS", 8);
    assert_int_equal(get(file + 988, 4), 6);
    assert_int_equal(get(file + 992, 4), 2);
    assert_int_equal(get(file + 996, 4), 1000);
    for (int s = 0; s < 6; s++) {
        uint64_t first = offsets[s % N], n = offsets[s % N + 1] - first;
        assert_int_equal(get(p, 4), n);
        for (uint64_t k = 0; k < n; k++) { /* voxel mm from the corner, which the affine leads back to world mm */
            for (int r = 0; r < 3; r++) {
                double world = affine[r][3];
                for (int c = 0; c < 3; c++)
                    world += affine[r][c] * (get_float(p + 4 + 12 * k + 4 * c) / grid.voxel_size[c] - 0.5);
                assert_float_equal(world, points[first + k][r], 2e-5);
            }
        }
        p += 4 + n * 12;
        assert_memory_equal(p, seeds[s % N], sizeof seeds[0]); /* world mm */
        assert_true(get_float(p + 12) == (float)indices[s % N]);
        p += 16;
    }
    free(file);
}

static void test_tck(void **state)
{
    (void)state;
    static const char *const header[] = {"method: boot", "step_size: 0.5", "roi: seed roi.nii.gz", NULL};
    static const char expected[] =
        "mrtrix tracks\nmethod: boot\nstep_size: 0.5\nroi: seed roi.nii.gz\ndatatype: Float32LE\n"
        "count: 000000000006\ntimestamp: 000000000006.%012llu\nfile: . 192\nEND\n";
    char text[sizeof expected + 16];
    gls_streamlines lines = make_lines();
    gls_tractogram_options options = gls_tractogram_options_default();
    gls_tractogram_writer *writer;
    gls_grid grid = make_grid();
    size_t bytes;
    options.header_lines = header;
    write_file(scratch("a.tck"), options, &lines, 2);
    unsigned char *file = get_file(scratch("a.tck"), &bytes), *p = file + 192;
    assert_int_equal(bytes, 192 + 2 * sizeof points + 6 * 12 + 12);
    const int n_text = snprintf(text, sizeof text, expected, (unsigned long long)(2 * offsets[N]));
    assert_memory_equal(file, text, (size_t)n_text + 1);
    for (int s = 0; s < 6; s++) {
        uint64_t first = offsets[s % N], n = offsets[s % N + 1] - first;
        assert_memory_equal(p, points[first], n * 12);
        p += n * 12;
        for (int i = 0; i < 3; i++, p += 4) assert_true(isnan(get_float(p)));
    }
    for (int i = 0; i < 3; i++, p += 4) assert_true(get_float(p) == INFINITY);
    free(file);
    static const char *const bad[] = {"no colon",          "two: colons: here", "count: 5",    "file: . 3",
                                      "line: with\nbreak", ": empty",           "timestamp: 1"};
    for (int i = 0; i < 7; i++) {
        const char *const list[] = {bad[i], NULL};
        options.header_lines = list;
        assert_int_equal(gls_tractogram_writer_create(scratch("bad.tck"), GLS_FORMAT_TCK, &grid, &options, &writer),
                         GLS_ERR_ARGUMENT);
        assert_non_null(strstr(gls_last_error(), "is no header line"));
        assert_int_not_equal(access(scratch("bad.tck"), F_OK), 0);
    }
}

static void test_empty(void **state)
{
    (void)state;
    gls_streamlines none = {0};
    static const uint64_t zero[1] = {0};
    entry e[8];
    size_t bytes;
    none.offset = zero;
    write_file(scratch("e.trx"), gls_tractogram_options_default(), &none, 1);
    unsigned char *file = get_file(scratch("e.trx"), &bytes);
    assert_int_equal(walk_zip(file, bytes, e), 1);
    assert_string_equal(e[0].name, "header.json");
    assert_non_null(strstr((const char *)e[0].data, "\"NB_STREAMLINES\": 0, \"NB_VERTICES\": 0}"));
    free(file);
    write_file(scratch("e.trk"), gls_tractogram_options_default(), &none, 0);
    file = get_file(scratch("e.trk"), &bytes);
    assert_int_equal(bytes, 1000);
    assert_int_equal(get(file + 988, 4), 0);
    free(file);
    write_file(scratch("e.tck"), gls_tractogram_options_default(), &none, 0);
    file = get_file(scratch("e.tck"), &bytes);
    assert_non_null(strstr((const char *)file, "\ncount: 000000000000\n"));
    for (size_t i = bytes - 12; i < bytes; i += 4) assert_true(get_float(file + i) == INFINITY);
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trx),        cmocka_unit_test(test_trx_wide_offsets),
        cmocka_unit_test(test_trx_locale), cmocka_unit_test(test_trx_half),
        cmocka_unit_test(test_half),       cmocka_unit_test(test_crc),
        cmocka_unit_test(test_zip64),      cmocka_unit_test(test_trk),
        cmocka_unit_test(test_tck),        cmocka_unit_test(test_empty),
    };
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
