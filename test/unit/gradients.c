#include <glslines/gradients.h>
#include <glslines/log.h>

#include <setjmp.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char log_text[4096];

static void collect(void *user, gls_log_level level, const char *line)
{
    (void)user;
    size_t used = strlen(log_text);
    snprintf(log_text + used, sizeof log_text - used, "%d %s\n", (int)level, line);
}

static int setup(void **state)
{
    (void)state;
    log_text[0] = 0;
    gls_log_set(collect, NULL, GLS_LOG_INFO);
    return 0;
}

static gls_grid make_grid(double sign)
{
    const int32_t dim[3] = {4, 5, 6};
    const double affine[3][4] = {{sign * 2, 0, 0, 1}, {0, 2, 0, 2}, {0, 0, 2, 3}};
    gls_grid grid;
    assert_int_equal(gls_grid_init(&grid, dim, affine), GLS_OK);
    return grid;
}

/* Writes a file that the caller frees and unlinks with drop(). */
static char *put(const char *text)
{
    char *path = strdup("/tmp/gls_gradients_XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    return path;
}

static void drop(char *path)
{
    unlink(path);
    free(path);
}

static gls_status read_texts(const char *bvals, const char *bvecs, const gls_gradients_options *options, size_t n,
                             gls_gradients **gradients)
{
    gls_grid grid = make_grid(-1);
    char *bval = put(bvals), *bvec = put(bvecs);
    gls_status status = gls_gradients_read(bval, bvec, options, &grid, n, gradients);
    if (status == GLS_ERR_INPUT && !strstr(gls_last_error(), bval) && !strstr(gls_last_error(), bvec))
        fail_msg("no file in: %s", gls_last_error());
    drop(bval);
    drop(bvec);
    return status;
}

/* Checks that the call fails with status, makes no table and has the text in its message. */
static void expect_failure(const char *bvals, const char *bvecs, size_t n, const char *text)
{
    gls_gradients_options options = gls_gradients_options_default();
    gls_gradients *gradients = NULL;
    assert_int_equal(read_texts(bvals, bvecs, &options, n, &gradients), GLS_ERR_INPUT);
    assert_null(gradients);
    if (!strstr(gls_last_error(), text)) fail_msg("'%s' is not in: %s", text, gls_last_error());
}

static const char columns[] = "0 1 0 0.6\n0 0 1 0\n0 0 0 0.8\n";

static void check_four(const gls_gradients *g)
{
    const double expected[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.6, 0, 0.8}};
    assert_int_equal(g->n, 4);
    assert_int_equal(g->n_b0, 1);
    assert_true(g->is_b0[0] && !g->is_b0[1] && !g->is_b0[2] && !g->is_b0[3]);
    for (int i = 0; i < 4; i++)
        for (int c = 0; c < 3; c++) assert_true(fabs(g->bvec[i][c] - expected[i][c]) < 1e-15);
    assert_true(g->bval[3] == 2000);
}

static void layouts(void **state)
{
    (void)state;
    const char *bvals[] = {"0 1000 1000 2000\n", "0\n1000\n1000\n2000\n", "# comment\n0,1000,1000,2000",
                           "0\t1000\t1e3\t2000\n\n"};
    const char *bvecs[] = {columns, "0 0 0\n1 0 0\n0 1 0\n0.6 0 0.8\n", "0,0,0\n1,0,0\n0,1,0\n0.6,0,0.8",
                           "nan 1 0 0.6\nnan 0 1 0\nnan 0 0 0.8\n"};
    gls_gradients_options options = gls_gradients_options_default();
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            gls_gradients *g = NULL;
            assert_int_equal(read_texts(bvals[i], bvecs[j], &options, 4, &g), GLS_OK);
            check_four(g);
            gls_gradients_destroy(g);
        }
    }
}

static void square_file_is_fsl(void **state)
{
    (void)state;
    gls_gradients_options options = gls_gradients_options_default();
    gls_gradients *g = NULL;
    assert_int_equal(read_texts("0 1000 1000", "0 0.6 0\n0 0 1\n0 0.8 0\n", &options, 3, &g), GLS_OK);
    assert_true(g->bvec[1][0] == 0.6 && g->bvec[1][2] == 0.8 && g->bvec[2][1] == 1);
    gls_gradients_destroy(g);
}

static void frames(void **state)
{
    (void)state;
    const double bval[2] = {0, 1000}, bvec[2][3] = {{0, 0, 0}, {0.48, 0.64, 0.6}};
    gls_gradients_options options = gls_gradients_options_default();
    assert_int_equal(options.frame, GLS_BVEC_FSL);
    for (int sign = -1; sign <= 1; sign += 2) {
        gls_grid grid = make_grid(sign);
        for (int frame = GLS_BVEC_FSL; frame <= GLS_BVEC_WORLD; frame++) {
            gls_gradients *g = NULL;
            options.frame = (gls_bvec_frame)frame;
            setup(NULL);
            assert_int_equal(gls_gradients_create(bval, bvec, 2, &options, &grid, &g), GLS_OK);
            double x = frame == GLS_BVEC_FSL ? -sign * 0.48 : frame == GLS_BVEC_WORLD ? sign * 0.48 : 0.48;
            assert_true(fabs(g->bvec[1][0] - x) < 1e-15 && fabs(g->bvec[1][1] - 0.64) < 1e-15 &&
                        fabs(g->bvec[1][2] - 0.6) < 1e-15);
            assert_int_equal(g->x_flipped, frame == GLS_BVEC_FSL && sign > 0);
            const char *rule = frame == GLS_BVEC_FSL     ? "FSL rule"
                               : frame == GLS_BVEC_WORLD ? "world rule"
                                                         : "image rule";
            assert_non_null(strstr(log_text, rule));
            assert_non_null(strstr(log_text, "1 of 2 volumes are b0"));
            const char *detail =
                sign > 0 ? "determinant +8: x of the vectors negated" : "determinant -8: vectors taken";
            if (frame == GLS_BVEC_FSL) assert_non_null(strstr(log_text, detail));
            gls_gradients_destroy(g);
        }
    }
}

static void world_frame_of_a_permuted_grid(void **state)
{
    (void)state;
    /* i runs along superior, j along left, k along anterior, anisotropic: a scanner vector (R, A, S) is (S, -R, A) on
     * the voxel axes. */
    const int32_t dim[3] = {3, 3, 3};
    const double affine[3][4] = {{0, -1.5, 0, 0}, {0, 0, 3, 0}, {2, 0, 0, 0}}, bval[2] = {0, 700},
                 bvec[2][3] = {{0}, {0.48, 0.64, 0.6}};
    gls_grid grid;
    assert_int_equal(gls_grid_init(&grid, dim, affine), GLS_OK);
    gls_gradients_options options = {.size = sizeof options, .b0_threshold = 50, .frame = GLS_BVEC_WORLD};
    gls_gradients *g = NULL;
    assert_int_equal(gls_gradients_create(bval, bvec, 2, &options, &grid, &g), GLS_OK);
    assert_true(fabs(g->bvec[1][0] - 0.6) < 1e-15 && fabs(g->bvec[1][1] + 0.48) < 1e-15 &&
                fabs(g->bvec[1][2] - 0.64) < 1e-15);
    gls_gradients_destroy(g);
}

static void norms(void **state)
{
    (void)state;
    gls_gradients_options options = {.size = sizeof options, .b0_threshold = 50, .frame = GLS_BVEC_IMAGE};
    gls_gradients *g = NULL;
    const double bval[4] = {0, 20, 50, 1000}, good[4][3] = {{0, 0, 0.5}, {0, 0, 0.997}, {NAN, 1, 0}, {0, 1.004, 0}};
    assert_int_equal(gls_gradients_create(bval, good, 4, &options, NULL, &g), GLS_OK);
    assert_int_equal(g->n_b0, 3); /* b = 50 is a b0 */
    assert_true(g->bvec[0][2] == 0 && g->bvec[1][2] == 1 && g->bvec[2][0] == 0 && g->bvec[2][1] == 0 &&
                g->bvec[3][1] == 1);
    assert_true(g->bval[1] == 20 && g->bval[3] == 1000 && !g->scaled);
    assert_non_null(strstr(log_text, "was 0.004, in volume 3"));
    gls_gradients_destroy(g);
}

/* A nominal b-value with vectors whose squared lengths are its fractions. */
static void scaling(void **state)
{
    (void)state;
    gls_gradients_options options = {.size = sizeof options, .b0_threshold = 50, .frame = GLS_BVEC_IMAGE};
    const double bval[5] = {0, 3000, 3000, 3000, 3000};
    const double bvec[5][3] = {{0, 2, 0}, {0, sqrt(0.5), 0}, {0, 0, 1}, {0.6, 0.8, 0}, {0.01, 0, 0}};
    for (int s = GLS_BVALUES_SCALED_AUTO; s <= GLS_BVALUES_AS_GIVEN; s++) {
        gls_gradients *g = NULL;
        bool scaled = s != GLS_BVALUES_AS_GIVEN;
        options.scaling = (gls_bvalue_scaling)s;
        assert_int_equal(gls_gradients_create(bval, bvec, 5, &options, NULL, &g), GLS_OK);
        assert_true(g->scaled == scaled);
        assert_float_equal(g->bval[1], scaled ? 1500 : 3000, 1e-9);
        assert_true(g->bval[0] == 0 && g->bval[2] == 3000 && g->bval[3] == 3000);
        assert_int_equal(g->n_b0, scaled ? 2 : 1); /* 0.3 s/mm2 */
        for (int i = 1; i < 4; i++)
            assert_float_equal(g->bvec[i][0] * g->bvec[i][0] + g->bvec[i][1] * g->bvec[i][1] +
                                   g->bvec[i][2] * g->bvec[i][2],
                               1, 1e-12);
        gls_gradients_destroy(g);
    }
}

static void bad_files(void **state)
{
    (void)state;
    const char *b = "0 1000 1000 2000";
    expect_failure("0 1000 1000", columns, 4, "3 b-values, but the series has 4 volumes");
    expect_failure(b, "0 1 0\n0 0 1\n0 0 0\n", 4, "3 vectors, but the series has 4 volumes");
    expect_failure(b, "0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 0 0\n", 4, "5 vectors, but the series has 4 volumes");
    expect_failure("0 1000\n1000 2000\n", columns, 4,
                   "2 rows of 2 numbers, but b-values are one row or one column: give");
    expect_failure(columns, b, 4, "give the file of b-values before that of directions");
    expect_failure(b, "0 1 0 1\n0 0 1 0\n", 4, "2 rows of 4 numbers");
    expect_failure(b, "0 1 nan 1\n0 0 1 0\n0 0 0 0\n", 4,
                   "volume 2 (counted from 0, b = 1000): its vector has a number that is not finite");
    expect_failure(b, "0 1 inf 1\n0 0 1 0\n0 0 0 0\n", 4, "volume 2");
    expect_failure(b, "0 1 0 1\n0 0 0 0\n0 0 0 0\n", 4,
                   "volume 2 (counted from 0, b = 1000) is diffusion-weighted, but its vector is zero");
    expect_failure("5 -5 1000 2000", columns, 4, "volume 1 (counted from 0): negative b-value -5");
    expect_failure("5 0 1000 1e308", columns, 4, "volume 3 (counted from 0): the b-value 1e+308 s/mm2 is too large");
    expect_failure("0 nan 1000 2000", columns, 4, "volume 1 (counted from 0): the b-value is not a finite number");
    expect_failure("0 3e6 1000 2000", columns, 4,
                   "the largest b-value is 3e+06, where s/mm2 are expected: divide b-values in s/m2 by 1e6");
    expect_failure("60 1000 1000 2000", columns, 4,
                   "no b0 volume: the lowest of 4 b-values is 60 s/mm2; --b0-threshold, now 50, is");
    gls_grid grid = make_grid(1);
    gls_gradients_options options = gls_gradients_options_default();
    gls_gradients *g = NULL;
    assert_int_equal(gls_gradients_read("/nonexistent/dwi.bval", "/nonexistent/dwi.bvec", &options, &grid, 4, &g),
                     GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "/nonexistent/dwi.bval"));
}

static void thresholds(void **state)
{
    (void)state;
    gls_gradients_options exact = gls_gradients_options_default();
    gls_gradients *none = NULL;
    exact.b0_threshold = 0;
    assert_int_equal(read_texts("0 1 2 3", columns, &exact, 4, &none), GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(),
                           "the largest b-value is 3, where s/mm2 are expected: multiply b-values in ms/um2 by 1000"));
    const double bval[3] = {0, 60, 1000}, bvec[3][3] = {{0}, {1, 0, 0}, {0, 1, 0}};
    gls_gradients_options options = {.size = sizeof options, .b0_threshold = -1, .frame = GLS_BVEC_IMAGE};
    gls_gradients *g = NULL;
    assert_int_equal(gls_gradients_create(bval, bvec, 3, &options, NULL, &g), GLS_ERR_ARGUMENT);
    options.b0_threshold = NAN;
    assert_int_equal(gls_gradients_create(bval, bvec, 3, &options, NULL, &g), GLS_ERR_ARGUMENT);
    options.b0_threshold = 60;
    assert_int_equal(gls_gradients_create(bval, bvec, 3, &options, NULL, &g), GLS_OK);
    assert_int_equal(g->n_b0, 2);
    assert_null(strstr(log_text, "1 b0 threshold"));
    gls_gradients_destroy(g);
    options.b0_threshold = 200;
    assert_int_equal(gls_gradients_create(bval, bvec, 3, &options, NULL, &g), GLS_OK);
    assert_non_null(strstr(log_text, "1 b0 threshold 200 s/mm2 is high"));
    gls_gradients_destroy(g);
    options.frame = GLS_BVEC_FSL; /* needs a grid */
    assert_int_equal(gls_gradients_create(bval, bvec, 3, &options, NULL, &g), GLS_ERR_ARGUMENT);
    gls_gradients_destroy(NULL);
}

static gls_gradients *with_bvals(const double *bval, size_t n)
{
    double(*bvec)[3] = calloc(n, sizeof *bvec);
    for (size_t i = 0; i < n; i++) bvec[i][i % 3] = 1;
    gls_gradients_options options = {.size = sizeof options, .b0_threshold = 50, .frame = GLS_BVEC_IMAGE};
    gls_gradients *g = NULL;
    assert_int_equal(gls_gradients_create(bval, (const double(*)[3])bvec, n, &options, NULL, &g), GLS_OK);
    free(bvec);
    return g;
}

static void shells(void **state)
{
    (void)state;
    /* 1000, 1060, 1120 form a chain; 500 is alone; 5 and 0 are b0 */
    const double bval[] = {5,   995, 1005, 1000, 2000, 2010, 2001, 0,    500, 750,
                           750, 750, 3000, 3060, 3120, 3000, 3120, 3120, 3000};
    const size_t n = sizeof bval / sizeof *bval;
    gls_gradients *g = with_bvals(bval, n);
    gls_shell shell[8], *all = NULL;
    size_t n_shells, of[sizeof bval / sizeof *bval];
    assert_int_equal(gls_gradients_shells(g, shell, 8, &n_shells), GLS_OK);
    assert_int_equal(n_shells, 5);
    const double expected[5] = {2.5, 750, 1000, 2003.6666666666667, 3060};
    const size_t count[5] = {2, 3, 3, 3, 7};
    for (int i = 0; i < 5; i++) {
        assert_float_equal(shell[i].bval, expected[i], 1e-9);
        assert_int_equal(shell[i].n, count[i]);
        assert_true(shell[i].is_b0 == (i == 0));
    }
    assert_true(shell[0].max_bval == 5 && shell[2].min_bval == 995 && shell[2].max_bval == 1005);
    assert_true(shell[1].deviation == 0 && fabs(shell[2].deviation - 5) < 1e-9);
    assert_int_equal(gls_gradients_cluster(g, &all, &n_shells, of), GLS_OK);
    assert_true(of[0] == 0 && of[1] == 2 && of[4] == 3 && of[8] == GLS_NO_SHELL && of[9] == 1 && of[13] == 4);
    free(all);
    shell[2].n = 77;
    assert_int_equal(gls_gradients_shells(g, shell, 2, &n_shells), GLS_OK);
    assert_int_equal(n_shells, 5);
    assert_int_equal(shell[2].n, 77);
    gls_gradients_destroy(g);
    const double only_b0[] = {0, 0, 0};
    g = with_bvals(only_b0, 3);
    assert_int_equal(gls_gradients_shells(g, shell, 1, &n_shells), GLS_OK);
    assert_true(n_shells == 1 && shell[0].n == 3 && shell[0].is_b0);
    gls_gradients_destroy(g);
}

static void select_shell(void **state)
{
    (void)state;
    const double bval[] = {5, 995, 2000, 1005, 0, 1000, 2005, 1995};
    gls_gradients *g = with_bvals(bval, 8), *s = NULL;
    size_t *volume = NULL;
    assert_int_equal(gls_gradients_select_shell(g, 1000, &s, &volume), GLS_OK);
    const size_t expected[5] = {0, 1, 3, 4, 5};
    assert_int_equal(s->n, 5);
    assert_int_equal(s->n_b0, 2);
    assert_true(s->b0_threshold == 50 && !s->x_flipped);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(volume[i], expected[i]);
        assert_true(s->bval[i] == bval[expected[i]] && s->is_b0[i] == g->is_b0[expected[i]]);
        assert_memory_equal(s->bvec[i], g->bvec[expected[i]], sizeof s->bvec[i]);
    }
    gls_gradients_destroy(s);
    free(volume);
    s = NULL;
    volume = NULL;
    assert_int_equal(gls_gradients_select_shell(g, 1990, &s, &volume), GLS_OK); /* clearly the nearest */
    assert_int_equal(s->n, 5);
    assert_int_equal(volume[1], 2);
    gls_gradients_destroy(s);
    free(volume);
    s = NULL;
    assert_int_equal(gls_gradients_select_shell(g, 1500, &s, &volume), GLS_ERR_INPUT);
    assert_null(s);
    assert_string_equal(gls_last_error(),
                        "no shell has b = 1500 s/mm2; the shells are: 1000 (3 volumes), 2000 (3 volumes)");
    /* b = 0 may be named beside a shell, not alone */
    assert_int_equal(gls_gradients_select_shells(g, (const double[]){0, 2000}, 2, &s, &volume), GLS_OK);
    assert_true(s->n == 5 && s->n_b0 == 2 && volume[4] == 7);
    gls_gradients_destroy(s);
    free(volume);
    s = NULL;
    assert_int_equal(gls_gradients_select_shell(g, 0, &s, &volume), GLS_ERR_INPUT);
    assert_string_equal(gls_last_error(), "b = 0 s/mm2 names no weighted shell: name one, too");
    assert_int_equal(gls_gradients_select_shell(g, -1, &s, &volume), GLS_ERR_ARGUMENT);
    gls_gradients_destroy(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(layouts, setup),   cmocka_unit_test_setup(square_file_is_fsl, setup),
        cmocka_unit_test_setup(frames, setup),    cmocka_unit_test_setup(world_frame_of_a_permuted_grid, setup),
        cmocka_unit_test_setup(norms, setup),     cmocka_unit_test_setup(scaling, setup),
        cmocka_unit_test_setup(bad_files, setup), cmocka_unit_test_setup(thresholds, setup),
        cmocka_unit_test_setup(shells, setup),    cmocka_unit_test_setup(select_shell, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
