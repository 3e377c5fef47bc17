/* Fixels and weights of streamlines on the CPU: directions, segmentation, mapping, the model and its minimum. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <omp.h>

#include "weights/fod_lobes.h"
#include "weights/lobe_sphere.h"
#include "weights/voxel_walk.h"
#include "weights/weight_model.h"
#include "weights/fixel_parts.h"
#include "weights/fixel_rows.h"
#include "weights_scene.h"

/* --- directions ----------------------------------------------------------- */

static void test_sphere(void **state)
{
    enum { ORDER = 16, N_SH = 153 };
    (void)state;
    const gls_lobe_sphere *s = gls_lobe_sphere_get();
    double *matrix = malloc(GLS_LOBE_DIRECTIONS * N_SH * sizeof *matrix);
    assert_ok(gls_sh_matrix(GLS_SH_TOURNIER07, ORDER, s->direction, GLS_LOBE_DIRECTIONS, matrix));
    for (size_t j = 0; j < N_SH; j++) {
        double sum = 0;
        for (size_t i = 0; i < GLS_LOBE_DIRECTIONS; i++) sum += s->weight[i] * matrix[i * N_SH + j];
        assert_true(fabs(sum - (j == 0 ? 2 * sqrt(M_PI) : 0)) < 1e-12);
    }
    free(matrix);
    int corners = 0;
    for (size_t i = 0; i < GLS_LOBE_DIRECTIONS; i++) {
        const uint16_t *n = s->neighbour[i];
        corners += n[5] == n[4];
        for (int k = 0; k < GLS_LOBE_NEIGHBOURS; k++) {
            bool back = false;
            for (int m = 0; m < GLS_LOBE_NEIGHBOURS; m++) back |= s->neighbour[n[k]][m] == i;
            assert_true(back);
            assert_true(k == 0 || n[k] > n[k - 1] || k == 5);
        }
    }
    assert_int_equal(corners, 6);
}

static void test_nearest(void **state)
{
    (void)state;
    const gls_lobe_sphere *s = gls_lobe_sphere_get();
    uint64_t random = 3;
    for (int t = 0; t < 20000; t++) {
        double v[3], best = -1;
        for (int a = 0; a < 3; a++)
            v[a] = t < 18000 ? random_normal(&random) : (double)(int)random_uniform(&random, -2, 3);
        if (v[0] == 0 && v[1] == 0 && v[2] == 0) continue;
        uint16_t nearest = 0;
        for (uint16_t i = 0; i < GLS_LOBE_DIRECTIONS; i++) {
            const double *d = s->direction[i];
            double dot = fabs(v[0] * d[0] + v[1] * d[1] + v[2] * d[2]);
            if (dot > best) best = dot, nearest = i;
        }
        assert_int_equal(gls_lobe_sphere_nearest(s, v), nearest);
    }
}

/* --- segmentation --------------------------------------------------------- */

static void test_fixels(void **state)
{
    (void)state;
    gls_image *sh = scene_fods();
    gls_fixels *f;
    assert_ok(gls_fixels_create(sh, "fods", NULL, NULL, &f));
    /* 5 x 5 of 12 voxels along each axis; 5 x 5 x 5 of them have both bundles */
    assert_int_equal(gls_fixels_count(f), 2 * 5 * 5 * 12);
    assert_int_equal(gls_fixels_voxels(f), 2 * 5 * 5 * 12 - 125);
    uint32_t first;
    size_t crossing = (6 * SCENE_SIDE + 6) * SCENE_SIDE + 6, alone = (6 * SCENE_SIDE + 6) * SCENE_SIDE + 1;
    assert_int_equal(gls_fixels_of_voxel(f, alone, &first), 1);
    const gls_fixel *fixel = gls_fixels_get(f);
    assert_true(fabs(fixel[first].fd - 0.8) < 0.02);
    assert_true(fabs(fixel[first].direction[0]) > 0.9999);
    assert_int_equal(fixel[first].voxel, alone);
    assert_int_equal(gls_fixels_of_voxel(f, crossing, &first), 2);
    assert_true(fixel[first].peak > fixel[first + 1].peak && fixel[first].fd > fixel[first + 1].fd);
    assert_true(fabs(fixel[first + 1].direction[1]) > 0.999);
    /* every direction belongs to a lobe: the nearer one, but for those near the border */
    assert_int_equal(gls_fixels_find(f, crossing, (const double[]){1, 0.2, 0.1}), first);
    assert_int_equal(gls_fixels_find(f, crossing, (const double[]){-0.1, -3, 0.2}), first + 1);
    assert_int_not_equal(gls_fixels_find(f, crossing, (const double[]){0, 0, 1}), UINT32_MAX);
    assert_int_equal(gls_fixels_find(f, 0, (const double[]){0, 0, 1}), UINT32_MAX);
    gls_fixels_destroy(f);
    gls_fixel_options o = gls_fixel_options_default();
    o.peak = 100;
    assert_int_equal(gls_fixels_create(sh, "fods", NULL, &o, &f), GLS_ERR_EMPTY);
    assert_message("no fixels");
    sh->data[crossing] = NAN;
    assert_ok(gls_fixels_create(sh, "fods", NULL, NULL, &f));
    assert_int_equal(gls_fixels_count(f), 2 * 5 * 5 * 12 - 2);
    gls_fixels_destroy(f);
    sh->n_volumes = 44;
    assert_int_equal(gls_fixels_create(sh, "fods", NULL, NULL, &f), GLS_ERR_INPUT);
    assert_message("44");
    sh->n_volumes = SCENE_COEFFICIENTS;
    gls_image_destroy(sh);
}

/* Samples that are given one by one: ridges, equal samples, negative samples. */
static void test_lobes(void **state)
{
    (void)state;
    const gls_lobe_sphere *s = gls_lobe_sphere_get();
    gls_fixel_options o = gls_fixel_options_default();
    static float v[GLS_LOBE_DIRECTIONS];
    double sh[45] = {0};
    gls_lobes lobes;
    for (size_t i = 0; i < GLS_LOBE_DIRECTIONS; i++) v[i] = -0.01f;
    v[100] = 1;
    gls_lobes_find(&o, v, 8, sh, &lobes);
    assert_int_equal(lobes.n, 1);
    assert_true(fabs(lobes.lobe[0].fd - s->weight[100]) < 1e-9);
    for (unsigned i = 0; i < GLS_LOBE_DIRECTIONS; i++) assert_int_equal(gls_lobe_of(lobes.table, i), 0);
    o.dilate = false;
    gls_lobes_find(&o, v, 8, sh, &lobes);
    for (unsigned i = 0; i < GLS_LOBE_DIRECTIONS; i++)
        assert_int_equal(gls_lobe_of(lobes.table, i), i == 100 ? 0 : GLS_NO_LOBE);
    o.dilate = true;
    /* two peaks on both sides of a sample between them: it joins the larger one */
    uint16_t between = 700, a = s->neighbour[between][0], b = 0;
    for (int k = 1; k < GLS_LOBE_NEIGHBOURS; k++) {
        bool touches = false;
        for (int m = 0; m < GLS_LOBE_NEIGHBOURS; m++) touches |= s->neighbour[a][m] == s->neighbour[between][k];
        if (!touches) b = s->neighbour[between][k];
    }
    v[100] = -0.01f;
    v[a] = 1;
    v[b] = 2;
    v[between] = 0.5f;
    gls_lobes_find(&o, v, 8, sh, &lobes);
    assert_int_equal(lobes.n, 2);
    assert_int_equal(lobes.lobe[0].seed, b);
    assert_true(fabs(lobes.lobe[0].fd - 2 * s->weight[b] - 0.5 * s->weight[between]) < 1e-9);
    assert_int_equal(gls_lobe_of(lobes.table, a), 1);
    v[between] = -3; /* the largest magnitude is negative */
    gls_lobes_find(&o, v, 8, sh, &lobes);
    assert_int_equal(lobes.n, 0);
    /* more lobes than there is room for: the largest stay, in order */
    for (size_t i = 0; i < GLS_LOBE_DIRECTIONS; i++) v[i] = 0;
    for (int k = 0; k < 30; k++) v[40 * k + 20] = (float)(1 + k);
    gls_lobes_find(&o, v, 8, sh, &lobes);
    assert_int_equal(lobes.n, GLS_MAX_LOBES);
    assert_true(lobes.dropped > 5);
    for (int k = 0; k < GLS_MAX_LOBES; k++) {
        assert_int_equal(gls_lobe_of(lobes.table, lobes.lobe[k].seed), k);
        assert_true(k == 0 || v[lobes.lobe[k].seed] < v[lobes.lobe[k - 1].seed]);
    }
}

/* --- mapping -------------------------------------------------------------- */

static void test_walk(void **state)
{
    static const double affine[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    (void)state;
    gls_grid grid;
    gls_walk_grid g;
    gls_walk walk = {0};
    assert_ok(gls_grid_init(&grid, (const int32_t[]){8, 8, 8}, affine));
    for (uint32_t ratio = 1; ratio <= 4; ratio += 3) {
        const float line[][3] = {{0.1f, 2, 3}, {1.3f, 2, 3}, {2.9f, 2, 3}, {4.2f, 2, 3}};
        gls_walk_grid_init(&g, &grid, ratio, ratio == 1, 0.01);
        gls_walk_visits(&walk, &g, line, 4);
        assert_int_equal(walk.n, 5);
        double sum = 0;
        for (size_t i = 0; i < walk.n; i++) {
            assert_int_equal(walk.visit[i].voxel, (3 * 8 + 2) * 8 + i);
            assert_true(fabs(walk.visit[i].length - (i == 0 ? 0.4 : i == 4 ? 0.7 : 1)) < 0.011);
            sum += walk.visit[i].length;
        }
        assert_true(fabs(sum - 4.1) < 1e-5);
    }
    gls_walk_visits(&walk, &g, (const float[][3]){{1, 1, 1}}, 1);
    assert_int_equal(walk.n, 0);
    /* past a corner of the grid and through it, from outside to outside */
    gls_walk_visits(&walk, &g, (const float[][3]){{-3, 1.9f, 1}, {1.9f, -3, 1}}, 2);
    assert_int_equal(walk.n, 0);
    gls_walk_visits(&walk, &g, (const float[][3]){{-3, 4, 1}, {4, -3, 1}}, 2);
    assert_true(walk.n >= 2);
    gls_walk_finish(&walk);
}

static void test_entries(void **state)
{
    (void)state;
    gls_image *sh = scene_fods();
    gls_fixels *f;
    gls_rows rows;
    assert_ok(gls_fixels_create(sh, "fods", NULL, NULL, &f));
    assert_ok(gls_rows_init(&rows, f, NULL, 1u << 20));
    /* once along x, then to and fro in one voxel: more than an entry holds */
    float point[64][3] = {{6, 12, 12}, {18, 12, 12}};
    for (int k = 0; k < 60; k++) {
        point[2 + k][0] = k % 2 ? 18.4f : 17.6f;
        point[2 + k][1] = point[2 + k][2] = 12;
    }
    const uint64_t offset[] = {0, 2, 62, 62};
    const gls_streamlines s = {.n = 3, .offset = offset, .point = (const float(*)[3])point};
    assert_ok(gls_rows_append(&rows, &s));
    const gls_chunk *c = &rows.chunk[0];
    assert_int_equal(c->start[1], 7);
    double length = 0, unit = gls_rows_unit(&rows);
    for (uint32_t e = 0; e < 7; e++) length += (c->entry[e] & 255) * unit;
    assert_true(fabs(length - 12) < 7 * unit);
    assert_true(fabsf(rows.contribution[0] - 12) < 1e-4f);
    uint32_t units = 0;
    for (uint32_t e = c->start[1]; e < c->start[2]; e++) {
        assert_int_equal(c->entry[e] >> 8, c->entry[c->start[1]] >> 8);
        units += c->entry[e] & 255;
    }
    assert_true(c->start[2] - c->start[1] > 1 || units == 255);
    assert_int_equal(c->start[3], c->start[2]);
    assert_int_equal(rows.n_without_points, 1);
    gls_rows_finish(&rows);
    gls_fixels_destroy(f);
    gls_image_destroy(sh);
}

/* --- the model ------------------------------------------------------------ */

/* Returns the means of the weights of the two bundles. */
static void bundle_means(const gls_weights *w, double mean[2])
{
    uint64_t n;
    const float *weight = gls_weights_get(w, &n);
    mean[0] = mean[1] = 0;
    for (uint64_t i = 0; i < n; i++) mean[i % 4 == 3] += (double)weight[i] / (i % 4 == 3 ? n / 4 : n - n / 4);
}

static void test_methods(void **state)
{
    (void)state;
    gls_image *sh = scene_fods();
    scene_lines *s = scene_streamlines();
    gls_fixels *f;
    double mean[2];
    assert_ok(gls_fixels_create(sh, "fods", NULL, NULL, &f));
    gls_weights_options o = gls_weights_options_default();
    for (int m = 0; m < 2; m++) {
        o.method = m ? GLS_WEIGHTS_LINEAR : GLS_WEIGHTS_SIFT2;
        gls_weights *w = scene_solve(f, &o, &s->lines, NULL, 0);
        bundle_means(w, mean);
        /* 0.6 : 0.8 of density, 1 : 3 streamlines, less what the regularisation evens out */
        assert_true(mean[1] / mean[0] > 1.5 && mean[1] / mean[0] < 2.4);
        const gls_weights_result *r = gls_weights_get_result(w);
        assert_int_equal(r->streamlines, SCENE_LINES);
        if (m == 0) {
            assert_true(r->cost_last < 0.7 * r->cost_first);
            for (size_t i = 1; i < r->n_iterations; i++)
                assert_true(r->iteration[i].data <= r->iteration[0].data && r->iteration[i].tv >= 0);
            const float *c = gls_weights_get_coefficients(w), *weight = gls_weights_get(w, NULL);
            for (int i = 0; i < SCENE_LINES; i++) assert_true(fabs(weight[i] / exp(c[i]) - 1) < 3e-7);
        }
        gls_weights_destroy(w);
    }
    o.method = GLS_WEIGHTS_SIFT;
    o.term_number = 200;
    gls_weights *w = scene_solve(f, &o, &s->lines, NULL, 0);
    const gls_weights_result *r = gls_weights_get_result(w);
    bundle_means(w, mean);
    assert_int_equal(r->kept, 200);
    assert_true(mean[1] > mean[0] + 0.1 && r->cost_last < 0.5 * r->cost_first);
    gls_weights_destroy(w);
    free(s);
    gls_fixels_destroy(f);
    gls_image_destroy(sh);
}

/* The weights of the scene by an independent reference in double precision. */
static void test_reference(void **state)
{
    static const double expected[] = {0.9393161, 0.4483778, 0.8219097, 0.7066579, 0.5324385, 0.9393042,
                                      0.3742301, 1.254535,  0.7710431, 0.8741454, 1.314434};
    static const double cost[2] = {32.6801977, 30.9111259}, tv[2] = {1.35922623, 2.29058407};
    (void)state;
    gls_image *sh = scene_fods();
    scene_lines *s = scene_streamlines();
    gls_fixels *f;
    double density = 0;
    assert_ok(gls_fixels_create(sh, "fods", NULL, NULL, &f));
    for (size_t k = 0; k < gls_fixels_count(f); k++) density += (double)gls_fixels_get(f)[k].fd;
    assert_true(fabs(density / 420.000009 - 1) < 1e-6);
    gls_weights_options o = gls_weights_options_default();
    for (int keep = 0; keep < 2; keep++) {
        o.single_visit = keep == 1 ? GLS_SINGLE_VISIT_KEEP : GLS_SINGLE_VISIT_EXCLUDE;
        gls_weights *w = scene_solve(f, &o, &s->lines, NULL, 0);
        const gls_weights_result *r = gls_weights_get_result(w);
        assert_int_equal(r->entries, 4805);
        assert_int_equal(r->n_iterations, 11);
        assert_int_equal(r->excluded, keep ? 0 : 26);
        assert_true(fabs(r->mu / 0.0450631518 - 1) < 1e-6 && fabs(r->scale / 0.751344342 - 1) < 1e-6);
        assert_true(fabs(r->cost_last / cost[keep] - 1) < 1e-6 && fabs(r->iteration[10].tv / tv[keep] - 1) < 1e-6);
        for (int i = 0; i < 11; i++) assert_true(fabs(gls_weights_get(w, NULL)[37 * i] / expected[i] - 1) < 2e-6);
        gls_weights_destroy(w);
    }
    free(s);
    gls_fixels_destroy(f);
    gls_image_destroy(sh);
}

/* The bytes are the same whatever the threads, chunks and batches. */
static void test_order(void **state)
{
    (void)state;
    gls_image *sh = scene_fods();
    scene_lines *s = scene_streamlines();
    gls_fixels *f;
    assert_ok(gls_fixels_create(sh, "fods", NULL, NULL, &f));
    gls_weights_options o = gls_weights_options_default();
    o.max_coeff = 0.3; /* fixels are excluded on the way */
    o.reg_tikhonov = 0.1;
    gls_weights *first = scene_solve(f, &o, &s->lines, NULL, 0), *w;
    const size_t bytes = SCENE_LINES * sizeof(float);
    const float *expected = gls_weights_get(first, NULL);
    for (int i = 0; i < SCENE_LINES; i++) assert_true(expected[i] <= (float)exp(0.3) * 1.000001f);
    assert_true(gls_weights_get_result(first)->excluded > gls_weights_get_result(first)->iteration[0].excluded);
    int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    w = scene_solve(f, &o, &s->lines, NULL, 0);
    assert_memory_equal(gls_weights_get(w, NULL), expected, bytes);
    gls_weights_destroy(w);
    omp_set_num_threads(3);
    o.chunk_entries = 64 * 15 + 5;
    assert_ok(gls_weights_create(f, &o, &w));
    assert_ok(gls_weights_set_walk(w, 5, GLS_WALK_CURVE));
    gls_sink sink = gls_weights_sink(w);
    for (size_t i = 0; i < SCENE_LINES; i += 100) {
        uint64_t offset[101];
        for (size_t k = 0; k <= 100; k++) offset[k] = k * SCENE_POINTS;
        gls_streamlines part = {.n = 100, .offset = offset, .point = s->lines.point + i * SCENE_POINTS};
        assert_ok(gls_sink_append(&sink, &part));
    }
    assert_ok(gls_weights_solve(w, NULL, 0, NULL, NULL));
    assert_true(gls_weights_get_result(w)->chunks > 3);
    const gls_weights_result *r = gls_weights_get_result(first);
    for (size_t i = 0; i < r->n_iterations; i++)
        assert_memory_equal(&gls_weights_get_result(w)->iteration[i].tv, &r->iteration[i].tv, sizeof(double));
    assert_memory_equal(gls_weights_get(w, NULL), expected, bytes);
    gls_weights_destroy(w);
    omp_set_num_threads(threads);
    gls_weights_destroy(first);
    free(s);
    gls_fixels_destroy(f);
    gls_image_destroy(sh);
}

/* Input without a solution is refused or warned of. */
static void test_bad(void **state)
{
    (void)state;
    gls_image *sh = scene_fods();
    gls_fixels *f;
    gls_weights *w;
    assert_ok(gls_fixels_create(sh, "fods", NULL, NULL, &f));
    assert_ok(gls_weights_create(f, NULL, &w));
    assert_int_equal(gls_weights_solve(w, NULL, 0, NULL, NULL), GLS_ERR_EMPTY);
    gls_weights_destroy(w);
    assert_ok(gls_weights_create(f, NULL, &w));
    gls_sink sink = gls_weights_sink(w);
    float point[][3] = {{1000, 0, 0}, {1001, 0, 0}};
    const gls_streamlines s = {.n = 1, .offset = (const uint64_t[]){0, 2}, .point = (const float(*)[3])point};
    assert_ok(gls_sink_append(&sink, &s));
    assert_int_equal(gls_weights_solve(w, NULL, 0, NULL, NULL), GLS_ERR_EMPTY);
    assert_message("do not overlap");
    point[1][2] = NAN;
    assert_int_equal(gls_sink_append(&sink, &s), GLS_ERR_INPUT);
    assert_message("not finite");
    /* the limit is one of each coordinate: both points differ by less along each axis, but not in their distance */
    point[1][0] = 91000, point[1][1] = 90000, point[1][2] = 0;
    assert_ok(gls_sink_append(&sink, &s));
    point[1][0] = 110000;
    assert_int_equal(gls_sink_append(&sink, &s), GLS_ERR_INPUT);
    assert_message("points more than 100000 mm apart along an axis");
    gls_weights_destroy(w);
    gls_weights_options o = gls_weights_options_default();
    o.max_coeff_step = 0;
    assert_int_equal(gls_weights_create(f, &o, &w), GLS_ERR_ARGUMENT);
    gls_fixels_destroy(f);
    /* amplitudes that no float holds, though the coefficients are numbers */
    for (size_t i = 0; i < gls_grid_voxels(&sh->grid) * sh->n_volumes; i++) sh->data[i] = 3e38f;
    assert_int_equal(gls_fixels_create(sh, "fods", NULL, NULL, &f), GLS_ERR_EMPTY);
    /* integrals that no float holds, though the amplitudes are numbers */
    for (size_t j = 1; j < sh->n_volumes; j++)
        for (size_t v = 0, n = gls_grid_voxels(&sh->grid); v < n; v++) sh->data[j * n + v] = j == 3 ? 1e38f : 0;
    assert_int_equal(gls_fixels_create(sh, "fods", NULL, NULL, &f), GLS_ERR_EMPTY);
    gls_image_destroy(sh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sphere),  cmocka_unit_test(test_nearest),   cmocka_unit_test(test_fixels),
        cmocka_unit_test(test_lobes),   cmocka_unit_test(test_walk),      cmocka_unit_test(test_entries),
        cmocka_unit_test(test_methods), cmocka_unit_test(test_reference), cmocka_unit_test(test_order),
        cmocka_unit_test(test_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
