/* Weights of streamlines in a profile, where a bundle has no spread, or none along an axis. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glslines/bundles.h>
#include <math.h>

enum { NODES = 4, MOST_LINES = 20 };

/* Makes an image whose values are the y of its voxels. */
static gls_image *make_image(void)
{
    static const double affine[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    gls_grid grid;
    gls_image *image;
    assert_int_equal(gls_grid_init(&grid, (const int32_t[]){10, 30, 10}, affine), GLS_OK);
    assert_int_equal(gls_image_create(&grid, 1, &image), GLS_OK);
    for (size_t v = 0; v < gls_grid_voxels(&grid); v++) image->data[v] = (float)(v / 10 % 30);
    return image;
}

/* Checks the profile of straight streamlines along x at these y and z. */
static void check(size_t n, const float (*at)[2], gls_profile_weights weights, double value)
{
    gls_bundles_options o = gls_bundles_options_default();
    gls_bundles *bundles;
    gls_image *image = make_image();
    float point[2 * MOST_LINES][3];
    uint64_t offset[MOST_LINES + 1] = {0};
    gls_profile_node out[NODES];
    o.nodes = NODES;
    o.keep_nodes = true;
    assert_int_equal(gls_bundles_whole("all", &o, &bundles), GLS_OK);
    for (size_t i = 0; i < n; i++) {
        for (int end = 0; end < 2; end++) {
            point[2 * i + (size_t)end][0] = end ? 8 : 1;
            point[2 * i + (size_t)end][1] = at[i][0];
            point[2 * i + (size_t)end][2] = at[i][1];
        }
        offset[i + 1] = 2 * (i + 1);
    }
    const gls_streamlines s = {.n = n, .offset = offset, .point = (const float(*)[3])point};
    const gls_sink sink = gls_bundles_sink(bundles);
    assert_int_equal(gls_sink_append(&sink, &s), GLS_OK);
    assert_int_equal(gls_bundles_complete(bundles), GLS_OK);
    assert_int_equal(gls_bundles_profile(bundles, 0, image, 0, NULL, weights, out), GLS_OK);
    for (int k = 0; k < NODES; k++) {
        assert_true(fabs(out[k].value - value) < 1e-6);
        assert_int_equal(out[k].n, n);
    }
    gls_bundles_destroy(bundles);
    gls_image_destroy(image);
}

static void test_weights(void **state)
{
    static const float same[3][2] = {{5, 5}, {5, 5}, {5, 5}}, /* no spread: alike */
        line[4][2] = {{3, 5}, {4, 5}, {6, 5}, {13, 5}}, /* no spread along z: weights are 1 / distance from y = 6.5 */
        middle[3][2] = {{4, 5}, {6, 5}, {8, 5}};        /* one is the core */
    const double sum = 1 / 3.5 + 1 / 2.5 + 1 / 0.5 + 1 / 6.5;
    (void)state;
    check(3, same, GLS_PROFILE_DIPY, 5);
    check(4, line, GLS_PROFILE_DIPY, (3 / 3.5 + 4 / 2.5 + 6 / 0.5 + 13 / 6.5) / sum);
    check(3, middle, GLS_PROFILE_DIPY, 6);
}

/* With 15 streamlines or more, outliers are dropped; one of the others runs through the core, at y = 6. */
static void test_mahalanobis(void **state)
{
    float same[MOST_LINES][2], others[15][2];
    (void)state;
    for (int i = 0; i < MOST_LINES; i++) same[i][0] = same[i][1] = 7;
    for (int i = 0; i < 15; i++) {
        others[i][0] = i < 10 ? 4 : i < 14 ? 11 : 6;
        others[i][1] = 5;
    }
    check(MOST_LINES, same, GLS_PROFILE_MAHALANOBIS, 7);
    check(15, others, GLS_PROFILE_MAHALANOBIS, 6);
}

/* A bundle whose nodes were not kept has members, but neither profile nor core. */
static void test_not_kept(void **state)
{
    static const float point[2][3] = {{1, 5, 5}, {8, 5, 5}};
    const uint64_t offset[] = {0, 2};
    const gls_streamlines s = {.n = 1, .offset = offset, .point = point};
    gls_bundles_options o = gls_bundles_options_default();
    gls_bundles *bundles;
    gls_image *image = make_image();
    gls_profile_node out[NODES];
    double core[NODES][3];
    (void)state;
    o.nodes = NODES;
    o.orientation = GLS_ORIENT_NONE;
    assert_int_equal(gls_bundles_whole("all", &o, &bundles), GLS_OK);
    const gls_sink sink = gls_bundles_sink(bundles);
    assert_int_equal(gls_sink_append(&sink, &s), GLS_OK);
    assert_int_equal(gls_bundles_complete(bundles), GLS_OK);
    assert_int_equal(gls_bundles_get(bundles, 0).count, 1);
    assert_int_equal(gls_bundles_profile(bundles, 0, image, 0, NULL, GLS_PROFILE_MEAN, out), GLS_ERR_ARGUMENT);
    gls_bundles_core(bundles, 0, core);
    for (int k = 0; k < NODES; k++) assert_true(isnan(core[k][0]));
    gls_bundles_destroy(bundles);
    gls_image_destroy(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_weights), cmocka_unit_test(test_mahalanobis),
                                       cmocka_unit_test(test_not_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
