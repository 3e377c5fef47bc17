/* Registration of heads made of formulas, whose transforms are known. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <omp.h>

#include "head_scene.h"
#include "registration/linear.h"
#include "registration/nmi.h"
#include "registration/quality.h"
#include "registration/velocity.h"
#include "util/maths.h"

static const int32_t small[3] = {40, 48, 38};
static const double identity[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
/* turned by 9 degrees about z and 5 about x, shifted, and a little larger */
static const double moved[3][4] = {{0.99751, -0.158, 0.0138, 9}, {0.1584, 0.9937, -0.0871, -7}, {0, 0.0889, 1.026, 5}};

static gls_level level_of(const gls_image *image)
{
    gls_level level;
    uint64_t bad;
    if (gls_level_init(&level, image, 0, NULL, NULL, "head.nii", &bad)) fail_msg("%s", gls_last_error());
    assert_int_equal(bad, 0);
    return level;
}

static double apart(const double a[3][4], const double b[3][4])
{
    double most = 0;
    for (int k = 0; k < 27; k++) {
        const double p[3] = {60.0 * (k % 3 - 1), 75.0 * (k / 3 % 3 - 1), 55.0 * (k / 9 - 1)};
        double square = 0;
        if (k % 3 != 1 && k / 3 % 3 != 1 && k / 9 != 1) continue; /* corners lie outside of the head */
        for (int r = 0; r < 3; r++) {
            double d = a[r][3] - b[r][3];
            for (int c = 0; c < 3; c++) d += (a[r][c] - b[r][c]) * p[c];
            square += d * d;
        }
        most = fmax(most, sqrt(square));
    }
    return most;
}

static gls_linear_result align(const gls_level *f, const gls_level *m, bool affine, gls_linear_init init)
{
    const gls_linear_options options = {
        .affine = affine, .init = init, .check_header = true, .n_levels = 2, .voxel = {8, 4}};
    gls_linear_result result;
    if (gls_linear_register(f, m, f, m, &options, &result)) fail_msg("%s", gls_last_error());
    return result;
}

/* A map between two contrasts is found within a tenth of a voxel at the surface, is the inverse of that of the
 * exchanged images, and is the same for any number of threads. */
static void test_affine(void **state)
{
    (void)state;
    gls_image *fixed = head_image(small, 4, moved, 0, false), *moving = head_image(small, 4, identity, 0, true);
    gls_level f = level_of(fixed), m = level_of(moving);
    const gls_linear_result result = align(&f, &m, true, GLS_INIT_AUTO);
    const double error = apart(result.map, moved);
    if (error > 0.3) fail_msg("%.3f mm", error); /* 0.37 mm by samples of the fixed image alone */
    assert_string_equal(result.header_advice, "");
    assert_true(result.share > 0.8);
    omp_set_num_threads(3);
    const gls_linear_result again = align(&f, &m, true, GLS_INIT_AUTO);
    omp_set_num_threads(1);
    assert_memory_equal(again.map, result.map, sizeof result.map);
    /* exchanged images have the inverse map */
    double back[3][4];
    gls_affine_invert((const double(*)[4])align(&m, &f, true, GLS_INIT_AUTO).map, back);
    const double differ = apart((const double(*)[4])back, (const double(*)[4])result.map);
    if (differ > 0.1) /* 0.20 mm by samples of the fixed image alone */
        fail_msg("the other direction: %.3f mm", differ);
    gls_level_finish(&f);
    gls_level_finish(&m);
    gls_image_destroy(fixed);
    gls_image_destroy(moving);
}

/* Scales are found where both images have one grid, though a map of voxels to voxels would need no interpolation. */
static void test_scales(void **state)
{
    (void)state;
    static const double scaled[3][4] = {{1.03, 0.02, -0.03, 0}, {0, 0.95, 0.01, 0}, {0, 0, 1.04, 0}};
    gls_image *fixed = head_image(small, 4, scaled, 0, false), *moving = head_image(small, 4, identity, 0, true);
    gls_level f = level_of(fixed), m = level_of(moving);
    const gls_linear_result result = align(&f, &m, true, GLS_INIT_AUTO);
    const double error = apart(result.map, scaled);
    /* 0.96 mm without values between the voxels */
    if (error > 0.4) fail_msg("%.3f mm", error);
    gls_level_finish(&f);
    gls_level_finish(&m);
    gls_image_destroy(fixed);
    gls_image_destroy(moving);
}

/* A refined level has the values of before, and between them those of cubic curves: exact for polynomials of degree
 * three. */
static void test_refine(void **state)
{
    (void)state;
    static const int32_t dim[3] = {9, 7, 1};
    const double affine[3][4] = {{2, 0, 0, 5}, {0, 3, 0, -1}, {0, 0, 4, 0}};
    gls_level from = {.value = malloc(63 * sizeof *from.value), .mask = malloc(63)}, fine;
    assert_int_equal(gls_grid_init(&from.grid, dim, affine), GLS_OK);
    for (size_t v = 0; v < 63; v++) {
        const double x = (double)(v % 9), y = (double)(v / 9);
        from.value[v] = (float)(pow(x - 4, 3) / 4 - 3 * x * x + y * y * y + x * y);
        from.mask[v] = v != 2 * 9 + 3;
    }
    assert_int_equal(gls_level_refine(&from, 2, &fine), GLS_OK);
    assert_int_equal(fine.grid.dim[0], 17);
    assert_int_equal(fine.grid.dim[1], 13);
    assert_int_equal(fine.grid.dim[2], 1);
    assert_true(fine.grid.affine[0][0] == 1 && fine.grid.affine[1][3] == -1);
    for (size_t v = 0; v < 17 * 13; v++) {
        const double x = (double)(v % 17) / 2, y = (double)(v / 17) / 2;
        const bool between = fabs(x - 3) < 1 && fabs(y - 2) < 1, whole = v % 17 % 2 == 0 && v / 17 % 2 == 0;
        const float want = (float)(pow(x - 4, 3) / 4 - 3 * x * x + y * y * y + x * y);
        assert_int_equal(fine.mask[v], !between);
        if (whole || (x >= 1 && x <= 7 && y >= 1 && y <= 5)) assert_true(fabsf(fine.value[v] - want) < 1e-3f);
    }
    gls_level_finish(&fine);
    assert_int_equal(gls_level_refine(&from, 1, &fine), GLS_OK);
    assert_memory_equal(fine.value, from.value, 63 * sizeof *fine.value);
    assert_memory_equal(fine.mask, from.mask, 63);
    gls_level_finish(&fine);
    from.mask[2 * 9 + 3] = 1;
    assert_int_equal(gls_level_refine(&from, 2, &fine), GLS_OK);
    for (size_t v = 0; v < 17 * 13; v++) assert_int_equal(fine.mask[v], 1);
    gls_level_finish(&from);
    gls_level_finish(&fine);
}

/* A mirrored header is named, and nothing else is. */
static void test_header(void **state)
{
    (void)state;
    gls_image *fixed = head_image(small, 4, identity, 0, false), *moving = head_image(small, 4, identity, 0, true);
    gls_level f = level_of(fixed), m = level_of(moving);
    for (int r = 0; r < 4; r++) m.grid.affine[1][r] = -m.grid.affine[1][r];
    const gls_linear_result result = align(&f, &m, false, GLS_INIT_MASS);
    assert_string_equal(result.header_advice, "mirrored front to back");
    gls_level_finish(&f);
    gls_level_finish(&m);
    gls_image_destroy(fixed);
    gls_image_destroy(moving);
}

/* Identical images have the largest score: that of a map that is the identity, (H + H) / H = 2 but for the sharing of
 * values between two bins. */
static void test_score(void **state)
{
    (void)state;
    static const double far[3][4] = {{1, 0, 0, 150}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    gls_image *image = head_image(small, 4, identity, 0, false);
    gls_level f = level_of(image);
    gls_nmi nmi;
    double share;
    assert_int_equal(gls_nmi_init(&nmi, &f, &f, 1, NULL), GLS_OK);
    const double same = gls_nmi_score(&nmi, identity, &share), other = gls_nmi_score(&nmi, moved, NULL);
    assert_true(share == 1 && same > 1.5 && same <= 2 && other < 1.4 && other > 1);
    assert_true(gls_nmi_score(&nmi, far, &share) == 0 && share < 0.25);
    gls_nmi_finish(&nmi);
    gls_level_finish(&f);
    gls_image_destroy(image);
}

/* Scored both ways, a map of images and its inverse of the images exchanged have one score, also where the images have
 * other grids and a mask; the score one way is another. */
static void test_ways(void **state)
{
    (void)state;
    static const int32_t other[3] = {38, 44, 40};
    gls_image *fixed = head_image(small, 4, moved, 0, false), *moving = head_image(other, 4.2, identity, 0, true);
    gls_level f = level_of(fixed), m = level_of(moving);
    double back[1][3][4], score[2][2];
    gls_affine_invert(moved, back[0]);
    for (size_t v = 0; v < gls_grid_voxels(&m.grid); v += 7) m.mask[v] = 0;
    for (size_t ways = 1; ways <= 2; ways++) {
        gls_nmi nmi;
        assert_int_equal(gls_nmi_init(&nmi, &f, &m, ways, NULL), GLS_OK);
        score[ways - 1][0] = gls_nmi_score(&nmi, moved, NULL);
        gls_nmi_finish(&nmi);
        assert_int_equal(gls_nmi_init(&nmi, &m, &f, ways, NULL), GLS_OK);
        score[ways - 1][1] = gls_nmi_score(&nmi, (const double(*)[4])back[0], NULL);
        gls_nmi_finish(&nmi);
    }
    assert_true(fabs(score[1][0] - score[1][1]) < 1e-6 && fabs(score[0][0] - score[0][1]) > 1e-4);
    assert_true(fabs(score[1][0] - (score[0][0] + score[0][1]) / 2) < 1e-6);
    gls_level_finish(&f);
    gls_level_finish(&m);
    gls_image_destroy(fixed);
    gls_image_destroy(moving);
}

static gls_velocity bend(const gls_level *f, const gls_level *m, bool ssd)
{
    const gls_velocity_options options = {.ssd = ssd,
                                          .radius = 2,
                                          .step = 0.4,
                                          .smooth_update = 2,
                                          .smooth_total = 0.7,
                                          .n_levels = 2,
                                          .voxel = {8, 4},
                                          .iterations = {40, 60}};
    const gls_velocity_channel channel = {f, m, 1};
    gls_velocity v;
    if (gls_velocity_register(&channel, 1, identity, &options, NULL, &(gls_go_on){.ask = NULL}, &v))
        fail_msg("%s", gls_last_error());
    return v;
}

static double median_error(const gls_image *field, const gls_level *f, double mm)
{
    const size_t n = gls_grid_voxels(&field->grid), nx = (size_t)field->grid.dim[0], ny = (size_t)field->grid.dim[1];
    float *error = malloc(n * sizeof *error);
    size_t counted = 0;
    static const double q = 0.5;
    double median;
    for (size_t i = 0; i < n; i++) {
        const double at[3] = {(double)(i % nx), (double)(i / nx % ny), (double)(i / nx / ny)};
        double p[3], to[3], square = 0;
        for (int r = 0; r < 3; r++) p[r] = field->grid.affine[r][3] + field->grid.affine[r][r] * at[r];
        if (!(f->value[i] > 60)) continue;
        head_bend(p, mm, to);
        for (size_t r = 0; r < 3; r++) {
            const double d = to[r] - p[r] - (double)field->data[r * n + i];
            square += d * d;
        }
        error[counted++] = (float)sqrt(square);
    }
    gls_quantiles_of_floats(error, counted, &q, 1, &median);
    free(error);
    return median;
}

/* A known warp is found, has an inverse, and does not fold; images the other way round give the opposite velocity; the
 * number of threads changes nothing. */
static void test_field(void **state)
{
    (void)state;
    for (int ssd = 0; ssd < 2; ssd++) {
        gls_image *fixed = head_image(small, 4, identity, 6, false), *moving = head_image(small, 4, identity, 0, false),
                  *forward, *back, *jacobian;
        gls_level f = level_of(fixed), m = level_of(moving);
        gls_field_quality quality;
        gls_velocity v = bend(&f, &m, ssd);
        const size_t n = gls_grid_voxels(&v.grid);
        assert_int_equal(gls_velocity_fields(&v, &forward, &back), GLS_OK);
        assert_int_equal(gls_field_jacobian(forward, &jacobian), GLS_OK);
        assert_int_equal(gls_field_measure(forward, back, jacobian, f.mask, &quality), GLS_OK);
        gls_image *none;
        assert_int_equal(gls_image_create(&forward->grid, 3, &none), GLS_OK);
        const double before = median_error(none, &f, 6), after = median_error(forward, &f, 6);
        if (after > (ssd ? 1.7 : 1.2) || before < 3)
            fail_msg("%s: %.3f mm, before %.3f", ssd ? "ssd" : "lncc", after, before);
        assert_true(quality.folded == 0 && quality.inverse[1] < 0.6 && quality.inverse[0] < 0.12);
        assert_true(v.level[1].iterations > 5 &&
                    (ssd ? v.level[1].last < v.level[1].first : v.level[1].last > v.level[1].first));
        if (!ssd) {
            gls_velocity other = bend(&m, &f, false);
            float most = 0;
            for (size_t i = 0; i < 3 * n; i++) most = fmaxf(most, fabsf(v.v[i] + other.v[i]));
            if (most > 1e-3f) fail_msg("the other way round: %g voxel", (double)most);
            gls_velocity_finish(&other);
            omp_set_num_threads(3);
            other = bend(&f, &m, false);
            omp_set_num_threads(1);
            assert_memory_equal(other.v, v.v, 3 * n * sizeof *v.v);
            gls_velocity_finish(&other);
        }
        gls_velocity_finish(&v);
        gls_level_finish(&f);
        gls_level_finish(&m);
        gls_image *const all[] = {fixed, moving, forward, back, jacobian, none};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) gls_image_destroy(all[k]);
    }
}

/* Where the moving image ends inside of the head, its border draws nothing: it is none of the head. */
static void test_rim(void **state)
{
    (void)state;
    const int32_t cut[3] = {small[0], small[1], small[2] - 12};
    gls_image *fixed = head_image(small, 4, identity, 6, false), *whole = head_image(small, 4, identity, 0, false),
              *moving = NULL, *forward, *back;
    gls_grid grid;
    assert_int_equal(gls_grid_init(&grid, cut, (const double(*)[4])whole->grid.affine), GLS_OK);
    assert_int_equal(gls_image_create(&grid, 1, &moving), GLS_OK);
    memcpy(moving->data, whole->data, gls_grid_voxels(&grid) * sizeof *moving->data); /* without the upper slices */
    gls_level f = level_of(fixed), m = level_of(moving);
    gls_velocity v = bend(&f, &m, false);
    assert_int_equal(gls_velocity_fields(&v, &forward, &back), GLS_OK);
    const size_t slice = (size_t)small[0] * (size_t)small[1];
    for (size_t i = 0; i < gls_grid_voxels(&f.grid); i++)
        if (i / slice < (size_t)cut[2] - 4 || i / slice >= (size_t)cut[2] - 1) f.value[i] = 0; /* counted: the rim */
    const double error = median_error(forward, &f, 6);
    if (error > 1.5) fail_msg("%.3f mm", error);
    gls_velocity_finish(&v);
    gls_level_finish(&f);
    gls_level_finish(&m);
    gls_image *const all[] = {fixed, whole, moving, forward, back};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) gls_image_destroy(all[k]);
}

/* The determinant of a linear field is that of its matrix, on an oblique grid, too. */
static void test_jacobian(void **state)
{
    (void)state;
    const int32_t dim[3] = {5, 6, 4};
    const double affine[3][4] = {{-1.9, 0.3, 0, 10}, {0.3, 2, 0.1, -3}, {0, 0.1, 3, 4}};
    gls_grid grid;
    gls_image *field, *jacobian;
    assert_int_equal(gls_grid_init(&grid, dim, affine), GLS_OK);
    assert_int_equal(gls_image_create(&grid, 3, &field), GLS_OK);
    const size_t n = gls_grid_voxels(&grid);
    for (size_t i = 0; i < n; i++) {
        const double at[3] = {(double)(i % 5), (double)(i / 5 % 6), (double)(i / 30)};
        for (size_t r = 0; r < 3; r++) {
            double world[3];
            for (int a = 0; a < 3; a++)
                world[a] = affine[a][0] * at[0] + affine[a][1] * at[1] + affine[a][2] * at[2] + affine[a][3];
            field->data[r * n + i] = (float)(moved[r][0] * world[0] + moved[r][1] * world[1] + moved[r][2] * world[2] +
                                             moved[r][3] - world[r]);
        }
    }
    assert_int_equal(gls_field_jacobian(field, &jacobian), GLS_OK);
    const double(*m)[4] = moved;
    const double det = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
                       m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
                       m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
    for (size_t i = 0; i < n; i++) assert_true(fabs((double)jacobian->data[i] - det) < 1e-5);
    gls_image_destroy(field);
    gls_image_destroy(jacobian);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_score),  cmocka_unit_test(test_affine), cmocka_unit_test(test_header),
        cmocka_unit_test(test_field),  cmocka_unit_test(test_rim),    cmocka_unit_test(test_jacobian),
        cmocka_unit_test(test_scales), cmocka_unit_test(test_refine), cmocka_unit_test(test_ways)};
    omp_set_num_threads(1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
