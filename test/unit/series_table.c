/* The gradient table of a series: which one is used, and the message about another one. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <glslines/log.h>

#include "dwi/series.h"

static char folder[32], log_text[4096];

static void collect(void *user, gls_log_level level, const char *line)
{
    (void)user;
    size_t used = strlen(log_text);
    snprintf(log_text + used, sizeof log_text - used, "%d %s\n", (int)level, line);
}

static char *path_of(const char *name)
{
    static char path[4][96];
    static int next;
    char *to = path[next++ % 4];
    snprintf(to, sizeof path[0], "%s/%s", folder, name);
    return to;
}

static void put(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    fclose(file);
}

/* A series of four volumes, stored as z, -x, y. */
static void put_series(const char *name, const char *scheme)
{
    char text[512 + 4 * 8 * 4] = {0};
    int n = snprintf(text, 512,
                     "mrtrix image\ndim: 2,2,2,4\nvox: 2,2,2,nan\nlayout: -1,+2,+0,+3\ntransform: 1,0,0,0\ntransform: "
                     "0,1,0,0\ntransform: 0,0,1,0\ndatatype: Float32LE\n%sfile: . 512\nEND\n",
                     scheme);
    assert_true(n < 512);
    FILE *file = fopen(path_of(name), "wb");
    assert_int_equal(fwrite(text, 1, sizeof text, file), sizeof text);
    fclose(file);
}

static const char scheme[] = "dw_scheme: 0,0,0,0\ndw_scheme: 1,0,0,1000\ndw_scheme: 0,1,0,1000\n"
                             "dw_scheme: 0,0.6,0.8,1000\n";
/* The same table in FSL's axes: z, -x, y are left-handed, so no sign is changed. */
static const char bval[] = "0 1000 1000 1000\n", bvec[] = "0 0 0 0.8\n0 -1 0 0\n0 0 1 0.6\n",
                  along_header[] = "0 1 0 0\n0 0 1 0.6\n0 0 0 0.8\n";

static int setup(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/gls_table_XXXXXX");
    assert_non_null(mkdtemp(folder));
    log_text[0] = '\0';
    gls_log_set(collect, NULL, GLS_LOG_INFO);
    return 0;
}

static int teardown(void **state)
{
    static const char *const names[] = {"a.mif", "A.MIF", "a.bval",     "a.bvec",     "A.bval", "A.bvec",
                                        "bvals", "bvecs", "other.bval", "other.bvec", "other.b"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlink(path_of(names[i]));
    assert_int_equal(rmdir(folder), 0);
    return 0;
}

static void expect_found(const char *dwi, const char *want_bval, const char *want_bvec)
{
    char *found[2];
    assert_int_equal(gls_series_find_table(path_of(dwi), NULL, &found[0], &found[1]), GLS_OK);
    assert_string_equal(found[0], *want_bval == '-' ? "-" : path_of(want_bval));
    assert_string_equal(found[1], *want_bvec == '-' ? "-" : path_of(want_bvec));
    free(found[0]);
    free(found[1]);
}

static void test_find(void **state)
{
    (void)state;
    char *found[2];
    put_series("a.mif", "");
    put_series("A.MIF", "");
    assert_int_equal(gls_series_find_table(path_of("a.mif"), NULL, &found[0], &found[1]), GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "a.mif: no gradient table lies in its header (dw_scheme) or beside it ("));
    put("bvals", bval);
    put("bvecs", bvec);
    expect_found("a.mif", "bvals", "bvecs");
    put("a.bval", bval);
    put("a.bvec", bvec);
    expect_found("a.mif", "a.bval", "a.bvec");
    put("A.bval", bval);
    put("A.bvec", bvec);
    expect_found("A.MIF", "A.bval", "A.bvec");
    put_series("a.mif", scheme);
    expect_found("a.mif", "-", "-");
    assert_non_null(strstr(log_text, "gradients: the table in the header of"));
}

/* Reads the series with this table and looks at the direction of the last volume. */
static void read_series(const char *bval_name, const char *bvec_name)
{
    gls_series series = {.name = path_of("a.mif")};
    const gls_gradients_options options = gls_gradients_options_default();
    char name[96];
    strcpy(name, series.name);
    series.name = name;
    log_text[0] = '\0';
    assert_int_equal(gls_image_read(name, GLS_IMAGE_4D, &series.dwi), GLS_OK);
    assert_int_equal(gls_series_read_table(&series, bval_name ? path_of(bval_name) : NULL,
                                           bvec_name ? path_of(bvec_name) : NULL, &options),
                     GLS_OK);
    if (!bvec_name || strcmp(bvec_name, "other.bvec") != 0)
        for (int r = 0; r < 3; r++) {
            const gls_grid *g = &series.dwi->grid;
            double world = 0, want[3] = {0, 0.6, 0.8};
            for (int c = 0; c < 3; c++) world += g->affine[r][c] / g->voxel_size[c] * series.gradients->bvec[3][c];
            assert_true(fabs(world - want[r]) < 1e-6);
        }
    gls_series_finish(&series);
}

static void test_compare(void **state)
{
    (void)state;
    put_series("a.mif", scheme);
    read_series(NULL, NULL);
    assert_null(strstr(log_text, "differ"));
    put("a.bval", bval);
    put("a.bvec", bvec);
    read_series(NULL, NULL);
    read_series("a.bval", "a.bvec");
    assert_null(strstr(log_text, "differ"));
    put("a.bvec", along_header);
    read_series(NULL, NULL);
    assert_non_null(strstr(log_text, "a.bvec and the table in the header of"));
    assert_non_null(strstr(log_text, "a.mif differ by up to 90.0 degrees; the latter is taken"));
    put("other.bval", "0 1000 1000 1100");
    put("other.bvec", along_header);
    read_series("other.bval", "other.bvec");
    assert_non_null(strstr(log_text, "other.bvec differ by up to 90.0 degrees; the latter is taken"));
    assert_non_null(strstr(log_text, "other.bvec: b-values differ by up to 100 s/mm2; those of the latter are taken"));
    put("other.b", "0 0 0 0\n1 0 0 1000\n0 1 0 1000\n0 0.6 0.8 1000\n");
    read_series("other.b", NULL);
    assert_null(strstr(log_text, "differ"));
    put_series("a.mif", "dw_scheme: 0,0,0,0\n");
    read_series("other.b", NULL);
    assert_non_null(strstr(log_text, "the table in the header of"));
    assert_non_null(strstr(log_text, "is not used: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_find, setup, teardown),
        cmocka_unit_test_setup_teardown(test_compare, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
