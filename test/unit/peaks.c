/* gls_peaks_find() is compared with a second implementation of its rule, over a list of edges; images of peaks. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <glslines/peaks.h>

#include "util/maths.h"

#define MAX_VERTICES 724

/* Every edge votes against its smaller end and for its larger one; then a selection sort and the thresholds. */
static size_t brute_force(const gls_sphere *s, const double *value, double threshold, double angle, uint32_t *peak)
{
    int vote_against[MAX_VERTICES] = {0}, vote_for[MAX_VERTICES] = {0};
    uint32_t sorted[MAX_VERTICES];
    size_t n = 0, kept = 0;
    for (uint32_t u = 0; u < s->n; u++) {
        for (uint32_t i = s->first[u]; i < s->first[u + 1]; i++) {
            uint32_t v = s->neighbour[i];
            if (value[u] < value[v]) {
                vote_against[u]++;
                vote_for[v]++;
            }
        }
    }
    double minimum = INFINITY;
    for (uint32_t v = 0; v < s->n; v++) minimum = fmin(minimum, value[v]);
    minimum = fmax(minimum, 0);
    for (uint32_t v = 0; v < s->n; v++) {
        if (vote_against[v] || !vote_for[v]) continue;
        size_t at = n++;
        for (; at > 0 && value[sorted[at - 1]] < value[v]; at--) sorted[at] = sorted[at - 1];
        sorted[at] = v;
    }
    if (n == 0 || value[sorted[0]] < 0) return 0;
    for (size_t m = 0; m < n; m++) {
        bool keep = n == 1 || value[sorted[m]] - minimum >= threshold * (value[sorted[0]] - minimum);
        for (size_t p = 0; keep && p < kept; p++) {
            const double *x = s->vertex[sorted[m]], *y = s->vertex[peak[p]];
            double c = x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
            if ((s->antipodal ? fabs(c) : c) > cos(angle * M_PI / 180)) keep = false;
        }
        if (keep) peak[kept++] = sorted[m];
    }
    return kept;
}

static double random_value(uint32_t trial, uint32_t v, int kind)
{
    uint32_t word[4];
    gls_philox((const uint32_t[4]){v, trial, (uint32_t)kind, 0}, 7, word);
    double u = gls_uniform(word[0]);
    switch (kind) {
    case 0: return u;
    case 1: return floor(4 * u);     /* many ties and plateaus */
    case 2: return floor(6 * u) - 5; /* ties, the maximum 0 */
    case 3: return u - 1.5;          /* all negative */
    case 4: return u < 0.01 ? 1 : 0; /* few, isolated */
    default: return u - 0.3;
    }
}

static void compare(const gls_sphere *s)
{
    static const double threshold[] = {0, 0.25, 0.5, 1}, angle[] = {0, 25, 45, 90};
    double value[MAX_VERTICES];
    size_t total = 0;
    for (uint32_t trial = 0; trial < 480; trial++) {
        for (uint32_t v = 0; v < s->n; v++) value[v] = random_value(trial, v, (int)(trial % 6));
        gls_peak_options options = {.size = sizeof options,
                                    .relative_threshold = threshold[trial / 6 % 4],
                                    .min_separation_angle = angle[trial / 24 % 4]};
        uint32_t found[MAX_VERTICES], expected[MAX_VERTICES];
        size_t n = gls_peaks_find(s, value, &options, found, MAX_VERTICES);
        assert_int_equal(n, brute_force(s, value, options.relative_threshold, options.min_separation_angle, expected));
        assert_memory_equal(found, expected, n * sizeof *found);
        total += n;
    }
    assert_true(total > 480);
}

static void built_in_spheres(void **state)
{
    (void)state;
    static const char *const name[] = {"default", "small"};
    for (int i = 0; i < 2; i++) {
        gls_sphere *s = NULL;
        assert_int_equal(gls_sphere_create(name[i], &s), GLS_OK);
        compare(s);
        gls_sphere_destroy(s);
    }
}

/* Directions without antipodes: the sign counts. */
static void asymmetric_sphere(void **state)
{
    (void)state;
    enum { N = 300 };
    double direction[N][3];
    for (int i = 0; i < N; i++) {
        double z = 1 - (2 * i + 1.0) / N, r = sqrt(1 - z * z), phi = i * M_PI * (3 - sqrt(5));
        direction[i][0] = r * cos(phi);
        direction[i][1] = r * sin(phi);
        direction[i][2] = z;
    }
    gls_sphere *s = NULL;
    assert_int_equal(gls_sphere_create_from((const double(*)[3])direction, N, GLS_SPHERE_AS_GIVEN, &s, NULL), GLS_OK);
    assert_false(s->antipodal);
    compare(s);
    /* two opposite lobes are one fibre on an antipodal sphere, and two directions here */
    double value[N];
    for (int i = 0; i < N; i++) value[i] = pow(direction[i][2], 8);
    gls_peak_options options = gls_peak_options_default();
    uint32_t peak[4];
    assert_int_equal(gls_peaks_find(s, value, &options, peak, 4), 2);
    gls_sphere_destroy(s);
}

static void special_cases(void **state)
{
    (void)state;
    gls_sphere *s = NULL;
    assert_int_equal(gls_sphere_create("default", &s), GLS_OK);
    double value[MAX_VERTICES];
    uint32_t peak[3] = {99, 99, 99};
    gls_peak_options options = gls_peak_options_default();
    assert_true(options.relative_threshold == 0.25 && options.min_separation_angle == 45);
    for (size_t v = 0; v < s->n; v++) value[v] = 1;
    assert_int_equal(gls_peaks_find(s, value, &options, peak, 3), 0); /* flat */
    value[17] = 2;
    assert_int_equal(gls_peaks_find(s, value, &options, peak, 3), 1);
    assert_int_equal(peak[0], 17);
    for (size_t v = 0; v < s->n; v++) value[v] = -2 + (v == 17);
    assert_int_equal(gls_peaks_find(s, value, &options, peak, 3), 0); /* negative everywhere */
    /* more peaks than room: the count is whole, the store is not overrun */
    options.min_separation_angle = 0;
    for (size_t v = 0; v < s->n; v++) value[v] = random_value(0, (uint32_t)v, 0);
    uint32_t all[MAX_VERTICES];
    size_t n = gls_peaks_find(s, value, &options, all, MAX_VERTICES);
    assert_true(n > 3);
    peak[2] = 99;
    assert_int_equal(gls_peaks_find(s, value, &options, peak, 2), n);
    assert_memory_equal(peak, all, 2 * sizeof *peak);
    assert_int_equal(peak[2], 99);
    assert_int_equal(gls_peaks_find(s, value, &options, NULL, 0), n);
    gls_sphere_destroy(s);
}

/* --- images of peaks --------------------------------------------------------- */

static gls_image *small_image(size_t n_volumes)
{
    gls_grid grid;
    gls_image *image = NULL;
    /* x runs to the left, so that scanner and voxel axes differ */
    assert_int_equal(gls_grid_init(&grid, (const int32_t[3]){2, 1, 1},
                                   (const double[3][4]){{-2, 0, 0, 0}, {0, 0, -3, 0}, {0, 2, 0, 0}}),
                     GLS_OK);
    assert_int_equal(gls_image_create(&grid, n_volumes, &image), GLS_OK);
    return image;
}

static void set(gls_image *image, size_t peak, size_t voxel, float x, float y, float z)
{
    const float v[3] = {x, y, z};
    for (size_t a = 0; a < 3; a++) image->data[(3 * peak + a) * 2 + voxel] = v[a];
}

static void assert_vector(const gls_image *image, size_t peak, size_t voxel, double x, double y, double z)
{
    const double v[3] = {x, y, z};
    for (size_t a = 0; a < 3; a++) assert_true(fabs((double)image->data[(3 * peak + a) * 2 + voxel] - v[a]) < 1e-6);
}

static void append(void **state)
{
    (void)state;
    gls_image *peaks = NULL, *file = small_image(6), *odd = small_image(4), *values = small_image(2),
              *many = small_image(5);
    set(file, 0, 0, 0.6f, 0, 0.8f);
    set(file, 0, 1, NAN, 0, 1);
    set(file, 1, 0, 0, 0, 0);
    set(file, 1, 1, 0, 0.5f, 0);
    /* scanner axes: x is minus the first axis of voxels, z the second, minus y the third */
    assert_int_equal(gls_peaks_append(&peaks, file, "world.nii", GLS_BVEC_WORLD), GLS_OK);
    assert_int_equal(peaks->n_volumes, 6);
    assert_vector(peaks, 0, 0, -0.6, 0.8, 0);
    assert_vector(peaks, 0, 1, 0, 0, 0);
    assert_vector(peaks, 1, 0, 0, 0, 0);
    assert_vector(peaks, 1, 1, 0, 0, -0.5);
    assert_int_equal(gls_peaks_append(&peaks, file, "image.nii", GLS_BVEC_IMAGE), GLS_OK);
    assert_int_equal(peaks->n_volumes, 12);
    assert_vector(peaks, 0, 0, -0.6, 0.8, 0);
    assert_vector(peaks, 2, 0, 0.6, 0, 0.8);
    assert_true(gls_grid_determinant(&file->grid) < 0);
    assert_int_equal(gls_peaks_append(&peaks, file, "fsl.nii", GLS_BVEC_FSL), GLS_OK);
    assert_vector(peaks, 4, 0, 0.6, 0, 0.8);
    assert_int_equal(gls_peaks_append(&peaks, odd, "odd.nii", GLS_BVEC_WORLD), GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "odd.nii: has 4 volumes"));
    assert_int_equal(peaks->n_volumes, 18);
    /* unit vectors and amplitudes */
    gls_image *quads = small_image(8), *of_quads = NULL;
    quads->data[1] = 1;
    quads->data[7] = 0.25f;
    quads->data[8 + 2] = -1;
    quads->data[8 + 6] = 0.5f;
    assert_int_equal(gls_peaks_append(&of_quads, quads, "quads.nii", GLS_BVEC_IMAGE), GLS_OK);
    assert_int_equal(of_quads->n_volumes, 6);
    assert_vector(of_quads, 0, 1, 0.25, 0, 0);
    assert_vector(of_quads, 1, 0, 0, -0.5, 0);
    gls_image_destroy(of_quads);
    of_quads = NULL;
    quads->data[0] = NAN; /* a missing peak changes the meaning of no other */
    quads->data[8 + 3] = INFINITY;
    assert_int_equal(gls_peaks_append(&of_quads, quads, "quads.nii", GLS_BVEC_IMAGE), GLS_OK);
    assert_int_equal(of_quads->n_volumes, 6);
    assert_vector(of_quads, 0, 1, 0.25, 0, 0);
    gls_image_destroy(quads);
    gls_image_destroy(of_quads);
    /* amplitudes */
    values->data[0] = 2;
    values->data[3] = -1;
    assert_int_equal(gls_peaks_set_values(peaks, 0, values, "f.nii"), GLS_OK);
    assert_vector(peaks, 0, 0, -1.2, 1.6, 0);
    assert_vector(peaks, 1, 1, 0, 0, 0);
    assert_vector(peaks, 2, 0, 0.6, 0, 0.8);
    assert_int_equal(gls_peaks_set_values(peaks, 2, many, "many.nii"), GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "many.nii"));
    assert_int_equal(gls_peaks_set_values(peaks, SIZE_MAX, values, "f.nii"), GLS_ERR_INPUT);
    assert_int_equal(gls_peaks_to_world(peaks), GLS_OK);
    assert_vector(peaks, 0, 0, 1.2, 0, 1.6);
    assert_true(isnan(peaks->data[1]));
    gls_image_destroy(peaks);
    gls_image_destroy(file);
    gls_image_destroy(odd);
    gls_image_destroy(values);
    gls_image_destroy(many);
}

/* Two lobes of known directions: their peaks are where the sum is stationary, the stronger one first. */
static void of_sh(void **state)
{
    (void)state;
    enum { ORDER = 8, K = 45 };
    gls_image *sh = small_image(K), *peaks = NULL;
    const double lobe[2][3] = {{0.8, 0.6, 0}, {0, 0, 1}}; /* at right angles, where neither moves the other's peak */
    double basis[2 * K], at_peak[K];
    assert_int_equal(gls_sh_matrix(GLS_SH_TOURNIER07, ORDER, lobe, 2, basis), GLS_OK);
    for (size_t j = 0; j < K; j++) {
        double l = gls_sh_degree(j), w = exp(-0.03 * l * (l + 1));
        sh->data[j * 2] = (float)(w * (0.5 * basis[j] + 0.8 * basis[K + j]));
        sh->data[j * 2 + 1] = j == 0 ? 1 : 0; /* no direction */
    }
    assert_int_equal(gls_peaks_of_sh(sh, "sh", GLS_SH_TOURNIER07, GLS_BVEC_IMAGE, 3, 0.1, &peaks), GLS_OK);
    assert_int_equal(peaks->n_volumes, 9);
    for (size_t k = 0; k < 2; k++) {
        double v[3], length = 0, cosine = 0, amplitude = 0;
        for (size_t a = 0; a < 3; a++) {
            v[a] = (double)peaks->data[(3 * k + a) * 2];
            length += v[a] * v[a];
            cosine += v[a] * lobe[1 - k][a];
        }
        length = sqrt(length);
        assert_true(fabs(cosine) / length > 1 - 1e-6);
        for (size_t a = 0; a < 3; a++) v[a] /= length;
        assert_int_equal(gls_sh_matrix(GLS_SH_TOURNIER07, ORDER, (const double(*)[3])v, 1, at_peak), GLS_OK);
        for (size_t j = 0; j < K; j++) amplitude += at_peak[j] * (double)sh->data[j * 2];
        assert_true(fabs(length - amplitude) < 1e-6);
        assert_vector(peaks, k, 1, 0, 0, 0);
    }
    gls_image_destroy(peaks);
    peaks = NULL;
    gls_image *wrong = small_image(44);
    assert_int_equal(gls_peaks_of_sh(wrong, "wrong.nii", GLS_SH_TOURNIER07, GLS_BVEC_IMAGE, 3, 0, &peaks),
                     GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "wrong.nii"));
    gls_image_destroy(wrong);
    gls_image_destroy(sh);
}

/* --- All maxima of functions at random, found a second time: on a dense grid, then by trial steps that become shorter.
 */

enum { RANDOM_ORDER = 8, RANDOM_K = 45, FUNCTIONS = 60, DENSE = 6000, MOST = 40 };

/* Returns a direction of an even spiral over half the sphere. */
static void spiral(int i, double u[3])
{
    const double z = (i + 0.5) / DENSE, turn = M_PI * (1 + sqrt(5)) * i;
    u[0] = sqrt(1 - z * z) * cos(turn);
    u[1] = sqrt(1 - z * z) * sin(turn);
    u[2] = z;
}

static double value_at(const double *c, const double u[3])
{
    double basis[RANDOM_K], sum = 0;
    gls_sh_matrix(GLS_SH_TOURNIER07, RANDOM_ORDER, (const double(*)[3])u, 1, basis);
    for (int j = 0; j < RANDOM_K; j++) sum += basis[j] * c[j];
    return sum;
}

/* Climbs from u by steps along six axes, at first of this many radians, halved if none goes up. */
static double uphill(const double *c, double step, double u[3])
{
    double best = value_at(c, u);
    while (step > 1e-6) {
        bool up = false;
        for (int k = 0; k < 6; k++) {
            double v[3] = {u[0], u[1], u[2]}, length = 0;
            v[k / 2] += k % 2 ? step : -step;
            for (int a = 0; a < 3; a++) length += v[a] * v[a];
            for (int a = 0; a < 3; a++) v[a] /= sqrt(length);
            const double value = value_at(c, v);
            if (!(value > best)) continue;
            best = value;
            memcpy(u, v, sizeof v);
            up = true;
        }
        if (!up) step /= 2;
    }
    return best;
}

/* Returns the angle in degrees between the lines along a unit vector and peak k of a voxel. */
static double degrees_from(const gls_image *peaks, size_t n, size_t k, size_t voxel, const double u[3])
{
    double dot = 0, length = 0;
    for (size_t a = 0; a < 3; a++) {
        const double x = (double)peaks->data[(3 * k + a) * n + voxel];
        dot += x * u[a];
        length += x * x;
    }
    return length > 0 ? acos(fmin(1, fabs(dot) / sqrt(length))) * 180 / M_PI : 180;
}

static void all_maxima(void **state)
{
    (void)state;
    /* a voxel of a brain, of order 8 in MRtrix3's basis, with a maximum at 77 % of the largest near a higher one */
    static const double voxel[RANDOM_K] = {
        0.2361224,   -0.01647202, -0.009955121, -0.009445776,  0.003344714, 0.01252362,  -0.1225657,   -0.07139409,
        -0.07752471, 0.05602731,  0.1062885,    0.03088478,    0.0303942,   0.0341387,   0.04017797,   -0.05921761,
        0.00939813,  0.01686305,  -0.04152405,  -0.01797439,   0.01081888,  -0.01796117, -0.07523231,  -0.03908876,
        0.03773508,  -0.04019123, -0.003453009, -0.009205738,  -0.01635734, 0.02012707,  -0.008954542, -0.04497202,
        -0.01717987, 0.00202461,  0.008475703,  -0.0009092551, 0.02787442,  0.005167771, 0.004565541,  0.01505671,
        0.01973474,  -0.02474082, -0.01345523,  -0.02692102,   -0.004927186};
    gls_grid grid;
    gls_image *sh = NULL, *peaks = NULL;
    assert_int_equal(gls_grid_init(&grid, (const int32_t[3]){FUNCTIONS, 1, 1},
                                   (const double[3][4]){{2, 0, 0, 0}, {0, 2, 0, 0}, {0, 0, 2, 0}}),
                     GLS_OK);
    assert_int_equal(gls_image_create(&grid, RANDOM_K, &sh), GLS_OK);
    uint32_t random = 1;
    for (size_t i = 0; i < FUNCTIONS; i++)
        for (size_t j = 0; j < RANDOM_K; j++) {
            const double l = gls_sh_degree(j);
            double sum = 0;
            for (int k = 0; k < 4; k++)
                sum += (double)((random = random * 1664525 + 1013904223) >> 8) / (1 << 24) - 0.5;
            sh->data[j * FUNCTIONS + i] = (float)(i == 0 ? voxel[j] : j == 0 ? 0.6 : sum * exp(-0.02 * l * (l + 1)));
        }
    assert_int_equal(gls_peaks_of_sh(sh, "sh", GLS_SH_TOURNIER07, GLS_BVEC_IMAGE, MOST, 0, &peaks), GLS_OK);
    double(*point)[3] = malloc(DENSE * sizeof *point), *value = malloc(DENSE * sizeof *value);
    double *basis = malloc((size_t)DENSE * RANDOM_K * sizeof *basis);
    for (int p = 0; p < DENSE; p++) spiral(p, point[p]);
    assert_int_equal(gls_sh_matrix(GLS_SH_TOURNIER07, RANDOM_ORDER, (const double(*)[3])point, DENSE, basis), GLS_OK);
    size_t n_found = 0, n_there = 0;
    for (size_t i = 0; i < FUNCTIONS; i++) {
        double c[RANDOM_K];
        for (size_t j = 0; j < RANDOM_K; j++) c[j] = (double)sh->data[j * FUNCTIONS + i];
        for (size_t p = 0; p < DENSE; p++) {
            value[p] = 0;
            for (size_t j = 0; j < RANDOM_K; j++) value[p] += basis[p * RANDOM_K + j] * c[j];
        }
        /* each maximum of the grid leads to one that was found */
        for (size_t p = 0; p < DENSE; p++) {
            bool top = value[p] > 1e-3;
            for (size_t q = 0; q < DENSE && top; q++)
                top = !(value[q] > value[p]) || fabs(point[p][0] * point[q][0] + point[p][1] * point[q][1] +
                                                     point[p][2] * point[q][2]) < cos(0.05);
            if (!top) continue;
            double nearest = 180;
            n_there++;
            uphill(c, 0.02, point[p]);
            for (size_t k = 0; k < MOST; k++) nearest = fmin(nearest, degrees_from(peaks, FUNCTIONS, k, i, point[p]));
            /* two maxima within 8 degrees count as one */
            if (!(nearest < 8.2)) fail_msg("voxel %zu: nearest %.3f, value %.4f", i, nearest, value[p]);
            spiral((int)p, point[p]);
        }
        /* each peak that was found is a maximum */
        for (size_t k = 0; k < MOST; k++) {
            double u[3], length = 0;
            for (size_t a = 0; a < 3; a++) length += pow((double)peaks->data[(3 * k + a) * FUNCTIONS + i], 2);
            if (!(length > 0)) break;
            n_found++;
            for (size_t a = 0; a < 3; a++) u[a] = (double)peaks->data[(3 * k + a) * FUNCTIONS + i] / sqrt(length);
            assert_true(fabs(sqrt(length) - value_at(c, u)) < 1e-6);
            uphill(c, 0.002, u);
            const double off = degrees_from(peaks, FUNCTIONS, k, i, u);
            if (!(off < 0.1)) fail_msg("voxel %zu, peak %zu: off %.3f, amplitude %.4f", i, k, off, sqrt(length));
        }
    }
    printf("maxima: %zu of a dense grid, %zu found in %d functions\n", n_there, n_found, FUNCTIONS);
    assert_true(n_found > 4 * FUNCTIONS && n_there > 4 * FUNCTIONS);
    free(point);
    free(value);
    free(basis);
    gls_image_destroy(sh);
    gls_image_destroy(peaks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(built_in_spheres),
                                       cmocka_unit_test(asymmetric_sphere),
                                       cmocka_unit_test(special_cases),
                                       cmocka_unit_test(append),
                                       cmocka_unit_test(of_sh),
                                       cmocka_unit_test(all_maxima)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
