/* Images of MRtrix: values in their places, the affine of stored axes, and grids that differ by their axes alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "image/image.h"
#include "image/mif.h"

static const char head[] = "mrtrix image\ndim: 2,3,2\nvox: 2,1.5,3\nlayout: -0,+2,+1\ndatatype: UInt8\n"
                           "transform: 1, 0, 0, -5\ntransform: 0, 1, 0, 3\ntransform: 0, 0, 1, 7\n"
                           "dw_scheme: 0,0.6,0.8,1000\nscaling: 10,2\nfile: . 256\nEND\n";

static void write_image(char path[32])
{
    char block[256 + 12] = {0};
    memcpy(block, head, sizeof head);
    for (int i = 0; i < 12; i++) block[256 + i] = (char)i;
    strcpy(path, "/tmp/mif-XXXXXX.mif");
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, block, sizeof block), sizeof block);
    close(fd);
}

static void test_image(void **state)
{
    (void)state;
    char path[32];
    gls_image *image;
    write_image(path);
    assert_int_equal(gls_image_read(path, GLS_IMAGE_3D, &image), GLS_OK);
    /* x is the fastest and runs backwards, then z, then y */
    for (int z = 0; z < 2; z++)
        for (int y = 0; y < 3; y++)
            for (int x = 0; x < 2; x++) assert_true(image->data[(z * 3 + y) * 2 + x] == 10 + 2 * (x + 2 * z + 4 * y));
    assert_true(image->grid.affine[0][0] == -2 && image->grid.affine[0][3] == -3);
    assert_true(image->grid.affine[1][1] == 1.5 && image->grid.affine[1][3] == 3);
    gls_image_destroy(image);
    assert_int_equal(gls_image_read(path, GLS_IMAGE_4D, &image), GLS_ERR_INPUT);
    unlink(path);
}

/* A packed file whose checksum is wrong, and one of a spacing that is no number. */
static void test_damage(void **state)
{
    (void)state;
    char path[32], packed[] = "/tmp/mif-XXXXXX.mif.gz", text[sizeof head + 16];
    char block[256 + 12] = {0};
    gls_image *image;
    memcpy(block, head, sizeof head);
    int fd = mkstemps(packed, 7);
    assert_true(fd >= 0);
    gzFile file = gzdopen(dup(fd), "wb");
    assert_int_equal(gzwrite(file, block, sizeof block), sizeof block);
    assert_int_equal(gzclose(file), Z_OK);
    assert_int_equal(gls_image_read(packed, GLS_IMAGE_3D, &image), GLS_OK);
    gls_image_destroy(image);
    off_t end = lseek(fd, 0, SEEK_END);
    unsigned char byte;
    assert_int_equal(pread(fd, &byte, 1, end - 6), 1);
    byte ^= 1;
    assert_int_equal(pwrite(fd, &byte, 1, end - 6), 1);
    close(fd);
    assert_int_equal(gls_image_read(packed, GLS_IMAGE_3D, &image), GLS_ERR_INPUT);
    unlink(packed);

    write_image(path);
    FILE *plain = fopen(path, "r+");
    strcpy(text, head);
    memcpy(strstr(text, "vox: 2,1.5"), "vox: 2,nan", 10);
    assert_int_equal(fwrite(text, strlen(head), 1, plain), 1);
    fclose(plain);
    assert_int_equal(gls_image_read(path, GLS_IMAGE_3D, &image), GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "vox and transform make no grid"));
    unlink(path);
}

static void test_scheme(void **state)
{
    (void)state;
    char path[32];
    gls_mif_header header;
    write_image(path);
    assert_int_equal(gls_mif_read_header(path, &header), GLS_OK);
    assert_int_equal(header.n_scheme, 1);
    assert_true(header.scheme[0][1] == 0.6 && header.scheme[0][3] == 1000);
    gls_mif_header_finish(&header);
    unlink(path);
}

static void test_reorient(void **state)
{
    (void)state;
    const double a[3][4] = {{0, -3, 0, 8}, {0, 0, 2, 1}, {-1, 0, 0, 4}},
                 b[3][4] = {{3, 0, 0, -1}, {0, 2, 0, 1}, {0, 0, 1, 3}};
    gls_grid from, to;
    gls_image *image;
    assert_int_equal(gls_grid_init(&from, (const int32_t[]){2, 4, 3}, a), GLS_OK);
    assert_int_equal(gls_grid_init(&to, (const int32_t[]){4, 3, 2}, b), GLS_OK);
    assert_int_equal(gls_image_create(&from, 2, &image), GLS_OK);
    for (int i = 0; i < 48; i++) image->data[i] = (float)i;
    assert_int_equal(gls_image_reorient(&image, "image", &to), GLS_OK);
    assert_true(gls_grid_same(&image->grid, &to));
    for (int t = 0; t < 2; t++)
        for (int z = 0; z < 2; z++)
            for (int y = 0; y < 3; y++)
                for (int x = 0; x < 4; x++)
                    assert_true(image->data[((t * 2 + z) * 3 + y) * 4 + x] ==
                                ((t * 3 + y) * 4 + (3 - x)) * 2 + (1 - z));
    to.dim[0] = 5; /* another grid: left as it is */
    assert_int_equal(gls_image_reorient(&image, "image", &to), GLS_OK);
    assert_int_equal(image->grid.dim[0], 4);
    gls_image_destroy(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_image),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_scheme),
        cmocka_unit_test(test_reorient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
