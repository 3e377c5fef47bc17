/* Scores of streamlines whose class is known: centre lines of the phantom, alone, cut, joined to others and displaced.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <glslines/score.h>

#include "util/maths.h"

#define MAX_LINE 4096

static gls_phantom *phantom;

static int make_phantom(void **state)
{
    gls_phantom_params params = gls_phantom_params_default();
    (void)state;
    params.snr = 0;
    params.n_directions = 6;
    return gls_phantom_create(&params, &phantom) != GLS_OK;
}

static int drop_phantom(void **state)
{
    (void)state;
    gls_phantom_destroy(phantom);
    return 0;
}

static size_t voxel_of(const double world[3])
{
    const gls_grid *grid = &phantom->dwi->grid;
    double inverse[3][4], p[3];
    size_t i[3];
    gls_grid_inverse(grid, inverse);
    gls_affine_apply(inverse, world, p);
    for (int a = 0; a < 3; a++) i[a] = (size_t)lrint(p[a]);
    return (i[2] * (size_t)grid->dim[1] + i[1]) * (size_t)grid->dim[0] + i[0];
}

/* Cuts out the part of a centre line between the end regions, as streamlines go: from the last point in one end to the
 * first in the other. */
static size_t line_of(size_t b, float (*line)[3])
{
    const gls_phantom_bundle *bundle = &phantom->bundle[b];
    size_t first = 0, last = bundle->n_points - 1, n = 0;
    for (size_t i = 0; i < bundle->n_points / 2; i++)
        if (bundle->ends[0]->data[voxel_of(bundle->centre_line[i])] > 0 ||
            bundle->ends[1]->data[voxel_of(bundle->centre_line[i])] > 0)
            first = i;
    for (size_t i = bundle->n_points - 1; i > bundle->n_points / 2; i--)
        if (bundle->ends[0]->data[voxel_of(bundle->centre_line[i])] > 0 ||
            bundle->ends[1]->data[voxel_of(bundle->centre_line[i])] > 0)
            last = i;
    assert_true(first < last && last - first < MAX_LINE);
    for (size_t i = first; i <= last; i++, n++)
        for (int k = 0; k < 3; k++) line[n][k] = (float)bundle->centre_line[i][k];
    return n;
}

static void add(gls_score *score, const float (*line)[3], size_t n)
{
    uint64_t offset[2] = {0, n};
    gls_streamlines one = {.n = 1, .offset = offset, .point = line};
    assert_int_equal(gls_score_add(score, &one), GLS_OK);
}

static void centre_lines_are_valid(void **state)
{
    gls_score *score;
    gls_score_result r;
    static float line[MAX_LINE][3];
    (void)state;
    assert_int_equal(gls_score_create(phantom, NULL, &score), GLS_OK);
    for (size_t b = 0; b < phantom->n_bundles; b++) add(score, (const float(*)[3])line, line_of(b, line));
    gls_score_get(score, &r);
    assert_int_equal(r.streamlines, phantom->n_bundles);
    assert_int_equal(r.valid, phantom->n_bundles);
    assert_int_equal(r.valid_bundles, phantom->n_bundles);
    assert_int_equal(r.invalid_bundles, 0);
    for (size_t b = 0; b < r.n_bundles; b++) {
        assert_string_equal(r.bundle[b].name, phantom->bundle[b].name);
        assert_int_equal(r.bundle[b].valid, 1);
        assert_true(r.bundle[b].overlap > 0 && r.bundle[b].overlap < 0.5);
        assert_true(r.bundle[b].overreach < 0.2);
    }
    gls_score_destroy(score);
}

static void classes(void **state)
{
    gls_score *score;
    gls_score_result r;
    static float line[2 * MAX_LINE][3];
    (void)state;
    assert_int_equal(gls_score_create(phantom, NULL, &score), GLS_OK);
    size_t n = line_of(0, line);
    add(score, (const float(*)[3])line, n / 2); /* ends in the middle of white matter */
    add(score, (const float(*)[3])line, 1);
    add(score, (const float(*)[3])line, 0);
    gls_score_get(score, &r);
    assert_int_equal(r.no_connection, 3);
    /* the right ends, by way of the rim of the head */
    line[n / 2][2] += 1000;
    add(score, (const float(*)[3])line, n);
    gls_score_get(score, &r);
    assert_int_equal(r.wrong_path, 1);
    /* from one bundle's first end to another's last: the two have no pair of regions in common */
    n = line_of(0, line);
    size_t m = line_of(2, line + n / 2);
    for (int i = 0; i < 3; i++) add(score, (const float(*)[3])line, n / 2 + m);
    gls_score_get(score, &r);
    assert_int_equal(r.invalid, 3);
    assert_int_equal(r.invalid_bundles, 1);
    assert_int_equal(r.streamlines, 7);
    assert_int_equal(r.valid + r.wrong_path + r.invalid + r.no_connection, 7);
    assert_true(r.mean_f1 == 0 && r.mean_overlap == 0);
    gls_score_destroy(score);
}

/* A bundle that is filled, and then one voxel beyond it: overlap and overreach as counted by hand. */
static void overlap_and_overreach(void **state)
{
    gls_score *score;
    gls_score_result r;
    static float line[MAX_LINE][3], detour[3 * MAX_LINE][3];
    const gls_grid *grid = &phantom->dwi->grid;
    (void)state;
    assert_int_equal(gls_score_create(phantom, NULL, &score), GLS_OK);
    size_t n = line_of(1, line), found = 0, beyond = 0;
    uint8_t *seen = calloc(gls_grid_voxels(grid), 1);
    assert_non_null(seen);
    add(score, (const float(*)[3])line, n);
    for (size_t i = 0; i + 1 < n; i++) {
        for (int k = 0; k <= 5000; k++) {
            double world[3];
            for (int a = 0; a < 3; a++) world[a] = line[i][a] + (line[i + 1][a] - line[i][a]) * (double)k / 5000;
            seen[voxel_of(world)] = 1;
        }
    }
    const gls_phantom_bundle *bundle = &phantom->bundle[1];
    size_t truth = 0;
    for (size_t v = 0; v < gls_grid_voxels(grid); v++) {
        bool in = bundle->mask->data[v] > 0, end = bundle->ends[0]->data[v] > 0 || bundle->ends[1]->data[v] > 0;
        truth += in;
        found += seen[v] && in;
        beyond += seen[v] && !in && !end;
    }
    free(seen);
    gls_score_get(score, &r);
    assert_int_equal(r.bundle[1].truth, truth);
    assert_int_equal(r.bundle[1].found, found);
    assert_int_equal(r.bundle[1].beyond, beyond);
    assert_float_equal(r.bundle[1].overlap, (double)found / (double)truth, 1e-12);
    /* the same line in reverse adds nothing */
    for (size_t i = 0; i < n; i++) memcpy(detour[i], line[n - 1 - i], sizeof *line);
    add(score, (const float(*)[3])detour, n);
    gls_score_get(score, &r);
    assert_int_equal(r.bundle[1].valid, 2);
    assert_true(found <= r.bundle[1].found + 1 && r.bundle[1].found <= found + 1);
    double p = 1 - r.bundle[1].overreach, q = r.bundle[1].overlap;
    assert_float_equal(r.bundle[1].f1, 2 * p * q / (p + q), 1e-12);
    assert_float_equal(r.mean_f1 * (double)r.n_bundles, r.bundle[1].f1, 1e-12);
    gls_score_destroy(score);
}

static void bad_arguments(void **state)
{
    gls_phantom_params params = gls_phantom_params_default();
    gls_phantom *plain;
    gls_score *score = NULL;
    gls_score_options options = gls_score_options_default();
    (void)state;
    options.end_distance = 17;
    assert_int_equal(gls_score_create(phantom, &options, &score), GLS_ERR_ARGUMENT);
    params.ground_truth = false;
    params.n_directions = 6;
    for (int a = 0; a < 3; a++) params.shape[a] = 16;
    assert_int_equal(gls_phantom_create(&params, &plain), GLS_OK);
    assert_int_equal(gls_score_create(plain, NULL, &score), GLS_ERR_ARGUMENT);
    assert_null(score);
    gls_phantom_destroy(plain);
    gls_score_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(centre_lines_are_valid), cmocka_unit_test(classes),
                                       cmocka_unit_test(overlap_and_overreach), cmocka_unit_test(bad_arguments)};
    return cmocka_run_group_tests(tests, make_phantom, drop_phantom);
}
