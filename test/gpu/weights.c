/* The kernels of SIFT2 against the CPU: the same arithmetic, with sums of whole numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "weights/fixel_rows.h"
#include "weights/map_device.h"
#include "weights/map_queue.h"
#include "weights/voxel_walk.h"
#include "weights/weight_model.h"
#include "inject.h"
#include "weights_scene.h"

static gls_device *device;
static gls_fixels *fixels;
static scene_lines *scene;

/* On software renderers the bytes agree; on other devices the differences are those of rounding. */
static void compare(const gls_weights *a, const gls_weights *b)
{
    const gls_weights_result *x = gls_weights_get_result(a), *y = gls_weights_get_result(b);
    const float *wa = gls_weights_get(a, NULL), *wb = gls_weights_get(b, NULL);
    bool same = gls_device_get_info(device)->software;
    size_t n_off = 0;
    assert_int_equal(x->n_iterations, y->n_iterations);
    for (int i = 0; i < SCENE_LINES; i++) {
        if (same) assert_memory_equal(&wa[i], &wb[i], sizeof *wa);
        const bool near = fabsf(wa[i] - wb[i]) <= 1e-5f * wa[i];
        n_off += !near;
        if (!near) print_error("weight of streamline %d: %.9g, on the device %.9g\n", i, wa[i], wb[i]);
    }
    assert_int_equal(n_off, 0);
    for (size_t i = 0; i < x->n_iterations; i++) {
        assert_true(fabs(x->iteration[i].data / y->iteration[i].data - 1) < 1e-5);
        assert_int_equal(x->iteration[i].excluded, y->iteration[i].excluded);
    }
}

static void solve_both(gls_weights_options o, gls_device *const *devices, size_t n)
{
    gls_weights *host = scene_solve(fixels, NULL, &scene->lines, NULL, 0);
    gls_weights_destroy(host);
    host = scene_solve(fixels, &o, &scene->lines, NULL, 0);
    gls_weights *w = scene_solve(fixels, &o, &scene->lines, devices, n);
    compare(host, w);
    for (int kind = 0; kind < GLS_WEIGHTS_N_VALUES; kind++) {
        size_t count = gls_fixels_count(fixels);
        float *a = malloc(count * sizeof *a), *b = malloc(count * sizeof *b);
        assert_ok(gls_weights_get_fixels(host, (gls_weights_values)kind, a));
        assert_ok(gls_weights_get_fixels(w, (gls_weights_values)kind, b));
        for (size_t k = 0; k < count; k++) assert_true(fabsf(a[k] - b[k]) <= 1e-5f * (fabsf(a[k]) + 1));
        free(a);
        free(b);
    }
    gls_weights_destroy(host);
    gls_weights_destroy(w);
}

static void test_same(void **state)
{
    (void)state;
    gls_weights_options o = gls_weights_options_default();
    solve_both(o, &device, 1);
    o.max_coeff = 0.3;
    o.min_coeff = -0.5;
    o.reg_tikhonov = 0.2;
    solve_both(o, &device, 1);
}

/* Chunks that lie on the device, that come to it in each iteration, and that several contexts share. */
static void test_chunks(void **state)
{
    (void)state;
    gls_weights_options o = gls_weights_options_default();
    gls_device *two[2] = {device, NULL};
    o.chunk_entries = 900;
    solve_both(o, &device, 1);
    o.device_bytes = 1;
    solve_both(o, &device, 1);
    assert_ok(gls_device_reopen(device, &two[1]));
    solve_both(o, two, 2);
    o.device_bytes = 0;
    solve_both(o, two, 2);
    gls_device_close(two[1]);
}

/* Streamlines that turn, leave the grid, have no or one point, stand still, or pass through many voxels in one step. */
static gls_streamlines tangled_lines(void)
{
    enum { LINES = 700, MOST = 60 };
    static uint64_t offset[LINES + 1];
    static float point[LINES * MOST][3];
    uint64_t random = 11;
    for (size_t i = 0; i < LINES; i++) {
        size_t n = i % 50 == 0 ? i / 50 % 3 : 2 + (size_t)random_uniform(&random, 0, MOST - 2);
        float *p = point[offset[i]];
        double v[3] = {random_normal(&random), random_normal(&random), random_normal(&random)};
        for (int a = 0; a < 3; a++) p[a] = (float)random_uniform(&random, 2, 22) + (i % 31 == 4 ? 90 : 0);
        for (size_t k = 1; k < n; k++, p += 3)
            for (int a = 0; a < 3; a++) {
                v[a] += 0.4 * random_normal(&random);
                p[3 + a] = p[a] + (float)((i % 97 == 5 || (i % 7 == 3 && a == 0) ? 0 : i % 13 == 6 ? 5 : 0.5) * v[a]);
            }
        offset[i + 1] = offset[i] + n;
    }
    return (gls_streamlines){.n = LINES, .offset = offset, .point = (const float(*)[3])point};
}

/* Maps the streamlines. by: n devices; n = 0: the CPU. */
static void map_lines(const gls_fixels *f, const float *mask, gls_device *const *by, size_t n, uint32_t ratio,
                      bool straight, gls_rows *rows)
{
    const gls_streamlines s = tangled_lines();
    gls_row_queue *queue = NULL;
    assert_ok(gls_rows_init(rows, f, mask, 5000));
    gls_rows_set_walk(rows, ratio, straight);
    if (n > 0) assert_ok(gls_row_queue_create(rows, by, n, 0, 1000, &queue)); /* some buffers */
    for (size_t first = 0; first < s.n; first += 70) {
        uint64_t offset[71];
        for (size_t i = 0; i <= 70; i++) offset[i] = s.offset[first + i] - s.offset[first];
        const gls_streamlines part = {.n = 70, .offset = offset, .point = s.point + s.offset[first]};
        assert_ok(queue ? gls_row_queue_append(queue, &part) : gls_rows_append(rows, &part));
    }
    if (queue) assert_ok(gls_row_queue_end(queue));
    gls_row_queue_destroy(queue);
}

static void same_rows(const gls_rows *a, const gls_rows *b)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->n_entries, b->n_entries);
    assert_int_equal(a->n_without_points, b->n_without_points);
    assert_int_equal(a->n_outside, b->n_outside);
    assert_int_equal(a->n_without_fixels, b->n_without_fixels);
    assert_int_equal(a->n_chunks, b->n_chunks);
    assert_memory_equal(a->contribution, b->contribution, a->n * sizeof *a->contribution);
    for (size_t i = 0; i < a->n_chunks; i++) {
        const gls_chunk *x = &a->chunk[i], *y = &b->chunk[i];
        assert_int_equal(x->n, y->n);
        assert_memory_equal(x->start, y->start, (x->n + 1) * sizeof *x->start);
        assert_memory_equal(x->entry, y->entry, x->start[x->n] * sizeof *x->entry);
    }
}

/* Devices that mapped all rows also add up their entries for each fixel. */
static void check_totals(const gls_rows *rows, const gls_fixels *f)
{
    uint64_t *length = calloc(f->n, sizeof *length);
    uint32_t *count = calloc(f->n, sizeof *count);
    for (size_t i = 0; i < rows->n_chunks; i++)
        for (size_t k = 0; k < rows->chunk[i].start[rows->chunk[i].n]; k++) {
            length[gls_chunk_fixel(&rows->chunk[i], k)] += rows->chunk[i].entry[k] & GLS_ROW_MAX_LENGTH;
            count[gls_chunk_fixel(&rows->chunk[i], k)]++;
        }
    assert_memory_equal(rows->length, length, f->n * sizeof *length);
    assert_memory_equal(rows->count, count, f->n * sizeof *count);
    free(length);
    free(count);
}

/* One kernel, two, and the CPU map to the same bytes, on an oblique grid with voxels of unequal sides, too; where a
 * device has no room, the CPU goes on. */
static void test_mapping(void **state)
{
    static const double oblique[3][4] = {{-1.9, 0.3, 0.1, 21}, {0.25, 1.4, -0.5, 1}, {0.1, 0.4, 2.6, -2}};
    const int32_t dim[3] = {SCENE_SIDE, SCENE_SIDE, SCENE_SIDE};
    float mask[SCENE_SIDE * SCENE_SIDE * SCENE_SIDE];
    gls_device *small = open_limited("storage_bytes=1024"), *more = NULL;
    (void)state;
    assert_ok(gls_device_reopen(device, &more));
    gls_device *const several[] = {device, more}, *const failing[] = {more, small};
    for (size_t v = 0; v < sizeof mask / sizeof *mask; v++) mask[v] = (float)(v % 10) / 9;
    for (int k = 0; k < 2; k++) {
        gls_fixels *f;
        gls_image *sh = scene_fods();
        if (k) assert_ok(gls_grid_init(&sh->grid, dim, oblique));
        assert_ok(gls_fixels_create(sh, "fods", NULL, NULL, &f));
        for (uint32_t ratio = 1; ratio <= 7; ratio += 2) {
            gls_device *const *const by[] = {several, several, failing + 1, failing};
            gls_rows host, by_device;
            map_lines(f, k ? mask : NULL, NULL, 0, ratio, ratio == 3, &host);
            assert_true(host.n_entries > 1000 && host.n_outside > 10 && host.n_without_points > 5);
            for (size_t i = 0; i < 4; i++) {
                map_lines(f, k ? mask : NULL, by[i], 1 + i % 2, ratio, ratio == 3, &by_device);
                same_rows(&host, &by_device);
                assert_true(!by_device.length == (i >= 2 || gls_device_get_info(device)->gles));
                if (by_device.length) check_totals(&by_device, f);
                gls_rows_finish(&by_device);
            }
            gls_rows_finish(&host);
        }
        gls_fixels_destroy(f);
        gls_image_destroy(sh);
    }
    gls_device_close(small);
    gls_device_close(more);
}

/* Weights with so many low bits of fixels in the words of entries. */
static gls_weights *solve_width(const gls_weights_options *o, unsigned low_bits, gls_device *const *devices, size_t n)
{
    gls_weights *w;
    assert_ok(gls_weights_create(fixels, o, &w));
    gls_rows_set_width(&w->rows, low_bits);
    assert_ok(gls_weights_set_walk(w, 5, GLS_WALK_CURVE));
    gls_sink sink = gls_weights_sink(w);
    assert_ok(gls_sink_append(&sink, &scene->lines));
    assert_ok(gls_weights_solve(w, devices, n, NULL, NULL));
    for (size_t i = 0; i < w->rows.n_chunks; i++) assert_true(!w->rows.chunk[i].high == !w->rows.wide);
    return w;
}

/* Entries of 5 bytes, as more than 2^24 fixels need them, have the results of those of 4. */
static void test_wide(void **state)
{
    (void)state;
    const size_t n = gls_fixels_count(fixels);
    float *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
    assert_true(n > 128 && n < 2048);
    for (int k = 0; k < 5; k++) {
        gls_weights_options o = gls_weights_options_default();
        o.method = k < 3 ? GLS_WEIGHTS_SIFT2 : k == 3 ? GLS_WEIGHTS_LINEAR : GLS_WEIGHTS_SIFT;
        if (k == 1) o.chunk_entries = 901, o.device_bytes = 1;
        if (k == 2) o.max_coeff = 0.3;
        for (size_t on_device = 0; on_device < (k < 3 ? 2 : 1); on_device++) {
            gls_weights *narrow = solve_width(&o, GLS_ROW_FIXEL_BITS, &device, on_device);
            gls_weights *wide = solve_width(&o, 3 + (unsigned)k, &device, on_device);
            assert_true(wide->rows.wide && !narrow->rows.wide);
            assert_memory_equal(gls_weights_get(narrow, NULL), gls_weights_get(wide, NULL),
                                SCENE_LINES * sizeof(float));
            for (int kind = 0; kind < GLS_WEIGHTS_N_VALUES; kind++) {
                assert_ok(gls_weights_get_fixels(narrow, (gls_weights_values)kind, a));
                assert_ok(gls_weights_get_fixels(wide, (gls_weights_values)kind, b));
                assert_memory_equal(a, b, n * sizeof *a);
            }
            gls_weights_destroy(narrow);
            gls_weights_destroy(wide);
        }
    }
    free(a);
    free(b);
}

/* If the device fails between batches, threads go on from there. */
static void test_mapping_fails(void **state)
{
    static const struct {
        const char *text;
        gls_fault fault;
        uint64_t n;
    } faults[] = {{"compile:1", GLS_FAULT_COMPILE, 1},   {"alloc:2", GLS_FAULT_ALLOC, 2},
                  {"upload:6", GLS_FAULT_UPLOAD, 6},     {"readback:3", GLS_FAULT_READBACK, 3},
                  {"readback:4", GLS_FAULT_READBACK, 4}, {"dispatch:3", GLS_FAULT_DISPATCH, 3}};
    gls_rows host, by_device;
    (void)state;
    map_lines(fixels, NULL, NULL, 0, 4, false, &host);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        assert_ok(gls_inject_set(faults[i].text));
        map_lines(fixels, NULL, &device, 1, 4, false, &by_device);
        assert_true(gls_device_get_info(device)->gles || gls_inject_count(faults[i].fault) >= faults[i].n);
        assert_ok(gls_inject_set(NULL));
        same_rows(&host, &by_device);
        gls_rows_finish(&by_device);
    }
    gls_rows_finish(&host);
}

/* The least resources of OpenGL ES 3.1 are enough. */
static void test_limits(void **state)
{
    (void)state;
    gls_device *small = open_limited("gles31");
    solve_both(gls_weights_options_default(), &small, 1);
    gls_device_close(small);
}

/* A device without room leaves the work to the CPU. */
static void test_no_memory(void **state)
{
    (void)state;
    gls_device *small = open_limited("storage_bytes=1024");
    gls_weights *host = scene_solve(fixels, NULL, &scene->lines, NULL, 0), *w;
    assert_ok(gls_weights_create(fixels, NULL, &w));
    assert_ok(gls_weights_set_walk(w, 5, GLS_WALK_CURVE));
    gls_sink sink = gls_weights_sink(w);
    assert_ok(gls_sink_append(&sink, &scene->lines));
    gls_status status = gls_weights_solve(w, &small, 1, NULL, NULL);
    assert_ok(status);
    compare(host, w);
    gls_weights_destroy(w);
    gls_weights_destroy(host);
    gls_device_close(small);
}

static int set_up(void **state)
{
    (void)state;
    gls_image *sh = scene_fods();
    assert_ok(gls_fixels_create(sh, "fods", NULL, NULL, &fixels));
    gls_image_destroy(sh);
    scene = scene_streamlines();
    return 0;
}

/* Sums of lengths in fixels, as dynamic seeds use them: those of the CPU, however the streamlines are divided. A large
 * unit and a small one, whose sums need both words. */
static void test_sums(void **state)
{
    (void)state;
    const gls_streamlines s = tangled_lines();
    const size_t n = gls_fixels_count(fixels);
    uint64_t *host = malloc(n * sizeof *host), *sum = malloc(n * sizeof *sum);
    for (int exponent = 4; exponent <= 34; exponent += 10) {
        gls_walk_grid grid;
        gls_walk walk = {0};
        uint32_t met = 0, met_host = 0;
        gls_mapper *mapper = NULL;
        gls_walk_grid_init(&grid, gls_fixels_grid(fixels), 3, false, ldexp(1, -exponent));
        memset(host, 0, n * sizeof *host);
        for (size_t i = 0; i < s.n; i++) {
            gls_walk_visits(&walk, &grid, s.point + s.offset[i], (size_t)(s.offset[i + 1] - s.offset[i]));
            met_host += walk.n > 0;
            for (size_t k = 0; k < walk.n; k++) {
                const uint32_t f = gls_fixel_at(fixels, walk.visit[k].voxel, walk.visit[k].direction);
                if (f != GLS_NO_FIXEL) host[f] += (uint64_t)(ldexp(walk.visit[k].length, exponent) + 0.5);
            }
        }
        gls_walk_finish(&walk);
        const gls_mapper_source source = {.device = device, .fixels = fixels, .grid = &grid, .sums_alone = true};
        const gls_status status = gls_mapper_create(&source, &mapper);
        if (gls_device_get_info(device)->gles) { /* it has no doubles */
            assert_int_equal(status, GLS_ERR_UNSUPPORTED);
            break;
        }
        assert_ok(status);
        for (size_t first = 0; first < s.n; first += 350) {
            const gls_streamlines part = {.n = 350, .offset = s.offset + first, .point = s.point};
            size_t done = 0;
            assert_ok(gls_mapper_add(mapper, &part, &done));
            assert_int_equal(done, 350);
        }
        assert_ok(gls_mapper_read_sums(mapper, sum, &met));
        gls_mapper_destroy(mapper);
        assert_int_equal(met, met_host);
        assert_in_range(met, 1, s.n - 1);
        assert_memory_equal(sum, host, n * sizeof *sum);
        uint64_t high = 0;
        for (size_t k = 0; k < n; k++) high |= sum[k] >> 32;
        if (exponent == 4 || exponent == 34) assert_true((high != 0) == (exponent == 34));
    }
    free(host);
    free(sum);
}

int main(void)
{
    int code = 0;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same),      cmocka_unit_test(test_chunks),
                                       cmocka_unit_test(test_mapping),   cmocka_unit_test(test_mapping_fails),
                                       cmocka_unit_test(test_wide),      cmocka_unit_test(test_limits),
                                       cmocka_unit_test(test_no_memory), cmocka_unit_test(test_sums)};
    static const gls_graphics apis[] = {GLS_GRAPHICS_GL, GLS_GRAPHICS_GLES};
    for (int k = 0; k < 2 && code == 0; k++) {
        if (!gpu_open(apis[k], &device, &code)) return code;
        code = cmocka_run_group_tests_name(k ? "gles" : "gl", tests, k == 0 ? set_up : NULL, NULL);
        gls_device_close(device);
    }
    gls_fixels_destroy(fixels);
    free(scene);
    return code;
}
