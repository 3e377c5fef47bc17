/* Soft angular weighting: on a field of equal ODFs every step of the deterministic getter is the vertex that double precision finds, and the probabilistic one draws in
 * proportion to the weighted ODF. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <glslines/peaks.h>

#include "collect.h"

#define SIDE 15
#define N_ODFS 8

static gls_device *device;
static gls_sphere *sphere;

typedef struct field {
    gls_image *odf, *stop;
    gls_odf_source *source;
    double *value; /* of the ODF at each vertex */
} field;

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Three lobes at random, the same in every voxel. */
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
        for (int k = 0; k < 3; k++) sum += (1 - 0.15 * k) * exp(6 * (pow(dot(sphere->vertex[v], lobe[k]), 2) - 1));
        f->value[v] = (float)sum;
        for (size_t i = 0; i < n; i++) f->odf->data[v * n + i] = (float)sum;
    }
    for (size_t i = 0; i < n; i++) f->stop->data[i] = 1;
    gls_odf_options options = gls_odf_options_default();
    assert_ok(gls_odf_source_create_amplitudes(f->odf, "lobes", (const double(*)[3])sphere->vertex, sphere->n, "the sphere", GLS_BVEC_IMAGE, &options, &f->source));
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
    p.float_textures = true;
    return p;
}

static void run(const field *f, const gls_track_params *p, size_t n_seeds, collection *c)
{
    const double space[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    double (*point)[3] = malloc(n_seeds * sizeof *point);
    for (size_t i = 0; i < n_seeds; i++)
        for (int a = 0; a < 3; a++) point[i][a] = SIDE / 2;
    gls_seeds *seeds = NULL;
    gls_tracker *t = NULL;
    gls_track_result result;
    gls_track_input input = {.odf = f->source, .stop_map = f->stop};
    assert_ok(gls_seeds_create_list((const double(*)[3])point, n_seeds, false, &f->stop->grid, &seeds));
    assert_ok(gls_tracker_create(device, p, &input, &t));
    *c = (collection){.sound = true};
    assert_ok(gls_tracker_run(t, seeds, space, collect, c, NULL, NULL, &result));
    assert_true(c->sound);
    gls_tracker_destroy(t);
    gls_seeds_destroy(seeds);
    free(point);
}

/* The weighted ODF inside the cone round vertex from, 0 outside and below the threshold. */
static void weigh(const field *f, const gls_track_params *p, size_t from, double *weighted)
{
    double largest = 0, least = cos(p->max_angle * acos(-1.0) / 180);
    for (size_t v = 0; v < sphere->n; v++) {
        double c = fabs(dot(sphere->vertex[v], sphere->vertex[from]));
        weighted[v] = f->value[v] * (1 - p->angular_weight + p->angular_weight * c);
        largest = fmax(largest, weighted[v]);
    }
    for (size_t v = 0; v < sphere->n; v++)
        if (fabs(dot(sphere->vertex[v], sphere->vertex[from])) < least || weighted[v] < p->pmf_threshold * largest) weighted[v] = 0;
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
        if (fabs(dot(d, sphere->vertex[v])) > nearest) {
            nearest = fabs(dot(d, sphere->vertex[v]));
            best = v;
        }
    return best;
}

/* Place of the seed in a streamline. */
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
    print_message("%d steps as in double precision; the weight decides over the last direction of %d of %d streamlines\n", steps, turned, lines);
    assert_true(steps > 100 && turned > 0);
    free(weighted);
}

/* First steps of many seeds at one place against the weighted ODF: chi-square over the vertices. */
static void probabilistic(void **state)
{
    (void)state;
    const size_t n_seeds = 12000;
    double *weighted = malloc(sphere->n * sizeof *weighted), *count = calloc(sphere->n, sizeof *count), total = 0, chi = 0, plain = 0;
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
    /* the same without the weights must not fit: the test sees the difference */
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(deterministic), cmocka_unit_test(probabilistic)};
    int status;
    if (!gpu_open(NULL, &device, &status)) return status;
    if (gls_sphere_create("small", &sphere) != GLS_OK) return 1;
    status = cmocka_run_group_tests(tests, NULL, NULL);
    gls_sphere_destroy(sphere);
    gls_device_close(device);
    return status;
}
