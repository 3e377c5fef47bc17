/* Scores of outliers: depths as numpy and DIPY's QuickBundles give them, confidence and repetitions in plain loops. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <omp.h>

#include "geometry/outliers.h"

enum { LINES = 40, POINTS = 12 };

static float point[LINES + 3][POINTS][3];
static uint64_t offset[LINES + 4];

/* A bundle of 37 streamlines and 3 strays; behind it a copy of the first, the second reversed, and one without length.
 */
static int make_lines(void **state)
{
    (void)state;
    for (int i = 0; i < LINES; i++)
        for (int p = 0; p < POINTS; p++) {
            const int stray = i >= 37 ? i - 36 : 0;
            point[i][p][0] = (float)(i * 7 % 11) * 0.75F + 9 * (float)stray + (float)((i * 3 + p) % 5) * 0.25F;
            point[i][p][1] = (float)(i * 5 % 13) * 0.5F - (stray ? 12 : 0) + (float)((i + 2 * p) % 7) * 0.125F;
            point[i][p][2] = (float)p * 5;
        }
    for (int p = 0; p < POINTS; p++)
        for (int k = 0; k < 3; k++) {
            point[LINES][p][k] = point[0][p][k];
            point[LINES + 1][p][k] = point[1][POINTS - 1 - p][k];
            point[LINES + 2][p][k] = 7;
        }
    for (int i = 0; i <= LINES + 3; i++) offset[i] = (uint64_t)i * POINTS;
    return 0;
}

static gls_features features(size_t n, bool resamples_reverse)
{
    gls_features f;
    const gls_streamlines s = {.n = n, .offset = offset, .point = (const float(*)[3])point};
    gls_features_init(&f, GLS_OUTLIER_POINTS, resamples_reverse);
    assert_int_equal(gls_features_add(&f, &s), GLS_OK);
    return f;
}

static void depths_are_those_of_numpy_and_dipy(void **state)
{
    /* sums over 29 orders, by DIPY 1.12 and RandomState(1234) of numpy; the deepest streamline reaches 9 levels */
    static const int sum[LINES] = {219, 206, 180, 190, 213, 169, 193, 200, 219, 212, 190, 221, 218, 217,
                                   205, 203, 221, 211, 197, 222, 215, 211, 208, 206, 220, 214, 186, 221,
                                   212, 197, 200, 212, 217, 187, 186, 216, 212, 29,  29,  29};
    double score[LINES];
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    const int threads = omp_get_max_threads();
    (void)state;
    for (int i = 0; i < LINES * POINTS; i++)
        for (int k = 0; k < 3; k++) {
            low[k] = fminf(low[k], point[i / POINTS][i % POINTS][k]);
            high[k] = fmaxf(high[k], point[i / POINTS][i % POINTS][k]);
        }
    const double side = fmin(fmin((double)(high[0] - low[0]), (double)(high[1] - low[1])), (double)(high[2] - low[2]));
    for (int t = 1; t <= 3; t += 2) {
        omp_set_num_threads(t);
        gls_features f = features(LINES, true);
        assert_int_equal(gls_outliers_depth(&f, side, score), GLS_OK);
        for (int i = 0; i < LINES; i++) assert_true(fabs(score[i] - sum[i] / 29.0 / 9) < 1e-12);
        gls_features_finish(&f);
    }
    omp_set_num_threads(threads);
    /* few streamlines are no outliers, but a streamline without length is */
    gls_features few = features(10, true), all = features(LINES + 3, true);
    assert_int_equal(gls_outliers_depth(&few, side, score), GLS_OK);
    for (int i = 0; i < 10; i++) assert_true(score[i] == 1);
    double more[LINES + 3];
    assert_int_equal(gls_outliers_depth(&all, side, more), GLS_OK);
    assert_true(more[LINES + 2] == 0 && more[0] > 0.6 && more[38] < 0.6);
    gls_features_finish(&few);
    gls_features_finish(&all);
}

/* Returns the distance of two streamlines in the better sense, mm. */
static double mdf(const float (*a)[3], const float (*b)[3])
{
    double direct = 0, reversed = 0;
    for (int p = 0; p < POINTS; p++) {
        double d = 0, r = 0;
        for (int k = 0; k < 3; k++) {
            d += pow((double)a[p][k] - (double)b[p][k], 2);
            r += pow((double)a[p][k] - (double)b[POINTS - 1 - p][k], 2);
        }
        direct += sqrt(d) / POINTS;
        reversed += sqrt(r) / POINTS;
    }
    return fmin(direct, reversed);
}

static void confidence_is_a_sum_over_neighbours(void **state)
{
    double score[LINES + 3];
    uint64_t n_equal;
    (void)state;
    for (int power = 1; power <= 2; power++) {
        gls_features f = features(LINES + 3, false);
        assert_int_equal(gls_outliers_confidence(&f, power, score, &n_equal), GLS_OK);
        assert_int_equal(n_equal, 4);
        assert_true(score[LINES + 2] == 0);
        for (int i = 0; i < LINES + 2; i++) {
            double sum = 0;
            for (int j = 0; j < LINES + 2; j++) {
                const double d = mdf((const float(*)[3])f.point + i * POINTS, (const float(*)[3])f.point + j * POINTS);
                if (i != j && d < 5) sum += 1 / pow(d < 1e-6 ? 0.01 : d, power);
            }
            assert_true(fabs(score[i] - sum) < 1e-4 * (1 + sum));
        }
        gls_features_finish(&f);
    }
}

static void repetitions_are_of_streamlines_that_stay(void **state)
{
    bool repeats[LINES + 3];
    uint32_t of[LINES + 3];
    (void)state;
    gls_features f = features(LINES + 3, false);
    assert_int_equal(gls_outliers_repeats(&f, 1e-4, repeats, of), GLS_OK);
    for (uint32_t i = 0; i < LINES + 3; i++) {
        const uint32_t expected = i == LINES ? 0 : i == LINES + 1 ? 1 : i;
        assert_int_equal(of[i], expected);
        assert_int_equal(repeats[i], expected != i);
    }
    /* no two of those that stay are within the tolerance; each other one is within it of one that stays */
    assert_int_equal(gls_outliers_repeats(&f, 2, repeats, of), GLS_OK);
    for (uint32_t i = 0; i < LINES + 2; i++) {
        bool near = false;
        for (uint32_t j = 0; j < i; j++)
            near |= !repeats[j] &&
                    mdf((const float(*)[3])f.point + i * POINTS, (const float(*)[3])f.point + j * POINTS) <= 2;
        assert_int_equal(repeats[i], near);
    }
    gls_features_finish(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(depths_are_those_of_numpy_and_dipy),
        cmocka_unit_test(confidence_is_a_sum_over_neighbours),
        cmocka_unit_test(repetitions_are_of_streamlines_that_stay),
    };
    return cmocka_run_group_tests(tests, make_lines, NULL);
}
