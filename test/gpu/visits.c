/* The kernel that counts the voxels of streamlines against the walk of the host: the same voxels, or the streamline is
 * left to the host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gpu.h"
#include "tracts/visits_list.h"
#include "track/engine/visitor_kernel.h"
#include "tracts/visits.h"

#define MOST_POINTS 700
#define N_LINES 3000

typedef struct scene {
    gls_grid grid;
    gls_visit_grid visit_grid;
    size_t n_points;
    gls_placed_record line[N_LINES];
    float point[N_LINES * 80 + 20 * MOST_POINTS][3];
} scene;

static gls_device *device;
static scene s;

static const double straight[3][4] = {{2, 0, 0, -20}, {0, 2, 0, -24}, {0, 0, 2, -18}};
static const double oblique[3][4] = {{-1.6, 0.31, 0.42, 31.7}, {0.28, 1.93, -0.5, -22.1}, {-0.44, 0.47, 2.4, 12.9}};

/* Sets a point at voxel coordinates whose whole numbers are corners. */
static void put(const double c[3])
{
    for (int r = 0; r < 3; r++) {
        double x = s.grid.affine[r][3];
        for (int k = 0; k < 3; k++) x += s.grid.affine[r][k] * (c[k] - 0.5);
        s.point[s.n_points][r] = (float)x;
    }
    s.n_points++;
}

static void begin_line(size_t i)
{
    s.line[i] = (gls_placed_record){.first = (uint32_t)s.n_points};
}

static void end_line(size_t i)
{
    uint32_t steps = (uint32_t)(s.n_points - s.line[i].first) - 1;
    s.line[i].backward = steps / 3;
    s.line[i].forward = steps - steps / 3;
}

/* Makes wandering lines that stay inside. step: voxels. */
static void wander(size_t i, uint64_t *seed, size_t n, double step)
{
    double c[3], way[3];
    for (int r = 0; r < 3; r++) c[r] = random_uniform(seed, 0.5, s.grid.dim[r] - 0.5);
    for (int r = 0; r < 3; r++) way[r] = random_normal(seed);
    begin_line(i);
    for (size_t k = 0; k < n; k++) {
        put(c);
        for (int r = 0; r < 3; r++) {
            way[r] = 0.9 * way[r] + 0.4 * random_normal(seed);
            double to = c[r] + step * way[r] / 1.7;
            if (to < 0.01 || to > s.grid.dim[r] - 0.01)
                way[r] = -way[r];
            else
                c[r] = to;
        }
    }
    end_line(i);
}

/* Makes points at faces, edges and corners, or near them, some outside, some equal to the one before. */
static void touch(size_t i, uint64_t *seed, size_t n)
{
    double c[3] = {3, 3, 3};
    begin_line(i);
    for (size_t k = 0; k < n; k++) {
        for (int r = 0; r < 3 && random_uniform(seed, 0, 1) < 0.9; r++) {
            c[r] = floor(random_uniform(seed, -0.5, s.grid.dim[r] + 0.5));
            if (random_uniform(seed, 0, 1) < 0.5) c[r] += 0.5;
            if (random_uniform(seed, 0, 1) < 0.5) c[r] += 1e-7 * random_normal(seed);
        }
        put(c);
    }
    end_line(i);
}

static void make_lines(const double affine[3][4], uint64_t seed)
{
    assert_ok(gls_grid_init(&s.grid, (const int32_t[3]){21, 24, 19}, affine));
    gls_visit_grid_init(&s.visit_grid, &s.grid);
    s.n_points = 0;
    for (size_t i = 0; i < N_LINES; i++) {
        const size_t n = 1 + (size_t)random_uniform(&seed, 0, 79);
        switch (i % 10) {
        case 0: touch(i, &seed, n); break;
        case 1: touch(i, &seed, 1); break;
        case 2: wander(i, &seed, n, 3); break;
        case 3: wander(i, &seed, 1 + n % 3, 1); break;
        case 4: wander(i, &seed, i < 200 ? MOST_POINTS : n, 0.5); break;
        default: wander(i, &seed, n, 0.5); break;
        }
        if (i % 50 == 9) s.line[i].first = NOT_PLACED;
    }
}

static void run_kernel(uint32_t *word, size_t n_words, uint32_t room)
{
    gls_kernel *kernel = NULL;
    gls_buffer *lines = NULL, *points = NULL, *words = NULL, *uniforms = NULL;
    gls_visit_uniforms u = gls_visitor_uniforms(&s.grid, N_LINES, room);
    assert_ok(gls_visitor_load(device, &kernel));
    assert_ok(gls_buffer_create(device, GLS_BUFFER_STORAGE, sizeof s.line, "lines", &lines));
    assert_ok(gls_buffer_create(device, GLS_BUFFER_STORAGE, s.n_points * 12, "points", &points));
    assert_ok(gls_buffer_create(device, GLS_BUFFER_STORAGE, 4 * n_words, "words", &words));
    assert_ok(gls_buffer_create(device, GLS_BUFFER_UNIFORM, sizeof u, "parameters", &uniforms));
    assert_ok(gls_buffer_write(lines, 0, sizeof s.line, s.line));
    assert_ok(gls_buffer_write(points, 0, s.n_points * 12, s.point));
    assert_ok(gls_buffer_write(uniforms, 0, sizeof u, &u));
    assert_ok(gls_buffer_clear(words));
    gls_arg args[] = {gls_arg_uniforms(0, uniforms), gls_arg_buffer(0, lines), gls_arg_buffer(1, points),
                      gls_arg_buffer(2, words)};
    assert_ok(gls_kernel_run(kernel, (const uint32_t[3]){N_LINES / 2, 1, 1}, args, 4, NULL));
    assert_ok(gls_buffer_read(words, 0, 4 * n_words, word));
    gls_buffer_destroy(lines);
    gls_buffer_destroy(points);
    gls_buffer_destroy(words);
    gls_buffer_destroy(uniforms);
    gls_kernel_destroy(kernel);
}

/* The ends of line i, and its points if it is left to the host and found room. word: behind the map. */
static void compare_points(const uint32_t *word, size_t i, uint32_t room)
{
    const gls_placed_record *l = &s.line[i];
    const size_t n = (size_t)l->backward + l->forward + 1;
    const uint32_t *ends = word + N_LINES + 1, *at = ends + 6 * N_LINES;
    assert_memory_equal(ends + 6 * i, s.point[l->first], 12);
    assert_memory_equal(ends + 6 * i + 3, s.point[l->first + n - 1], 12);
    if (word[i] && word[i] - 1 + n <= room)
        assert_memory_equal(at + 3 * (size_t)(word[i] - 1), s.point[l->first], 12 * n);
}

static void compare(const double affine[3][4], uint64_t seed, uint32_t room)
{
    make_lines(affine, seed);
    const size_t n_voxels = gls_grid_voxels(&s.grid), n_words = gls_visitor_words(&s.grid, N_LINES, room);
    uint32_t *word = malloc(4 * n_words), *expected = calloc(n_voxels, 4);
    size_t left[3] = {0}, n[3] = {0}, n_visits = 0, n_left = 0;
    gls_visits v = {0};
    gls_density_options options = gls_density_options_default();
    assert_non_null(word);
    assert_non_null(expected);
    run_kernel(word, n_words, room);
    for (size_t i = 0; i < N_LINES; i++) {
        const gls_placed_record *l = &s.line[i];
        if (l->first == NOT_PLACED) {
            assert_int_equal(word[n_voxels + i], 0);
            continue;
        }
        const int sort = i % 10 < 2 ? 2 : i % 10 == 2;
        n[sort]++;
        left[sort] += word[n_voxels + i] != 0;
        n_left += word[n_voxels + i] ? (size_t)l->backward + l->forward + 1 : 0;
        if (room > 0) compare_points(word + n_voxels, i, room);
        if (word[n_voxels + i]) continue;
        gls_visits_find(&v, &s.visit_grid, &options, (const float(*)[3])s.point + l->first,
                        (size_t)l->backward + l->forward + 1);
        assert_false(v.failed || v.outside);
        n_visits += v.n;
        for (size_t k = 0; k < v.n; k++) expected[v.voxel[k]]++;
    }
    for (size_t k = 0; k < n_voxels; k++)
        if (word[k] != expected[k]) {
            print_error("voxel %zu: %u streamlines, %u expected\n", k, word[k], expected[k]);
            fail();
        }
    print_message("%zu visits; left to the host: %zu of %zu, of long steps %zu of %zu, at faces %zu of %zu\n", n_visits,
                  left[0], n[0], left[1], n[1], left[2], n[2]);
    assert_true(n_visits > 20 * (size_t)N_LINES / 2);
    assert_true(left[0] <= n[0] / 100 && left[1] < n[1] && left[2] > n[2] / 2 && left[2] < n[2]);
    assert_int_equal(word[n_voxels + N_LINES], n_left);
    gls_visits_finish(&v);
    free(word);
    free(expected);
}

static void voxels(void **state)
{
    (void)state;
    if (gls_device_get_info(device)->gles) leave_out("VISITS", "double precision");
    compare(straight, 1, 0);
    compare(oblique, 2, N_LINES * 80);
    compare(straight, 3, 1000);
}

static void choice(void **state)
{
    (void)state;
    gls_grid grid, far;
    gls_device_info info = {.vendor = "NVIDIA Corporation"}, other = {.vendor = "Intel"}, es = info, cpu = info;
    const double away[3][4] = {{1e-3, 0, 0, 1e6}, {0, 1e-3, 0, 0}, {0, 0, 1e-3, 0}};
    assert_ok(gls_grid_init(&grid, (const int32_t[3]){100, 100, 60}, straight));
    assert_ok(gls_grid_init(&far, (const int32_t[3]){100, 100, 60}, away));
    es.gles = true;
    cpu.software = true;
    unsetenv("GLSLINES_MAP");
    assert_true(gls_visitor_pays(&info, &grid));
    assert_false(gls_visitor_pays(&other, &grid) || gls_visitor_pays(&es, &grid) || gls_visitor_pays(&cpu, &grid));
    assert_false(gls_visitor_pays(&info, &far));
    setenv("GLSLINES_MAP", "host", 1);
    assert_false(gls_visitor_pays(&info, &grid));
    setenv("GLSLINES_MAP", "device", 1);
    assert_true(gls_visitor_pays(&cpu, &grid) && gls_visitor_pays(&other, &grid));
    assert_false(gls_visitor_pays(&es, &grid) || gls_visitor_pays(&info, &far));
    unsetenv("GLSLINES_MAP");
    assert_ok(gls_grid_init(&grid, (const int32_t[3]){200, 100, 60}, straight));
    assert_false(gls_visitor_pays(&info, &grid));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(choice), cmocka_unit_test(voxels)};
    return gpu_run_tests(tests, NULL, NULL, &device);
}
