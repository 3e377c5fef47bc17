/* Numeric text tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "files.h"
#include "util/text_tables.h"
#include <locale.h>
#include <math.h>

static void expect(const char *text, size_t rows, size_t cols, const double *values)
{
    double *got;
    size_t r, c;
    if (gls_table_parse("t.txt", text, strlen(text), &got, &r, &c) != GLS_OK) fail_msg("%s", gls_last_error());
    assert_int_equal(r, rows);
    assert_int_equal(c, cols);
    for (size_t i = 0; i < rows * cols; i++) assert_true(got[i] == values[i] || (isnan(got[i]) && isnan(values[i])));
    free(got);
}

static void expect_error(const char *text, size_t n, const char *message)
{
    double *got = NULL;
    size_t r, c;
    assert_int_equal(gls_table_parse("t.txt", text, n, &got, &r, &c), GLS_ERR_INPUT);
    assert_string_equal(gls_last_error(), message);
    assert_null(got);
}
#define EXPECT_ERROR(text, message) expect_error(text, sizeof text - 1, message)

static void test_layouts(void **state)
{
    (void)state;
    const double six[6] = {0, 1000, 2000.5, -0.25, 1e-3, 3e4};
    expect("0 1000 2000.5\n-.25 1e-3 3E+4\n", 2, 3, six);
    expect("0 1000 2000.5\n-.25 1e-3 3E+4", 2, 3, six);
    expect("0\t1000\t2000.5\t\r\n\r\n  -0.25\t.001 30000\r\n", 2, 3, six);
    expect("# b-values\n0,1000, 2000.5,\n\n-0.25 ,1e-3,3e4 # the end", 2, 3, six);
    expect("0\r1000\r2000.5\r-0.25\r1e-3\r3e4\r", 6, 1, six);
    expect("0 1000 2000.5 -0.25 1e-3 +3e4", 1, 6, six);
    const double special[4] = {NAN, -INFINITY, NAN, INFINITY};
    expect("nan -inf\nNaN Infinity", 2, 2, special);
}

static void test_errors(void **state)
{
    (void)state;
    EXPECT_ERROR("", "t.txt: contains no numbers");
    EXPECT_ERROR("\n# nothing\n  \n", "t.txt: contains no numbers");
    EXPECT_ERROR("1 2 3\n\n4 5\n", "t.txt: line 3 has 2 numbers, but the lines before have 3");
    EXPECT_ERROR("1 2 3\r\n4 five 6\r\n", "t.txt: line 2: \"five\" is not a number");
    EXPECT_ERROR("1 0x10", "t.txt: line 1: \"0x10\" is not a number");
    EXPECT_ERROR("1 1.5.2", "t.txt: line 1: \"1.5.2\" is not a number");
    EXPECT_ERROR("1 nan(3)", "t.txt: line 1: \"nan(3)\" is not a number");
    EXPECT_ERROR("-", "t.txt: line 1: \"-\" is not a number");
    EXPECT_ERROR("1,,2", "t.txt: line 1: a number is missing before a comma");
    EXPECT_ERROR(",1", "t.txt: line 1: a number is missing before a comma");
    EXPECT_ERROR("1;2", "t.txt: line 1: \"1;2\" is not a number");
    EXPECT_ERROR("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "t.txt: line 1: \"?PNG\" is not a number");
    EXPECT_ERROR("1 2\0003", "t.txt: line 1: \"2?3\" is not a number");
    EXPECT_ERROR("123456789012345678901234567890x", "t.txt: line 1: \"123456789012345678901234\"... is not a number");
}

static void test_files(void **state)
{
    (void)state;
    double *values;
    size_t rows, cols;
    put_file(scratch("a.bval"), "0 1000 1000", 11);
    assert_int_equal(gls_table_read(scratch("a.bval"), &values, &rows, &cols), GLS_OK);
    assert_int_equal(cols, 3);
    free(values);
    /* byte order marks, as editors and spreadsheets write them */
    put_file(scratch("marked.bval"),
             "\xef\xbb\xbf"
             "0 1000",
             9);
    assert_int_equal(gls_table_read(scratch("marked.bval"), &values, &rows, &cols), GLS_OK);
    assert_true(cols == 2 && values[1] == 1000);
    free(values);
    put_file(scratch("wide.bval"),
             "\xff\xfe"
             "0\0 \0",
             6);
    assert_int_equal(gls_table_read(scratch("wide.bval"), &values, &rows, &cols), GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "wide.bval: is a text in UTF-16: save the text as UTF-8"));
    assert_int_equal(gls_table_read(scratch("none.bval"), &values, &rows, &cols), GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "/none.bval: cannot open: No such file or directory"));
    assert_int_equal(gls_table_read(scratch_folder, &values, &rows, &cols), GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "Is a directory"));
    /* larger than any table: sparse, so that it costs nothing */
    put_file(scratch("huge"), "", 0);
    assert_int_equal(truncate(scratch("huge"), (off_t)1 << 33), 0);
    assert_int_equal(gls_table_read(scratch("huge"), &values, &rows, &cols), GLS_ERR_INPUT);
    assert_non_null(strstr(gls_last_error(), "too large: has 8589934592 bytes"));
    FILE *many = fopen(scratch("many"), "w");
    for (int i = 0; i < 30000; i++) fprintf(many, "%d %.17g\n", i, i / 7.0);
    fclose(many);
    assert_int_equal(gls_table_read(scratch("many"), &values, &rows, &cols), GLS_OK);
    assert_int_equal(rows, 30000);
    for (int i = 0; i < 30000; i++) assert_true(values[2 * i + 1] == i / 7.0);
    free(values);
}

static void test_locale(void **state)
{
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) leave_out("LOCALE", "the locale de_DE.UTF-8");
    const double values[2] = {1.5, 2.25};
    expect("1.5 2.25", 1, 2, values);
    setlocale(LC_ALL, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_locale),
    };
    return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
