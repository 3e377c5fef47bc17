/* Spatial transforms: what fields mean, and where points go. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "transform/field_meaning.h"

/* Fills an image of three volumes: value = map of the voxel's world position, less `less` times this position, plus a
 * smooth deformation of some mm. */
static void fill(gls_image *image, const double map[3][3], double less)
{
    const int32_t *dim = image->grid.dim;
    const size_t n = gls_grid_voxels(&image->grid);
    for (size_t v = 0; v < n; v++) {
        const double at[3] = {(double)(v % (size_t)dim[0]), (double)(v / (size_t)dim[0] % (size_t)dim[1]),
                              (double)(v / (size_t)dim[0] / (size_t)dim[1])};
        double world[3];
        for (int r = 0; r < 3; r++) {
            world[r] = image->grid.affine[r][3];
            for (int c = 0; c < 3; c++) world[r] += image->grid.affine[r][c] * at[c];
        }
        for (int r = 0; r < 3; r++) {
            double value = 4 * sin(world[(r + 1) % 3] / 15) - less * world[r] + 3;
            for (int c = 0; c < 3; c++) value += map[r][c] * world[c];
            image->data[(size_t)r * n + v] = (float)value;
        }
    }
}

static gls_image *field_on(int32_t nz)
{
    const int32_t dim[3] = {20, 24, nz};
    const double affine[3][4] = {{-3, 0.2, 0, 40}, {0.1, 2.5, 0, -30}, {0, 0, 4, -20}};
    gls_grid grid;
    gls_image *image;
    assert_int_equal(gls_grid_init(&grid, dim, affine), GLS_OK);
    assert_int_equal(gls_image_create(&grid, 3, &image), GLS_OK);
    return image;
}

static void test_meaning(void **state)
{
    (void)state;
    /* the identity, a quarter turn, half a turn, a small and a large head, axes exchanged */
    static const double maps[][3][3] = {
        {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},         {{0, -1, 0}, {1, 0, 0}, {0, 0, 1}},
        {{-1, 0, 0}, {0, -1, 0}, {0, 0, 1}},       {{0.8, 0, 0}, {0, 0.8, 0}, {0, 0, 0.8}},
        {{1.2, 0, 0}, {0, 1.2, 0.1}, {0, 0, 1.2}}, {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}};
    for (int32_t nz = 1; nz <= 12; nz += 11) /* a slice, too */
        for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
            gls_image *image = field_on(nz);
            fill(image, maps[i], 0);
            assert_int_equal(gls_field_judge(image), GLS_FIELD_POSITIONS);
            assert_int_equal(gls_field_require_positions(image, "x.nii"), GLS_OK);
            fill(image, maps[i], 1);
            if (i == 0 || i == 3 || (i == 4 && nz > 1)) { /* what differs from the identity little enough */
                assert_int_equal(gls_field_judge(image), GLS_FIELD_DISPLACEMENTS);
                assert_int_equal(gls_field_require_positions(image, "x.nii"), GLS_ERR_INPUT);
            }
            gls_image_destroy(image);
        }
    gls_image *image = field_on(5);
    assert_int_equal(gls_field_judge(image), GLS_FIELD_DISPLACEMENTS); /* zeros: nothing moves */
    for (size_t i = 0; i < 3 * gls_grid_voxels(&image->grid); i++) image->data[i] = NAN;
    assert_int_equal(gls_field_judge(image), GLS_FIELD_DISPLACEMENTS);
    gls_image_destroy(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_meaning)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
