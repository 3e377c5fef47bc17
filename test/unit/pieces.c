/* Large appends: the bytes of the file are the same from one thread as from several, which write their pieces in any
 * order, and a fault in any piece is reported. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "files.h"
#include "lines.h"
#include <glslines/tractogram.h>
#include <math.h>
#include <omp.h>

/* Lengths vary; one streamline is longer than a piece, and one is the whole of an append. */
enum { N = 9000, LONG = 4000, LONG_POINTS = 800000 };
static uint64_t offset[N + 1];
static uint32_t seed_index[N];
static float seed[N][3];
static float (*point)[3];

static int create(void **state)
{
    for (size_t i = 0; i < N; i++) {
        offset[i + 1] = offset[i] + (i == LONG ? LONG_POINTS : 1 + i * 7919 % 160);
        seed_index[i] = (uint32_t)(i * i);
        for (int a = 0; a < 3; a++) seed[i][a] = (float)i / 7 + (float)a;
    }
    point = malloc(offset[N] * sizeof *point);
    if (!point) return -1;
    for (uint64_t p = 0; p < offset[N]; p++)
        for (int a = 0; a < 3; a++) point[p][a] = (float)((p * 31 + (uint64_t)a * 7) % 100003) / 512 - 90;
    return scratch_create(state);
}

static int finish(void **state)
{
    free(point);
    return scratch_remove(state);
}

static gls_status write_lines(const char *path, bool half, const gls_shard *shard, int threads)
{
    static const double affine[3][4] = {{-1.7, 0.1, 0.2, 80}, {0.15, 1.9, -0.4, -100}, {0.1, 0.3, 3.0, -60}};
    gls_tractogram_options options = gls_tractogram_options_default();
    gls_tractogram_format format;
    gls_tractogram_writer *writer;
    gls_grid grid;
    gls_column column[2], alone[2];
    const gls_streamlines all =
        make_streamlines(N, offset, (const float(*)[3])point, seed_index, (const float(*)[3])seed, column);
    const gls_streamlines one = make_streamlines(1, (const uint64_t[]){0, LONG_POINTS}, (const float(*)[3])point,
                                                 seed_index, (const float(*)[3])seed, alone);
    options.overwrite = true;
    options.precision = half ? GLS_PRECISION_HALF : GLS_PRECISION_FLOAT;
    options.shard = shard;
    assert_int_equal(gls_grid_init(&grid, (const int32_t[]){91, 109, 61}, affine), GLS_OK);
    assert_int_equal(gls_tractogram_format_parse(path, &format), GLS_OK);
    assert_int_equal(gls_tractogram_writer_create(path, format, &grid, &options, &writer), GLS_OK);
    omp_set_num_threads(threads);
    gls_status status = gls_tractogram_writer_append(writer, &all);
    if (status == GLS_OK) status = gls_tractogram_writer_append(writer, &one);
    if (status == GLS_OK) return gls_tractogram_writer_finish(writer);
    gls_tractogram_writer_abort(writer);
    return status;
}

static void compare(const char *suffix, bool half, const gls_shard *shard)
{
    char name[2][32];
    unsigned char *file[2];
    size_t bytes[2];
    for (int i = 0; i < 2; i++) {
        snprintf(name[i], sizeof name[i], "%d%s", i, suffix);
        if (write_lines(scratch(name[i]), half, shard, i == 0 ? 1 : 16) != GLS_OK) fail_msg("%s", gls_last_error());
        file[i] = get_file(scratch(name[i]), &bytes[i]);
    }
    assert_int_equal(bytes[0], bytes[1]);
    assert_memory_equal(file[0], file[1], bytes[0]);
    free(file[0]);
    free(file[1]);
}

static void test_same_bytes(void **state)
{
    gls_shard shard;
    (void)state;
    assert_int_equal(gls_shard_init(1, 2, 2 * N, &shard), GLS_OK);
    compare(".trx", false, NULL);
    compare(".trx", true, NULL);
    compare(".trk", false, &shard);
    compare(".tck", false, &shard);
}

/* A fault is found whichever piece has it; nothing is left behind. */
static void test_failures(void **state)
{
    (void)state;
    const float kept = point[offset[N] - 1][1];
    point[offset[N] - 1][1] = NAN;
    const char *const names[] = {"f.trx", "f.trk", "f.tck"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(write_lines(scratch(names[i]), false, NULL, 16), GLS_ERR_ARGUMENT);
        assert_non_null(strstr(gls_last_error(), "a point to be written is not finite"));
        assert_int_not_equal(access(scratch(names[i]), F_OK), 0);
    }
    point[offset[N] - 1][1] = 70000;
    assert_int_equal(write_lines(scratch("f.trx"), true, NULL, 16), GLS_ERR_UNSUPPORTED);
    assert_non_null(strstr(gls_last_error(), "a coordinate exceeds 65504 mm"));
    point[offset[N] - 1][1] = kept;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bytes), cmocka_unit_test(test_failures)};
    return cmocka_run_group_tests(tests, create, finish);
}
