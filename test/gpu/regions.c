/* Regions inside the kernels against the same rules applied afterwards: which streamlines are kept, and where they are
 * cut, for every direction getter and batch size; and a scene of parallel fibres with known outcomes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glslines/regions.h>

#include "gpu.h"
#include "series.h"
#include "collect.h"

#define N_SEEDS 120

static gls_device *device;
static series phantom;
static gls_qball *qball;
static gls_odf_source *source;
static gls_image *odf, *other;
static gls_seeds *seeds;

/* Makes lobes along the fibres of the series. */
static void make_odfs(void)
{
    const gls_sphere *sphere = phantom.sphere;
    const gls_grid *grid = &phantom.dwi->grid;
    assert_ok(gls_image_create(grid, sphere->n, &odf));
    size_t n = gls_grid_voxels(grid), nx = (size_t)grid->dim[0], ny = (size_t)grid->dim[1];
    for (size_t i = 0; i < n; i++) {
        double p[3] = {(double)(i % nx), (double)(i / nx % ny), (double)(i / nx / ny)}, direction[2][3], stop;
        int n_fibres = waves(grid, p, direction, &stop);
        for (size_t v = 0; v < sphere->n; v++) {
            double sum = 0.02;
            for (int f = 0; f < n_fibres; f++) sum += exp(9 * (pow(dot3(sphere->vertex[v], direction[f]), 2) - 1));
            odf->data[v * n + i] = (float)sum;
        }
    }
    gls_odf_options options = gls_odf_options_default();
    options.clip = true;
    assert_ok(gls_odf_source_create_amplitudes(odf, "lobes", (const double(*)[3])sphere->vertex, sphere->n,
                                               "the sphere", GLS_BVEC_IMAGE, &options, &source));
}

/* Makes a block on a turned grid of smaller voxels. */
static void make_other(void)
{
    double affine[3][4];
    gls_grid grid;
    oblique_affine((const double[3]){0.7, 0.8, 0.9}, affine);
    for (int a = 0; a < 3; a++) affine[a][3] = a == 2 ? 1 : a == 1 ? 0 : 4;
    assert_ok(gls_grid_init(&grid, (const int32_t[3]){11, 9, 10}, affine));
    assert_ok(gls_image_create(&grid, 1, &other));
    for (size_t v = 0; v < gls_grid_voxels(&grid); v++) other->data[v] = v % 11 > 2 && v % 13 != 0;
}

static int set_up(void **state)
{
    (void)state;
    static const int dim[3] = {13, 12, 11};
    double points[N_SEEDS][3];
    uint64_t seed = 5;
    series_create(&phantom, dim, voxel_space, waves, 2000, 30, "small", 2);
    qball = series_qball(&phantom, GLS_QBALL_OPDT, 4);
    make_odfs();
    make_other();
    for (int i = 0; i < N_SEEDS; i++)
        for (int a = 0; a < 3; a++) points[i][a] = random_uniform(&seed, -0.5, dim[a] - 0.5001);
    assert_ok(gls_seeds_create_list((const double(*)[3])points, N_SEEDS, GLS_SEEDS_VOXEL, &phantom.dwi->grid, &seeds));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    gls_seeds_destroy(seeds);
    gls_odf_source_destroy(source);
    gls_image_destroy(odf);
    gls_image_destroy(other);
    gls_qball_destroy(qball);
    series_destroy(&phantom);
    return 0;
}

static gls_track_params params_of(gls_direction_getter dg)
{
    gls_track_params p = gls_track_params_default();
    p.dg = dg;
    p.max_length = 60;
    p.stop_threshold = 0.55;
    p.max_directions_per_seed = 3;
    p.max_angle = dg == GLS_DG_PTT ? 30 : 60;
    p.ptt_substep = 0.125;
    p.keep_single_points = true;
    return p;
}

static gls_track_result track(const gls_track_params *p, const gls_regions *regions, const gls_seeds *from,
                              collection *c)
{
    gls_track_input input = series_input(&phantom, qball);
    gls_tracker *t = NULL;
    if (p->dg != GLS_DG_BOOT) input = (gls_track_input){.odf = source, .stop_map = phantom.stop};
    input.regions = regions;
    assert_ok(gls_tracker_create(device, p, &input, &t));
    gls_track_result r = run_tracker(t, from, c);
    gls_tracker_destroy(t);
    assert_sums(&r);
    return r;
}

static gls_regions *regions_of(gls_region_role first, const char *sphere, gls_region_role second)
{
    gls_regions *r = NULL;
    assert_ok(gls_regions_create(&phantom.dwi->grid, &r));
    assert_ok(gls_regions_add(r, first, sphere, NULL));
    assert_ok(gls_regions_add_image(r, second, other, "block", NULL));
    return r;
}

static void append(collection *to, const collection *from, size_t line, size_t first, size_t end)
{
    size_t n = end - first;
    to->offset = realloc(to->offset, (to->n + 2) * sizeof *to->offset);
    to->point = realloc(to->point, (to->n_points + n) * sizeof *to->point);
    to->seed_index = realloc(to->seed_index, (to->n + 1) * sizeof *to->seed_index);
    to->seed = realloc(to->seed, (to->n + 1) * sizeof *to->seed);
    memcpy(to->point + to->n_points, from->point + first, n * sizeof *to->point);
    to->offset[to->n] = to->n_points;
    to->seed_index[to->n] = from->seed_index[line];
    memcpy(to->seed[to->n], from->seed[line], sizeof to->seed[0]);
    to->n_points += n;
    to->offset[++to->n] = to->n_points;
}

/* Keeps the streamlines that meet every include region, one of those of include-any, and no exclude region. */
static void filter(const collection *all, const gls_regions *r, collection *kept)
{
    uint32_t include = gls_regions_bits(r, GLS_REGION_INCLUDE), any = gls_regions_bits(r, GLS_REGION_INCLUDE_ANY),
             exclude = gls_regions_bits(r, GLS_REGION_EXCLUDE);
    *kept = (collection){.sound = true};
    for (size_t i = 0; i < all->n; i++) {
        uint32_t met = 0;
        for (uint64_t k = all->offset[i]; k < all->offset[i + 1]; k++) met |= gls_regions_at(r, all->point[k]);
        if ((met & include) == include && (!any || (met & any)) && !(met & exclude))
            append(kept, all, i, all->offset[i], all->offset[i + 1]);
    }
}

/* Ends of the halves: before the first point outside the tracking mask, with the first point to stop at. */
static void shorten(const collection *all, const gls_regions *r, collection *kept)
{
    uint32_t inside = gls_regions_bits(r, GLS_REGION_TRACKING_MASK), stop = gls_regions_bits(r, GLS_REGION_STOP_AT);
    *kept = (collection){.sound = true};
    for (size_t i = 0; i < all->n; i++) {
        size_t first = all->offset[i], end = all->offset[i + 1], at = first;
        while (memcmp(all->point[at], all->seed[i], sizeof all->seed[i]) != 0) assert_true(++at < end);
        if (!(gls_regions_at(r, all->point[at]) & inside)) continue;
        size_t low = at, high = at;
        while (low > first && (gls_regions_at(r, all->point[low - 1]) & inside)) {
            low--;
            if (gls_regions_at(r, all->point[low]) & stop) break;
        }
        while (high + 1 < end && (gls_regions_at(r, all->point[high + 1]) & inside)) {
            high++;
            if (gls_regions_at(r, all->point[high]) & stop) break;
        }
        append(kept, all, i, low, high + 1);
    }
}

static void compare(gls_direction_getter dg, const gls_regions *r, const collection *all,
                    void (*rule)(const collection *, const gls_regions *, collection *))
{
    static const uint64_t batches[] = {0, 7, 1};
    collection wanted, got;
    gls_track_params p = params_of(dg);
    rule(all, r, &wanted);
    assert_true(wanted.n > 5 && (wanted.n < all->n || wanted.n_points < all->n_points));
    for (size_t i = 0; i < (dg == GLS_DG_DET ? 3 : 2); i++) {
        p.batch_seeds = batches[i];
        gls_track_result result = track(&p, r, seeds, &got);
        assert_same_collection(&got, &wanted, "regions");
        for (size_t k = 0; k < gls_regions_count(r) && rule == filter; k++)
            assert_true(result.met[gls_regions_get(r, k).bit] >= got.n ||
                        gls_regions_get(r, k).role == GLS_REGION_EXCLUDE);
        collection_finish(&got);
    }
    collection_finish(&wanted);
}

/* One-sided streamlines that meet the first region before the second; at a point in both the first counts. */
static void in_order(const collection *all, const gls_regions *r, collection *kept)
{
    *kept = (collection){.sound = true};
    for (size_t i = 0; i < all->n; i++) {
        size_t next = 0, n = 2;
        for (uint64_t k = all->offset[i]; k < all->offset[i + 1] && next <= n; k++) {
            uint32_t met = gls_regions_at(r, all->point[k]);
            for (size_t region = 0; region < n; region++) {
                if (!(met >> gls_regions_get(r, region).bit & 1)) continue;
                next = region == next ? next + 1 : region + 1 == next ? next : SIZE_MAX;
                break;
            }
        }
        if (next == n) append(kept, all, i, all->offset[i], all->offset[i + 1]);
    }
}

/* A seed in the first region counts, the way to the first point does not. */
static void check_order(gls_direction_getter dg)
{
    static const char *const sphere[2] = {"6,5,5,4.5", "6,5,5,30"};
    gls_track_params p = params_of(dg);
    gls_regions *r = NULL;
    collection all, wanted, got;
    p.seed_unidirectional = true;
    track(&p, NULL, seeds, &all);
    assert_ok(gls_regions_create(&phantom.dwi->grid, &r));
    for (int k = 0; k < 2; k++) assert_ok(gls_regions_add(r, GLS_REGION_INCLUDE_ORDERED, sphere[k], NULL));
    assert_ok(gls_regions_complete(r));
    in_order(&all, r, &wanted);
    assert_true(wanted.n > 10 && wanted.n < all.n);
    track(&p, r, seeds, &got);
    assert_same_collection(&got, &wanted, "regions in order");
    collection_finish(&got);
    collection_finish(&wanted);
    collection_finish(&all);
    gls_regions_destroy(r);
}

/* Points that are cut off because both halves together are too long meet no region to include. */
static void check_cut(gls_direction_getter dg)
{
    gls_track_params p = params_of(dg);
    gls_regions *r = regions_of(GLS_REGION_INCLUDE, "6,5,5,1.5", GLS_REGION_INCLUDE);
    collection all, whole, cut, wanted, got;
    assert_ok(gls_regions_complete(r));
    track(&p, NULL, seeds, &all);
    filter(&all, r, &whole);
    collection_finish(&all);
    for (int downsample = 1; downsample <= 3; downsample += 2) {
        p.max_length = 4;
        track(&p, NULL, seeds, &cut);
        filter(&cut, r, &wanted);
        assert_true(wanted.n > 5 && wanted.n < whole.n);
        p.downsample = downsample;
        const gls_track_result result = track(&p, r, seeds, &got);
        assert_int_equal(got.n, wanted.n);
        if (downsample == 1) assert_same_collection(&got, &wanted, "regions of streamlines that were cut");
        for (size_t k = 0; k < gls_regions_count(r); k++) assert_true(result.met[gls_regions_get(r, k).bit] >= got.n);
        p.downsample = 1;
        collection_finish(&got);
        collection_finish(&wanted);
        collection_finish(&cut);
    }
    collection_finish(&whole);
    gls_regions_destroy(r);
}

static void check_getter(gls_direction_getter dg)
{
    check_order(dg);
    check_cut(dg);

    gls_track_params p = params_of(dg);
    collection all;
    track(&p, NULL, seeds, &all);
    gls_regions *r = regions_of(GLS_REGION_EXCLUDE, "3,3,3,2.2", GLS_REGION_INCLUDE);
    assert_ok(gls_regions_complete(r));
    compare(dg, r, &all, filter);
    gls_regions_destroy(r);
    r = regions_of(GLS_REGION_INCLUDE, "6,5,5,2.5", GLS_REGION_INCLUDE);
    assert_ok(gls_regions_complete(r));
    compare(dg, r, &all, filter);
    gls_regions_destroy(r);
    /* two regions of which one is met, behind another role; the sphere alone and the block alone keep fewer */
    collection sphere, block, either;
    r = regions_of(GLS_REGION_EXCLUDE, "3,3,3,0.1", GLS_REGION_INCLUDE_ANY);
    assert_ok(gls_regions_complete(r));
    filter(&all, r, &block);
    gls_regions_destroy(r);
    assert_ok(gls_regions_create(&phantom.dwi->grid, &r));
    assert_ok(gls_regions_add(r, GLS_REGION_INCLUDE_ANY, "3,3,3,2.2", NULL));
    assert_ok(gls_regions_complete(r));
    filter(&all, r, &sphere);
    gls_regions_destroy(r);
    r = regions_of(GLS_REGION_INCLUDE_ANY, "3,3,3,2.2", GLS_REGION_INCLUDE_ANY);
    assert_ok(gls_regions_complete(r));
    filter(&all, r, &either);
    assert_true(either.n > sphere.n && either.n > block.n && sphere.n > 0 && block.n > 0);
    compare(dg, r, &all, filter);
    gls_regions_destroy(r);
    collection_finish(&either);
    collection_finish(&sphere);
    collection_finish(&block);
    r = regions_of(GLS_REGION_TRACKING_MASK, "6,5,5,5.5", GLS_REGION_STOP_AT);
    assert_ok(gls_regions_complete(r));
    compare(dg, r, &all, shorten);
    gls_regions_destroy(r);
    collection_finish(&all);
}

static void test_boot(void **state)
{
    (void)state;
    check_getter(GLS_DG_BOOT);
}

static void test_prob(void **state)
{
    (void)state;
    check_getter(GLS_DG_PROB);
}

static void test_det(void **state)
{
    (void)state;
    check_getter(GLS_DG_DET);
}

static void test_ptt(void **state)
{
    (void)state;
    check_getter(GLS_DG_PTT);
}

/* No point of a streamline lies in a voxel outside of the mask, and seeds outside give none. */
static void test_mask(void **state)
{
    gls_regions *r = NULL;
    gls_image *mask;
    collection c;
    (void)state;
    gls_track_params p = params_of(GLS_DG_PROB);
    assert_ok(gls_image_create(&phantom.dwi->grid, 1, &mask));
    for (size_t v = 0; v < gls_grid_voxels(&mask->grid); v++) mask->data[v] = v % 13 > 2 && v % 13 < 11;
    assert_ok(gls_regions_create(&mask->grid, &r));
    assert_ok(gls_regions_add_image(r, GLS_REGION_MASK, mask, "mask", mask));
    assert_ok(gls_regions_complete(r));
    gls_track_result result = track(&p, r, seeds, &c);
    assert_true(result.seeds_rejected > 10 && result.ends[GLS_END_MASK] > 20 && c.n > 50);
    for (size_t k = 0; k < c.n_points; k++) assert_true(c.point[k][0] >= 2.5f && c.point[k][0] < 10.5f);
    collection_finish(&c);
    gls_regions_destroy(r);
    gls_image_destroy(mask);
}

/* --- parallel fibres ------------------------------------------------------ */

#define LENGTH 60
#define WIDTH 12

typedef struct slab {
    gls_region_role role;
    const char *sphere; /* text of a sphere; NULL: the slab of voxels first .. last along x */
    int first, last;
} slab;

typedef struct scene {
    double step;
    slab slab[3];
    int n_slabs;
    size_t n;         /* streamlines: 0 or 1 */
    double low, high; /* x of the ends */
    size_t points;
    uint64_t rejected; /* seeds */
} scene;

static void add_slab(gls_regions *r, const gls_grid *grid, const slab *s)
{
    gls_image *image;
    if (s->sphere) {
        assert_ok(gls_regions_add(r, s->role, s->sphere, NULL));
        return;
    }
    assert_ok(gls_image_create(grid, 1, &image));
    for (size_t v = 0; v < gls_grid_voxels(grid); v++)
        image->data[v] = (int)(v % LENGTH) >= s->first && (int)(v % LENGTH) <= s->last;
    assert_ok(gls_regions_add_image(r, s->role, image, "slab", NULL));
    gls_image_destroy(image);
}

static void check_scene(const scene *s, const gls_track_input *base, const gls_seeds *seed)
{
    gls_track_input input = *base;
    gls_regions *r = NULL;
    gls_tracker *t = NULL;
    collection c;
    gls_track_params p = gls_track_params_default();
    p.dg = GLS_DG_DET;
    p.step_size = s->step;
    p.max_angle = 45;
    assert_ok(gls_regions_create(&base->stop_map->grid, &r));
    for (int i = 0; i < s->n_slabs; i++) add_slab(r, &base->stop_map->grid, &s->slab[i]);
    assert_ok(gls_regions_complete(r));
    input.regions = r;
    assert_ok(gls_tracker_create(device, &p, &input, &t));
    gls_track_result result = run_tracker(t, seed, &c);
    assert_sums(&result);
    assert_int_equal(c.n, s->n);
    assert_int_equal(result.seeds_rejected, s->rejected);
    if (c.n > 0) {
        double a = c.point[0][0], b = c.point[c.n_points - 1][0];
        assert_int_equal(c.n_points, s->points);
        assert_float_equal(fmin(a, b), s->low, 1e-4);
        assert_float_equal(fmax(a, b), s->high, 1e-4);
    }
    collection_finish(&c);
    gls_tracker_destroy(t);
    gls_regions_destroy(r);
}

static void test_scenes(void **state)
{
    static const double axes[7][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}, {1, 1, -1}, {1, -1, 1}, {-1, 1, 1}};
    static const scene scenes[] = {
        {1, {{GLS_REGION_STOP_AT, NULL, 35, 37}}, 1, 1, 0.25, 35.25, 36, 0},
        {1, {{GLS_REGION_INCLUDE, NULL, 35, 37}}, 1, 1, 0.25, 59.25, 60, 0},
        {1,
         {{GLS_REGION_TRACKING_MASK, NULL, 20, 24}, {GLS_REGION_TRACKING_MASK, NULL, 25, 29}},
         2,
         1,
         20.25,
         29.25,
         10,
         0},
        {1, {{GLS_REGION_INCLUDE, "20.25,8,5,2.999", 0, 0}}, 1, 0, 0, 0, 0, 0},
        {1, {{GLS_REGION_INCLUDE, "20.25,8,5,3.001", 0, 0}}, 1, 1, 0.25, 59.25, 60, 0},
        {1, {{GLS_REGION_EXCLUDE, NULL, 18, 22}}, 1, 0, 0, 0, 0, 1},
        {1, {{GLS_REGION_TRACKING_MASK, NULL, 30, 40}}, 1, 0, 0, 0, 0, 1},
        {1, {{GLS_REGION_MASK, NULL, 15, 40}}, 1, 1, 15.25, 40.25, 26, 0},
        {1, {{GLS_REGION_INCLUDE, NULL, 5, 9}, {GLS_REGION_TRACKING_MASK, NULL, 15, 50}}, 2, 0, 0, 0, 0, 0},
        {1, {{GLS_REGION_INCLUDE, NULL, 5, 9}, {GLS_REGION_INCLUDE, NULL, 20, 20}}, 2, 1, 0.25, 59.25, 60, 0},
        {1,
         {{GLS_REGION_INCLUDE, NULL, 30, 30},
          {GLS_REGION_TRACKING_MASK, NULL, 15, 50},
          {GLS_REGION_INCLUDE, NULL, 20, 20}},
         3,
         1,
         15.25,
         50.25,
         36,
         0},
        {1,
         {{GLS_REGION_INCLUDE, NULL, 30, 30},
          {GLS_REGION_TRACKING_MASK, NULL, 15, 50},
          {GLS_REGION_INCLUDE, NULL, 5, 9}},
         3,
         0,
         0,
         0,
         0,
         0},
        {1,
         {{GLS_REGION_INCLUDE_ANY, NULL, 5, 9},
          {GLS_REGION_INCLUDE_ANY, "500,5,5,1", 0, 0},
          {GLS_REGION_INCLUDE, NULL, 20, 20}},
         3,
         1,
         0.25,
         59.25,
         60,
         0},
        {1,
         {{GLS_REGION_INCLUDE_ANY, NULL, 5, 9},
          {GLS_REGION_TRACKING_MASK, NULL, 15, 50},
          {GLS_REGION_INCLUDE, NULL, 20, 20}},
         3,
         0,
         0,
         0,
         0,
         0},
        {1, {{GLS_REGION_EXCLUDE, NULL, 50, 52}}, 1, 0, 0, 0, 0, 0},
        {1, {{GLS_REGION_EXCLUDE, NULL, 50, 52}, {GLS_REGION_STOP_AT, NULL, 40, 40}}, 2, 1, 0.25, 40.25, 41, 0},
        {1, {{GLS_REGION_STOP_AT, NULL, 18, 22}}, 1, 1, 19.25, 21.25, 3, 0},
        {1, {{GLS_REGION_STOP_LEAVING, NULL, 35, 37}}, 1, 1, 0.25, 37.25, 38, 0},
        {1, {{GLS_REGION_STOP_LEAVING, NULL, 18, 22}}, 1, 1, 0.25, 59.25, 60, 0},
        {1,
         {{GLS_REGION_STOP_LEAVING, NULL, 15, 37}, {GLS_REGION_STOP_LEAVING, NULL, 30, 32}},
         2,
         1,
         0.25,
         32.25,
         33,
         0},
        {3, {{GLS_REGION_INCLUDE, "24.75,5,5,1", 0, 0}}, 1, 0, 0, 0, 0, 0},
    };
    gls_grid grid;
    gls_image *amplitudes, *ones;
    gls_odf_source *fibres;
    gls_seeds *seed;
    double unit[7][3];
    (void)state;
    assert_ok(gls_grid_init(&grid, (const int32_t[3]){LENGTH, WIDTH, WIDTH}, voxel_space));
    assert_ok(gls_image_create(&grid, 7, &amplitudes));
    assert_ok(gls_image_create(&grid, 1, &ones));
    for (size_t v = 0; v < gls_grid_voxels(&grid); v++) ones->data[v] = amplitudes->data[v] = 1;
    for (int i = 0; i < 7; i++) {
        memcpy(unit[i], axes[i], sizeof unit[i]);
        unit3(unit[i]);
    }
    gls_odf_options options = gls_odf_options_default();
    options.clip = true;
    assert_ok(gls_odf_source_create_amplitudes(amplitudes, "fibres", (const double(*)[3])unit, 7, "axes",
                                               GLS_BVEC_IMAGE, &options, &fibres));
    assert_ok(gls_seeds_create_list((const double[1][3]){{20.25, 5, 5}}, 1, GLS_SEEDS_VOXEL, &grid, &seed));
    gls_track_input input = {.odf = fibres, .stop_map = ones};
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) check_scene(&scenes[i], &input, seed);
    gls_seeds_destroy(seed);
    gls_odf_source_destroy(fibres);
    gls_image_destroy(amplitudes);
    gls_image_destroy(ones);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_boot), cmocka_unit_test(test_prob),
                                       cmocka_unit_test(test_det),  cmocka_unit_test(test_ptt),
                                       cmocka_unit_test(test_mask), cmocka_unit_test(test_scenes)};
    return gpu_run_tests(tests, set_up, tear_down, &device);
}
