/* What a reader opens where a file is named is an input: no output may take its place, and it tells the input from
 * others. The test sees what is opened: the linker puts its functions in place of those that open files. */
#include <setjmp.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <cmocka.h>
#include <zlib.h>

#include <glslines/image.h>
#include <glslines/tractogram.h>

#include "files.h"
#include "record/run.h"
#include "util/file.h"

/* --- what is opened ------------------------------------------------------- */

static char opened[16][512];
static size_t n_opened;

static void note(const char *path)
{
    assert_true(n_opened < 16);
    snprintf(opened[n_opened++], sizeof opened[0], "%s", path);
}

gls_status __real_gls_input_open(const char *path, gls_input *input);
gls_status __wrap_gls_input_open(const char *path, gls_input *input);
gls_status __real_gls_regular_open(const char *path, int *fd, uint64_t *bytes);
gls_status __wrap_gls_regular_open(const char *path, int *fd, uint64_t *bytes);

gls_status __wrap_gls_input_open(const char *path, gls_input *input)
{
    note(path);
    return __real_gls_input_open(path, input);
}

gls_status __wrap_gls_regular_open(const char *path, int *fd, uint64_t *bytes)
{
    note(path);
    return __real_gls_regular_open(path, fd, bytes);
}

/* --- files of each format ------------------------------------------------- */

static void put_gz(const char *path, const void *data, size_t bytes)
{
    gzFile file = gzopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, data, (unsigned)bytes), (int)bytes);
    assert_int_equal(gzclose(file), Z_OK);
}

/* Writes image.nii, and pairs of the same image: a.hdr with a.img, b.hdr.gz with b.img.gz, c.hdr with c.img.gz. */
static void put_images(void)
{
    static const double affine[3][4] = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}};
    static const float no_offset = 0;
    gls_grid grid;
    gls_image *image;
    size_t bytes;
    assert_int_equal(gls_grid_init(&grid, (const int32_t[3]){3, 2, 2}, affine), GLS_OK);
    assert_int_equal(gls_image_create(&grid, 1, &image), GLS_OK);
    for (int i = 0; i < 12; i++) image->data[i] = (float)i;
    assert_int_equal(gls_image_write(scratch("image.nii"), image, GLS_IMAGE_FLOAT32), GLS_OK);
    gls_image_destroy(image);
    unsigned char *data = get_file(scratch("image.nii"), &bytes);
    memcpy(data + 344, "ni1", 4);
    memcpy(data + 108, &no_offset, sizeof no_offset);
    put_file(scratch("a.hdr"), data, 348);
    put_file(scratch("c.hdr"), data, 348);
    put_gz(scratch("b.hdr.gz"), data, 348);
    put_file(scratch("a.img"), data + 352, bytes - 352);
    put_gz(scratch("b.img.gz"), data + 352, bytes - 352);
    put_gz(scratch("c.img.gz"), data + 352, bytes - 352);
    free(data);
}

static void put_mrtrix(void)
{
    static const float points[] = {1, 1, 1, 2, 2, 2, NAN, NAN, NAN, INFINITY, INFINITY, INFINITY};
    static const char image[] = "mrtrix image\ndim: 2,2,1\nvox: 1,1,1\nlayout: +0,+1,+2\ndatatype: UInt8\n"
                                "transform: 1, 0, 0, 0\ntransform: 0, 1, 0, 0\ntransform: 0, 0, 1, 0\nfile: ";
    static const char tracks[] = "mrtrix tracks\ndatatype: Float32LE\ncount: 1\nfile: ";
    char text[512], block[320] = {0};
    snprintf(text, sizeof text, "%svalues.dat 0\nEND\n", image);
    put_file(scratch("d.mih"), text, strlen(text));
    put_file(scratch("values.dat"), "\1\2\3\4", 4);
    snprintf(block, sizeof block, "%s. 256\nEND\n", image);
    put_file(scratch("e.mif"), block, sizeof block);
    snprintf(text, sizeof text, "%spoints.dat 0\nEND\n", tracks);
    put_file(scratch("apart.tck"), text, strlen(text));
    put_file(scratch("points.dat"), points, sizeof points);
    memset(block, 0, sizeof block);
    snprintf(block, 128, "%s. 128\nEND\n", tracks);
    memcpy(block + 128, points, sizeof points);
    put_file(scratch("whole.tck"), block, 128 + sizeof points);
}

static void put_folder(void)
{
    static const char header[] =
        "{\"DIMENSIONS\": [9, 9, 9], \"VOXEL_TO_RASMM\": [[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]], "
        "\"NB_STREAMLINES\": 2, \"NB_VERTICES\": 3}";
    static const float points[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    static const uint32_t offsets[3] = {0, 2, 3};
    assert_int_equal(mkdir(scratch("folder.trx"), 0700), 0);
    assert_int_equal(mkdir(scratch("folder.trx/dps"), 0700), 0);
    put_file(scratch("folder.trx/header.json"), header, sizeof header - 1);
    put_file(scratch("folder.trx/positions.3.float32"), points, sizeof points);
    put_file(scratch("folder.trx/offsets.uint32"), offsets, sizeof offsets);
    put_file(scratch("folder.trx/dps/w.float32"), points, 8);
}

static int prepare(void **state)
{
    if (scratch_create(state)) return -1;
    put_images();
    put_mrtrix();
    put_folder();
    return 0;
}

/* --- reading -------------------------------------------------------------- */

static gls_status read_image(const char *path)
{
    gls_image *image = NULL;
    gls_status status = gls_image_read(path, GLS_IMAGE_ANY, &image);
    gls_image_destroy(image);
    return status;
}

static gls_status take(void *user, const gls_streamlines *s)
{
    (void)user, (void)s;
    return GLS_OK;
}

static gls_status read_tracks(const char *path)
{
    gls_tractogram_reader *reader = NULL;
    const gls_sink sink = {.append = take};
    gls_status status = gls_tractogram_reader_open(path, NULL, &reader);
    if (!status) status = gls_tractogram_pump(reader, &sink, NULL, NULL);
    gls_tractogram_reader_close(reader);
    return status;
}

/* Whether one more byte in a file gives the input another identity. */
static bool tells_apart(const char *input, const char *file)
{
    uint64_t before, after;
    struct stat info;
    assert_int_equal(stat(file, &info), 0);
    assert_int_equal(gls_input_hash(input, &before), GLS_OK);
    FILE *grown = fopen(file, "ab");
    assert_non_null(grown);
    fputc('x', grown);
    fclose(grown);
    assert_int_equal(gls_input_hash(input, &after), GLS_OK);
    assert_int_equal(truncate(file, info.st_size), 0);
    return before != after;
}

static void all_that_is_opened(void **state)
{
    static const struct {
        const char *name;
        gls_status (*read)(const char *path);
        size_t files;
    } rows[] = {{"image.nii", read_image, 1},  {"a.hdr", read_image, 2},      {"a.img", read_image, 2},
                {"b.hdr.gz", read_image, 2},   {"b.img.gz", read_image, 2},   {"c.hdr", read_image, 2},
                {"c.img.gz", read_image, 2},   {"d.mih", read_image, 2},      {"e.mif", read_image, 1},
                {"apart.tck", read_tracks, 2}, {"whole.tck", read_tracks, 1}, {"folder.trx", read_tracks, 4}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[512];
        gls_inputs inputs = {0};
        size_t different = 0;
        snprintf(path, sizeof path, "%s", scratch(rows[i].name));
        n_opened = 0;
        assert_int_equal(rows[i].read(path), GLS_OK);
        const size_t n = n_opened;
        char seen[16][512];
        memcpy(seen, opened, sizeof seen);
        assert_int_equal(gls_inputs_add(&inputs, path), GLS_OK);
        for (size_t k = 0; k < n; k++) {
            bool again = false;
            for (size_t j = 0; j < k; j++) again |= strcmp(seen[j], seen[k]) == 0;
            different += !again;
            assert_int_equal(gls_inputs_check(&inputs, seen[k]), GLS_ERR_OUTPUT);
            n_opened = 0;
            assert_true(tells_apart(path, seen[k]));
        }
        assert_int_equal(different, rows[i].files);
        gls_inputs_finish(&inputs);
    }
    n_opened = 0;
}

/* --- names ---------------------------------------------------------------- */

static void refused(const gls_inputs *inputs, const char *path, const char *word)
{
    assert_int_equal(gls_inputs_check(inputs, path), GLS_ERR_OUTPUT);
    assert_non_null(strstr(gls_last_error(), word));
    assert_non_null(strstr(gls_last_error(), path));
    n_opened = 0;
}

static void under_any_name(void **state)
{
    char file[512], hard[512], soft[512], text[600], absent[512];
    gls_inputs inputs = {0};
    (void)state;
    snprintf(file, sizeof file, "%s", scratch("a.img"));
    snprintf(hard, sizeof hard, "%s", scratch("hard.img"));
    snprintf(soft, sizeof soft, "%s", scratch("soft.img"));
    snprintf(absent, sizeof absent, "%s", scratch("absent.nii"));
    assert_int_equal(link(file, hard), 0);
    assert_int_equal(symlink(file, soft), 0);
    snprintf(text, sizeof text, "%s:1,2", scratch("a.hdr"));
    assert_int_equal(gls_inputs_add(&inputs, NULL), GLS_OK);
    assert_int_equal(inputs.n, 0);
    assert_int_equal(gls_inputs_add(&inputs, text), GLS_OK);
    assert_int_equal(gls_inputs_add(&inputs, absent), GLS_OK);
    refused(&inputs, file, "is an input");
    refused(&inputs, hard, text);
    refused(&inputs, soft, "is an input");
    refused(&inputs, scratch("a.hdr"), "is an input");
    refused(&inputs, absent, "is an input");
    assert_int_equal(gls_inputs_check(&inputs, scratch("b.img.gz")), GLS_OK);
    assert_int_equal(gls_inputs_check(NULL, file), GLS_OK);
    gls_inputs_finish(&inputs);
    snprintf(text, sizeof text, "%s=name", scratch("e.mif"));
    assert_int_equal(gls_inputs_add(&inputs, text), GLS_OK);
    refused(&inputs, scratch("e.mif"), "is an input");
    gls_inputs_finish(&inputs);
    assert_int_equal(gls_inputs_add(&inputs, scratch("folder.trx")), GLS_OK);
    refused(&inputs, scratch("folder.trx/dps/new.float32"), "which is an input");
    refused(&inputs, scratch("folder.trx/../folder.trx/new"), "which is an input");
    assert_int_equal(gls_inputs_check(&inputs, scratch("folder.trx.json")), GLS_OK);
    gls_inputs_finish(&inputs);
}

/* A companion that cannot be read twice is refused before the work. */
static void checked_before(void **state)
{
    char header[512], values[512];
    (void)state;
    snprintf(header, sizeof header, "%s", scratch("p.hdr"));
    snprintf(values, sizeof values, "%s", scratch("p.img"));
    put_file(header, "x", 1);
    assert_int_equal(gls_input_file_check(&(gls_input_file){.path = header}), GLS_OK);
    assert_int_equal(mkfifo(values, 0600), 0);
    assert_int_equal(gls_input_file_check(&(gls_input_file){.path = header}), GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "p.img: is not a regular file"));
    n_opened = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_is_opened),
        cmocka_unit_test(under_any_name),
        cmocka_unit_test(checked_before),
    };
    return cmocka_run_group_tests(tests, prepare, scratch_remove);
}
