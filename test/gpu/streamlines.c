/* What each streamline must be, on a grid with oblique, unequal sides; lengths that are cut; and the same streamlines
 * from an implementation in double. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "gpu.h"
#include "series.h"
#include "ref_boot.h"
#include "collect.h"

#define N_SEEDS 400

static gls_device *device;
static const double degree = 3.14159265358979323846 / 180;

/* Fibres on circles round an axis outside the grid, crossed by straight ones in a part of it. */
static int arcs(const gls_grid *grid, const double p[3], double direction[2][3], double *stop)
{
    const double *mm = grid->voxel_size;
    double x = p[0] * mm[0] + 6, y = p[1] * mm[1] + 4, z = (p[2] / grid->dim[2] - 0.5) * 2;
    direction[0][0] = -y, direction[0][1] = x, direction[0][2] = 0.15 * z * x;
    direction[1][0] = 0.2, direction[1][1] = 0.1 * z, direction[1][2] = 1;
    unit3(direction[0]);
    unit3(direction[1]);
    *stop = 0.8 - 0.5 * z * z + 0.1 * sin(p[0]);
    return fabs(p[0] - 7) < 3 ? 2 : 1;
}

static int straight(const gls_grid *grid, const double p[3], double direction[2][3], double *stop)
{
    (void)grid, (void)p;
    direction[0][0] = 1, direction[0][1] = direction[0][2] = 0;
    *stop = 1;
    return 1;
}

/* --- invariants ----------------------------------------------------------- */

typedef struct fixture {
    series s;
    gls_qball *qball;
    gls_seeds *seeds;
    gls_track_params params;
    collection c;
    gls_track_result result;
} fixture;

/* Tracks with the series, model and parameters of f. */
static void fixture_run(fixture *f)
{
    gls_tracker *t = NULL;
    gls_track_input input = series_input(&f->s, f->qball);
    assert_ok(gls_tracker_create(device, &f->params, &input, &t));
    f->result = run_tracker(t, f->seeds, &f->c);
    assert_sums(&f->result);
    gls_tracker_destroy(t);
}

static void fixture_finish(fixture *f)
{
    collection_finish(&f->c);
    series_destroy(&f->s);
    gls_qball_destroy(f->qball);
    gls_seeds_destroy(f->seeds);
}

static void arcs_init(fixture *f, gls_qball_model model, double snr)
{
    static const int dim[3] = {16, 13, 9};
    static double points[N_SEEDS][3];
    double affine[3][4];
    uint64_t seed = 3;
    *f = (fixture){.params = gls_track_params_default()};
    oblique_affine((const double[3]){1.7, 2.0, 3.1}, affine);
    series_create(&f->s, dim, (const double(*)[4])affine, arcs, 2500, snr, "default", 9);
    f->qball = series_qball(&f->s, model, 4);
    for (int i = 0; i < N_SEEDS; i++)
        for (int a = 0; a < 3; a++) points[i][a] = random_uniform(&seed, -0.5, dim[a] - 0.5001);
    assert_ok(gls_seeds_create_list((const double(*)[3])points, N_SEEDS, GLS_SEEDS_VOXEL, &f->s.dwi->grid, &f->seeds));
    f->params.step_size = 0.7;
    f->params.max_length = 80;
    f->params.max_angle = 35;
    f->params.stop_threshold = 0.45;
    f->params.max_directions_per_seed = 4;
    f->params.mapping = GLS_MAPPING_SINGLE;
}

/* The largest deviations over all streamlines. */
typedef struct extremes {
    double step, angle, vertex, stop; /* mm; degrees; cosine from the nearest vertex; smallest value of the stop map */
    size_t steps;
} extremes;

static void check_line(const fixture *f, size_t i, extremes *e)
{
    const gls_grid *grid = &f->s.dwi->grid;
    double last[3] = {0};
    for (uint64_t k = f->c.offset[i]; k < f->c.offset[i + 1]; k++) {
        double p[3] = {f->c.point[k][0], f->c.point[k][1], f->c.point[k][2]}, d[3];
        assert_true(ref_inside(grid, p));
        if (memcmp(f->c.point[k], f->c.seed[i], sizeof f->c.seed[i]) != 0)
            e->stop = fmin(e->stop, ref_interpolate(f->s.stop, 0, p));
        if (k == f->c.offset[i]) continue;
        for (int a = 0; a < 3; a++) d[a] = (p[a] - (double)f->c.point[k - 1][a]) * grid->voxel_size[a];
        e->step = fmax(e->step, fabs(sqrt(dot3(d, d)) - f->params.step_size));
        unit3(d);
        if (k > f->c.offset[i] + 1) e->angle = fmax(e->angle, acos(fmin(dot3(d, last), 1)) / degree);
        memcpy(last, d, sizeof last);
        double nearest = 0;
        for (size_t v = 0; v < f->s.sphere->n; v++) nearest = fmax(nearest, fabs(dot3(d, f->s.sphere->vertex[v])));
        e->vertex = fmax(e->vertex, 1 - nearest);
        e->steps++;
    }
    assert_true((double)(f->c.offset[i + 1] - f->c.offset[i] - 1) * f->params.step_size <= f->params.max_length + 1e-9);
}

static void check_invariants(double snr, double max_angle)
{
    fixture f;
    arcs_init(&f, GLS_QBALL_OPDT, snr);
    f.params.max_angle = max_angle;
    fixture_run(&f);
    extremes e = {.stop = 1e9};
    for (size_t i = 0; i < f.c.n; i++) check_line(&f, i, &e);
    print_message("%zu streamlines, %zu steps: length off by %.2g mm, largest angle %.4f, off the sphere by %.2g, stop "
                  "map at least %.7f\n",
                  f.c.n, e.steps, e.step, e.angle, e.vertex, e.stop);
    assert_true(f.c.n > N_SEEDS / 2 && e.steps > 5 * f.c.n);
    /* Two positions below 16 voxels, rounded to float32 (2^-21 voxels at most), of 3.1 mm voxels; directions from them
     * are off by that over a step. */
    double position = 2 * 3.1 * sqrt(3) * 0x1p-21;
    assert_true(e.step < position);
    assert_true(e.angle <= f.params.max_angle + 2 * position / f.params.step_size / degree &&
                e.angle > f.params.max_angle - 3);
    assert_true(e.vertex < position / f.params.step_size);
    /* a float32 fetch decides; a GPU weights with 8 bits values that differ by 1 at most */
    assert_true(e.stop > f.params.stop_threshold - (gls_device_get_info(device)->software ? 1e-6 : 3 * 0x1p-8));
    assert_true(f.result.ends[GLS_END_STOP_MAP] > 0 && f.result.ends[GLS_END_OUTSIDE] > 0 &&
                f.result.ends[GLS_END_NO_DIRECTION] > 0);
    fixture_finish(&f);
}

/* The second time with so much noise that the two halves of a seed often set out in different directions. */
static void invariants(void **state)
{
    (void)state;
    check_invariants(15, 35);
    check_invariants(5, 20);
}

/* --- lengths -------------------------------------------------------------- */

static void check_cut(fixture *f, double max_length, uint64_t steps, uint64_t longest_half, bool halves_end)
{
    f->params.max_length = max_length;
    collection_finish(&f->c);
    fixture_run(f);
    assert_int_equal(f->c.n, f->result.directions);
    for (size_t i = 0; i < f->c.n; i++) {
        uint64_t n = f->c.offset[i + 1] - f->c.offset[i], seed_at = n, half = steps / 2;
        const float(*p)[3] = (const float(*)[3])f->c.point + f->c.offset[i];
        for (uint64_t k = 0; k < n; k++)
            if (memcmp(p[k], f->c.seed[i], sizeof p[k]) == 0) seed_at = k;
        assert_int_equal(n, steps + 1);
        /* the backward half is to the left or the right; it keeps steps / 2 where both halves are long, else each what
         * the other leaves */
        uint64_t room[2];
        float s = f->c.seed[i][0], along = p[0][0] < p[n - 1][0] ? 1 : -1;
        for (int side = 0; side < 2; side++) {
            double mm = (side == 0) == (along > 0)
                            ? s + 0.5
                            : 59.5 - s; /* distance to the face behind, then to the face in front */
            room[side] = (uint64_t)(mm / f->params.step_size);
        }
        if (room[0] > half + 1 && room[1] > half + 2) assert_int_equal(seed_at, half);
        assert_true(seed_at <= longest_half && n - 1 - seed_at <= longest_half);
    }
    assert_int_equal(f->result.truncated, f->c.n);
    assert_true(f->result.max_length <= max_length + 1e-9 &&
                fabs(f->result.max_length - (double)steps * f->params.step_size) < 1e-9);
    if (halves_end) assert_int_equal(f->result.ends[GLS_END_MAX_LENGTH], 2 * f->result.directions);
    for (size_t i = 0; i + 1 < f->c.n; i++) assert_true(f->c.seed_index[i] <= f->c.seed_index[i + 1]);
}

/* A straight bundle of 60 mm: seeds in its middle with two long halves, and near its ends. */
static void cut_lengths(void **state)
{
    (void)state;
    static const int dim[3] = {60, 10, 10};
    double points[40][3];
    uint64_t seed = 17;
    fixture f = {.params = gls_track_params_default()};
    series_create(&f.s, dim, voxel_space, straight, 2000, 0, "small", 1);
    f.qball = series_qball(&f.s, GLS_QBALL_OPDT, 4);
    for (int i = 0; i < 40; i++) {
        points[i][0] = i < 20   ? random_uniform(&seed, 25, 35)
                       : i < 30 ? random_uniform(&seed, 0, 3)
                                : random_uniform(&seed, 56, 59);
        for (int a = 1; a < 3; a++) points[i][a] = random_uniform(&seed, 4, 5);
    }
    assert_ok(gls_seeds_create_list((const double(*)[3])points, 40, GLS_SEEDS_VOXEL, &f.s.dwi->grid, &f.seeds));
    f.params.step_size = 0.5;
    f.params.mapping = GLS_MAPPING_SINGLE;
    check_cut(&f, 20, 40, 40, false);   /* even */
    check_cut(&f, 10.7, 21, 21, false); /* an odd number, and no multiple of the step */
    check_cut(&f, 0.5, 1, 1, true);     /* a single step: a half has none */
    /* much longer than the bundle: nothing is cut */
    f.params.max_length = 500;
    collection_finish(&f.c);
    fixture_run(&f);
    assert_true(f.result.truncated == 0 && f.result.ends[GLS_END_MAX_LENGTH] == 0 &&
                f.result.ends[GLS_END_OUTSIDE] == 2 * f.result.directions);
    for (size_t i = 0; i < f.c.n; i++) {
        uint64_t n = f.c.offset[i + 1] - f.c.offset[i];
        assert_true(n >= 117 && n <= 130);
    }
    fixture_finish(&f);
}

/* --- the same in double --------------------------------------------------- */

typedef struct agreement {
    size_t lines, same, points, ends[GLS_END_COUNT];
    uint64_t directions;
    double worst; /* largest distance among streamlines that are the same */
} agreement;

/* Whether line i is the streamline that the reference tracks from its seed and direction. */
static bool same_line(const fixture *f, size_t i, const double (*back)[3], uint32_t n_back, const double *seed,
                      const double (*ahead)[3], uint32_t n_ahead, double *worst)
{
    const float(*got)[3] = (const float(*)[3])f->c.point + f->c.offset[i];
    uint64_t n = f->c.offset[i + 1] - f->c.offset[i];
    if (n != (uint64_t)n_back + 1 + n_ahead) return false;
    double largest = 0;
    for (uint64_t k = 0; k < n; k++) {
        const double *p = k < n_back ? back[n_back - 1 - k] : k == n_back ? seed : ahead[k - n_back - 1];
        for (int a = 0; a < 3; a++) largest = fmax(largest, fabs(p[a] - got[k][a]));
    }
    if (largest <= 0.05) *worst = fmax(*worst, largest);
    return largest <= 0.05;
}

/* Every seed and direction once more; lines are in this order, single points left in. */
static void compare(const fixture *f, agreement *a)
{
    ref_boot r;
    ref_init(&r, &f->s, f->qball, &f->params);
    double(*back)[3] = malloc(r.max_steps * sizeof *back), (*ahead)[3] = malloc(r.max_steps * sizeof *ahead);
    size_t line = 0;
    *a = (agreement){0};
    for (uint32_t s = 0; s < gls_seeds_count(f->seeds); s++) {
        float at[1][3];
        gls_seeds_get(f->seeds, s, 1, at);
        const double seed[3] = {at[0][0], at[0][1], at[0][2]};
        double coefficients[64];
        uint32_t peak[32], n_back, n_ahead;
        ref_coefficients(&r, seed, (ref_draw){0, 0, s, 0x80000000u}, f->params.boot_start == GLS_BOOT_START_FIT,
                         coefficients);
        uint32_t n = ref_peaks(&r, coefficients, peak, (uint32_t)f->params.max_directions_per_seed);
        a->directions += n;
        for (uint32_t k = 0; k < n; k++) {
            uint32_t stream = 0x80000000u | k << 16;
            const double *d = f->s.sphere->vertex[peak[k]];
            a->ends[ref_half(&r, seed, d, false, s, stream, ahead, &n_ahead)]++;
            a->ends[ref_half(&r, seed, d, true, s, stream, back, &n_back)]++;
            /* skip the lines of another seed: then the number of directions differs */
            while (line < f->c.n && f->c.seed_index[line] < s) line++;
            if (line == f->c.n || f->c.seed_index[line] != s) continue;
            a->lines++;
            a->same += same_line(f, line++, (const double(*)[3])back, n_back, seed, (const double(*)[3])ahead, n_ahead,
                                 &a->worst);
            a->points += n_back + 1 + n_ahead;
        }
    }
    free(back);
    free(ahead);
    free(r.odf_matrix);
}

/* The bound on the share is for kernels that round otherwise; llvmpipe gives all. */
static void check_agreement(gls_qball_model model, gls_boot_retry retry, gls_boot_start start, double snr, double share)
{
    fixture f;
    agreement a;
    arcs_init(&f, model, snr);
    f.params.precision = GLS_PRECISION_FLOAT;
    f.params.keep_single_points = true;
    f.params.boot_retry = retry;
    f.params.boot_start = start;
    f.params.rng_seed = 0xfedcba9876543210u;
    gls_seeds_destroy(f.seeds);
    double points[120][3];
    uint64_t seed = 21;
    for (int i = 0; i < 120; i++)
        for (int k = 0; k < 3; k++) points[i][k] = random_uniform(&seed, 0, f.s.dwi->grid.dim[k] - 1);
    assert_ok(gls_seeds_create_list((const double(*)[3])points, 120, GLS_SEEDS_VOXEL, &f.s.dwi->grid, &f.seeds));
    fixture_run(&f);
    compare(&f, &a);
    print_message(
        "%s, %s, %s, SNR %g: %zu of %zu streamlines (%.1f %%) are those of the reference, to %.2g voxels; %zu points\n",
        model == GLS_QBALL_OPDT ? "OPDT" : "CSA",
        retry == GLS_BOOT_RETRY_CONE ? "retry without a peak in the cone" : "retry without a peak",
        start == GLS_BOOT_START_FIT ? "from the fit" : "from a sample", snr, a.same, a.lines,
        100.0 * (double)a.same / (double)a.lines, a.worst, a.points);
    assert_true(a.lines > 100 && a.points > 10 * a.lines);
    if (gls_device_get_info(device)->software) {
        assert_true((double)a.same >= share * (double)f.c.n);
        assert_true(fabs((double)a.directions - (double)f.result.directions) <= 0.01 * (double)a.directions);
        for (int e = 0; e < GLS_END_COUNT; e++)
            assert_true(fabs((double)a.ends[e] - (double)f.result.ends[e]) <= 0.05 * (double)a.directions);
    }
    fixture_finish(&f);
}

static void reference(void **state)
{
    (void)state;
    check_agreement(GLS_QBALL_OPDT, GLS_BOOT_RETRY_CONE, GLS_BOOT_START_SAMPLE, 100, 0.985);
    check_agreement(GLS_QBALL_OPDT, GLS_BOOT_RETRY_CONE, GLS_BOOT_START_SAMPLE, 10, 0.985);
    check_agreement(GLS_QBALL_CSA, GLS_BOOT_RETRY_PEAK, GLS_BOOT_START_FIT, 20, 0.985);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(invariants), cmocka_unit_test(cut_lengths),
                                       cmocka_unit_test(reference)};
    return gpu_run_tests(tests, NULL, NULL, &device);
}
