/* Text that people and other programs write: byte order marks, line ends, NUL bytes; tables of names of labels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "image/label_table.h"
#include "util/file.h"
#include "util/status.h"
#include "util/text_tables.h"

static char path[32];

static const char *put(const char *data, size_t n)
{
    strcpy(path, "/tmp/gls_text_XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, n), (ssize_t)n);
    close(fd);
    return path;
}

static void test_text(void **state)
{
    static const struct {
        const char *in;
        size_t n;
        const char *out; /* NULL: no text */
    } cases[] = {{"a\nb\n", 4, "a\nb\n"},
                 {"a\r\nb\r\n", 6, "a\nb\n"},
                 {"a\rb\r", 4, "a\nb\n"},
                 {"a\n\r\nb", 5, "a\n\nb"},
                 {"\xef\xbb\xbf"
                  "a",
                  4, "a"},
                 {"a\n\0\0", 4, "a\n"},
                 {"", 0, ""},
                 {"\0", 1, ""},
                 {"a\0b", 3, NULL},
                 {"\xff\xfe"
                  "a\0\n\0",
                  6, NULL},
                 {"a\0\n\0", 4, NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = NULL;
        size_t n = 0;
        gls_status status = gls_file_read_text(put(cases[i].in, cases[i].n), 100, &text, &n);
        unlink(path);
        if (!cases[i].out) {
            assert_int_equal(status, GLS_ERR_INPUT);
            assert_non_null(strstr(gls_last_error(), "save the text as UTF-8"));
            continue;
        }
        assert_int_equal(status, GLS_OK);
        assert_int_equal(n, strlen(cases[i].out));
        assert_string_equal(text, cases[i].out);
        free(text);
    }
}

static void test_table(void **state)
{
    static const char text[] = "\xef\xbb\xbf"
                               "1 2\r3 4\r\0\0";
    (void)state;
    double *value;
    size_t rows, columns;
    assert_int_equal(gls_table_read(put(text, sizeof text - 1), &value, &rows, &columns), GLS_OK);
    unlink(path);
    assert_true(rows == 2 && columns == 2 && value[0] == 1 && value[3] == 4);
    free(value);
}

/* The same names, however the lines end and whatever stands behind them. */
static void test_names(void **state)
{
    static const char *const texts[] = {"3 Left 10 20 30 255\n17 Right_Hippocampus 40 50 60 255\n",
                                        ("\xef\xbb\xbf"
                                         "3 Left 10 20 30 255\r\n17 Right_Hippocampus 40 50 60 255\r\n"),
                                        "3 Left 10 20 30 255\r17 Right_Hippocampus 40 50 60 255",
                                        "  3 Left 10 20 30 255  \t\n\t17 Right_Hippocampus 40 50 60 255 \t \n",
                                        "# No. Name\n\n3\tLeft\t10\n17\tRight_Hippocampus\t40\n",
                                        "3 10 20 30 1 1 1 \"Left\"  \t\n17 40 50 60 1 1 1 \"Right_Hippocampus\"\n"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        gls_label_table names;
        gls_status status = gls_label_table_read(&names, put(texts[i], strlen(texts[i])));
        unlink(path);
        assert_int_equal(status, GLS_OK);
        const char *left = gls_label_table_name(&names, 3), *right = gls_label_table_name(&names, 17);
        if (!left || !right || strcmp(left, "Left") != 0 || strcmp(right, "Right_Hippocampus") != 0)
            fail_msg("text %zu: %s, %s", i, left ? left : "none", right ? right : "none");
        gls_label_table_finish(&names);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
