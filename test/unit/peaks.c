/* gls_peaks_find() against the rule written down a second time, over a list of edges; images of peaks. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(built_in_spheres), cmocka_unit_test(asymmetric_sphere),
                                       cmocka_unit_test(special_cases), cmocka_unit_test(append),
                                       cmocka_unit_test(of_sh)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
