/* Tractogram writers: large amounts, bad arguments, failures that must leave nothing behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "files.h"
#include "lines.h"
#include <glslines/tractogram.h>
#include <math.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

static const char *const names[] = {"out/x.trx", "out/x.trk", "out/x.tck"};

static gls_grid make_grid(int32_t x)
{
    const int32_t dim[3] = {x, 20, 30};
    const double affine[3][4] = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}};
    gls_grid grid;
    assert_int_equal(gls_grid_init(&grid, dim, affine), GLS_OK);
    return grid;
}

/* n streamlines of 1 .. 40 points in one block. */
static gls_streamlines make_many(size_t n)
{
    uint64_t *offset = calloc(n + 1, sizeof *offset);
    uint32_t *seed_index = malloc(n * sizeof *seed_index);
    for (size_t i = 0; i < n; i++) {
        offset[i + 1] = offset[i] + 1 + i * 7919 % 40;
        seed_index[i] = (uint32_t)i;
    }
    float(*point)[3] = malloc(offset[n] * sizeof *point), (*seed)[3] = malloc(n * sizeof *seed);
    for (size_t p = 0; p < offset[n]; p++) {
        for (int k = 0; k < 3; k++) point[p][k] = (float)(p % 1000 + (size_t)k);
    }
    for (size_t i = 0; i < n; i++) memcpy(seed[i], point[offset[i]], sizeof seed[i]);
    return make_streamlines(n, offset, (const float(*)[3])point, seed_index, (const float(*)[3])seed,
                            malloc(2 * sizeof(gls_column)));
}

static void free_many(gls_streamlines *s)
{
    free((void *)s->offset);
    free((void *)s->point);
    free((void *)seed_index_of(s));
    free((void *)seed_of(s));
    free((void *)s->dps);
}

/* Returns streamlines first .. first + n - 1 of s with offsets of their own. */
static gls_streamlines part(const gls_streamlines *s, size_t first, size_t n, uint64_t *offset, gls_column column[2])
{
    for (size_t i = 0; i <= n; i++) offset[i] = s->offset[first + i] - s->offset[first];
    return make_streamlines(n, offset, s->point + s->offset[first], seed_index_of(s) + first, seed_of(s) + first,
                            column);
}

/* The same bytes however the streamlines are cut into appends; enough of them that scratch files are used. */
static void test_batches(void **state)
{
    (void)state;
    enum { MANY = 150000 };
    gls_streamlines all = make_many(MANY);
    gls_grid grid = make_grid(10);
    uint64_t *offset = malloc((MANY + 1) * sizeof *offset);
    for (int f = 0; f < 3; f++) {
        unsigned char *file[2];
        size_t bytes[2];
        for (int way = 0; way < 2; way++) {
            gls_tractogram_writer *writer;
            assert_int_equal(
                gls_tractogram_writer_create(scratch(names[f]), (gls_tractogram_format)f, &grid, NULL, &writer),
                GLS_OK);
            for (size_t first = 0, n; first < MANY; first += n) {
                n = way == 0 ? MANY : 1 + first % 9973;
                if (n > MANY - first) n = MANY - first;
                gls_column column[2];
                gls_streamlines lines = part(&all, first, n, offset, column);
                if (gls_tractogram_writer_append(writer, &lines) != GLS_OK) fail_msg("%s", gls_last_error());
            }
            assert_int_equal(count_files(scratch("out")), 0); /* no file is visible before the end */
            if (gls_tractogram_writer_finish(writer) != GLS_OK) fail_msg("%s", gls_last_error());
            assert_int_equal(count_files(scratch("out")), 1);
            file[way] = get_file(scratch(names[f]), &bytes[way]);
            unlink(scratch(names[f]));
        }
        assert_int_equal(bytes[0], bytes[1]);
        assert_memory_equal(file[0], file[1], bytes[0]);
        free(file[0]);
        free(file[1]);
    }
    free(offset);
    free_many(&all);
}

static void test_existing(void **state)
{
    (void)state;
    gls_grid grid = make_grid(10);
    gls_tractogram_writer *writer;
    gls_streamlines lines = make_many(4);
    for (int f = 0; f < 3; f++) {
        const char *path = scratch(names[f]);
        put_file(path, "mine", 4);
        assert_int_equal(gls_tractogram_writer_create(path, (gls_tractogram_format)f, &grid, NULL, &writer),
                         GLS_ERR_OUTPUT);
        assert_non_null(strstr(gls_last_error(), ": exists already and is not overwritten"));
        gls_tractogram_options options = gls_tractogram_options_default();
        options.overwrite = true;
        assert_int_equal(gls_tractogram_writer_create(path, (gls_tractogram_format)f, &grid, &options, &writer),
                         GLS_OK);
        assert_int_equal(gls_tractogram_writer_append(writer, &lines), GLS_OK);
        gls_tractogram_writer_abort(writer);
        size_t bytes;
        unsigned char *data = get_file(path, &bytes);
        assert_int_equal(bytes, 4); /* still the old one */
        free(data);
        assert_int_equal(count_files(scratch("out")), 1);
        unlink(path);
        assert_int_equal(
            gls_tractogram_writer_create(scratch("none/x.trx"), (gls_tractogram_format)f, &grid, NULL, &writer),
            GLS_ERR_OUTPUT);
        assert_non_null(strstr(gls_last_error(), "/none/x.trx: cannot create: No such file or directory"));
    }
    gls_tractogram_writer_abort(NULL);
    free_many(&lines);
}

static void expect_refusal(const gls_streamlines *lines, const char *reason)
{
    for (int f = 0; f < 3; f++) {
        gls_grid grid = make_grid(10);
        gls_tractogram_writer *writer;
        assert_int_equal(
            gls_tractogram_writer_create(scratch(names[f]), (gls_tractogram_format)f, &grid, NULL, &writer), GLS_OK);
        assert_int_equal(gls_tractogram_writer_append(writer, lines), GLS_ERR_ARGUMENT);
        assert_non_null(strstr(gls_last_error(), reason));
        /* the message has the reason */
        assert_int_equal(gls_tractogram_writer_finish(writer), GLS_ERR_ARGUMENT);
        assert_non_null(strstr(gls_last_error(), reason));
        assert_int_equal(count_files(scratch("out")), 0);
    }
}

static void test_bad_arguments(void **state)
{
    (void)state;
    static float point[12][3];
    static const uint64_t fine[3] = {0, 9, 12}, hole[3] = {0, 12, 12}, back[3] = {0, 9, 5};
    gls_tractogram_format format;
    gls_tractogram_writer *writer;
    gls_column column[2];
    gls_streamlines lines = make_streamlines(2, hole, (const float(*)[3])point, NULL, NULL, column);
    expect_refusal(&lines, "streamline 1 (counted from 0) has no points");
    lines.offset = back;
    expect_refusal(&lines, "streamline 1 (counted from 0) has no points");
    lines.offset = fine;
    point[8][2] = NAN;
    expect_refusal(&lines, "a point to be written is not finite");
    point[8][2] = 0;
    point[11][2] = -INFINITY; /* the last value, behind the vectorised part */
    expect_refusal(&lines, "a point to be written is not finite");
    point[11][2] = 0;
    /* two columns of one name, which no reader could tell apart */
    static const float twice[2] = {0};
    const gls_column both[2] = {{"a", GLS_TYPE_FLOAT32, 1, twice}, {"a", GLS_TYPE_FLOAT32, 1, twice}};
    lines.dps = both;
    lines.n_dps = 2;
    expect_refusal(&lines, "the name \"a\"");
    lines.n_dps = 0;
    gls_grid grid = make_grid(10), wide = make_grid(40000), wider = make_grid(70000);
    assert_int_equal(gls_tractogram_writer_create(scratch(names[0]), GLS_FORMAT_TRX, &grid, NULL, &writer), GLS_OK);
    assert_int_equal(gls_tractogram_writer_append(writer, &lines), GLS_OK);
    static const uint32_t index[2] = {0, 1};
    lines = make_streamlines(2, fine, (const float(*)[3])point, index, NULL, column);
    assert_int_equal(gls_tractogram_writer_append(writer, &lines), GLS_ERR_ARGUMENT);
    assert_non_null(strstr(gls_last_error(), "streamlines have other columns than those before"));
    gls_tractogram_writer_abort(writer);
    assert_int_equal(gls_tractogram_writer_create(scratch(names[1]), GLS_FORMAT_TRK, &wide, NULL, &writer),
                     GLS_ERR_UNSUPPORTED);
    assert_non_null(strstr(gls_last_error(), "at most 32767 voxels along an axis, but the image has 40000"));
    assert_int_equal(gls_tractogram_writer_create(scratch(names[0]), GLS_FORMAT_TRX, &wider, NULL, &writer),
                     GLS_ERR_UNSUPPORTED);
    assert_non_null(strstr(gls_last_error(), "at most 65535 voxels along an axis, but the image has 70000"));
    assert_int_equal(gls_tractogram_format_parse("a.TRK", &format), GLS_OK);
    assert_int_equal(format, GLS_FORMAT_TRK);
    assert_int_equal(gls_tractogram_format_parse("a.vtp", &format), GLS_ERR_ARGUMENT);
    assert_string_equal(gls_last_error(), "a.vtp: the name of a tractogram must end in .trx, .trk, .tck or .vtk");
    assert_int_equal(count_files(scratch("out")), 0);
}

/* Writes until something fails. Returns that status; text: the message. */
static gls_status write_until_failure(const char *path, gls_tractogram_format format, const gls_streamlines *lines,
                                      int times, char text[512])
{
    gls_grid grid = make_grid(10);
    gls_tractogram_writer *writer;
    gls_status status = gls_tractogram_writer_create(path, format, &grid, NULL, &writer);
    if (status == GLS_OK) {
        for (int i = 0; i < times && status == GLS_OK; i++) status = gls_tractogram_writer_append(writer, lines);
        if (status == GLS_OK)
            status = gls_tractogram_writer_finish(writer);
        else
            gls_tractogram_writer_abort(writer);
    }
    snprintf(text, 512, "%s", gls_last_error());
    return status;
}

static void test_size_limit(void **state)
{
    (void)state;
    struct rlimit old, small;
    gls_streamlines lines = make_many(2000);
    char text[3][512];
    gls_status status[3];
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 300000;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (int f = 0; f < 3; f++)
        status[f] = write_until_failure(scratch(names[f]), (gls_tractogram_format)f, &lines, 5, text[f]);
    setrlimit(RLIMIT_FSIZE, &old);
    for (int f = 0; f < 3; f++) {
        assert_int_equal(status[f], GLS_ERR_OUTPUT);
        assert_non_null(strstr(text[f], ": cannot write: File too large"));
        assert_non_null(strstr(text[f], names[f]));
    }
    assert_int_equal(count_files(scratch("out")), 0);
    free_many(&lines);
}

/* A disk that fills while positions are written, and one that fills only at the end, by the arrays that follow them. */
static void test_full_disk(void **state)
{
    (void)state;
    const char *folder = scratch("full");
    gls_streamlines lines = make_many(20000);
    char text[512];
    mkdir(folder, 0777);
    if (mount("none", folder, "tmpfs", 0, "size=6m") != 0) skip();
    for (int f = 0; f < 3; f++) {
        static const char *const in_full[] = {"full/x.trx", "full/x.trk", "full/x.tck"};
        const char *path = scratch(in_full[f]);
        for (int times = 1; times <= 3; times++) {
            gls_status status = write_until_failure(path, (gls_tractogram_format)f, &lines, times, text);
            if (times == 1) {
                assert_int_equal(status, GLS_OK);
                unlink(path);
            } else {
                assert_int_equal(status, GLS_ERR_OUTPUT);
                assert_non_null(strstr(text, "No space left on device"));
                assert_non_null(strstr(text, path));
            }
            assert_int_equal(count_files(folder), 0);
        }
    }
    umount(folder);
    if (mount("none", folder, "tmpfs", 0, "size=5000k") == 0) {
        assert_int_equal(write_until_failure(scratch("full/late.trx"), GLS_FORMAT_TRX, &lines, 1, text),
                         GLS_ERR_OUTPUT);
        assert_non_null(strstr(text, "No space left on device"));
        assert_int_equal(count_files(folder), 0);
        umount(folder);
    }
    free_many(&lines);
}

static int create_folders(void **state)
{
    return scratch_create(state) != 0 || mkdir(scratch("out"), 0777) != 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batches),    cmocka_unit_test(test_existing),  cmocka_unit_test(test_bad_arguments),
        cmocka_unit_test(test_size_limit), cmocka_unit_test(test_full_disk),
    };
    return cmocka_run_group_tests(tests, create_folders, scratch_remove);
}
