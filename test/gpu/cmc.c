/* The continuous map criterion inside the kernels: every decision of every half-streamline, from the same random
 * numbers and a formula in double precision (Girard et al. 2014, as DIPY has it), and how often each comes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glslines/odf.h>
#include <glslines/sh.h>
#include <glslines/tissue.h>

#include "collect.h"
#include "gpu.h"
#include "util/maths.h"

enum { NX = 80, NY = 8, NZ = 8, SEEDS = 600 };
static const double rng_seed = 5;

static gls_device *device;
static gls_grid grid;

static gls_image *filled(size_t volumes, const float *value)
{
    gls_image *image;
    size_t n = gls_grid_voxels(&grid);
    assert_ok(gls_image_create(&grid, volumes, &image));
    for (size_t k = 0; k < volumes; k++)
        for (size_t v = 0; v < n; v++) image->data[k * n + v] = value[k];
    return image;
}

/* Maps that are alike along the fibres; away from them there has to be white and grey matter. */
static gls_image *make_maps(float include, float exclude)
{
    const float rest = 1 - include - exclude > 0 ? 1 - include - exclude : 0,
                parts[GLS_TISSUE_TYPES] = {include, 0, rest, exclude, 0};
    gls_image *image = filled(GLS_TISSUE_TYPES, parts);
    size_t n = gls_grid_voxels(&grid);
    for (size_t v = 0; v < n; v++) {
        size_t y = v / NX % NY;
        for (size_t k = 0; k < GLS_TISSUE_TYPES && y < 2; k++)
            image->data[k * n + v] = k == (y == 0 ? GLS_TISSUE_WM : GLS_TISSUE_CGM);
    }
    return image;
}

typedef enum decision { GO, END_GOOD, END_BAD, UNSURE } decision;

/* Decides whether a half ends at a point. include, exclude: values there; u1, u2: uniform numbers. UNSURE: rounding
 * decides. */
static decision decide(double include, double exclude, double step, double voxel, double u1, double u2)
{
    double s = include + exclude, n = fmax(0, 1 - s);
    if (s <= 0) return GO;
    double go = pow(n / (n + s), step / voxel);
    if (fabs(u1 - go) < 1e-5 || fabs(u2 - include / s) < 1e-6) return UNSURE;
    return u1 < go ? GO : u2 < include / s ? END_GOOD : END_BAD;
}

/* How a half ends that goes straight on, with this number of places per step: its points, and how many decisions of
 * each kind there were. */
static decision follow(double include, double exclude, double step, uint32_t parts, uint32_t seed, bool backward,
                       double room, uint32_t *points, uint64_t counts[3])
{
    *points = 0;
    for (uint32_t k = 1; (double)k * step < room; k++)
        for (uint32_t part = 0; part < parts; part++) {
            const uint32_t counter[4] = {TISSUE_DRAW + part, k | (backward ? STEP_BACKWARD : 0), seed,
                                         gls_draw_stream(seed, 0)};
            uint32_t word[4];
            gls_philox(counter, (uint64_t)rng_seed, word);
            decision d = decide(include, exclude, step / parts, 1, gls_uniform(word[0]), gls_uniform(word[1]));
            if (d == UNSURE) return UNSURE;
            counts[d]++;
            if (d != END_BAD) *points = k;
            if (d != GO) return d;
        }
    return GO;
}

/* Fibres along x: their amplitudes for det, an FOD for ifod2. */
static gls_image *make_fibres(gls_direction_getter dg, const double axes[7][3], const gls_sphere *sphere,
                              gls_odf_source **source)
{
    enum { ORDER = 6, N = 28 };
    gls_odf_options options = gls_odf_options_default();
    double y[N];
    float value[N] = {1};
    gls_image *image;
    if (dg == GLS_DG_IFOD2) {
        assert_ok(gls_sh_matrix(GLS_SH_DESCOTEAUX07_LEGACY, ORDER, axes, 1, y));
        for (size_t j = 0; j < N; j++) {
            int l = gls_sh_degree(j);
            value[j] = (float)(0.4 * exp(-0.02 * l * (l + 1)) * y[j]);
        }
        image = filled(N, value);
        assert_ok(gls_odf_source_create_sh(image, "fibres", GLS_SH_DESCOTEAUX07_LEGACY, GLS_BVEC_IMAGE, sphere,
                                           &options, source));
        return image;
    }
    image = filled(7, value);
    options.clip = true;
    assert_ok(gls_odf_source_create_amplitudes(image, "fibres", axes, 7, "axes", GLS_BVEC_IMAGE, &options, source));
    return image;
}

static void check(gls_direction_getter dg, float include, float exclude, double step)
{
    static const double axes[7][3] = {{1, 0, 0},
                                      {0, 1, 0},
                                      {0, 0, 1},
                                      {0.577, 0.577, 0.577},
                                      {-0.577, 0.577, 0.577},
                                      {0.577, -0.577, 0.577},
                                      {0.577, 0.577, -0.577}};
    const float one[1] = {1};
    gls_sphere *sphere;
    gls_odf_source *source = NULL;
    assert_ok(gls_sphere_create("small", &sphere));
    gls_image *odf = make_fibres(dg, axes, sphere, &source), *stop = filled(1, one), *pve = make_maps(include, exclude);
    gls_tissue *tissue = NULL;
    gls_seeds *seeds = NULL;
    gls_tracker *t = NULL;
    collection c;
    double point[SEEDS][3];
    uint64_t counts[3] = {0}, compared = 0;
    assert_ok(gls_tissue_create(&grid, pve, "maps", GLS_TISSUE_RULE_CMC, GLS_PRECISION_FLOAT, &tissue));
    for (int i = 0; i < SEEDS; i++) memcpy(point[i], (const double[3]){40.25, 4, 4}, sizeof point[i]);
    assert_ok(gls_seeds_create_list((const double(*)[3])point, SEEDS, GLS_SEEDS_VOXEL, &grid, &seeds));
    gls_track_params p = gls_track_params_default_for(dg);
    p.step_size = step;
    p.max_angle = dg == GLS_DG_DET ? 45 : 10;
    p.stop_threshold = -1;
    p.min_length = 0;
    p.max_length = 250;
    p.fod_cutoff = 0.01;
    p.seed_direction[0] = 1;
    const uint32_t parts = dg == GLS_DG_IFOD2 ? (uint32_t)p.ifod_samples - 1 : 1;
    p.keep_all_ends = p.keep_single_points = true;
    p.rng_seed = (uint64_t)rng_seed;
    p.precision = GLS_PRECISION_FLOAT;
    const gls_track_input input = {.odf = source, .stop_map = stop, .tissue = tissue};
    assert_ok(gls_tracker_create(device, &p, &input, &t));
    gls_track_result r = run_tracker(t, seeds, &c);
    assert_sums(&r);
    assert_int_equal(c.n, SEEDS);
    for (uint32_t i = 0; i < SEEDS; i++) {
        uint32_t forward, backward, before = 0;
        decision a = follow(include, exclude, step, parts, i, false, 39.25, &forward, counts),
                 b = follow(include, exclude, step, parts, i, true, 40.75, &backward, counts);
        if (a == UNSURE || b == UNSURE) continue;
        const float(*line)[3] = (const float(*)[3])c.point + c.offset[i];
        size_t n = (size_t)(c.offset[i + 1] - c.offset[i]);
        while (before < n && fabsf(line[before][0] - 40.25f) + fabsf(line[before][1] - 4) > 1e-3f) before++;
        if (before != backward || n - before - 1 != forward)
            fail_msg("%s, include %g, exclude %g, step %g, seed %u: %u and %zu points, not %u and %u",
                     dg == GLS_DG_DET ? "det" : "ifod2", (double)include, (double)exclude, step, i, before,
                     n - before - 1, backward, forward);
        compared++;
    }
    assert_true(compared >= SEEDS - 6);
    /* the count lies within four standard deviations of the formula's expectation */
    double s = (double)include + exclude, rest = fmax(0, 1 - s), go = s > 0 ? pow(rest / (rest + s), step / parts) : 1,
           share[3] = {go, s > 0 ? (1 - go) * include / s : 0, s > 0 ? (1 - go) * exclude / s : 0};
    double all = (double)(counts[0] + counts[1] + counts[2]);
    for (int k = 0; k < 3; k++)
        assert_true(fabs((double)counts[k] - all * share[k]) <= 4 * sqrt(all * share[k] * (1 - share[k])) + 1e-6 * all);
    collection_finish(&c);
    gls_tracker_destroy(t);
    gls_seeds_destroy(seeds);
    gls_tissue_destroy(tissue);
    gls_odf_source_destroy(source);
    gls_sphere_destroy(sphere);
    gls_image_destroy(odf);
    gls_image_destroy(stop);
    gls_image_destroy(pve);
}

static void test_decisions(void **state)
{
    (void)state;
    check(GLS_DG_DET, 0.3f, 0.1f, 0.5);
    check(GLS_DG_DET, 0.3f, 0.1f, 2);
    check(GLS_DG_DET, 0.5f, 0.5f, 0.5);
    check(GLS_DG_DET, 0, 0.7f, 0.5);
    check(GLS_DG_DET, 0.2f, 0, 0.25);
    check(GLS_DG_DET, 0.05f, 0.05f, 0.1);
    check(GLS_DG_DET, 0, 0, 1);
    check(GLS_DG_IFOD2, 0.5f, 0.2f, 1);
    check(GLS_DG_IFOD2, 0.3f, 0.4f, 2);
}

int main(void)
{
    static const double affine[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    int exit_status;
    if (!gpu_open(GLS_GRAPHICS_AUTO, &device, &exit_status)) return exit_status;
    assert_ok(gls_grid_init(&grid, (const int32_t[3]){NX, NY, NZ}, affine));
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_decisions)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gls_device_close(device);
    return failed;
}
