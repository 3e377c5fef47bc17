/* Text that grows by pieces of any length, and names that are joined in one text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "util/numbers.h"
#include "util/text.h"

static void test_lengths(void **state)
{
    (void)state;
    char long_word[5000];
    for (size_t n = 1000; n < sizeof long_word; n += 13) {
        gls_text text = {0};
        memset(long_word, 'x', n);
        long_word[n] = '\0';
        gls_text_printf(&text, "%s%s\n", "before ", long_word);
        gls_text_puts(&text, "after");
        assert_int_equal(text.length, n + 13);
        char *all = gls_text_take(&text);
        assert_non_null(all);
        assert_string_equal(all + 7 + n, "\nafter");
        free(all);
    }
}

static void test_names(void **state)
{
    (void)state;
    static const char text[] = "a\\:b.nii,c\\,d\\\\,e\\f:g:h\\";
    assert_string_equal(gls_names_first(text, ':'), ":g:h\\");
    assert_string_equal(gls_names_last(text, ':'), ":h\\");
    assert_null(gls_names_first("a\\:b", ':'));
    assert_null(gls_names_last("", ':'));
    char *list = gls_text_copy(text), *rest = list;
    assert_string_equal(gls_names_next(&rest, ','), "a:b.nii");
    assert_string_equal(gls_names_next(&rest, ','), "c,d\\");
    /* a backslash before other letters belongs to the name */
    assert_string_equal(gls_names_next(&rest, ','), "e\\f:g:h\\");
    assert_null(gls_names_next(&rest, ','));
    free(list);
    char *copy = gls_names_copy(text, 8);
    assert_string_equal(copy, "a:b.nii");
    free(copy);
    char regions[] = "a\\;b.nii; c.nii";
    rest = regions;
    assert_string_equal(gls_names_next(&rest, ';'), "a;b.nii");
    assert_string_equal(gls_names_next(&rest, ';'), " c.nii");
}

/* If a text cannot be printed, because of a letter that the C locale lacks, it stays NULL, so that nothing else is
 * freed. */
static void test_failure(void **state)
{
    (void)state;
    char other[] = "other", *text = other;
    assert_true(gls_asprintf(&text, "%ls", (const wchar_t[]){0x3b1, 0}) < 0);
    assert_null(text);
    assert_int_equal(gls_asprintf(&text, "%d", 7), 1);
    assert_string_equal(text, "7");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lengths), cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_failure)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
