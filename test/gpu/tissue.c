/* Tissue and regions inside the kernels on a scene of straight fibres along x, 60 x 12 x 12 voxels of 1 mm, where every
 * outcome is known: those of MRtrix3's tckgen, and where its two halves depend on each other, ours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glslines/tissue.h>

#include "collect.h"
#include "gpu.h"

enum { NX = 60, NY = 12, NZ = 12, NONE = -1 };

/* Tissue along x, from a voxel on. */
typedef struct part {
    int first, tissue;
} part;
typedef struct scene {
    const char *name;
    part part[4];
} scene;
static const scene scenes[] = {
    {"wm_cgm", {{0, GLS_TISSUE_CGM}, {10, GLS_TISSUE_WM}, {40, GLS_TISSUE_CGM}}},
    {"wm_csf", {{0, GLS_TISSUE_CGM}, {10, GLS_TISSUE_WM}, {40, GLS_TISSUE_CSF}}},
    {"wm_out", {{0, GLS_TISSUE_CGM}, {10, GLS_TISSUE_WM}, {40, NONE}}},
    {"wm_sgm_wm", {{0, GLS_TISSUE_CGM}, {10, GLS_TISSUE_WM}, {40, GLS_TISSUE_SGM}, {50, GLS_TISSUE_WM}}},
    {"wm_sgm_csf", {{0, GLS_TISSUE_CGM}, {10, GLS_TISSUE_WM}, {40, GLS_TISSUE_SGM}, {50, GLS_TISSUE_CSF}}},
    {"wm_sgm_edge", {{0, GLS_TISSUE_CGM}, {10, GLS_TISSUE_WM}, {40, GLS_TISSUE_SGM}}},
    {"wm_path", {{0, GLS_TISSUE_CGM}, {10, GLS_TISSUE_WM}, {40, GLS_TISSUE_PATH}}},
    {"wm_sgm_cgm", {{0, GLS_TISSUE_CGM}, {10, GLS_TISSUE_WM}, {40, GLS_TISSUE_SGM}, {50, GLS_TISSUE_CGM}}},
};

static gls_device *device;
static gls_grid grid;
static gls_odf_source *even, *varied;
static gls_image *stop_map, *odfs[2]; /* the images, which the sources borrow */

/* The voxels from .. to along x. */
static gls_image *slab(int from, int to)
{
    gls_image *image;
    assert_ok(gls_image_create(&grid, 1, &image));
    for (size_t v = 0; v < gls_grid_voxels(&grid); v++) image->data[v] = (int)(v % NX) >= from && (int)(v % NX) <= to;
    return image;
}

static gls_odf_source *make_source(bool vary)
{
    static const double third = 0.57735026918962576;
    const double direction[7][3] = {{1, 0, 0},
                                    {0, 1, 0},
                                    {0, 0, 1},
                                    {third, third, third},
                                    {-third, third, third},
                                    {third, -third, third},
                                    {third, third, -third}};
    gls_odf_options options = gls_odf_options_default();
    gls_odf_source *source = NULL;
    gls_image *odf = NULL;
    options.clip = true;
    assert_ok(gls_image_create(&grid, 7, &odf));
    for (size_t v = 0; v < gls_grid_voxels(&grid); v++)
        odf->data[v] = vary ? (float)(0.3 + 0.02 * abs((int)(v % NX) - 45)) : 1;
    assert_ok(
        gls_odf_source_create_amplitudes(odf, "fibres", direction, 7, "directions", GLS_BVEC_IMAGE, &options, &source));
    odfs[vary] = odf;
    return source;
}

static gls_tissue *make_tissue(const char *name, gls_tissue_rule rule)
{
    const scene *s = scenes;
    gls_image *image;
    gls_tissue *tissue = NULL;
    size_t n = (size_t)NX * NY * NZ;
    while (strcmp(s->name, name) != 0) s++;
    assert_ok(gls_image_create(&grid, GLS_TISSUE_TYPES, &image));
    for (size_t v = 0; v < n; v++) {
        int type = NONE;
        for (int k = 0; k < 4 && (k == 0 || s->part[k].first > 0); k++)
            if ((int)(v % NX) >= s->part[k].first) type = s->part[k].tissue;
        if (type != NONE) image->data[(size_t)type * n + v] = 1;
    }
    assert_ok(gls_tissue_create(&grid, image, name, rule, GLS_PRECISION_HALF, &tissue));
    gls_image_destroy(image);
    return tissue;
}

static int set_up(void **state)
{
    static const double affine[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    (void)state;
    assert_ok(gls_grid_init(&grid, (const int32_t[3]){NX, NY, NZ}, affine));
    even = make_source(false);
    varied = make_source(true);
    stop_map = slab(0, NX);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    gls_odf_source_destroy(even);
    gls_odf_source_destroy(varied);
    gls_image_destroy(stop_map);
    gls_image_destroy(odfs[0]);
    gls_image_destroy(odfs[1]);
    return 0;
}

/* A region of a case: a slab, or a sphere. */
typedef struct area {
    gls_region_role role;
    int from, to;
    const char *sphere;
} area;

typedef struct outcome {
    const char *tissue; /* NULL: none */
    double seed;        /* position x of the seed; y = z = 5 */
    int sense;          /* sign of the direction along x */
    gls_tissue_rule rule;
    bool varied, crop, keep, one_sided, stop;
    double step, max_length; /* 0: 1 mm, 500 mm */
    area area[4];
    int n_areas;
    /* either a streamline from .. to of n points, or the reason why there is none */
    double from, to;
    size_t n;
    gls_verdict verdict;
    bool seed_rejected;
} outcome;

static gls_regions *make_regions(const outcome *o)
{
    gls_regions *r = NULL;
    if (o->n_areas == 0) return NULL;
    assert_ok(gls_regions_create(&grid, &r));
    for (int i = 0; i < o->n_areas; i++) {
        const area *a = &o->area[i];
        gls_image *image = a->sphere ? NULL : slab(a->from, a->to);
        if (a->sphere)
            assert_ok(gls_regions_add(r, a->role, a->sphere, NULL));
        else
            assert_ok(gls_regions_add_image(r, a->role, image, "slab", NULL));
        gls_image_destroy(image);
    }
    assert_ok(gls_regions_complete(r));
    return r;
}

static void check_line(const outcome *o, const collection *c, size_t place)
{
    double low = 1e9, high = -1e9;
    if (c->n != 1) fail_msg("case %zu: %zu streamlines", place, c->n);
    for (size_t i = 0; i < c->n_points; i++) {
        low = fmin(low, c->point[i][0]);
        high = fmax(high, c->point[i][0]);
    }
    if (fabs(low - o->from) > 1.1e-3 || fabs(high - o->to) > 1.1e-3 || c->n_points != o->n)
        fail_msg("case %zu: %g .. %g, %zu points, not %g .. %g, %zu", place, low, high, c->n_points, o->from, o->to,
                 o->n);
}

static void check(const outcome *o, size_t place, gls_mapping mapping)
{
    const double point[1][3] = {{o->seed, 5, 5}};
    gls_seeds *seeds = NULL;
    gls_tissue *tissue = o->tissue ? make_tissue(o->tissue, o->rule) : NULL;
    gls_regions *regions = make_regions(o);
    gls_track_params p = gls_track_params_default();
    collection c = {.sound = true};
    gls_tracker *t = NULL;
    p.dg = GLS_DG_DET;
    p.step_size = o->step > 0 ? o->step : 1;
    p.max_angle = 45;
    p.stop_threshold = tissue ? -1 : 0.1;
    p.max_length = o->max_length > 0 ? o->max_length : 500;
    p.seed_direction[0] = o->sense;
    p.seed_unidirectional = o->one_sided;
    p.stop_at_all = o->stop;
    p.crop_at_gmwmi = o->crop;
    p.keep_all_ends = o->keep;
    p.mapping = mapping;
    gls_track_input input = {
        .odf = o->varied ? varied : even, .stop_map = stop_map, .regions = regions, .tissue = tissue};
    assert_ok(gls_seeds_create_list(point, 1, GLS_SEEDS_VOXEL, &grid, &seeds));
    assert_ok(gls_tracker_create(device, &p, &input, &t));
    gls_track_result r = run_tracker(t, seeds, &c);
    assert_sums(&r);
    assert_int_equal(r.streamlines, c.n);
    if (o->n > 0)
        check_line(o, &c, place);
    else if (o->seed_rejected ? r.seeds_rejected != 1 : r.verdicts[o->verdict] != 1)
        fail_msg("case %zu: not rejected for its reason", place);
    collection_finish(&c);
    gls_tracker_destroy(t);
    gls_seeds_destroy(seeds);
    gls_regions_destroy(regions);
    gls_tissue_destroy(tissue);
}

#define LINE(a, b, points) .from = (a), .to = (b), .n = (points)
#define SEED_REJECTED .seed_rejected = true
#define REJECTED(why) .verdict = GLS_VERDICT_##why
#define AREAS(n, ...) .area = {__VA_ARGS__}, .n_areas = (n)
#define INCLUDE(a, b)                  \
    {                                  \
        GLS_REGION_INCLUDE, a, b, NULL \
    }
#define ORDERED(a, b)                          \
    {                                          \
        GLS_REGION_INCLUDE_ORDERED, a, b, NULL \
    }

static const outcome outcomes[] = {
    {"wm_cgm", 20.25, 1, LINE(9.25, 40.25, 32)},
    {"wm_csf", 20.25, 1, REJECTED(POOR_END)},
    {"wm_out", 20.25, 1, LINE(9.25, 39.25, 31)},
    {"wm_sgm_wm", 20.25, 1, LINE(9.25, 40.25, 32)},
    {"wm_sgm_csf", 20.25, 1, LINE(9.25, 40.25, 32)},
    {"wm_sgm_edge", 20.25, 1, LINE(9.25, 59.25, 51)},
    {"wm_path", 20.25, 1, LINE(9.25, 59.25, 51)},
    {"wm_sgm_cgm", 20.25, 1, LINE(9.25, 50.25, 42)},
    {"wm_sgm_wm", 20.25, 1, .varied = true, LINE(9.25, 45.25, 37)},
    {"wm_sgm_csf", 20.25, 1, .varied = true, LINE(9.25, 45.25, 37)},
    {"wm_cgm", 20.25, 1, .crop = true, LINE(9.499, 39.503, 32)},
    {"wm_cgm", 45.25, 1, SEED_REJECTED},
    {"wm_cgm", 39.45, 1, LINE(9.45, 40.45, 32)},
    {"wm_cgm", 39.504, 1, LINE(8.504, 39.504, 32)},
    {"wm_cgm", 39.504, -1, LINE(8.504, 39.504, 32)},
    {"wm_cgm", 39.51, 1, SEED_REJECTED},
    {"wm_csf", 45.25, 1, SEED_REJECTED},
    {"wm_sgm_wm", 45.25, 1, LINE(44.25, 59.25, 16)},
    {"wm_sgm_wm", 45.25, -1, LINE(9.25, 46.25, 38)},
    {"wm_sgm_edge", 45.25, 1, LINE(9.25, 59.25, 51)},
    {"wm_sgm_wm", 49.25, 1, LINE(48.25, 59.25, 12)},
    {"wm_sgm_wm", 49.25, -1, LINE(9.25, 49.25, 41)},
    {"wm_sgm_csf", 45.25, 1, LINE(9.25, 46.25, 38)},
    {"wm_sgm_cgm", 45.25, 1, LINE(9.25, 50.25, 42)},
    {"wm_path", 45.25, 1, SEED_REJECTED},
    /* with regions; their points count where tissue ends a half */
    {"wm_cgm", 20.25, 1, AREAS(1, {GLS_REGION_TRACKING_MASK, 15, 50, NULL}), LINE(15.25, 40.25, 26)},
    {"wm_cgm", 20.25, 1, AREAS(1, INCLUDE(40, 42)), LINE(9.25, 40.25, 32)},
    {"wm_cgm", 20.25, 1, AREAS(1, INCLUDE(5, 9)), LINE(9.25, 40.25, 32)},
    {"wm_cgm", 20.25, 1, AREAS(1, {GLS_REGION_EXCLUDE, 40, 42, NULL}), REJECTED(EXCLUDED)},
    {"wm_cgm", 20.25, 1, .max_length = 10, REJECTED(TOO_LONG)},
    {"wm_sgm_wm", 20.25, 1, .varied = true, AREAS(1, INCLUDE(47, 48)), REJECTED(MISSED_INCLUDE)},
    {"wm_csf", 20.25, 1, .keep = true, LINE(9.25, 39.25, 31)},
    {"wm_cgm", 20.25, 1, GLS_TISSUE_RULE_PVE, LINE(9.25, 40.25, 32)},
    {"wm_csf", 20.25, 1, GLS_TISSUE_RULE_PVE, REJECTED(POOR_END)},
    {"wm_cgm", 20.25, 1, GLS_TISSUE_RULE_CMC, LINE(9.25, 40.25, 32)},
    {"wm_csf", 20.25, 1, GLS_TISSUE_RULE_CMC, REJECTED(POOR_END)},
    /* regions alone */
    {NULL, 20.25, 1, AREAS(2, {GLS_REGION_TRACKING_MASK, 20, 24, NULL}, {GLS_REGION_TRACKING_MASK, 25, 29, NULL}),
     LINE(20.25, 29.25, 10)},
    {NULL, 20.25, 1, AREAS(1, INCLUDE(35, 37)), LINE(0.25, 59.25, 60)},
    {NULL, 20.25, 1, AREAS(1, {GLS_REGION_INCLUDE, 0, 0, "20.25,8,5,2.999"}), REJECTED(MISSED_INCLUDE)},
    {NULL, 20.25, 1, AREAS(1, {GLS_REGION_EXCLUDE, 20, 20, NULL}), SEED_REJECTED},
    {NULL, 20.25, 1, AREAS(1, {GLS_REGION_TRACKING_MASK, 30, 40, NULL}), SEED_REJECTED},
    {NULL, 20.25, 1, AREAS(2, INCLUDE(5, 9), {GLS_REGION_TRACKING_MASK, 15, 50, NULL}), REJECTED(MISSED_INCLUDE)},
    {NULL, 20.25, 1, .one_sided = true, AREAS(2, ORDERED(25, 29), ORDERED(35, 37)), LINE(20.25, 59.25, 40)},
    {NULL, 20.25, 1, .one_sided = true, AREAS(2, ORDERED(35, 37), ORDERED(25, 29)), REJECTED(WRONG_ORDER)},
    {NULL, 20.25, 1, .one_sided = true, AREAS(2, ORDERED(20, 24), ORDERED(35, 37)), LINE(20.25, 59.25, 40)},
    {NULL, 20.25, 1, .one_sided = true, AREAS(2, ORDERED(35, 37), ORDERED(20, 24)), REJECTED(WRONG_ORDER)},
    {NULL, 20.25, 1, .one_sided = true, AREAS(3, ORDERED(25, 29), ORDERED(35, 37), ORDERED(25, 29)),
     REJECTED(WRONG_ORDER)},
    {NULL, 20.25, 1, .one_sided = true, AREAS(2, ORDERED(25, 29), ORDERED(0, 59)), REJECTED(WRONG_ORDER)},
    {NULL, 20.25, 1, .one_sided = true, AREAS(2, ORDERED(0, 59), ORDERED(25, 29)), REJECTED(WRONG_ORDER)},
    {NULL, 20.25, 1, .one_sided = true, .stop = true, AREAS(2, INCLUDE(25, 29), INCLUDE(35, 37)),
     LINE(20.25, 35.25, 16)},
    {NULL, 20.25, 1, .stop = true, AREAS(1, INCLUDE(35, 37)), LINE(20.25, 35.25, 16)},
    {NULL, 20.25, 1, .stop = true, AREAS(2, INCLUDE(35, 37), INCLUDE(5, 9)), LINE(9.25, 59.25, 51)},
    {NULL, 20.25, 1, .step = 3, AREAS(1, {GLS_REGION_INCLUDE, 0, 0, "24.75,5,5,1"}), REJECTED(MISSED_INCLUDE)},
    {NULL, 20.25, 1, AREAS(2, {GLS_REGION_INCLUDE_END, 59, 59, NULL}, {GLS_REGION_INCLUDE_END, 0, 0, NULL}),
     LINE(0.25, 59.25, 60)},
    {NULL, 20.25, 1, AREAS(2, {GLS_REGION_INCLUDE_END, 58, 59, NULL}, {GLS_REGION_INCLUDE_END, 57, 59, NULL}),
     REJECTED(WRONG_ENDS)},
    {NULL, 20.25, 1, AREAS(2, {GLS_REGION_INCLUDE_BOTH_ENDS, 58, 59, NULL}, {GLS_REGION_INCLUDE_BOTH_ENDS, 0, 1, NULL}),
     LINE(0.25, 59.25, 60)},
    {NULL, 20.25, 1, AREAS(1, {GLS_REGION_EXCLUDE_END, 58, 59, NULL}), REJECTED(WRONG_ENDS)},
    {NULL, 20.25, 1, AREAS(1, {GLS_REGION_EXCLUDE_END, 30, 35, NULL}), LINE(0.25, 59.25, 60)},
};

static void test_scene(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) check(&outcomes[i], i, GLS_MAPPING_SINGLE);
}

/* The tissue of a device is that of the host: the same voxels, the same rule at their borders. */
static void test_lookup(void **state)
{
    gls_tissue *t = make_tissue("wm_out", GLS_TISSUE_RULE_ACT);
    float v[GLS_TISSUE_TYPES];
    (void)state;
    assert_true(gls_tissue_at(t, (const float[3]){20.5f, 5, 5}, v) && v[GLS_TISSUE_WM] == 1);
    assert_true(gls_tissue_at(t, (const float[3]){9.5f, 5, 5}, v) && v[GLS_TISSUE_WM] == 0.5f);
    assert_true(gls_tissue_at(t, (const float[3]){39.49f, 5, 5}, v));
    assert_false(gls_tissue_at(t, (const float[3]){39.5f, 5, 5}, v));
    assert_false(gls_tissue_at(t, (const float[3]){-0.5f, 5, 5}, v));
    assert_true(gls_tissue_at(t, (const float[3]){-0.49f, 5, 11.49f}, v) && v[GLS_TISSUE_CGM] == 1);
    gls_tissue_destroy(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scene), cmocka_unit_test(test_lookup)};
    return gpu_run_tests(tests, set_up, tear_down, &device);
}
