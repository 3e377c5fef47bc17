/* Regions: text, labels, grids, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "files.h"
#include "image/region_area.h"
#include "image/region_set.h"

static gls_grid grid;
static gls_image *mask;

static void refuse(gls_status status, gls_status wanted, const char *part)
{
    if (status != wanted || !strstr(gls_last_error(), part))
        print_error("status %d, '%s', not %d with '%s'\n", status, gls_last_error(), wanted, part);
    assert_int_equal(status, wanted);
    assert_non_null(strstr(gls_last_error(), part));
}

/* A grid of 20 x 16 x 12 voxels of 2 mm off the origin, a mask that leaves its first layer out, and files of labels. */
static int set_up(void **state)
{
    const double affine[3][4] = {{-2, 0, 0, 10}, {0, 2, 0, -7}, {0, 0, 2, 3}};
    gls_image *labels;
    if (scratch_create(state)) return -1;
    assert_int_equal(gls_grid_init(&grid, (const int32_t[3]){20, 16, 12}, affine), GLS_OK);
    assert_int_equal(gls_image_create(&grid, 1, &mask), GLS_OK);
    assert_int_equal(gls_image_create(&grid, 1, &labels), GLS_OK);
    for (size_t v = 0; v < gls_grid_voxels(&grid); v++) {
        mask->data[v] = v >= 20 * 16;
        labels->data[v] = (float)(v % 20 == 4 ? 7 : v % 20 == 5 ? 1003 : v < 20 * 16 ? 50 : 0);
    }
    assert_int_equal(gls_image_write(scratch("labels.nii"), labels, GLS_IMAGE_INT16), GLS_OK);
    assert_int_equal(gls_image_write(scratch("a:7.nii"), labels, GLS_IMAGE_INT16), GLS_OK);
    for (size_t v = 0; v < gls_grid_voxels(&grid); v++) labels->data[v] = 0;
    assert_int_equal(gls_image_write(scratch("empty.nii"), labels, GLS_IMAGE_INT16), GLS_OK);
    gls_image_destroy(labels);
    return 0;
}

static int tear_down(void **state)
{
    gls_image_destroy(mask);
    return scratch_remove(state);
}

static gls_status add(gls_regions *r, gls_region_role role, const char *format, const char *file)
{
    char text[600];
    snprintf(text, sizeof text, format, file);
    return gls_regions_add(r, role, text, mask);
}

static void test_text(void **state)
{
    gls_region_text t;
    (void)state;
    assert_int_equal(gls_region_text_parse("include", "1,-2.5,3e1,4", &t), GLS_OK);
    assert_true(t.is_sphere && t.number[0] == 1 && t.number[1] == -2.5 && t.number[2] == 30 && t.number[3] == 4);
    assert_int_equal(gls_region_text_parse("include", "x.nii:3,7,1000-1035", &t), GLS_OK);
    assert_true(!t.is_sphere && strcmp(t.path, "x.nii") == 0 && strcmp(t.labels, "3,7,1000-1035") == 0);
    gls_label_ranges ranges;
    assert_int_equal(gls_label_ranges_parse(t.labels, 1, &ranges), GLS_OK);
    const gls_label_range *range = ranges.range;
    assert_true(ranges.n == 3 && range[1].first == 7 && range[1].last == 7);
    assert_true(range[2].first == 1000 && range[2].last == 1035);
    gls_label_ranges_finish(&ranges);
    char many[8192] = "1";
    for (int i = 1; i < 1000; i++) snprintf(many + strlen(many), sizeof many - strlen(many), ",%d", 2 * i + 1);
    assert_int_equal(gls_label_ranges_parse(many, 1, &ranges), GLS_OK);
    assert_true(ranges.n == 1000 && gls_label_ranges_have(&ranges, 1999) && !gls_label_ranges_have(&ranges, 1998));
    gls_label_ranges_finish(&ranges);
    free(t.path);
    assert_int_equal(gls_region_text_parse("include", "c:/x.nii", &t), GLS_OK);
    assert_true(!t.labels && strcmp(t.path, "c:/x.nii") == 0);
    free(t.path);
    assert_int_equal(gls_region_text_parse("include", scratch("a:7.nii"), &t), GLS_OK);
    assert_null(t.labels);
    free(t.path);
    static const char *const spheres[] = {"1,2,3", "1,2,3,4,5", "1,2,3,0", "1,2,3,-1"};
    for (size_t i = 0; i < sizeof spheres / sizeof *spheres; i++)
        refuse(gls_region_text_parse("stop-at", spheres[i], &t), GLS_ERR_ARGUMENT, "a sphere is x,y,z,r");
    assert_int_equal(gls_region_text_parse("include", "4,-2.5,3e1,1,2,10", &t), GLS_OK);
    assert_true(t.is_box && !t.is_sphere && !t.path && t.number[0] == 1 && t.number[3] == 4);
    assert_true(t.number[1] == -2.5 && t.number[4] == 2 && t.number[2] == 10 && t.number[5] == 30);
    static const char *const boxes[] = {"1,2,3,4,5,3", "1,2,3,1,5,6", "1,2,3,4,5,1e16", "1,2,3,4,5,nan"};
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++)
        refuse(gls_region_text_parse("stop-at", boxes[i], &t), GLS_ERR_ARGUMENT, "a box");
    /* what is wrong is named: equal corners, or an edge that is too short or too long */
    refuse(gls_region_text_parse("stop-at", "1,2,3,4,5,3", &t), GLS_ERR_ARGUMENT, "corners must differ");
    refuse(gls_region_text_parse("stop-at", "1,2,3,4,5,3.0000001", &t), GLS_ERR_ARGUMENT, "long along z");
    refuse(gls_region_text_parse("stop-at", "1,-9e14,3,4,9e14,5", &t), GLS_ERR_ARGUMENT, "1.8e+15 mm long along y");
    assert_int_equal(gls_region_text_parse("include", "1,-5e14,3,4,5e14,5", &t), GLS_OK);
    static const char *const labels[] = {"x.nii:",   "x.nii:0", "x.nii:3,",        "x.nii:5-3",
                                         "x.nii:-3", "x.nii:a", "x.nii:2147483648"};
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        refuse(gls_region_text_parse("stop-at", labels[i], &t), GLS_ERR_ARGUMENT, "come labels");
}

static void test_labels(void **state)
{
    gls_regions *r = NULL;
    (void)state;
    assert_int_equal(gls_regions_create(&grid, &r), GLS_OK);
    assert_int_equal(add(r, GLS_REGION_INCLUDE, "%s:7", scratch("labels.nii")), GLS_OK);
    assert_int_equal(add(r, GLS_REGION_INCLUDE, "%s:1000-1035", scratch("labels.nii")), GLS_OK);
    assert_int_equal(add(r, GLS_REGION_EXCLUDE, "%s", "0,0,9,3"), GLS_OK);
    assert_int_equal(add(r, GLS_REGION_EXCLUDE, "%s:50", scratch("labels.nii")), GLS_OK);
    assert_int_equal(gls_regions_complete(r), GLS_OK);
    assert_int_equal(gls_regions_count(r), 4);
    gls_region_info info = gls_regions_get(r, 0);
    assert_true(info.role == GLS_REGION_INCLUDE && info.voxels == 16 * 12 && info.smallest == 2);
    assert_true(gls_regions_get(r, 2).voxels == 0 && gls_regions_get(r, 2).smallest == 3);
    assert_true(gls_regions_get(r, 2).bit == gls_regions_get(r, 3).bit);
    uint32_t a = 1u << info.bit, b = 1u << gls_regions_get(r, 1).bit, x = gls_regions_bits(r, GLS_REGION_EXCLUDE);
    assert_true(gls_regions_bits(r, GLS_REGION_INCLUDE) == (a | b) && gls_regions_bits(r, GLS_REGION_STOP_AT) == 0);
    assert_int_equal(gls_regions_at(r, (const float[3]){3.5f, 15.4f, 11.4f}), a);
    assert_int_equal(gls_regions_at(r, (const float[3]){4.5f, 8, 8}), b);
    assert_int_equal(gls_regions_at(r, (const float[3]){3.4f, 15, 11}), 0);
    assert_int_equal(gls_regions_at(r, (const float[3]){4, 16, 11}), 0);
    assert_int_equal(gls_regions_at(r, (const float[3]){-1, -1, -1}), 0);
    /* world (0, 0, 9) is voxel (5, 3.5, 3); 3 mm are 1.5 voxels */
    assert_int_equal(gls_regions_at(r, (const float[3]){6.5f, 3.5f, 3}), x);
    assert_int_equal(gls_regions_at(r, (const float[3]){6.51f, 3.5f, 3}), 0);
    assert_int_equal(gls_regions_at(r, (const float[3]){5, 3.5f, 3}), x | b);
    gls_regions_destroy(r);
}

/* The same region on a turned grid of other voxels: points in the middle of its voxels have it. */
static void test_other_grid(void **state)
{
    const double c = cos(0.3), s = sin(0.3),
                 affine[3][4] = {{1.3 * c, -1.7 * s, 0, -20}, {1.3 * s, 1.7 * c, 0, -5}, {0, 0, 1.1, 1}};
    gls_grid other;
    gls_image *image;
    gls_regions *r = NULL;
    double inverse[3][4];
    (void)state;
    assert_int_equal(gls_grid_init(&other, (const int32_t[3]){21, 13, 17}, affine), GLS_OK);
    assert_int_equal(gls_image_create(&other, 1, &image), GLS_OK);
    for (size_t v = 0; v < gls_grid_voxels(&other); v++) image->data[v] = v * 7919 % 5 == 0 ? 0.25f : v % 3 ? 0 : NAN;
    assert_int_equal(gls_regions_create(&grid, &r), GLS_OK);
    assert_int_equal(gls_regions_add_image(r, GLS_REGION_STOP_AT, image, "turned", mask), GLS_OK);
    assert_int_equal(gls_regions_add_image(r, GLS_REGION_MASK, mask, "mask", mask), GLS_OK);
    assert_int_equal(gls_regions_complete(r), GLS_OK);
    gls_grid_inverse(&grid, inverse);
    for (int z = 0, v = 0; z < 17; z++)
        for (int y = 0; y < 13; y++)
            for (int x = 0; x < 21; x++, v++) {
                double p[3] = {x + 0.3, y - 0.2, z + 0.1}, w[3];
                float at[3];
                for (int a = 0; a < 3; a++)
                    w[a] = affine[a][0] * p[0] + affine[a][1] * p[1] + affine[a][2] * p[2] + affine[a][3];
                for (int a = 0; a < 3; a++)
                    at[a] = (float)(inverse[a][0] * w[0] + inverse[a][1] * w[1] + inverse[a][2] * w[2] + inverse[a][3]);
                bool in = gls_regions_at(r, at) & gls_regions_bits(r, GLS_REGION_STOP_AT);
                assert_int_equal(in, image->data[v] > 0);
            }
    assert_int_equal(gls_regions_at(r, (const float[3]){3, 3, 0.4f}) & gls_regions_bits(r, GLS_REGION_MASK), 0);
    assert_true(gls_regions_at(r, (const float[3]){3, 3, 0.5f}) & gls_regions_bits(r, GLS_REGION_MASK));
    gls_regions_destroy(r);
    gls_image_destroy(image);
}

/* The last addition, or the completion, fails with this message. */
static void check_refused(gls_region_role role, const char *format, const char *file, gls_status wanted,
                          const char *part)
{
    gls_regions *r = NULL;
    assert_int_equal(gls_regions_create(&grid, &r), GLS_OK);
    refuse(add(r, role, format, file), wanted, part);
    gls_regions_destroy(r);
}

static void test_refused(void **state)
{
    (void)state;
    check_refused(GLS_REGION_INCLUDE, "%s", scratch("none.nii"), GLS_ERR_INPUT, "none.nii");
    check_refused(GLS_REGION_INCLUDE, "%s", scratch("empty.nii"), GLS_ERR_INPUT, "empty.nii: the region of --include");
    check_refused(GLS_REGION_EXCLUDE, "%s:7,8", scratch("labels.nii"), GLS_ERR_INPUT, "no voxel has the label 8");
    check_refused(GLS_REGION_EXCLUDE, "%s:1004-1010", scratch("labels.nii"), GLS_ERR_INPUT, "from 1004 to 1010");
    /* label 50 is the layer that the mask leaves out */
    check_refused(GLS_REGION_INCLUDE, "%s:50", scratch("labels.nii"), GLS_ERR_INPUT, "cannot be reached");
    check_refused(GLS_REGION_TRACKING_MASK, "%s", "500,0,0,5", GLS_ERR_INPUT, "cannot be reached");
    gls_regions *r = NULL;
    assert_int_equal(gls_regions_create(&grid, &r), GLS_OK);
    assert_int_equal(add(r, GLS_REGION_EXCLUDE, "%s", "500,0,0,5"), GLS_OK);
    assert_int_equal(add(r, GLS_REGION_INCLUDE, "%s", "0,0,9,2"), GLS_OK);
    assert_int_equal(add(r, GLS_REGION_EXCLUDE, "%s", "1,0,9,3"), GLS_OK);
    refuse(gls_regions_complete(r), GLS_ERR_INPUT, "--include 0,0,9,2: lies wholly in regions of --exclude");
    gls_regions_destroy(r);
    assert_int_equal(gls_regions_create(&grid, &r), GLS_OK);
    for (int i = 0; i < 32; i++) assert_int_equal(add(r, GLS_REGION_INCLUDE, "%s", "0,0,9,2"), GLS_OK);
    refuse(add(r, GLS_REGION_INCLUDE, "%s", "0,0,9,2"), GLS_ERR_ARGUMENT, "one region too many");
    gls_regions_destroy(r);
    assert_int_equal(gls_regions_create(&grid, &r), GLS_OK);
    for (int i = 0; i < 64; i++) assert_int_equal(add(r, GLS_REGION_EXCLUDE, "%s", "0,0,9,2"), GLS_OK);
    refuse(add(r, GLS_REGION_EXCLUDE, "%s", "0,0,9,2"), GLS_ERR_ARGUMENT, "at most 64 spheres");
    gls_regions_destroy(r);
}

/* The bits of a role are neighbours, in the order of the roles, in whatever order regions are added. */
static void test_bits(void **state)
{
    static const gls_region_role role[] = {
        GLS_REGION_INCLUDE_ANY, GLS_REGION_INCLUDE_ORDERED, GLS_REGION_INCLUDE,    GLS_REGION_STOP_AT,
        GLS_REGION_INCLUDE,     GLS_REGION_INCLUDE_ORDERED, GLS_REGION_INCLUDE_ANY};
    static const uint32_t bit[] = {2, 3, 0, 5, 1, 4, 2};
    enum { N = sizeof role / sizeof *role };
    gls_regions *r = NULL;
    (void)state;
    assert_int_equal(gls_regions_create(&grid, &r), GLS_OK);
    for (size_t i = 0; i < N; i++) assert_int_equal(add(r, role[i], "%s", "0,0,9,2"), GLS_OK);
    assert_int_equal(gls_regions_complete(r), GLS_OK);
    for (size_t i = 0; i < N; i++) {
        assert_int_equal(gls_regions_get(r, i).bit, bit[i]);
        assert_true(gls_regions_bits(r, role[i]) >> bit[i] & 1);
    }
    assert_int_equal(gls_regions_at(r, (const float[3]){5, 3.5f, 3}), 0x3f);
    gls_regions_destroy(r);
}

/* An include sphere or box in an exclude one can never be reached; one that reaches beyond it can. */
static void test_excluded(void **state)
{
    static const struct {
        const char *include, *exclude;
        bool wholly;
    } cases[] = {{"0,0,9,2", "1,0,9,3", true},
                 {"0,0,9,2", "1,0,9,2.9", false},
                 {"-3,0,6,3,4,12", "-3,0,6,3,4,12", true},
                 {"-3,0,6,3,4,12", "-4,-1,5,3,4,13", true},
                 {"-3,0,6,3,4,12", "-4,-1,5,2,4,13", false},
                 {"-3,0,6,3,4,12", "0,2,9,5", true},
                 {"-3,0,6,3,4,12", "0,2,9,4.6", false},
                 {"0,2,9,2", "-2,0,7,2,4,11", true},
                 {"0,2,9,2", "-2,0,7,1.9,4,11", false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gls_regions *r = NULL;
        assert_int_equal(gls_regions_create(&grid, &r), GLS_OK);
        assert_int_equal(add(r, GLS_REGION_INCLUDE, "%s", cases[i].include), GLS_OK);
        assert_int_equal(add(r, GLS_REGION_EXCLUDE, "%s", cases[i].exclude), GLS_OK);
        const gls_status status = gls_regions_complete(r);
        if (status != (cases[i].wholly ? GLS_ERR_INPUT : GLS_OK))
            fail_msg("%s in %s: %d", cases[i].include, cases[i].exclude, status);
        gls_regions_destroy(r);
    }
    /* more spheres than a set can have grids: a sanitizer sees whether their numbers are taken for those of grids */
    gls_regions *r = NULL;
    assert_int_equal(gls_regions_create(&grid, &r), GLS_OK);
    for (int i = 0; i <= GLS_REGION_MAX_GRIDS; i++)
        assert_int_equal(add(r, GLS_REGION_EXCLUDE, "%s", "500,0,0,5"), GLS_OK);
    assert_int_equal(add(r, GLS_REGION_INCLUDE, "%s", "0,0,9,2"), GLS_OK);
    assert_int_equal(gls_regions_complete(r), GLS_OK);
    gls_regions_destroy(r);
}

static uint64_t hash_of(gls_region_role role, const char *format, const char *file)
{
    gls_regions *r = NULL;
    assert_int_equal(gls_regions_create(&grid, &r), GLS_OK);
    assert_int_equal(add(r, role, format, file), GLS_OK);
    assert_int_equal(gls_regions_complete(r), GLS_OK);
    uint64_t hash = gls_regions_hash(r);
    gls_regions_destroy(r);
    return hash;
}

/* The identity depends on the contents of the region, not on its name. */
static void test_hash(void **state)
{
    (void)state;
    uint64_t seven = hash_of(GLS_REGION_EXCLUDE, "%s:7", scratch("labels.nii"));
    assert_true(hash_of(GLS_REGION_EXCLUDE, "%s:7", scratch("a:7.nii")) == seven);
    assert_true(hash_of(GLS_REGION_EXCLUDE, "%s:1003", scratch("labels.nii")) != seven);
    assert_true(hash_of(GLS_REGION_STOP_AT, "%s:7", scratch("labels.nii")) != seven);
    assert_true(hash_of(GLS_REGION_EXCLUDE, "%s", "0,0,9,2") == hash_of(GLS_REGION_EXCLUDE, "%s", "0.0,0,9,2e0"));
    assert_true(hash_of(GLS_REGION_EXCLUDE, "%s", "0,0,9,2") != hash_of(GLS_REGION_EXCLUDE, "%s", "0,0,9,3"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_text),       cmocka_unit_test(test_labels),
                                       cmocka_unit_test(test_other_grid), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_bits),       cmocka_unit_test(test_excluded),
                                       cmocka_unit_test(test_hash)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
