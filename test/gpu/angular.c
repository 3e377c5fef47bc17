/* Soft angular weighting: on a field of equal ODFs every step of the deterministic getter is the vertex that double
 * precision finds, and the probabilistic one draws in proportion to the weighted ODF; every step of the bootstrap
 * through a noisy series is that of its reference in double precision. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glslines/peaks.h>

#include "gpu.h"
#include "series.h"
#include "ref_boot.h"
#include "collect.h"

#define SIDE 15
#define N_ODFS 8

static gls_device *device;
static gls_sphere *sphere;

typedef struct field {
    gls_image *odf, *stop;
    gls_odf_source *source;
    double *value; /* value of the ODF at each vertex */
} field;

/* Returns three lobes at random, the same in every voxel. */
static void field_init(field *f, uint64_t *seed)
{
    const double affine[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    gls_grid grid;
    double lobe[3][3];
    assert_ok(gls_grid_init(&grid, (const int32_t[3]){SIDE, SIDE, SIDE}, affine));
    assert_ok(gls_image_create(&grid, sphere->n, &f->odf));
    assert_ok(gls_image_create(&grid, 1, &f->stop));
    f->value = malloc(sphere->n * sizeof *f->value);
    for (int k = 0; k < 3; k++) memcpy(lobe[k], sphere->vertex[random_bits(seed) % sphere->n], sizeof lobe[k]);
    size_t n = gls_grid_voxels(&grid);
    for (size_t v = 0; v < sphere->n; v++) {
        double sum = 0.1;
        for (int k = 0; k < 3; k++) sum += (1 - 0.15 * k) * exp(6 * (pow(dot3(sphere->vertex[v], lobe[k]), 2) - 1));
        f->value[v] = (float)sum;
        for (size_t i = 0; i < n; i++) f->odf->data[v * n + i] = (float)sum;
    }
    for (size_t i = 0; i < n; i++) f->stop->data[i] = 1;
    gls_odf_options options = gls_odf_options_default();
    assert_ok(gls_odf_source_create_amplitudes(f->odf, "lobes", (const double(*)[3])sphere->vertex, sphere->n,
                                               "the sphere", GLS_BVEC_IMAGE, &options, &f->source));
    assert_int_equal(f->source->sphere->n, sphere->n);
}

static void field_finish(field *f)
{
    gls_odf_source_destroy(f->source);
    gls_image_destroy(f->odf);
    gls_image_destroy(f->stop);
    free(f->value);
}

static gls_track_params params_of(gls_direction_getter dg, double weight)
{
    gls_track_params p = gls_track_params_default();
    p.dg = dg;
    p.angular_weight = weight;
    p.max_angle = 60;
    p.max_directions_per_seed = 1;
    p.precision = GLS_PRECISION_FLOAT;
    return p;
}

static void run(const field *f, const gls_track_params *p, size_t n_seeds, collection *c)
{
    double(*point)[3] = malloc(n_seeds * sizeof *point);
    for (size_t i = 0; i < n_seeds; i++)
        for (int a = 0; a < 3; a++) point[i][a] = SIDE / 2;
    gls_seeds *seeds = NULL;
    gls_tracker *t = NULL;
    gls_track_result result;
    gls_track_input input = {.odf = f->source, .stop_map = f->stop};
    assert_ok(gls_seeds_create_list((const double(*)[3])point, n_seeds, GLS_SEEDS_VOXEL, &f->stop->grid, &seeds));
    assert_ok(gls_tracker_create(device, p, &input, &t));
    *c = (collection){.sound = true};
    assert_ok(run_in_voxels(t, seeds, c, NULL, NULL, &result));
    assert_true(c->sound);
    gls_tracker_destroy(t);
    gls_seeds_destroy(seeds);
    free(point);
}

/* Computes the weighted ODF inside the cone round the vertex `from`; 0 outside and below the threshold. */
static void weigh(const field *f, const gls_track_params *p, size_t from, double *weighted)
{
    double largest = 0, least = cos(p->max_angle * acos(-1.0) / 180);
    for (size_t v = 0; v < sphere->n; v++) {
        double c = fabs(dot3(sphere->vertex[v], sphere->vertex[from]));
        weighted[v] = f->value[v] * (1 - p->angular_weight + p->angular_weight * c);
        largest = fmax(largest, weighted[v]);
    }
    for (size_t v = 0; v < sphere->n; v++)
        if (fabs(dot3(sphere->vertex[v], sphere->vertex[from])) < least || weighted[v] < p->pmf_threshold * largest)
            weighted[v] = 0;
}

static size_t largest_of(const double *value)
{
    size_t best = 0;
    for (size_t v = 1; v < sphere->n; v++)
        if (value[v] > value[best]) best = v;
    return best;
}

static size_t vertex_of(const float *a, const float *b)
{
    size_t best = 0;
    double nearest = -1, d[3] = {(double)b[0] - a[0], (double)b[1] - a[1], (double)b[2] - a[2]};
    for (size_t v = 0; v < sphere->n; v++)
        if (fabs(dot3(d, sphere->vertex[v])) > nearest) {
            nearest = fabs(dot3(d, sphere->vertex[v]));
            best = v;
        }
    return best;
}

/* Returns the place of the seed in a streamline. */
static size_t seed_place(const collection *c, size_t line)
{
    for (size_t k = (size_t)c->offset[line]; k < (size_t)c->offset[line + 1]; k++)
        if (memcmp(c->point[k], c->seed[line], sizeof c->point[k]) == 0) return k;
    fail();
    return 0;
}

static void deterministic(void **state)
{
    (void)state;
    static const double weights[] = {0, 0.3, 0.9};
    double *weighted = malloc(sphere->n * sizeof *weighted);
    uint64_t seed = 3;
    int steps = 0, turned = 0, lines = 0;
    for (int i = 0; i < N_ODFS; i++) {
        field f;
        field_init(&f, &seed);
        uint32_t peak[3];
        size_t last[3][3] = {{0}};
        const gls_peak_options options = gls_peak_options_default();
        size_t n_peaks = gls_peaks_find(sphere, f.value, &options, peak, 3);
        assert_true(n_peaks >= 1);
        if (n_peaks > 3) n_peaks = 3;
        for (int w = 0; w < 3; w++) {
            gls_track_params p = params_of(GLS_DG_DET, weights[w]);
            p.max_directions_per_seed = 3;
            collection c;
            run(&f, &p, 1, &c);
            assert_int_equal(c.n, n_peaks);
            for (size_t line = 0; line < n_peaks; line++) {
                size_t from = peak[line];
                for (size_t k = seed_place(&c, line); k + 1 < (size_t)c.offset[line + 1]; k++, steps++) {
                    weigh(&f, &p, from, weighted);
                    from = largest_of(weighted);
                    assert_int_equal(vertex_of(c.point[k], c.point[k + 1]), from);
                }
                last[w][line] = from;
            }
            collection_finish(&c);
        }
        for (size_t line = 0; line < n_peaks; line++, lines++) turned += last[0][line] != last[2][line];
        field_finish(&f);
    }
    print_message(
        "%d steps as in double precision; the weight decides over the last direction of %d of %d streamlines\n", steps,
        turned, lines);
    assert_true(steps > 100 && turned > 0);
    free(weighted);
}

/* Compares the first steps of many seeds at one place with the weighted ODF, by chi-square over the vertices. */
static void probabilistic(void **state)
{
    (void)state;
    const size_t n_seeds = 12000;
    double *weighted = malloc(sphere->n * sizeof *weighted), *count = calloc(sphere->n, sizeof *count), total = 0,
           chi = 0, plain = 0;
    uint64_t seed = 8;
    int cells = 0;
    field f;
    field_init(&f, &seed);
    gls_track_params p = params_of(GLS_DG_PROB, 0.8);
    p.max_length = 1; /* two steps at most: the forward half's first is after the seed */
    collection c;
    run(&f, &p, n_seeds, &c);
    assert_int_equal(c.n, n_seeds);
    for (size_t i = 0; i < c.n; i++)
        for (size_t k = (size_t)c.offset[i]; k + 1 < (size_t)c.offset[i + 1]; k++)
            if (memcmp(c.point[k], c.seed[i], sizeof c.point[k]) == 0) count[vertex_of(c.point[k], c.point[k + 1])]++;
    weigh(&f, &p, largest_of(f.value), weighted);
    for (size_t v = 0; v < sphere->n; v++) total += weighted[v];
    for (size_t v = 0; v < sphere->n; v++) {
        double expected = weighted[v] / total * (double)n_seeds;
        if (expected == 0) assert_true(count[v] == 0);
        if (expected < 5) continue;
        chi += pow(count[v] - expected, 2) / expected;
        cells++;
    }
    /* the same comparison without the weights must fail, so that the test sees the difference */
    p.angular_weight = 0;
    weigh(&f, &p, largest_of(f.value), weighted);
    for (size_t v = 0, i = 0; v < sphere->n; v++) total = i++ ? total + weighted[v] : weighted[v];
    for (size_t v = 0; v < sphere->n; v++) {
        double expected = weighted[v] / total * (double)n_seeds;
        if (expected >= 5) plain += pow(count[v] - expected, 2) / expected;
    }
    print_message("chi-square %.1f over %d vertices; without the weights %.1f\n", chi, cells, plain);
    assert_true(cells > 50 && chi < cells + 5 * sqrt(2.0 * cells) && plain > cells + 10 * sqrt(2.0 * cells));
    collection_finish(&c);
    field_finish(&f);
    free(weighted);
    free(count);
}

/* --- bootstrap ------------------------------------------------------------ */

/* Fibres on circles round an axis outside the grid, crossed by straight ones in a part of it. */
static int crossing(const gls_grid *grid, const double p[3], double direction[2][3], double *stop)
{
    double z = p[2] / grid->dim[2] - 0.5;
    direction[0][0] = -p[1] - 5, direction[0][1] = p[0] + 8, direction[0][2] = 2 * z;
    direction[1][0] = 0.3, direction[1][1] = 1, direction[1][2] = z;
    unit3(direction[0]);
    unit3(direction[1]);
    *stop = 0.9 - 3 * z * z;
    return p[0] < 9 ? 2 : 1;
}

/* counts of the steps that were made, and of those with which halves ended */
typedef struct step_counts {
    size_t made, same, ended, same_end;
    size_t turned; /* steps that would be others without the weights */
} step_counts;

/* One half as it was tracked, step by step: each from the point and along the direction that the tracker had, so that
 * no difference outlives its step. The line's points from at on, towards its start or its end; first gets the first
 * step's direction, if one was made. */
static void check_half(const ref_boot *r, const ref_boot *plain, const collection *c, size_t line, size_t at,
                       bool backward, const double d[3], uint32_t stream, step_counts *n, double first[3])
{
    size_t left = backward ? at - (size_t)c->offset[line] : (size_t)c->offset[line + 1] - 1 - at;
    const gls_grid *grid = &r->s->dwi->grid;
    ref_draw draw = {0, backward ? 0x80000001u : 1, c->seed_index[line], stream};
    double along[3] = {d[0], d[1], d[2]}, next[3], other[3], q[3];
    for (;; left--, draw.step++) {
        const double p[3] = {c->point[at][0], c->point[at][1], c->point[at][2]};
        bool found = ref_next(r, p, along, draw, next);
        for (int a = 0; found && a < 3; a++) q[a] = p[a] + next[a] * r->params->step_size / grid->voxel_size[a];
        bool goes_on = found && ref_inside(grid, q) && ref_interpolate(r->s->stop, 0, q) > r->params->stop_threshold;
        if (left == 0) {
            n->ended++;
            n->same_end += !goes_on;
            return;
        }
        at = backward ? at - 1 : at + 1;
        n->made++;
        double off = 0;
        for (int a = 0; a < 3; a++) off = fmax(off, fabs(q[a] - c->point[at][a]));
        if (!goes_on || off > 1e-4) return;
        n->same++;
        n->turned += !ref_next(plain, p, along, draw, other) || dot3(other, next) < 1 - 1e-9;
        memcpy(along, next, sizeof along);
        if (first) memcpy(first, next, sizeof next), first = NULL;
    }
}

/* Tracks all streamlines. Single points are kept, so that a seed has one streamline for each initial direction. */
static step_counts check_steps(const ref_boot *r, const collection *c)
{
    gls_track_params unweighted = *r->params;
    ref_boot plain = *r;
    unweighted.angular_weight = 0;
    plain.params = &unweighted;
    step_counts n = {0};
    uint32_t k = 0;
    for (size_t line = 0; line < c->n; line++) {
        uint32_t peak[8], seed = c->seed_index[line];
        double coefficients[64], p[3] = {c->seed[line][0], c->seed[line][1], c->seed[line][2]};
        k = line > 0 && c->seed_index[line - 1] == seed ? k + 1 : 0;
        ref_coefficients(r, p, (ref_draw){0, 0, seed, 0x80000000u}, false, coefficients);
        uint32_t stream = 0x80000000u | k << 16;
        if (k >= ref_peaks(r, coefficients, peak, 8)) {
            n.made++; /* a direction that the reference does not have */
            continue;
        }
        size_t at = seed_place(c, line);
        double first[3];
        memcpy(first, r->s->sphere->vertex[peak[k]], sizeof first);
        check_half(r, &plain, c, line, at, false, r->s->sphere->vertex[peak[k]], stream, &n, first);
        /* the backward half begins against the first step of the forward half */
        for (int a = 0; a < 3; a++) first[a] = -first[a];
        check_half(r, &plain, c, line, at, true, first, stream, &n, NULL);
    }
    return n;
}

static void check_bootstrap(const series *s, const gls_qball *qball, const gls_seeds *seeds, double weight,
                            gls_mapping mapping)
{
    gls_track_params p = params_of(GLS_DG_BOOT, weight);
    p.max_angle = 40;
    p.max_directions_per_seed = 3;
    p.step_size = 0.6;
    p.stop_threshold = 0.4;
    p.keep_single_points = true;
    p.boot_start = GLS_BOOT_START_SAMPLE;
    p.mapping = mapping;
    p.rng_seed = 0x1f2e3d4c5b6a7988u;
    gls_tracker *t = NULL;
    gls_track_input input = series_input(s, qball);
    collection c;
    assert_ok(gls_tracker_create(device, &p, &input, &t));
    run_tracker(t, seeds, &c);
    gls_tracker_destroy(t);
    ref_boot r;
    ref_init(&r, s, qball, &p);
    step_counts n = check_steps(&r, &c);
    print_message("bootstrap, weight %g, %s: %zu of %zu steps and %zu of %zu ends as in double precision; the weight "
                  "decides over %zu steps\n",
                  weight, mapping == GLS_MAPPING_SINGLE ? "single" : "subgroup", n.same, n.made, n.same_end, n.ended,
                  n.turned);
    /* a step differs where two values of an ODF are closer than float32 tells apart; hardware has weights of 8 bits,
     * which in the reference turn 0.3 % of the steps */
    double most = gls_device_get_info(device)->software ? 0.002 : 0.02;
    assert_true(n.made > 2000 && (double)(n.made - n.same) <= most * (double)n.made &&
                (double)(n.ended - n.same_end) <= most * (double)n.ended + 1);
    assert_true(weight == 0 ? n.turned == 0 : (double)n.turned > 0.02 * (double)n.made);
    free(r.odf_matrix);
    collection_finish(&c);
}

static void bootstrap(void **state)
{
    (void)state;
    enum { N = 100 };
    static const int dim[3] = {16, 14, 8};
    double affine[3][4], points[N][3];
    uint64_t seed = 12;
    series s;
    gls_seeds *seeds = NULL;
    oblique_affine((const double[3]){1.8, 2, 2.5}, affine);
    series_create(&s, dim, (const double(*)[4])affine, crossing, 2500, 12, "small", 9);
    gls_qball *qball = series_qball(&s, GLS_QBALL_OPDT, 4);
    for (int i = 0; i < N; i++)
        for (int a = 0; a < 3; a++) points[i][a] = random_uniform(&seed, 0, dim[a] - 1);
    assert_ok(gls_seeds_create_list((const double(*)[3])points, N, GLS_SEEDS_VOXEL, &s.dwi->grid, &seeds));
    static const double weights[] = {0, 0.4, 1};
    for (int w = 0; w < 3; w++) check_bootstrap(&s, qball, seeds, weights[w], GLS_MAPPING_SINGLE);
    if (has_subgroups(device)) check_bootstrap(&s, qball, seeds, 0.4, GLS_MAPPING_SUBGROUP);
    gls_seeds_destroy(seeds);
    gls_qball_destroy(qball);
    series_destroy(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(deterministic), cmocka_unit_test(probabilistic),
                                       cmocka_unit_test(bootstrap)};
    int status;
    if (!gpu_open(GLS_GRAPHICS_AUTO, &device, &status)) return status;
    if (gls_sphere_create("small", &sphere) != GLS_OK) return 1;
    status = cmocka_run_group_tests(tests, NULL, NULL);
    gls_sphere_destroy(sphere);
    gls_device_close(device);
    return status;
}
