/* Grids: affines, axis codes, comparison. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "files.h"
#include "image/reorient.h"

#include <glslines/density.h>
#include <glslines/image.h>
#include <glslines/log.h>
#include <glslines/regions.h>
#include <math.h>
#include <string.h>

static gls_grid make(double a[3][4])
{
    const int32_t dim[3] = {10, 20, 30};
    gls_grid grid;
    assert_int_equal(gls_grid_init(&grid, dim, (const double(*)[4])a), GLS_OK);
    return grid;
}

static void test_init(void **state)
{
    (void)state;
    double a[3][4] = {{0, -3, 0, 5}, {1.5, 0, 0, 6}, {0, 0, 4, 7}},
           singular[3][4] = {{1, 2, 0, 0}, {2, 4, 0, 0}, {0, 0, 1, 0}};
    gls_grid g = make(a);
    assert_float_equal(g.voxel_size[0], 1.5, 1e-12);
    assert_float_equal(g.voxel_size[1], 3.0, 1e-12);
    assert_float_equal(g.voxel_size[2], 4.0, 1e-12);
    assert_int_equal(gls_grid_voxels(&g), 6000);
    assert_float_equal(gls_grid_determinant(&g), 18.0, 1e-12);
    const int32_t bad[3] = {10, 0, 3};
    assert_int_equal(gls_grid_init(&g, bad, (const double(*)[4])a), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_grid_init(&g, g.dim, (const double(*)[4])singular), GLS_ERR_ARGUMENT);
    assert_non_null(strstr(gls_last_error(), "singular"));
    /* in single precision, too */
    const double far[3][4] = {{1, 0, 0, 1e30}, {0, 1, 0, 0}, {0, 0, 1, 0}},
                 small[3][4] = {{1e-38, 0, 0, 0}, {0, 1e-38, 0, 0}, {0, 0, 1e-38, 0}};
    assert_int_equal(gls_grid_init(&g, g.dim, far), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_grid_init(&g, g.dim, small), GLS_ERR_ARGUMENT);
    assert_non_null(strstr(gls_last_error(), "1e+38"));
    a[1][3] = NAN;
    assert_int_equal(gls_grid_init(&g, g.dim, (const double(*)[4])a), GLS_ERR_ARGUMENT);
    a[1][3] = 0;
    a[0][1] = INFINITY;
    assert_int_equal(gls_grid_init(&g, g.dim, (const double(*)[4])a), GLS_ERR_ARGUMENT);
}

static void test_inverse(void **state)
{
    (void)state;
    double a[3][4] = {{1.6, 0.3, -0.2, -70}, {-0.4, 1.9, 0.5, 33}, {0.1, -0.6, 3.0, 12}}, inverse[3][4];
    gls_grid g = make(a);
    gls_grid_inverse(&g, inverse);
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 4; c++) {
            double sum = c == 3 ? inverse[r][3] : 0.0;
            for (int k = 0; k < 3; k++) sum += inverse[r][k] * a[k][c];
            assert_float_equal(sum, r == c ? 1.0 : 0.0, 1e-12);
        }
    }
}

/* Expected codes: nib.aff2axcodes() of nibabel 5.4 for the same matrices. */
static void test_axis_codes(void **state)
{
    (void)state;
    static const struct {
        double m[3][4];
        const char *codes;
    } cases[] = {
        {{{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}}, "RAS"},
        {{{-2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}}, "LAS"},
        {{{0, 0, 2.5, 0}, {-1.5, 0, 0, 0}, {0, 2, 0, 0}}, "PSR"},
        {{{0, 0, -1, 0}, {0, -1, 0, 0}, {-1, 0, 0, 0}}, "IPL"},
        {{{-1.7, 0.3, 0.4, 0}, {-0.2, -1.9, 0.9, 0}, {0.3, 0.5, 2.9, 0}}, "LPS"},
        /* sheared: the largest entries of two columns lie in the same row */
        {{{1.0, 1.1, 0, 0}, {0.2, 1.0, 0, 0}, {0, 0, 1, 0}}, "RAS"},
        {{{1.0, 3.0, 0, 0}, {0.9, 2.0, 0, 0}, {0, 0, 1, 0}}, "ARS"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char codes[4];
        double a[3][4];
        memcpy(a, cases[i].m, sizeof a);
        gls_grid g = make(a);
        gls_grid_axis_codes(&g, codes);
        assert_string_equal(codes, cases[i].codes);
    }
}

static int n_warnings;

static void count_warnings(void *user, gls_log_level level, const char *text)
{
    (void)user, (void)text;
    n_warnings += level == GLS_LOG_WARNING;
}

static void test_require_equal(void **state)
{
    (void)state;
    double a[3][4] = {{-2, 0, 0, 80}, {0, 2, 0, -100}, {0, 0, 2, -60}};
    gls_grid g = make(a), h = g;
    /* in voxels of 2 mm: a hundredth without a message, a tenth with a warning */
    static const double shift[] = {0.019, 0.021, 0.19, -0.21};
    static const int warned[] = {0, 1, 1, 0};
    gls_log_set(count_warnings, NULL, GLS_LOG_WARNING);
    for (int i = 0; i < 4; i++) {
        n_warnings = 0;
        h.affine[0][3] = 80 + shift[i];
        gls_status wanted = i < 3 ? GLS_OK : GLS_ERR_INPUT;
        assert_int_equal(gls_grid_require_equal(&g, "dwi.nii.gz", &h, "mask.nii.gz"), wanted);
        assert_int_equal(n_warnings, warned[i]);
    }
    gls_log_set(NULL, NULL, GLS_LOG_WARNING);
    g.affine_source = GLS_AFFINE_SFORM;
    h.affine_source = GLS_AFFINE_QFORM;
    h.affine[0][3] = 80.5;
    assert_int_equal(gls_grid_require_equal(&g, "dwi.nii.gz", &h, "mask.nii.gz"), GLS_ERR_INPUT);
    assert_string_equal(
        gls_last_error(),
        "dwi.nii.gz and mask.nii.gz are on different grids (corners up to 0.25 voxels apart): "
        "10 x 20 x 30 voxels of 2 x 2 x 2 mm, LAS, affine from the sform [-2 0 0 80; 0 2 0 -100; 0 0 2 -60] against "
        "10 x 20 x 30 voxels of 2 x 2 x 2 mm, LAS, affine from the qform [-2 0 0 80.5; 0 2 0 -100; 0 0 2 -60]");
    /* a rotation too small to see near the origin, but not at the far corner */
    h = g;
    h.affine[0][2] += 0.008;
    assert_int_equal(gls_grid_require_equal(&g, "a", &h, "b"), GLS_ERR_INPUT);
    h = g;
    h.dim[2] = 31;
    assert_int_equal(gls_grid_require_equal(&g, "a", &h, "b"), GLS_ERR_INPUT);
    assert_non_null(
        strstr(gls_last_error(), "a and b are on different grids (dimensions differ): 10 x 20 x 30 voxels"));
    assert_non_null(strstr(gls_last_error(), "against 10 x 20 x 31 voxels"));
}

static void test_create(void **state)
{
    (void)state;
    double a[3][4] = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}};
    gls_grid g = make(a);
    gls_image *image;
    assert_int_equal(gls_image_create(&g, 3, &image), GLS_OK);
    for (size_t i = 0; i < 18000; i++) assert_true(image->data[i] == 0.0f);
    gls_image_destroy(image);
    gls_image_destroy(NULL);
    static float own[6000];
    own[7] = 3;
    assert_int_equal(gls_image_wrap(&g, 1, own, &image), GLS_OK);
    assert_true(image->data == own && image->is_wrapped && image->grid.voxel_size[0] == 2);
    gls_image_destroy(image);
    assert_true(own[7] == 3);
    assert_int_equal(gls_image_wrap(&g, 1, NULL, &image), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_image_create(&g, 0, &image), GLS_ERR_ARGUMENT);
    assert_int_equal(gls_image_create(&g, SIZE_MAX, &image), GLS_ERR_MEMORY);
}

/* Grids with so many voxels that no number can count them: 2^64 would overflow to 0. */
static void test_too_many_voxels(void **state)
{
    (void)state;
    const int32_t many[][3] = {
        {1 << 22, 1 << 21, 1 << 21}, {INT32_MAX, INT32_MAX, INT32_MAX}, {1 << 16, 1 << 16, 65537}};
    double a[3][4] = {{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}};
    static float value[1];
    gls_grid g = make(a);
    const int32_t most[3] = {1 << 16, 1 << 16, 1 << 16};
    assert_int_equal(gls_grid_init(&g, most, (const double(*)[4])a), GLS_OK);
    for (size_t i = 0; i < 3; i++) {
        gls_image *image = NULL;
        gls_density *density = NULL;
        gls_regions *regions = NULL;
        assert_int_equal(gls_grid_init(&g, many[i], (const double(*)[4])a), GLS_ERR_ARGUMENT);
        memcpy(g.dim, many[i], sizeof g.dim);
        assert_int_equal(gls_image_create(&g, 1, &image), GLS_ERR_ARGUMENT);
        assert_int_equal(gls_image_wrap(&g, 1, value, &image), GLS_ERR_ARGUMENT);
        assert_int_equal(gls_density_create(&g, NULL, &density), GLS_ERR_ARGUMENT);
        assert_int_equal(gls_regions_create(&g, &regions), GLS_ERR_ARGUMENT);
    }
}

/* A ball as a mask of 1.5 mm on a grid of 2 mm that is turned against it: the same voxels as by the rule itself. */
static void test_mask_on_another_grid(void **state)
{
    (void)state;
    const int32_t dim[3] = {30, 30, 30}, other[3] = {22, 20, 24};
    double a[3][4] = {{1.5, 0, 0, -22}, {0, 1.5, 0, -22}, {0, 0, 1.5, -22}},
           b[3][4] = {{-1.8, 0.6, 0, 12}, {0.6, 1.8, 0, -24}, {0, 0, 2, -23}};
    gls_grid fine, coarse;
    gls_image *ball, *mask;
    assert_int_equal(gls_grid_init(&fine, dim, (const double(*)[4])a), GLS_OK);
    assert_int_equal(gls_grid_init(&coarse, other, (const double(*)[4])b), GLS_OK);
    assert_int_equal(gls_image_create(&fine, 1, &ball), GLS_OK);
    for (int v = 0; v < 27000; v++)
        ball->data[v] = hypot(hypot(v % 30 - 14.5, v / 30 % 30 - 14.5), v / 900 - 14.5) < 8 ? 0.25f : v % 2 ? 0 : NAN;
    assert_int_equal(gls_image_write(scratch("ball.nii"), ball, GLS_IMAGE_FLOAT32), GLS_OK);
    assert_int_equal(gls_image_read_mask(&coarse, "dwi.nii", scratch("ball.nii"), &mask), GLS_OK);
    assert_int_equal(gls_grid_require_equal(&coarse, "dwi.nii", &mask->grid, "mask"), GLS_OK);
    for (int v = 0, inside = 0; v < 22 * 20 * 24; v++) {
        const double at[3] = {v % 22, v / 22 % 20, v / 440};
        double p[3];
        for (int r = 0; r < 3; r++) {
            p[r] = b[r][3] + 22;
            for (int c = 0; c < 3; c++) p[r] += b[r][c] * at[c];
            p[r] = floor(p[r] / 1.5 + 0.5);
        }
        const bool want = p[0] >= 0 && p[0] < 30 && hypot(hypot(p[0] - 14.5, p[1] - 14.5), p[2] - 14.5) < 8;
        assert_int_equal(mask->data[v] == 1, want);
        inside += want;
        if (v == 22 * 20 * 24 - 1) assert_true(inside > 500);
    }
    gls_image_destroy(mask);
    /* the mask itself on its own grid keeps its values */
    assert_int_equal(gls_image_read_mask(&fine, "dwi.nii", scratch("ball.nii"), &mask), GLS_OK);
    assert_memory_equal(mask->data, ball->data, 27000 * sizeof(float));
    gls_image_destroy(mask);
    b[0][3] += 30; /* most of the ball lies outside */
    assert_int_equal(gls_grid_init(&coarse, other, (const double(*)[4])b), GLS_OK);
    assert_int_equal(gls_image_read_mask(&coarse, "dwi.nii", scratch("ball.nii"), &mask), GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "are on different grids"));
    gls_image_destroy(ball);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_init),
        cmocka_unit_test(test_inverse),
        cmocka_unit_test(test_axis_codes),
        cmocka_unit_test(test_require_equal),
        cmocka_unit_test(test_create),
        cmocka_unit_test(test_too_many_voxels),
        cmocka_unit_test(test_mask_on_another_grid),
    };
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
