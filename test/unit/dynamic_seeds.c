/* Seeds that follow densities: where those of a round lie, that fixels with few streamlines get more, and that the
 * seeds do not depend on blocks of streamlines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "track/seeds.h"
#include "weights/dynamic_seeds.h"
#include "weights_scene.h"

enum { ROUND = 1000, ALL = 100000 };

/* The fixels of the scene, seeds in rounds, and what draws them. */
typedef struct drawn {
    gls_image *sh;
    gls_seeds *seeds;
    gls_dynamic_seeds *dynamic;
} drawn;

static drawn begin(uint64_t select)
{
    drawn d = {.sh = scene_fods()};
    gls_fod fod = {0};
    const gls_fod_options options = {.sh = "scene", .frame = GLS_FRAME_WORLD, .fixel = gls_fixel_options_default()};
    assert_ok(gls_fod_segment(&options, d.sh, &fod));
    assert_ok(gls_seeds_create_in_rounds(ALL, &d.seeds));
    const gls_dynamic_options how = {
        .grid = &d.sh->grid, .seeds = d.seeds, .step_size = 1, .select = select, .rng_seed = 5, .round_seeds = ROUND};
    assert_ok(gls_dynamic_seeds_create(&fod, &how, &d.dynamic));
    gls_fod_finish(&fod);
    return d;
}

static void end(drawn *d)
{
    gls_dynamic_seeds_destroy(d->dynamic);
    gls_seeds_destroy(d->seeds);
    gls_image_destroy(d->sh);
}

/* The seeds of the last round that start along y, of n. All must lie in a bundle. */
static size_t along_y(const drawn *d, uint64_t first, size_t n)
{
    static float position[ROUND][3], direction[ROUND][3];
    size_t found = 0;
    gls_seeds_get(d->seeds, first, n, position);
    gls_seeds_get_directions(d->seeds, first, n, direction);
    for (size_t i = 0; i < n; i++) {
        /* where the bundles meet, a lobe may lie between both */
        const bool y = fabsf(direction[i][1]) > 0.8f;
        const float *p = position[i];
        assert_true(fabsf(direction[i][2]) < 0.5f && fabsf(p[2] - 6) < 2.6f);
        assert_true(fabsf(p[0] - 6) < 2.6f || fabsf(p[1] - 6) < 2.6f);
        found += y;
    }
    return found;
}

/* Before there are streamlines each fixel is as likely; afterwards the share of seeds in the bundle that
 * has a third of the streamlines of the other doubles. */
static void test_rounds(void **state)
{
    (void)state;
    drawn d = begin(10 * SCENE_LINES);
    scene_lines *s = scene_streamlines();
    assert_int_equal(gls_seeds_end(d.seeds), 64);
    const size_t at_first = along_y(&d, 0, 64);
    for (int k = 0; k < 20; k++) assert_ok(gls_dynamic_seeds_append(d.dynamic, &s->lines));
    assert_ok(gls_dynamic_seeds_draw(d.dynamic));
    assert_int_equal(gls_seeds_end(d.seeds), 64 + 1000);
    const size_t later = along_y(&d, 64, 1000);
    assert_true(at_first > 0 && later * 64 > 2 * at_first * 1000);
    /* a seed of an earlier round is forgotten */
    float position[1][3];
    gls_seeds_get(d.seeds, 3, 1, position);
    assert_true(position[0][0] > 1e20f);
    free(s);
    end(&d);
}

/* A block at a time or all at once: the same seeds. */
static void test_blocks(void **state)
{
    (void)state;
    drawn a = begin(SCENE_LINES), b = begin(SCENE_LINES);
    scene_lines *s = scene_streamlines();
    static float whole[ROUND][3], parts[ROUND][3];
    assert_ok(gls_dynamic_seeds_append(a.dynamic, &s->lines));
    for (size_t first = 0, n; first < SCENE_LINES; first += n) {
        n = first + 7 < SCENE_LINES ? 7 : SCENE_LINES - first;
        gls_streamlines part = s->lines;
        part.n = n;
        part.offset = s->lines.offset + first;
        assert_ok(gls_dynamic_seeds_append(b.dynamic, &part));
    }
    assert_ok(gls_dynamic_seeds_draw(a.dynamic));
    assert_ok(gls_dynamic_seeds_draw(b.dynamic));
    const size_t n = (size_t)gls_seeds_end(a.seeds) - 64;
    assert_int_equal(gls_seeds_end(b.seeds), 64 + n);
    gls_seeds_get(a.seeds, 64, n, whole);
    gls_seeds_get(b.seeds, 64, n, parts);
    assert_memory_equal(whole, parts, n * sizeof *whole);
    free(s);
    end(&a);
    end(&b);
}

/* Rounds end with the last seed of the list. */
static void test_end(void **state)
{
    (void)state;
    drawn d = begin(ALL);
    for (int k = 0; k < ALL / 64 + 2; k++) assert_ok(gls_dynamic_seeds_draw(d.dynamic));
    assert_int_equal(gls_seeds_end(d.seeds), ALL);
    end(&d);
}

/* The estimate of memory: a device that maps takes some, within its limit, and none where the lobes do not fit it. */
static void test_memory(void **state)
{
    (void)state;
    enum { VOXELS = 1000000, LOBED = 300000, MB = 1000000 };
    const gls_device_info nvidia = {.vendor = "NVIDIA Corporation"}, software = {.vendor = "Mesa", .software = true};
    gls_dynamic_options options = {.round_seeds = 131072};
    const gls_dynamic_memory free_of_limit = gls_dynamic_seeds_memory(VOXELS, LOBED, &nvidia, &options),
                             on_threads = gls_dynamic_seeds_memory(VOXELS, LOBED, &software, &options);
    /* 641 bytes a voxel for lobes on both sides, 8 million points of 12 bytes on the device */
    assert_true(on_threads.host > 641 * (uint64_t)LOBED && free_of_limit.host >= on_threads.host);
    assert_true(on_threads.device == 0 && free_of_limit.device > 641 * (uint64_t)LOBED + 100 * MB);
    options.device_bytes = 500 * (uint64_t)MB;
    const gls_dynamic_memory limited = gls_dynamic_seeds_memory(VOXELS, LOBED, &nvidia, &options);
    assert_true(limited.device < free_of_limit.device && limited.device <= options.device_bytes);
    options.device_bytes = 300 * (uint64_t)MB;
    assert_true(gls_dynamic_seeds_memory(VOXELS, LOBED, &nvidia, &options).device == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rounds), cmocka_unit_test(test_blocks),
                                       cmocka_unit_test(test_end), cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
