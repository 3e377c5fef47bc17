/* OPDT, CSA and the bootstrap operators: DIPY 1.12.1's numbers, the algebra that defines them, and what is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <glslines/log.h>
#include <glslines/qball.h>
#include <glslines/sh.h>

#define N 30 /* weighted volumes, after one b0 */

/* scheme() and signal() in Python, E = signal / 500, then OpdtModel and CsaOdfModel(gtab, 4,
 * assume_normed=True).fit([1, E]).shm_coeff; the first six values of H signal and R signal with H = shm.hat(model.B), R
 * = shm.lcr_matrix(H). */
static const double golden_opdt[15] = {2.9538124257301104,     2.1586994940950714,      0.012538202143363725,
                                       -1.0326622053306043,    -1.8507654790327066e-05, 0.003540273178943093,
                                       0.078289935008417258,   -0.0082482362693751515,  -0.24788514467295847,
                                       -0.0097106640745205156, 0.1018059492893532,      -0.0057400103194696784,
                                       0.0037364064673300612,  0.0038795879332856669,   0.0058994913431965404};
static const double golden_csa[15] = {0.28209479177387814,     0.17694291628048175,    0.0010433497451264988,
                                      -0.080047679895145593,   0.00014451603915722946, 0.0011588733658862314,
                                      0.024669101145897827,    -0.0014523106907938033, -0.036962703921569168,
                                      -0.00085788369553880129, 0.013199485580556227,   -0.00016073448139531862,
                                      0.0015335887028308471,   0.00053351901185420781, 0.0013599511685096766};
static const double golden_hat[6] = {316.99931809049627, 311.57958973602388, 340.57176213266058,
                                     306.37825947399898, 227.77974914091837, 245.26708560775251};
static const double golden_residual[6] = {-7.4059149868560006, 3.1238171600618934,  7.2438148637832409,
                                          2.577561846698277,   -5.3260818032876927, 0.84141651994028521};

struct scheme {
    gls_gradients table;
    double bval[N + 1], bvec[N + 1][3];
    bool is_b0[N + 1];
};

static void make_scheme(struct scheme *s)
{
    memset(s, 0, sizeof *s);
    s->table =
        (gls_gradients){.n = N + 1, .bval = s->bval, .bvec = s->bvec, .is_b0 = s->is_b0, .n_b0 = 1, .b0_threshold = 50};
    s->is_b0[0] = true;
    for (int i = 0; i < N; i++) {
        double z = 1 - (i + 0.5) / N, r = sqrt(1 - z * z);
        s->bval[i + 1] = 1000;
        s->bvec[i + 1][0] = r * cos(i * 2.4);
        s->bvec[i + 1][1] = r * sin(i * 2.4);
        s->bvec[i + 1][2] = z;
    }
}

static void make_signal(const struct scheme *s, double *signal)
{
    for (int i = 0; i < N; i++) {
        const double *g = s->bvec[i + 1];
        signal[i] = 400 * exp(-1.7 * g[0] * g[0] - 0.3 * g[1] * g[1] - 0.2 * g[2] * g[2]) + 60 * fabs(g[1]);
    }
}

static gls_qball *create(const struct scheme *s, gls_qball_model model, int order)
{
    gls_qball_options options = gls_qball_options_default();
    gls_qball *q = NULL;
    options.model = model;
    options.sh_order = order;
    assert_int_equal(gls_qball_create(&s->table, &options, GLS_SHELLS_ONE, &q), GLS_OK);
    return q;
}

static void golden_values(void **state)
{
    (void)state;
    struct scheme s;
    double signal[N], c[15], hat[N], residual[N];
    make_scheme(&s);
    make_signal(&s, signal);
    for (int model = 0; model < 2; model++) {
        const double *golden = model == GLS_QBALL_OPDT ? golden_opdt : golden_csa;
        gls_qball *q = create(&s, (gls_qball_model)model, 4);
        gls_qball_fit(q, signal, 500, c);
        for (int j = 0; j < 15; j++) assert_true(fabs(c[j] - golden[j]) < 1e-13);
        gls_qball_hat(q, signal, hat, residual);
        for (int i = 0; i < 6; i++) {
            assert_true(fabs(hat[i] - golden_hat[i]) < 1e-10);
            assert_true(fabs(residual[i] - golden_residual[i]) < 1e-10);
        }
        gls_qball_destroy(q);
    }
}

/* Returns a (rows x inner) times b (inner x columns). */
static double element(const double *a, const double *b, size_t i, size_t j, size_t inner, size_t columns)
{
    double sum = 0;
    for (size_t m = 0; m < inner; m++) sum += a[i * inner + m] * b[m * columns + j];
    return sum;
}

static void matrices(void **state)
{
    (void)state;
    struct scheme s;
    make_scheme(&s);
    gls_qball *q = create(&s, GLS_QBALL_OPDT, 4);
    assert_int_equal(q->n, N);
    assert_int_equal(q->k, 15);
    for (size_t i = 0; i < N; i++) assert_int_equal(q->volume[i], i + 1);
    static const double laplacian[] = {0, -6, -20}, at_zero[] = {1, -0.5, 0.375};
    for (size_t j = 0; j < 15; j++) {
        int l = gls_sh_degree(j);
        assert_true(q->laplacian[j] == laplacian[l / 2]);
        assert_true(fabs(q->fit_scale[j] - at_zero[l / 2]) < 1e-15);
        for (size_t i = 0; i < 15; i++) {
            assert_true(fabs(element(q->basis_inverse, q->basis, i, j, N, 15) - (i == j)) < 1e-13);
        }
        /* (B'B + smooth L^2) fit = B' */
        for (size_t i = 0; i < N; i++) {
            double left = q->options.smooth * q->laplacian[j] * q->laplacian[j] * q->fit[j * N + i];
            for (size_t m = 0; m < 15; m++) {
                double bb = 0;
                for (size_t p = 0; p < N; p++) bb += q->basis[p * 15 + j] * q->basis[p * 15 + m];
                left += bb * q->fit[m * N + i];
            }
            assert_true(fabs(left - q->basis[i * 15 + j]) < 1e-13);
        }
    }
    for (size_t i = 0; i < N; i++) {
        double leverage = element(q->basis, q->basis_inverse, i, i, 15, N);
        assert_true(fabs(q->leverage_scale[i] * sqrt(1 - leverage) - 1) < 1e-12);
    }
    gls_qball_destroy(q);
    q = create(&s, GLS_QBALL_CSA, 4);
    for (size_t j = 0; j < 15; j++)
        assert_true(fabs(q->fit_scale[j] - at_zero[gls_sh_degree(j) / 2] * q->laplacian[j] / (8 * M_PI)) < 1e-15);
    gls_qball_destroy(q);
    gls_qball_destroy(NULL);
}

/* H is a projection; residuals have mean 0, vanish on what the basis can express, and R H = 0 up to the mean. */
static void hat_and_residual(void **state)
{
    (void)state;
    struct scheme s;
    double signal[N], hat[N], again[N], residual[N], mean = 0;
    make_scheme(&s);
    make_signal(&s, signal);
    gls_qball *q = create(&s, GLS_QBALL_OPDT, 4);
    gls_qball_hat(q, signal, hat, residual);
    for (int i = 0; i < N; i++) mean += residual[i];
    assert_true(fabs(mean) < 1e-10);
    for (size_t j = 0; j < 15; j++) {
        double dot = 0;
        for (size_t i = 0; i < N; i++) dot += (signal[i] - hat[i]) * q->basis[i * 15 + j];
        assert_true(fabs(dot) < 1e-10);
    }
    gls_qball_hat(q, hat, again, residual);
    for (int i = 0; i < N; i++) {
        assert_true(fabs(again[i] - hat[i]) < 1e-11);
        assert_true(fabs(residual[i]) < 1e-10);
    }
    gls_qball_destroy(q);
}

/* Values below min_signal are raised to it; E at and above 1 and near 0 stay finite. */
static void clipping(void **state)
{
    (void)state;
    struct scheme s;
    double signal[N], raised[N], a[45], b[45];
    make_scheme(&s);
    make_signal(&s, signal);
    signal[3] = -20;
    signal[4] = 0;
    signal[5] = 500;
    signal[6] = 700;
    memcpy(raised, signal, sizeof signal);
    raised[3] = raised[4] = 1;
    for (int model = 0; model < 2; model++) {
        gls_qball *q = create(&s, (gls_qball_model)model, 4);
        gls_qball_fit(q, signal, 500, a);
        gls_qball_fit(q, raised, 500, b);
        assert_memory_equal(a, b, 15 * sizeof *a);
        for (int j = 0; j < 15; j++) assert_true(isfinite(a[j]));
        if (model == GLS_QBALL_CSA) {
            assert_true(fabs(a[0] - 0.28209479177387814) < 1e-16);
            raised[5] = raised[6] = 0.999 * 500;
            gls_qball_fit(q, raised, 500, b);
            for (int j = 0; j < 15; j++) assert_true(fabs(a[j] - b[j]) < 1e-12);
        }
        gls_qball_destroy(q);
    }
}

static int warnings;

static void count_warnings(void *user, gls_log_level level, const char *line)
{
    (void)user;
    if (level == GLS_LOG_WARNING && strstr(line, "one shell")) warnings++;
}

static gls_status attempt(const struct scheme *s, int order, bool single)
{
    gls_qball_options options = gls_qball_options_default();
    gls_qball *q = NULL;
    options.sh_order = order;
    gls_status status = gls_qball_create(&s->table, &options, single ? GLS_SHELLS_ONE : GLS_SHELLS_ANY, &q);
    assert_true((q != NULL) == (status == GLS_OK));
    gls_qball_destroy(q);
    return status;
}

static void refused(void **state)
{
    (void)state;
    struct scheme s;
    make_scheme(&s);
    assert_int_equal(attempt(&s, 6, true), GLS_OK); /* 28 coefficients, 30 volumes */
    assert_int_equal(attempt(&s, 8, true), GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "30 diffusion-weighted volumes"));
    assert_non_null(strstr(gls_last_error(), "at least 46"));
    assert_int_equal(attempt(&s, 5, true), GLS_ERR_ARGUMENT);
    assert_int_equal(attempt(&s, 0, true), GLS_ERR_ARGUMENT);
    assert_int_equal(attempt(&s, 10, true), GLS_ERR_ARGUMENT);

    gls_log_set(count_warnings, NULL, GLS_LOG_WARNING);
    s.bval[5] = 1015; /* 1.5 % apart, but within the jitter of a scanner */
    assert_int_equal(attempt(&s, 4, true), GLS_OK);
    assert_int_equal(warnings, 0);
    s.bval[5] = 1030;
    assert_int_equal(attempt(&s, 4, true), GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "1000 to 1030"));
    assert_int_equal(attempt(&s, 4, false), GLS_OK);
    assert_int_equal(warnings, 1);
    for (int i = 1; i <= N; i++) s.bval[i] = 5000;
    s.bval[5] = 5030; /* 30 s/mm2 apart, but 0.6 % */
    assert_int_equal(attempt(&s, 4, true), GLS_OK);
    gls_log_set(NULL, NULL, GLS_LOG_ERROR);

    /* all directions on a circle: the basis is singular */
    make_scheme(&s);
    for (int i = 1; i <= N; i++) {
        s.bvec[i][0] = cos(i);
        s.bvec[i][1] = sin(i);
        s.bvec[i][2] = 0;
    }
    assert_int_equal(attempt(&s, 4, true), GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "in one plane"));

    make_scheme(&s);
    s.is_b0[0] = false;
    s.table.n_b0 = 0;
    s.bval[0] = 1000;
    assert_int_equal(attempt(&s, 2, true), GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "no b0"));
}

/* One direction 16 times and 14 others once each, order 4: each of the 14 others determines a coefficient of its own.
 */
static void full_leverage(void **state)
{
    (void)state;
    struct scheme s;
    make_scheme(&s);
    for (int i = 15; i <= N; i++) memcpy(s.bvec[i], s.bvec[15], sizeof s.bvec[i]);
    assert_int_equal(attempt(&s, 4, true), GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "leverage"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(golden_values),    cmocka_unit_test(matrices),
                                       cmocka_unit_test(hat_and_residual), cmocka_unit_test(clipping),
                                       cmocka_unit_test(refused),          cmocka_unit_test(full_leverage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
