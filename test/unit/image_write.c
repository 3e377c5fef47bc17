/* Writing images, and how files appear: atomically, with the right permissions, nothing left after a failure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "files.h"
#include "util/file.h"
#include "util/output_file.h"
#include <glslines/image.h>
#include <math.h>
#include <nifti1.h>
#include <nifti2.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <signal.h>
#include <sys/stat.h>

static const int32_t dim[3] = {7, 5, 3};

static gls_image *make_image(size_t volumes)
{
    const double a[3][4] = {{-1.6, 0.2, 0.3, 40}, {0.1, 1.9, -0.5, -30}, {0.2, 0.4, 2.9, 11}};
    gls_grid grid;
    gls_image *image;
    assert_int_equal(gls_grid_init(&grid, dim, a), GLS_OK);
    assert_int_equal(gls_image_create(&grid, volumes, &image), GLS_OK);
    for (size_t i = 0; i < 105 * volumes; i++) image->data[i] = (float)i * 0.25f - 3.0f;
    return image;
}

static void test_round_trip(void **state)
{
    (void)state;
    static const char *const names[] = {"w.nii", "w.nii.gz", "w.mif", "w.mif.gz"};
    for (size_t volumes = 1; volumes <= 6; volumes += 5) {
        gls_image *image = make_image(volumes), *back, *like;
        image->grid.space = NIFTI_XFORM_MNI_152;
        image->data[3] = NAN;
        image->data[4] = 1e9f;
        image->data[5] = -1e9f;
        image->data[6] = 2.5f;
        image->data[7] = 3.5f;
        for (int way = 0; way < 12; way++) {
            gls_image_type type = (gls_image_type)(way / 4);
            const bool is_mif = way % 4 > 1;
            const char *path = scratch(names[way % 4]);
            if (gls_image_write(path, image, type) != GLS_OK) fail_msg("%s", gls_last_error());
            if (gls_image_read(path, volumes > 1 ? GLS_IMAGE_4D : GLS_IMAGE_3D, &back) != GLS_OK)
                fail_msg("%s", gls_last_error());
            assert_int_equal(gls_grid_require_equal(&image->grid, "a", &back->grid, "b"), GLS_OK);
            assert_int_equal(back->n_volumes, volumes);
            assert_int_equal(gls_image_create(&back->grid, 1, &like), GLS_OK);
            if (!is_mif) assert_int_equal(like->grid.space, NIFTI_XFORM_MNI_152);
            /* a MIF has the affine in double precision */
            for (int i = 0; i < 12 && is_mif; i++)
                assert_true(fabs(back->grid.affine[i / 4][i % 4] - image->grid.affine[i / 4][i % 4]) < 1e-14);
            gls_image_destroy(like);
            for (size_t i = 0; i < 105 * volumes; i++) {
                float x = image->data[i], low = type == GLS_IMAGE_INT16 ? -32768.0f : 0.0f,
                      high = type == GLS_IMAGE_INT16 ? 32767.0f : 255.0f;
                if (type != GLS_IMAGE_FLOAT32) x = isnan(x) ? 0.0f : fminf(fmaxf(rintf(x), low), high);
                assert_true(back->data[i] == x || (isnan(x) && isnan(back->data[i])));
            }
            gls_image_destroy(back);
        }
        gls_image_destroy(image);
    }
}

static void test_header(void **state)
{
    (void)state;
    gls_image *image = make_image(2);
    size_t bytes;
    assert_int_equal(gls_image_write(scratch("h.nii"), image, GLS_IMAGE_INT16), GLS_OK);
    unsigned char *file = get_file(scratch("h.nii"), &bytes);
    nifti_1_header h;
    memcpy(&h, file, sizeof h);
    assert_int_equal(bytes, 352 + 210 * 2);
    assert_int_equal(h.sizeof_hdr, 348);
    assert_memory_equal(h.magic, "n+1", 4);
    assert_int_equal(h.dim[0], 4);
    assert_int_equal(h.dim[4], 2);
    assert_int_equal(h.datatype, NIFTI_TYPE_INT16);
    assert_int_equal(h.bitpix, 16);
    assert_int_equal(h.sform_code, 1);
    assert_int_equal(h.qform_code, 1);
    assert_true(h.vox_offset == 352.0f && h.scl_slope == 1.0f && h.scl_inter == 0.0f);
    assert_int_equal(h.xyzt_units & 7, 2); /* mm */
    assert_true(h.srow_x[0] == -1.6f && h.srow_z[3] == 11.0f);
    free(file);
    gls_image_destroy(image);

    const int32_t wide[3] = {40000, 2, 1};
    const double a[3][4] = {{0.1, 0, 0, 1.0 / 3.0}, {0, 2, 0, 0}, {0, 0, 2, 0}};
    gls_grid grid;
    gls_image *back;
    assert_int_equal(gls_grid_init(&grid, wide, a), GLS_OK);
    assert_int_equal(gls_image_create(&grid, 1, &image), GLS_OK);
    image->data[79999] = 42.0f;
    assert_int_equal(gls_image_write(scratch("wide.nii.gz"), image, GLS_IMAGE_UINT8), GLS_OK);
    assert_int_equal(gls_image_read(scratch("wide.nii.gz"), GLS_IMAGE_3D, &back), GLS_OK);
    assert_int_equal(back->grid.dim[0], 40000);
    assert_true(back->grid.affine[0][3] == 1.0 / 3.0); /* NIfTI-2 has doubles */
    assert_true(back->data[79999] == 42.0f);
    gls_image_destroy(back);
    gls_image_destroy(image);
}

static void test_refusals(void **state)
{
    (void)state;
    gls_image *image = make_image(1);
    assert_int_equal(gls_image_write(scratch("x.mgz"), image, GLS_IMAGE_UINT8), GLS_ERR_ARGUMENT);
    assert_non_null(strstr(gls_last_error(), "must end in .nii, .nii.gz, .mif or .mif.gz"));
    assert_int_equal(gls_image_write(scratch("no/such/x.nii"), image, GLS_IMAGE_UINT8), GLS_ERR_OUTPUT);
    assert_non_null(strstr(gls_last_error(), "/no/such/x.nii: cannot create: No such file or directory"));
    mkdir(scratch("folder.nii"), 0777);
    assert_int_equal(gls_image_write(scratch("folder.nii"), image, GLS_IMAGE_UINT8), GLS_ERR_OUTPUT);
    assert_non_null(strstr(gls_last_error(), "/folder.nii: cannot create: is a directory"));
    /* as a user who must not write here */
    mkdir(scratch("closed"), 0777);
    chmod(scratch("closed"), 0555);
    bool root = geteuid() == 0;
    if (root) assert_int_equal(chmod(scratch_folder, 0755) | seteuid(65534), 0);
    assert_int_equal(gls_image_write(scratch("closed/x.nii.gz"), image, GLS_IMAGE_UINT8), GLS_ERR_OUTPUT);
    assert_non_null(strstr(gls_last_error(), "/closed/x.nii.gz: cannot create: Permission denied"));
    if (root) assert_int_equal(seteuid(0), 0);
    chmod(scratch("closed"), 0755);
    assert_int_equal(count_files(scratch("closed")), 0);
    gls_image_destroy(image);
}

static mode_t mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

static void test_permissions(void **state)
{
    (void)state;
    const char *path = scratch("mode"), *link = scratch("link"), *folder = scratch("m");
    mkdir(folder, 0777);
    mode_t before = umask(027);
    assert_int_equal(gls_file_write(path, false, NULL, "one", 3), GLS_OK);
    assert_int_equal(mode_of(path), 0640);
    umask(before);
    assert_int_equal(gls_file_write(path, false, NULL, "two", 3), GLS_ERR_OUTPUT);
    assert_non_null(strstr(gls_last_error(), "/mode: exists already and is not overwritten"));
    chmod(path, 0604);
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(gls_file_write(link, true, NULL, "three", 5), GLS_OK);
    struct stat st;
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode)); /* the file behind it was replaced */
    assert_int_equal(mode_of(path), 0604);
    char *text;
    size_t n;
    assert_int_equal(gls_file_read(path, 100, &text, &n), GLS_OK);
    assert_int_equal(n, 5);
    assert_string_equal(text, "three");
    free(text);
    assert_int_equal(gls_file_read(path, 4, &text, &n), GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "too large"));
    assert_int_equal(gls_file_write("/dev/null", true, NULL, "x", 1), GLS_ERR_OUTPUT);
    assert_non_null(strstr(gls_last_error(), "not a regular file"));
}

/* A file that appears between create and commit is not overwritten either, and an unfinished one is never seen under
 * its name. */
static void test_atomic(void **state)
{
    (void)state;
    const char *folder = scratch("atomic"), *path = scratch("atomic/out");
    mkdir(folder, 0777);
    gls_output output;
    assert_int_equal(gls_output_create(path, false, &output), GLS_OK);
    assert_int_equal(gls_output_write(&output, "abc", 3), GLS_OK);
    assert_int_not_equal(access(path, F_OK), 0);
    put_file(path, "other", 5);
    assert_int_equal(gls_output_commit(&output), GLS_ERR_OUTPUT);
    assert_non_null(strstr(gls_last_error(), "/out: exists already"));
    assert_int_equal(count_files(folder), 1);
    assert_int_equal(gls_output_create(path, true, &output), GLS_OK);
    assert_int_equal(gls_output_write(&output, "abc", 3), GLS_OK);
    gls_output_discard(&output);
    assert_int_equal(count_files(folder), 1);
    size_t bytes;
    unsigned char *data = get_file(path, &bytes);
    assert_int_equal(bytes, 5);
    free(data);
    gls_output_discard(&output); /* harmless */
}

/* A limit on the size of files, which anyone can set. */
static void test_size_limit(void **state)
{
    (void)state;
    struct rlimit old, small = {.rlim_cur = 50000, .rlim_max = RLIM_INFINITY};
    gls_image *image = make_image(1000);
    const char *folder = scratch("limit");
    mkdir(folder, 0777);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small.rlim_max = old.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    gls_status plain = gls_image_write(scratch("limit/x.nii"), image, GLS_IMAGE_FLOAT32);
    bool said = strstr(gls_last_error(), "/limit/x.nii: cannot write: File too large");
    gls_status packed = gls_image_write(scratch("limit/x.nii.gz"), image, GLS_IMAGE_FLOAT32);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(plain, GLS_ERR_OUTPUT);
    assert_int_equal(packed, GLS_ERR_OUTPUT);
    assert_true(said);
    assert_int_equal(count_files(folder), 0);
    gls_image_destroy(image);
}

static void test_full_disk(void **state)
{
    (void)state;
    const char *folder = scratch("full");
    mkdir(folder, 0777);
    if (mount("none", folder, "tmpfs", 0, "size=65536") != 0) skip();
    gls_image *image = make_image(1000);
    gls_status status = gls_image_write(scratch("full/x.nii"), image, GLS_IMAGE_FLOAT32);
    bool said = strstr(gls_last_error(), "/full/x.nii: cannot write: No space left on device");
    int left = count_files(folder);
    umount(folder);
    gls_image_destroy(image);
    assert_int_equal(status, GLS_ERR_OUTPUT);
    assert_true(said);
    assert_int_equal(left, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),  cmocka_unit_test(test_header), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_permissions), cmocka_unit_test(test_atomic), cmocka_unit_test(test_size_limit),
        cmocka_unit_test(test_full_disk),
    };
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
