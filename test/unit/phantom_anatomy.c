/* The places of tissues and bundles in the phantom: the same on every grid, every bundle connected from end to end. */
#include <glslines/phantom.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static gls_phantom *make(const gls_phantom_params *p)
{
    gls_phantom *phantom = NULL;
    if (gls_phantom_create(p, &phantom)) fail_msg("%s", gls_last_error());
    return phantom;
}

static size_t voxels_of(const gls_phantom *p)
{
    return gls_grid_voxels(&p->dwi->grid);
}

/* Returns the number of the voxel whose centre is nearest to a point in the world, or SIZE_MAX outside the grid. */
static size_t voxel_at(const gls_grid *grid, const double inverse[3][4], const double world[3])
{
    size_t voxel = 0;
    for (int k = 2; k >= 0; k--) {
        double at =
            floor(inverse[k][0] * world[0] + inverse[k][1] * world[1] + inverse[k][2] * world[2] + inverse[k][3] + 0.5);
        if (at < 0 || at >= grid->dim[k]) return SIZE_MAX;
        voxel = voxel * (size_t)grid->dim[k] + (size_t)at;
    }
    return voxel;
}

static void world_of(const gls_grid *grid, size_t voxel, double world[3])
{
    size_t nx = (size_t)grid->dim[0], ny = (size_t)grid->dim[1];
    const double at[3] = {(double)(voxel % nx), (double)(voxel / nx % ny), (double)(voxel / nx / ny)};
    for (int r = 0; r < 3; r++)
        world[r] =
            grid->affine[r][0] * at[0] + grid->affine[r][1] * at[1] + grid->affine[r][2] * at[2] + grid->affine[r][3];
}

/* Counts the voxels of a whose value differs by more than tolerance from that of b at the same place. */
static size_t differing(const gls_image *a, const gls_image *b, double tolerance)
{
    size_t n = gls_grid_voxels(&a->grid), count = 0;
    double inverse[3][4], world[3];
    gls_grid_inverse(&b->grid, inverse);
    for (size_t i = 0; i < n; i++) {
        world_of(&a->grid, i, world);
        size_t j = voxel_at(&b->grid, (const double(*)[4])inverse, world);
        bool differs = j == SIZE_MAX;
        for (size_t v = 0; v < a->n_volumes && !differs; v++)
            differs = fabs(a->data[v * n + i] - b->data[v * n + j]) > tolerance;
        count += differs;
    }
    return count;
}

/* Makes a grid of the default extent whose sides are mm[world axis], with axes along the codes. */
static gls_phantom *oriented(const char *codes, const double mm[3])
{
    static const double extent[3] = {80, 104, 76};
    gls_phantom_params p = gls_phantom_params_default();
    memcpy(p.orientation, codes, 4);
    p.snr = 0;
    p.n_b0 = 1;
    p.n_directions = 6;
    for (int k = 0; k < 3; k++) {
        int axis = strchr("RL", codes[k]) ? 0 : strchr("AP", codes[k]) ? 1 : 2;
        p.voxel_size[k] = mm[axis];
        p.shape[k] = (int32_t)(extent[axis] / mm[axis] + 0.5);
    }
    return make(&p);
}

static void test_orientations(void **state)
{
    (void)state;
    static const char letters[3][2] = {{'R', 'L'}, {'A', 'P'}, {'S', 'I'}};
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const double mm[3] = {4, 4, 2};
    gls_phantom *ras = oriented("RAS", mm);
    size_t n = voxels_of(ras), tolerated = n / 2000;
    for (int i = 1; i < 48; i++) {
        const int *order = orders[i / 8];
        const char codes[4] = {letters[order[0]][i & 1], letters[order[1]][i >> 1 & 1], letters[order[2]][i >> 2 & 1],
                               '\0'};
        char found[4];
        gls_phantom *other = oriented(codes, mm);
        gls_grid_axis_codes(&other->dwi->grid, found);
        assert_string_equal(found, codes);
        /* Sample points on a surface may fall to either side. */
        assert_true(differing(ras->dwi, other->dwi, 0.01) <= tolerated);
        assert_true(differing(ras->tissue, other->tissue, 1e-6) <= tolerated);
        assert_int_equal(ras->n_bundles, other->n_bundles);
        for (size_t b = 0; b < ras->n_bundles; b++) {
            assert_string_equal(ras->bundle[b].name, other->bundle[b].name);
            assert_memory_equal(ras->bundle[b].centre_line, other->bundle[b].centre_line,
                                ras->bundle[b].n_points * sizeof *ras->bundle[b].centre_line);
            assert_true(differing(ras->bundle[b].mask, other->bundle[b].mask, 0.5) <= 2);
            for (int e = 0; e < 2; e++)
                assert_true(differing(ras->bundle[b].ends[e], other->bundle[b].ends[e], 0.5) <= 2);
        }
        gls_phantom_destroy(other);
    }
    gls_phantom_destroy(ras);
}

/* A rotated grid of other voxels shows the same brain where its head need not shrink. */
static void test_oblique(void **state)
{
    (void)state;
    gls_phantom_params p = gls_phantom_params_default();
    for (int k = 0; k < 3; k++) {
        p.shape[k] = 40;
        p.voxel_size[k] = 2;
    }
    p.snr = 0;
    p.n_directions = 6;
    gls_phantom *straight = make(&p);
    p.oblique[0] = 8;
    p.oblique[1] = -11;
    p.oblique[2] = 25;
    gls_phantom *turned = make(&p);
    size_t n = voxels_of(straight), brain = 0, off = differing(turned->roi, straight->roi, 0.5);
    for (size_t i = 0; i < n; i++) brain += straight->mask->data[i] > 0;
    /* The corners of the turned grid lie outside the other; nearest neighbours differ along surfaces. */
    double world[3], inverse[3][4];
    size_t outside = 0;
    gls_grid_inverse(&straight->dwi->grid, inverse);
    for (size_t i = 0; i < n; i++) {
        world_of(&turned->dwi->grid, i, world);
        outside += voxel_at(&straight->dwi->grid, (const double(*)[4])inverse, world) == SIZE_MAX;
    }
    assert_true(brain > n / 3);
    assert_true(off - outside < brain / 12);
    gls_phantom_destroy(straight);
    gls_phantom_destroy(turned);
}

static size_t count_of(const gls_image *image)
{
    size_t n = gls_grid_voxels(&image->grid), count = 0;
    for (size_t i = 0; i < n; i++) {
        assert_true(image->data[i] == 0 || image->data[i] == 1);
        count += image->data[i] > 0;
    }
    return count;
}

/* Spreads from the seeds through allowed voxels and the 26 neighbours of each; reached is 1 where it gets. */
static void flood(const gls_image *seeds, const gls_image *allowed, unsigned char *reached)
{
    const int32_t *dim = seeds->grid.dim;
    size_t n = gls_grid_voxels(&seeds->grid), top = 0;
    size_t *stack = malloc(n * sizeof *stack);
    memset(reached, 0, n);
    for (size_t i = 0; i < n; i++) {
        if (!(seeds->data[i] > 0)) continue;
        reached[i] = 1;
        stack[top++] = i;
    }
    while (top) {
        size_t i = stack[--top];
        int x = (int)(i % (size_t)dim[0]), y = (int)(i / (size_t)dim[0] % (size_t)dim[1]),
            z = (int)(i / (size_t)dim[0] / (size_t)dim[1]);
        for (int k = 0; k < 27; k++) {
            int u = x + k % 3 - 1, v = y + k / 3 % 3 - 1, w = z + k / 9 - 1;
            if (u < 0 || v < 0 || w < 0 || u >= dim[0] || v >= dim[1] || w >= dim[2]) continue;
            size_t j = ((size_t)w * (size_t)dim[1] + (size_t)v) * (size_t)dim[0] + (size_t)u;
            if (reached[j] || !(allowed->data[j] > 0)) continue;
            reached[j] = 1;
            stack[top++] = j;
        }
    }
    free(stack);
}

/* Checks each bundle: from one end a path leads through the mask to within a voxel of the other end, and to every voxel
 * of the mask. */
static void check_connected(const gls_phantom_bundle *bundle)
{
    size_t n = gls_grid_voxels(&bundle->mask->grid), far_end = 0, mask = 0;
    unsigned char *through = malloc(n), *onward = malloc(n);
    flood(bundle->ends[0], bundle->mask, through);
    gls_image *reached = NULL;
    assert_int_equal(gls_image_create(&bundle->mask->grid, 1, &reached), GLS_OK);
    for (size_t i = 0; i < n; i++) {
        reached->data[i] = through[i] && bundle->mask->data[i] > 0;
        mask += through[i] && bundle->mask->data[i] > 0;
    }
    if (mask < count_of(bundle->mask))
        fail_msg("%s: %zu voxels of %zu hang together with the first end", bundle->name, mask, count_of(bundle->mask));
    flood(reached, bundle->ends[1], onward);
    for (size_t i = 0; i < n; i++) far_end += onward[i] && bundle->ends[1]->data[i] > 0;
    if (!far_end) fail_msg("%s: the second end is not reached", bundle->name);
    gls_image_destroy(reached);
    free(through);
    free(onward);
}

static void test_bundles(void **state)
{
    (void)state;
    gls_phantom_params p = gls_phantom_params_default();
    p.n_directions = 6;
    gls_phantom *phantom = make(&p);
    double inverse[3][4];
    size_t n = voxels_of(phantom), crossing = 0, triple = 0, commissures = 0;
    gls_grid_inverse(&phantom->dwi->grid, inverse);
    assert_true(phantom->n_bundles >= 8);
    for (size_t b = 0; b < phantom->n_bundles; b++) {
        const gls_phantom_bundle *bundle = &phantom->bundle[b];
        size_t size = count_of(bundle->mask), on_line = 0;
        assert_true(size >= 100 && count_of(bundle->ends[0]) >= 5 && count_of(bundle->ends[1]) >= 5 &&
                    bundle->n_points >= 20);
        check_connected(bundle);
        for (size_t c = 0; c < b; c++) assert_string_not_equal(bundle->name, phantom->bundle[c].name);
        bool left = false, right = false;
        for (size_t i = 0; i < bundle->n_points; i++) {
            size_t voxel = voxel_at(&phantom->dwi->grid, (const double(*)[4])inverse, bundle->centre_line[i]);
            assert_true(voxel != SIZE_MAX);
            on_line += bundle->mask->data[voxel] > 0;
            if (i >= 4 && i + 4 < bundle->n_points && !(bundle->mask->data[voxel] > 0))
                fail_msg("%s: point %zu of its centre line is outside", bundle->name, i);
            left = left || bundle->centre_line[i][0] < -1;
            right = right || bundle->centre_line[i][0] > 1;
        }
        assert_true(on_line + 8 >= bundle->n_points);
        assert_int_equal(left && right, !strstr(bundle->name, "_left") && !strstr(bundle->name, "_right"));
        commissures += left && right;
        /* A twin is the mirror image. */
        if (strstr(bundle->name, "_right")) assert_int_equal(size, count_of(phantom->bundle[b - 1].mask));
    }
    assert_true(commissures >= 3);
    for (size_t i = 0; i < n; i++) {
        crossing += phantom->peaks->data[7 * n + i] > 0.2f;
        triple += phantom->peaks->data[11 * n + i] > 0.1f;
    }
    assert_true(crossing > 1000 && triple > 100);
    gls_phantom_destroy(phantom);
}

static void test_fractions(void **state)
{
    (void)state;
    gls_phantom_params p = gls_phantom_params_default();
    p.n_directions = 6;
    gls_phantom *phantom = make(&p);
    size_t n = voxels_of(phantom), mask = count_of(phantom->mask), roi = count_of(phantom->roi), filled = 0;
    for (size_t i = 0; i < n; i++) {
        const float *t = phantom->tissue->data + i, *peak = phantom->peaks->data + i;
        float sum = t[0] + t[n] + t[2 * n], fibres = peak[3 * n] + peak[7 * n] + peak[11 * n];
        assert_true(t[0] >= 0 && t[n] >= 0 && t[2 * n] >= 0 && sum < 1.00001f);
        assert_int_equal(phantom->mask->data[i] > 0, sum >= 0.5f);
        /* peaks hold the three strongest populations, so that fibres may be a little more than their sum */
        if (phantom->roi->data[i] > 0) assert_true(t[0] >= 0.499999f);
        if (t[0] >= 0.500001f && fibres >= 0.300001f) assert_true(phantom->roi->data[i] > 0);
        assert_true(fibres <= t[0] + 1e-5f && peak[3 * n] >= peak[7 * n] && peak[7 * n] >= peak[11 * n] &&
                    peak[11 * n] >= 0);
        for (size_t k = 0; k < 3; k++) {
            const float *d = peak + 4 * k * n;
            float norm = sqrtf(d[0] * d[0] + d[n] * d[n] + d[2 * n] * d[2 * n]);
            assert_float_equal(norm, d[3 * n] > 0 ? 1 : 0, 1e-5);
        }
        filled += phantom->roi->data[i] > 0 && fibres > 0.25f;
    }
    /* The brain fills the grid as a head does, a fifth or more of it white matter with fibres. */
    assert_true(mask > n * 35 / 100 && mask < n * 55 / 100);
    assert_true(5 * roi > mask && 100 * filled > 99 * roi);
    gls_phantom_destroy(phantom);
}

/* The coarsest and the most uneven grids still have every bundle and both its ends. */
static void test_extremes(void **state)
{
    (void)state;
    static const struct {
        int32_t shape[3];
        double mm[3];
    } cases[] = {
        {{16, 16, 16}, {2, 2, 2}}, {{16, 16, 16}, {0.1, 20, 3}}, {{96, 16, 40}, {1, 8, 2}}, {{16, 120, 16}, {5, 1, 5}}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        gls_phantom_params p = gls_phantom_params_default();
        memcpy(p.shape, cases[c].shape, sizeof p.shape);
        memcpy(p.voxel_size, cases[c].mm, sizeof p.voxel_size);
        p.n_directions = 6;
        gls_phantom *phantom = make(&p);
        for (size_t b = 0; b < phantom->n_bundles; b++) {
            const gls_phantom_bundle *bundle = &phantom->bundle[b];
            assert_true(count_of(bundle->mask) > 0 && count_of(bundle->ends[0]) > 0 && count_of(bundle->ends[1]) > 0);
        }
        for (size_t i = 0; i < voxels_of(phantom) * phantom->dwi->n_volumes; i++)
            assert_true(isfinite(phantom->dwi->data[i]));
        gls_phantom_destroy(phantom);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orientations), cmocka_unit_test(test_oblique),  cmocka_unit_test(test_bundles),
        cmocka_unit_test(test_fractions),    cmocka_unit_test(test_extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
